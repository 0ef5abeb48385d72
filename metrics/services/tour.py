"""The whole path on real conversations with simulated raters. Each step calls the service that its page calls."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO

from annotation.allocation.seeds import derive_seed
from annotation.campaigns.fields.table import CampaignDraft, CriterionDraft
from annotation.campaigns.services.lifecycle import campaign_close, campaign_launch
from annotation.campaigns.services.writing import campaign_create
from annotation.core.canonical import canonical_json
from annotation.core.errors import AnnotationError
from annotation.core.progress import noop
from annotation.datasets.services.content import DatasetContent, ItemDraft, SourceDraft
from annotation.datasets.services.imports import dataset_create
from annotation.demo import load as demo
from annotation.demo.raters import work_through
from annotation.dry_runs.simulation.answers import latent_quality
from annotation.dry_runs.simulation.raters import SimulatedRater
from annotation.mining.services.corpora import corpus_stream
from annotation.mining.services.runs import mining_run_create, mining_run_execute
from annotation.mining.services.storing import mining_run_store
from annotation.models import (
    Campaign,
    Corpus,
    Dataset,
    Job,
    JobState,
    Membership,
    Presentation,
    Project,
    Rater,
    Release,
    Role,
    SourceKind,
    System,
    Target,
    UnitResponse,
    User,
)
from annotation.models import Response as Text
from annotation.rating.services.raters import participation_start, rater_create
from annotation.references.releases.services.releases import release_build, release_create
from annotation.references.sets.services import reference_set_create
from annotation.seeds.services.rating_again import seeds_rate_again
from annotation.seeds.services.selections import SelectionRules, seeds_select
from metrics.models import ScoreRun
from metrics.services.runs import score_run_create, score_run_execute
from metrics.subsets import Subset

SYSTEMS = ("TeamB", "TeamD", "TeamG", "Baseline")
RATERS, TURN = 8, 5  # items that a rater rates before the next one's turn
SEED = 20150726
CRITERION = CriterionDraft(
    name="quality",
    question="How good is this answer, given what was said before?",
    labels=("Very bad", "Bad", "In between", "Good", "Very good"),
)
# A text's quality in the simulation: the middle of its kind, and a chance deviation.
MIDDLES = {SourceKind.SEED: 0.85, SourceKind.MINED: 0.68, SourceKind.PARROT: 0.35, SourceKind.RANDOM: 0.08}
SPREAD = 0.6

StepProgress = Callable[[int, str], None]  # called at each step with its number and a summary


@dataclass(frozen=True)
class Tour:
    """The results of a tour."""

    project: Project
    release: Release
    runs: list[ScoreRun]
    answers: int  # by simulated raters


def tour(*, by: User, items: int = 40, n: int = 15, negatives: int = 2, progress: StepProgress = noop) -> Tour:
    """Walk the whole path in a new project that ``by`` owns."""
    project = _project(by)
    progress(1, f"A data set of {items} conversations, each with its original response and the outputs of four systems")
    dataset = _dataset(project, items)
    progress(2, "Three ratings of each original response")
    raters = [rater_create(project=project, name=f"Simulated {number}") for number in range(1, RATERS + 1)]
    judged = _campaign(dataset, "Original responses", [SourceKind.SEED], ratings=3)
    answers = _rate(judged, raters)
    progress(3, "Those with a mean of 4 or more become seeds, in two splits")
    shares = {"dev": 0.5, "test": 0.5}
    rules = SelectionRules.of(dataset=dataset, campaigns=[judged], threshold=4, shares=shares, seed=SEED)
    selection = seeds_select(rules=rules, by=by)
    progress(4, "A corpus of 35,161 replies, indexed")
    corpus = _corpus(project, by)
    progress(5, f"The {n} best replies for each seed, its message, and {negatives} random replies")
    _mine(dataset, corpus, n, negatives, by)
    progress(6, "Five ratings of each mined text, and two more of each seed")
    kinds = [SourceKind.MINED, SourceKind.PARROT, *([SourceKind.RANDOM] if negatives else [])]
    references = _campaign(dataset, "Mined references", kinds, ratings=5)
    answers += _rate(references, raters)
    follow_up = campaign_launch(campaign=seeds_rate_again(selection=selection, by=by), by=by)
    answers += _rate(follow_up, raters[3:])
    progress(7, "Weights, released")
    release = _release(dataset, [judged, references, follow_up], [SourceKind.SEED, *kinds], by)
    progress(8, "BLEU and ΔBLEU of the four systems")
    return Tour(project, release, _score(release, by), answers)


def _project(by: User) -> Project:
    taken = set(Project.objects.filter(slug__startswith="tour").values_list("slug", flat=True))
    names = [("tour", "Tour"), *((f"tour-{number}", f"Tour {number}") for number in range(2, len(taken) + 2))]
    slug, name = next(pair for pair in names if pair[0] not in taken)
    project = Project.objects.create(slug=slug, name=name, description="From a corpus to a score, step by step.")
    Membership.objects.create(project=project, user=by, role=Role.OWNER)
    return project


def _dataset(project: Project, items: int) -> Dataset:
    published, _ = demo.read_raw_dataset()
    content = DatasetContent()
    usable = [item for item in published.items.values() if any(not source.system for source in item.sources)]
    for item in usable[:items]:
        seed = next(source for source in item.sources if not source.system)
        outputs = [source for source in item.sources if source.system in SYSTEMS]
        original = SourceDraft(seed.line, seed.text, SourceKind.SEED.value)
        content.items[item.external_id] = ItemDraft(
            item.line, item.external_id, message=item.message, sources=[original, *outputs]
        )
    return dataset_create(
        project=project,
        name="Conversations",
        slug="conversations",
        content=content,
        language="en",
        licence=demo.LICENCE,
        attribution=demo.ATTRIBUTION,
        description="Of DSTC7 task 2: the first of the published replies as the original response, four systems.",
    )


def _corpus(project: Project, by: User) -> Corpus:
    published, _ = demo.read_raw_dataset()
    lines = BytesIO()
    for item in published.items.values():
        for source in item.sources:
            if not source.system:
                triple = {"context": item.context, "message": item.message, "response": source.text}
                lines.write(canonical_json(triple) + b"\n")
    lines.seek(0)
    corpus = corpus_stream(
        project=project,
        by=by,
        name="Published replies",
        filename="dstc7-replies.jsonl",
        stream=lines,
        options={},
        size=lines.getbuffer().nbytes,
        licence=demo.LICENCE,
        attribution=demo.ATTRIBUTION,
        language="en",
    )
    _check_done(corpus, "The corpus was not indexed")
    return corpus


def _mine(dataset: Dataset, corpus: Corpus, n: int, negatives: int, by: User) -> None:
    run = mining_run_create(
        project=dataset.project,
        dataset=dataset,
        corpus=corpus,
        specification={"n": n, "negatives": negatives, "seed": SEED},
        seed_choice={"kind": SourceKind.SEED, "splits": ["dev", "test"]},
        by=by,
    )
    mining_run_execute(run_id=run.pk)
    run.refresh_from_db()
    _check_done(run, "Nothing was mined")
    mining_run_store(run=run, by=by)


def _campaign(dataset: Dataset, name: str, kinds: Sequence[str], *, ratings: int) -> Campaign:
    draft = CampaignDraft(
        dataset=dataset,
        name=name,
        criteria=(CRITERION,),
        target=Target.REFERENCES,
        reference_kinds=kinds,
        ratings_per_unit=ratings,
        instructions="Rated by simulated raters, to show the whole path.",
    )
    return campaign_launch(campaign=campaign_create(project=dataset.project, draft=draft))


def _rate(campaign: Campaign, raters: list[Rater]) -> int:
    """Let the raters take turns until no item is left, and close the campaign; return the number of answers."""
    quality = _quality(campaign)
    simulated = {
        rater: SimulatedRater(seed=derive_seed(SEED, campaign.name, number), noise=0.12, bias=0.02 * (number - 3))
        for number, rater in enumerate(raters)
    }
    for rater in simulated:
        participation_start(campaign=campaign, rater=rater)
    answers = 0
    while simulated:
        for rater, behaviour in list(simulated.items()):
            done = work_through(campaign, rater, behaviour, quality, screens=TURN)
            answers += done
            if done < TURN:
                del simulated[rater]
    campaign_close(campaign=campaign)
    return answers


def _quality(campaign: Campaign) -> Callable[[Presentation], float]:
    """Return the quality of a presented text; it follows from the text, so that it is the same in every database."""
    shown = dict(UnitResponse.objects.filter(unit__campaign=campaign).values_list("unit_id", "response_id"))
    quality: dict[int, float] = {}
    texts = Text.objects.filter(pk__in=shown.values()).prefetch_related("sources")
    for text in texts:
        middle = max(MIDDLES.get(SourceKind(source.kind), 0.5) for source in text.sources.all())
        chance = float(latent_quality([int(text.text_key[:15], 16)], SEED)[0])
        quality[text.pk] = min(max(middle + SPREAD * (chance - 0.5), 0.0), 1.0)
    return lambda presentation: quality[shown[presentation.unit_id or 0]]


def _release(dataset: Dataset, campaigns: list[Campaign], kinds: Sequence[str], by: User) -> Release:
    reference_set = reference_set_create(
        dataset=dataset,
        name="Mined references",
        description="The raters are simulated: these weights say nothing about the texts.",
        campaigns=campaigns,
        source_kinds=kinds,
        original_kinds=[SourceKind.SEED],
    )
    release = release_create(reference_set=reference_set, by=by)
    release_build(release_id=release.pk)
    release.refresh_from_db()
    _check_done(release, "No weights were released")
    return release


def _score(release: Release, by: User) -> list[ScoreRun]:
    systems = list(System.objects.filter(dataset=release.reference_set.dataset))
    runs = []
    for metric, subset in (("bleu", "original"), ("bleu", "all"), ("delta_bleu", "all")):
        run, _ = score_run_create(
            project=release.reference_set.project,
            release=release,
            systems=systems,
            metric=metric,
            parameters={"tokenize": "whitespace", "lowercase": True},
            subset=Subset.parse(subset, items="positive"),
            by=by,
        )
        score_run_execute(run_id=run.pk)
        run.refresh_from_db()
        _check_done(run, "Nothing was scored")
        runs.append(run)
    return runs


def _check_done(job: Job, problem: str) -> None:
    if job.state != JobState.DONE:
        raise AnnotationError(f"{problem}: {job.error or job.get_state_display().lower()}")
