"""The whole path on real conversations and simulated raters: sample, rate, select, mine, rate, weigh, release, score.

Each step goes through the service that its page and its command go through; nothing here is a shortcut.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from annotation.allocation.seeds import derive_seed
from annotation.campaigns.services import (
    CampaignDraft,
    CriterionDraft,
    campaign_close,
    campaign_create,
    campaign_launch,
)
from annotation.core.canonical import canonical_json
from annotation.core.errors import AnnotationError
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
    JobState,
    Membership,
    MiningRun,
    Presentation,
    Project,
    Rater,
    ReferenceSet,
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
from annotation.seeds.services.selections import seeds_rate_again, seeds_select
from metrics.models import ScoreRun
from metrics.services.runs import score_run_create, score_run_execute
from metrics.subsets import Subset

SYSTEMS = ("TeamB", "TeamD", "TeamG", "Baseline")
RATERS, TURN = 8, 5  # so many screens, and the next rater comes
SEED = 20150726
CRITERION = CriterionDraft(
    name="quality",
    question="How good is this answer, given what was said before?",
    labels=("Very bad", "Bad", "In between", "Good", "Very good"),
)
# What a text is worth in the simulation: its kind says where the middle is, chance how far from it.
MIDDLES = {
    SourceKind.SEED: 0.85,
    SourceKind.MINED: 0.68,
    SourceKind.PARROT: 0.35,
    SourceKind.RANDOM: 0.08,
}
SPREAD = 0.6

Watch = Callable[[int, str], None]


@dataclass(frozen=True)
class Tour:
    """What was made, in the order it was made."""

    project: Project
    dataset: Dataset
    corpus: Corpus
    mining_run: MiningRun
    reference_set: ReferenceSet
    release: Release
    runs: list[ScoreRun]
    answers: int  # that simulated raters gave


def tour(*, by: User, items: int = 40, n: int = 15, negatives: int = 2, watch: Watch) -> Tour:
    """Walk once through everything, in a new project of ``by``. ``watch`` hears of each step: number, and what."""
    project = _project(by)
    watch(1, f"A data set of {items} conversations, each with its original response and the outputs of four systems")
    dataset = _dataset(project, items)
    watch(2, "Three ratings of each original response")
    raters = [rater_create(project=project, name=f"Simulated {number}") for number in range(1, RATERS + 1)]
    judged = _campaign(dataset, "Original responses", [SourceKind.SEED], ratings=3)
    answers = _rate(judged, raters)
    watch(3, "Those with a mean of 4 or more become seeds, in two splits")
    selection = seeds_select(
        dataset=dataset, campaigns=[judged], threshold=4, shares={"dev": 0.5, "test": 0.5}, seed=SEED, by=by
    )
    watch(4, "A corpus of 35,161 replies, indexed")
    corpus = _corpus(project, by)
    watch(5, f"The {n} best replies for each seed, its message, and {negatives} random replies")
    mined = _mine(dataset, corpus, n, negatives, by)
    watch(6, "Five ratings of each mined text, and two more of each seed")
    kinds = [SourceKind.MINED, SourceKind.PARROT, *([SourceKind.RANDOM] if negatives else [])]
    references = _campaign(dataset, "Mined references", kinds, ratings=5)
    answers += _rate(references, raters)
    more = campaign_launch(campaign=seeds_rate_again(selection=selection, by=by), by=by)
    answers += _rate(more, raters[3:])
    watch(7, "Weights, released")
    reference_set, release = _release(dataset, [judged, references, more], [SourceKind.SEED, *kinds], by)
    watch(8, "BLEU and ΔBLEU of the four systems")
    runs = _score(release, by)
    return Tour(project, dataset, corpus, mined, reference_set, release, runs, answers)


def _project(by: User) -> Project:
    taken = set(Project.objects.filter(slug__startswith="tour").values_list("slug", flat=True))
    number = next(number for number in range(1, len(taken) + 2) if _named(number)[0] not in taken)
    slug, name = _named(number)
    project = Project.objects.create(slug=slug, name=name, description="From a corpus to a score, step by step.")
    Membership.objects.create(project=project, user=by, role=Role.OWNER)
    return project


def _named(number: int) -> tuple[str, str]:
    return ("tour", "Tour") if number == 1 else (f"tour-{number}", f"Tour {number}")


def _dataset(project: Project, items: int) -> Dataset:
    published, _ = demo.read_raw_dataset()
    content = DatasetContent()
    usable = [item for item in published.items.values() if any(not source.system for source in item.sources)]
    for found in usable[:items]:
        seed = next(source for source in found.sources if not source.system)
        outputs = [source for source in found.sources if source.system in SYSTEMS]
        original = SourceDraft(seed.line, seed.text, SourceKind.SEED.value)
        content.items[found.external_id] = ItemDraft(
            found.line, found.external_id, message=found.message, sources=[original, *outputs]
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


def _mine(dataset: Dataset, corpus: Corpus, n: int, negatives: int, by: User) -> MiningRun:
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
    return run


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
    """Raters take turns until nothing is left for anybody; then the campaign is closed."""
    worth = _worth(campaign)
    people = {
        rater: SimulatedRater(seed=derive_seed(SEED, campaign.name, number), noise=0.12, bias=0.02 * (number - 3))
        for number, rater in enumerate(raters)
    }
    for rater in people:
        participation_start(campaign=campaign, rater=rater)
    answers = 0
    while people:
        for rater, who in list(people.items()):
            done = work_through(campaign, rater, who, worth, screens=TURN)
            answers += done
            if done < TURN:
                del people[rater]
    campaign_close(campaign=campaign)
    return answers


def _worth(campaign: Campaign) -> Callable[[Presentation], float]:
    """By text, not by id: the same everywhere."""
    shown = dict(UnitResponse.objects.filter(unit__campaign=campaign).values_list("unit_id", "response_id"))
    worth: dict[int, float] = {}
    texts = Text.objects.filter(pk__in=shown.values()).prefetch_related("sources")
    for text in texts:
        middle = max(MIDDLES.get(SourceKind(source.kind), 0.5) for source in text.sources.all())
        chance = float(latent_quality([int(text.text_key[:15], 16)], SEED)[0])
        worth[text.pk] = min(max(middle + SPREAD * (chance - 0.5), 0.0), 1.0)
    return lambda presentation: worth[shown[presentation.unit_id or 0]]


def _release(
    dataset: Dataset, campaigns: list[Campaign], kinds: Sequence[str], by: User
) -> tuple[ReferenceSet, Release]:
    reference_set = reference_set_create(
        project=dataset.project,
        dataset=dataset,
        name="Mined references",
        description="The raters are simulated: these weights show a way, and say nothing about the texts.",
        campaigns=campaigns,
        source_kinds=kinds,
        original_kinds=[SourceKind.SEED],
    )
    release = release_create(reference_set=reference_set, by=by)
    release_build(release_id=release.pk)
    release.refresh_from_db()
    _check_done(release, "No weights were released")
    return reference_set, release


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


def _check_done(job: Any, otherwise: str) -> None:
    if job.state != JobState.DONE:
        raise AnnotationError(f"{otherwise}: {job.error or job.get_state_display().lower()}")
