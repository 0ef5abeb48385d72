"""Seeds are drawn from a corpus, rated, selected by exact means, split reproducibly and rated again."""

import hashlib
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from django.utils import timezone

from annotation.campaigns.services.lifecycle import campaign_launch
from annotation.campaigns.services.lists import campaign_for_list
from annotation.core.errors import AnnotationError
from annotation.datasets.services.imports import dataset_import_execute
from annotation.datasets.services.lists import response_list_create
from annotation.mining.index.building import build_index
from annotation.mining.selectors import corpus_folder
from annotation.mining.triples import Triple
from annotation.models import (
    Campaign,
    CampaignState,
    Corpus,
    Dataset,
    Item,
    JobState,
    MiningRun,
    Participation,
    Presentation,
    Project,
    Rating,
    Release,
    ReleaseWeight,
    Response,
    ResponseSource,
    SeedMember,
    SeedSelection,
    Unit,
    UnitResponse,
    User,
)
from annotation.references.releases.selectors.facts import fallen_seeds
from annotation.references.releases.services.releases import release_build, release_create
from annotation.references.sets.services import reference_set_create
from annotation.seeds.selectors import (
    exact_means,
    has_fallen,
    means_now,
    members_page,
    rated_seeds,
    seed_campaigns,
    seed_rows,
    seeded_datasets,
    selection_uses,
    thresholds,
)
from annotation.seeds.services.rating_again import seeds_rate_again
from annotation.seeds.services.sampling import seeds_sample
from annotation.seeds.services.selections import SelectionRules, bars, seeds_preview, seeds_select, seeds_unselect
from tests.annotation.worlds.rated import make_campaign, make_dataset, make_item, make_rater, make_response, rate

HALVES = {"dev": 0.5, "test": 0.5}


# --- Drawing ----------------------------------------------------------------------------------------------------------


def triples(n: int) -> list[Triple]:
    return [Triple((f"Turn {i}.", "And?"), f"Message number {i}?", f"Response @bob number {i}.") for i in range(n)]


@pytest.fixture
def corpus(project: Project, settings: Any, tmp_path: Any) -> Corpus:
    settings.DATA_DIR = tmp_path
    return make_corpus(project, triples(60))


def make_corpus(project: Project, rows: list[Triple]) -> Corpus:
    corpus = Corpus(project=project, name="Talk", slug="talk", language="en", licence="CC0-1.0")
    report = build_index(rows, corpus_folder(corpus))
    corpus.state, corpus.n_triples, corpus.content_hash = JobState.DONE, report.n_triples, report.content_hash
    corpus.finished_at = timezone.now()
    corpus.save()
    return corpus


def drawn(corpus: Corpus, **options: Any) -> Dataset:
    job = seeds_sample(**{"corpus": corpus, "name": "Candidates", "n": 20, "seed": 7, **options})
    dataset_import_execute(import_id=job.pk)
    job.refresh_from_db()
    assert job.state == JobState.DONE, job.error
    return job.dataset


def shuffled_by_description(seed: int, size: int, n: int) -> list[int]:
    """Shuffle a list of all numbers with Fisher-Yates, as described in ``draws``."""
    row = list(range(size))
    for index in range(n):
        digest = hashlib.sha256(f'[{seed}, "draw", {index}]'.encode()).digest()
        target = index + int.from_bytes(digest[:8], "big") % 2**63 % (size - index)
        row[index], row[target] = row[target], row[index]
    return row[:n]


def test_triples_drawn_at_random_become_items_with_their_response_as_seed(corpus: Corpus, manager: User) -> None:
    dataset = drawn(corpus, by=manager)
    numbers = shuffled_by_description(7, 60, 20)
    items = list(dataset.items.order_by("position"))
    assert [item.external_id for item in items] == [f"talk-{number}" for number in numbers]
    assert (items[0].context, items[0].message) == (
        [f"Turn {numbers[0]}.", "And?"],
        f"Message number {numbers[0]}?",
    )
    sources = ResponseSource.objects.filter(item__dataset=dataset)
    assert {(source.kind, source.response.item_id == source.item_id) for source in sources} == {("seed", True)}
    assert sources.get(item=items[0]).response.text == f"Response @bob number {numbers[0]}."
    assert (dataset.language, dataset.licence) == ("en", "CC0-1.0")
    assert dataset.imports.get().report["counts"]["drawn"] == 20
    assert corpus.project.audit_entries.get(verb="seeds.sample").actor == manager


def test_the_seed_decides_what_is_drawn(corpus: Corpus) -> None:
    def names(dataset: Dataset) -> set[str]:
        return set(dataset.items.values_list("external_id", flat=True))

    first, same, other_seed = (
        names(drawn(corpus, name=name, seed=seed)) for name, seed in [("A", 1), ("B", 1), ("C", 2)]
    )
    assert first == same
    assert first != other_seed


def test_hygiene_masks_texts_and_reports_how_many_triples_are_left(
    project: Project, settings: Any, tmp_path: Any
) -> None:
    settings.DATA_DIR = tmp_path
    rows = [Triple(("Hi @amy.",), "Well?", "one @bob" if i % 2 else f"a longer answer number {i}") for i in range(40)]
    corpus = make_corpus(project, rows)
    steps = [{"step": "length", "min_tokens": 3, "max_tokens": 50}, {"step": "mask_handles"}]
    with pytest.raises(AnnotationError, match="unknown parameter"):
        seeds_sample(corpus=corpus, name="x", n=5, seed=1, hygiene=[{"step": "length", "words": 3}])
    job = seeds_sample(corpus=corpus, name="Clean", n=20, seed=1, hygiene=[steps[1]])
    assert job.options["sample"]["hygiene"] == [{"step": "mask_handles", "version": 1}]
    dataset_import_execute(import_id=job.pk)
    item = Dataset.objects.get(name="Clean").items.first()
    assert item.context == ["Hi <user>."]
    refused = seeds_sample(corpus=corpus, name="Short", n=20, seed=1, hygiene=steps)
    dataset_import_execute(import_id=refused.pk)
    refused.refresh_from_db()
    # "Well?" is one word: with messages dropped, too, nothing is left.
    assert (refused.state, refused.dataset) == (JobState.FAILED, None)
    assert "Of the 40 triples of “Talk” the hygiene steps leave 0; accepted: up to as many, 20" in refused.error


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"n": 0}, "n"),
        ({"n": 61}, "n"),
        ({"n": True}, "n"),
        ({"seed": -1}, "seed"),
        ({"normalisation": "x"}, "normalisation"),
        ({"name": ""}, "name"),
        ({"hygiene": [{"step": "x"}]}, "hygiene[0].step"),
    ],
)
def test_invalid_samples_are_refused_at_their_field(corpus: Corpus, change: dict[str, Any], field: str) -> None:
    with pytest.raises(AnnotationError) as refused:
        seeds_sample(**{"corpus": corpus, "name": "Candidates", "n": 20, "seed": 7, **change})
    assert list(refused.value.fields) == [field]


def test_a_corpus_that_is_not_indexed_yet_is_refused(project: Project) -> None:
    corpus = Corpus.objects.create(project=project, name="Later", slug="later")
    with pytest.raises(AnnotationError, match="“Later” is queued; accepted: a corpus whose index is done"):
        seeds_sample(corpus=corpus, name="x", n=1, seed=1)


def test_33_000_triples_are_drawn_and_stored(project: Project, settings: Any, tmp_path: Any) -> None:
    settings.DATA_DIR = tmp_path
    corpus = make_corpus(project, triples(40_000))
    dataset = drawn(corpus, n=33_000)
    assert Response.objects.filter(item__dataset=dataset).count() == 33_000


# --- Means ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def dataset(project: Project) -> Dataset:
    return make_dataset(project)


def make_seed(dataset: Dataset, name: str) -> Response:
    return make_response(make_item(dataset, name), f"Seed of {name}.", "seed")


def judged(campaign: Campaign, ratings: dict[str, list[float]]) -> dict[str, Response]:
    """Rate a seed for each name; each of its ratings is by another rater."""
    seeds = {name: make_seed(campaign.dataset, name) for name in ratings}
    for name, values in ratings.items():
        for number, value in enumerate(values):
            rate(campaign, f"rater {number}", seeds[name], value)
    return seeds


FIVE = {  # three ratings each, worked by hand: means 5, 4, 11/3, 4.5 of two, none, 1
    "a": [5, 5, 5],
    "b": [3, 4, 5],
    "c": [3, 4, 4],
    "d": [4, 5],
    "e": [],
    "f": [1, 1, 1],
}


@pytest.fixture
def campaign(dataset: Dataset) -> Campaign:
    """Every rating has its own unit; a third unit of d has no rating."""
    campaign = make_campaign(dataset)
    seeds = judged(campaign, FIVE)
    unit = Unit.objects.create(campaign=campaign, item=seeds["d"].item, position=campaign.units.count())
    UnitResponse.objects.create(unit=unit, response=seeds["d"], number=0)
    return campaign


def select(campaign: Campaign, **options: Any) -> SeedSelection:
    more = {name: options.pop(name) for name in ("again", "by") if name in options}
    usual = {"dataset": campaign.dataset, "campaigns": [campaign], "threshold": 4.0, "shares": HALVES, "seed": 1}
    return seeds_select(rules=SelectionRules.of(**{**usual, **options}), **more)


def names(selection: SeedSelection) -> list[str]:
    return sorted(selection.members.values_list("item__external_id", flat=True))


def test_means_are_exact(dataset: Dataset) -> None:
    campaign = make_campaign(dataset, criteria={"grade": (0, 10)})
    seeds = judged(campaign, {"tenths": [0.1, 0.2, 0.3], "thirds": [1, 1, 2]})
    means = exact_means([campaign], [seed.pk for seed in seeds.values()])
    assert means[seeds["tenths"].pk] == (Fraction(1, 5), 3)  # as floats: 0.20000000000000004
    assert means[seeds["thirds"].pk] == (Fraction(4, 3), 3)
    assert names(select(campaign, threshold=0.2)) == ["tenths", "thirds"]


def test_a_judgement_is_the_mean_of_its_criteria_and_counts_only_if_complete(dataset: Dataset) -> None:
    campaign = make_campaign(dataset, criteria={"one": (1, 5), "two": (1, 5)})
    seed = make_seed(dataset, "x")
    rate(campaign, "amy", seed, 4, 5)
    rate(campaign, "bob", seed, 1)
    assert exact_means([campaign], [seed.pk]) == {seed.pk: (Fraction(9, 2), 1)}


def test_excluded_raters_corrections_and_extra_ratings_count_as_in_releases(dataset: Dataset) -> None:
    campaign = make_campaign(dataset)
    seed = make_seed(dataset, "x")
    (first,) = rate(campaign, "amy", seed, 1)
    first.presentation.campaign.ratings.create(
        presentation=first.presentation,
        response=seed,
        rater=first.rater,
        criterion=first.criterion,
        value=5,
        revision=1,
        sent_at=first.sent_at,
    )
    rate(campaign, "bob", seed, 1, extra=True)
    rate(campaign, "eve", seed, 1)
    Participation.objects.create(
        campaign=campaign, rater=make_rater(dataset.project, "eve"), order_seed=1, excluded_at=timezone.now()
    )
    assert exact_means([campaign], [seed.pk]) == {seed.pk: (Fraction(5), 1)}


def test_the_best_ranked_of_several_originals_is_the_seed(dataset: Dataset) -> None:
    item = make_item(dataset, "x")
    for rank, text in ((2, "second"), (1, "first"), (None, "unranked")):
        make_response(item, text).sources.create(item=item, kind="seed", rank=rank)
    ((seed,), several) = seed_rows(dataset)
    assert (Response.objects.get(pk=seed.response_id).text, several) == ("first", 1)


# --- Selecting --------------------------------------------------------------------------------------------------------


def test_seeds_at_or_above_the_threshold_are_selected_and_split(campaign: Campaign, manager: User) -> None:
    selection = select(campaign, by=manager)
    assert names(selection) == ["a", "b", "d"]
    member = selection.members.get(item__external_id="d")
    assert (member.rating_mean, member.n_ratings, member.response.text) == (4.5, 2, "Seed of d.")
    splits = dict(Item.objects.filter(dataset=campaign.dataset).values_list("external_id", "split"))
    assert Counter(splits.values()) == {"": 3, "dev": 2, "test": 1}
    assert {name: splits[name] for name in "abd"} == dict(selection.members.values_list("item__external_id", "split"))
    report = selection.report
    counted = {"candidates": 6, "rated": 5, "unrated": 1, "rated_less": 1, "kept": 3, "kept_rated_less": 1}
    assert {name: report[name] for name in counted} == counted
    assert report["splits"] == {"dev": 2, "test": 1}
    assert report["distribution"] == [[1, 1, 1], [11 / 3, 11 / 3, 1], [4, 4, 1], [4.5, 4.5, 1], [5, 5, 1]]
    entry = campaign.project.audit_entries.get(verb="seeds.select")
    assert entry.summary == "Selected 3 of 6 seeds of “Replies” with a mean of at least 4: dev 2, test 1."


def test_seeds_with_too_few_ratings_are_left_out(campaign: Campaign) -> None:
    selection = select(campaign, min_ratings=3)
    assert names(selection) == ["a", "b"]
    assert (selection.report["too_few"], selection.report["rated"]) == (1, 5)


def test_the_preview_counts_seeds_for_each_threshold(campaign: Campaign) -> None:
    rules = SelectionRules.of(dataset=campaign.dataset, campaigns=[campaign], threshold=3.7, shares=HALVES)
    preview = seeds_preview(rules)
    levels = {float(level): n for level, n in preview.levels}
    assert levels == {1.5: 4, 2: 4, 2.5: 4, 3: 4, 3.5: 4, 3.7: 3, 4: 3, 4.5: 2, 5: 1}
    assert (preview.kept, preview.sizes, preview.kept_rated_less) == (3, {"dev": 2, "test": 1}, 1)
    assert not SeedSelection.objects.exists()
    assert thresholds(0, 100)[:2] == [Fraction(25, 2), 25]


def test_4232_seeds_are_split_into_reproducible_halves(dataset: Dataset) -> None:
    """Galley et al. (2015), section 4.1. The split is recomputed from the docstring of ``assign_splits``."""
    campaign = make_campaign(dataset)
    items = Item.objects.bulk_create(
        Item(dataset=dataset, external_id=f"t{n}", position=n, message="?") for n in range(4300)
    )
    texts = Response.objects.bulk_create(Response(item=item, text="x", text_key=f"{item.pk:064}") for item in items)
    ResponseSource.objects.bulk_create(
        ResponseSource(response=response, item_id=response.item_id, kind="seed") for response in texts
    )
    rate_many(campaign, texts[:4232], 4)
    rate_many(campaign, texts[4232:], 3)
    selection = select(campaign, seed=20150726)
    assert selection.report["splits"] == {"dev": 2116, "test": 2116}

    def key(index: int) -> int:
        return int.from_bytes(hashlib.sha256(f"[20150726, {index}]".encode()).digest()[:8], "big") % 2**63

    names_kept = sorted(f"t{n}" for n in range(4232))
    shuffled = [names_kept[index] for index in sorted(range(4232), key=key)]
    expected = dict.fromkeys(shuffled[:2116], "dev") | dict.fromkeys(shuffled[2116:], "test")
    assert dict(selection.members.values_list("item__external_id", "split")) == expected
    assert Item.objects.filter(dataset=dataset, split="").count() == 68


def rate_many(campaign: Campaign, responses: list[Response], value: int) -> None:
    """One rating each, by one rater, in bulk."""
    rater, criterion = make_rater(campaign.project, "amy"), campaign.criteria.get()
    first = campaign.units.count()
    units = Unit.objects.bulk_create(
        Unit(campaign=campaign, item_id=response.item_id, position=first + n) for n, response in enumerate(responses)
    )
    UnitResponse.objects.bulk_create(
        UnitResponse(unit=unit, response=response, number=0) for unit, response in zip(units, responses, strict=True)
    )
    shown = Presentation.objects.bulk_create(
        Presentation(campaign=campaign, unit=unit, rater=rater, outcome="imported", order=[0]) for unit in units
    )
    Rating.objects.bulk_create(
        Rating(
            campaign=campaign,
            presentation=presentation,
            response=text,
            rater=rater,
            criterion=criterion,
            value=value,
            sent_at=timezone.now(),
        )
        for presentation, text in zip(shown, responses, strict=True)
    )


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"threshold": 5.5}, "threshold", "Found 5.5; accepted: 1 to 5"),
        ({"shares": {"dev": 0.5}}, "shares", "The shares add up to 0.5; accepted: 1"),
        ({"shares": {" dev": 1}}, "shares", "a split named ' dev'"),
        ({"shares": {}}, "shares", "Found no split"),
        ({"seed": -1}, "seed", "Found -1"),
        ({"min_ratings": 0}, "min_ratings", "Found 0"),
        ({"min_ratings": 4}, "threshold", "none has 4 ratings that count"),
        ({"campaigns": []}, "campaigns", "Found none"),
    ],
)
def test_invalid_selections_are_refused_and_nothing_is_written(
    campaign: Campaign, change: dict[str, Any], field: str, message: str
) -> None:
    with pytest.raises(AnnotationError, match=message) as refused:
        select(campaign, **change)
    assert list(refused.value.fields) == [field]
    assert not SeedMember.objects.exists()
    assert not Item.objects.exclude(split="").exists()


def test_a_selection_without_any_seed_is_refused(dataset: Dataset) -> None:
    campaign = make_campaign(dataset)
    judged(campaign, {"a": [3, 4]})
    with pytest.raises(AnnotationError, match=r"mean of 4 or more: the best mean is 3\.5"):
        select(campaign)


def test_campaigns_that_cannot_be_averaged_are_refused(campaign: Campaign, dataset: Dataset) -> None:
    wider = make_campaign(dataset, name="Wider", criteria={"quality": (1, 7)})
    with pytest.raises(AnnotationError, match="must share one scale"):
        select(campaign, campaigns=[campaign, wider])
    magnitude = make_campaign(dataset, name="Relative")
    magnitude.criteria.update(kind="magnitude", standard_source="seed", standard_value=100)
    with pytest.raises(AnnotationError, match="rates a text relative to another"):
        select(campaign, campaigns=[magnitude])
    other_campaign = make_campaign(make_dataset(dataset.project, "other"), name="Other")
    with pytest.raises(AnnotationError, match="rates another data set"):
        select(campaign, campaigns=[other_campaign])
    drafted = make_campaign(dataset, name="Draft", state=CampaignState.DRAFT, launched_at=None, design_hash="")
    with pytest.raises(AnnotationError, match="is a draft"):
        select(campaign, campaigns=[drafted])


def test_uploaded_splits_are_not_overwritten(campaign: Campaign) -> None:
    Item.objects.filter(external_id="f").update(split="train")
    with pytest.raises(AnnotationError, match="were uploaded with splits: train"):
        select(campaign)
    assert Item.objects.get(external_id="f").split == "train"


# --- Once -------------------------------------------------------------------------------------------------------------


def test_a_second_selection_needs_the_option_again(campaign: Campaign) -> None:
    first = select(campaign)
    with pytest.raises(AnnotationError, match=r"were selected on .*; accepted: once"):
        select(campaign, threshold=5)
    assert SeedSelection.objects.get() == first
    second = select(campaign, threshold=5, shares={"dev": 1}, again=True)
    assert SeedSelection.objects.get() == second
    assert dict(Item.objects.exclude(split="").values_list("external_id", "split")) == {"a": "dev"}
    assert campaign.project.audit_entries.filter(verb="seeds.select_again").count() == 1


def test_removing_a_selection_removes_its_splits(campaign: Campaign, manager: User) -> None:
    seeds_unselect(selection=select(campaign), by=manager)
    assert not SeedSelection.objects.exists()
    assert not Item.objects.exclude(split="").exists()
    assert campaign.project.audit_entries.get(verb="seeds.unselect").actor == manager


def mined(selection: SeedSelection) -> None:
    corpus = Corpus.objects.create(project=selection.project, name="Talk", slug="talk")
    MiningRun.objects.create(project=selection.project, dataset=selection.dataset, corpus=corpus)


def rated_in_a_split(selection: SeedSelection) -> None:
    make_campaign(selection.dataset, name="Of dev", split="dev")


def rated_again(selection: SeedSelection) -> None:
    campaign_launch(campaign=seeds_rate_again(selection=selection))


@pytest.mark.parametrize(
    ("use_selection", "reason"),
    [
        (mined, "1 mining run for its seeds"),
        (rated_in_a_split, "the campaign “Of dev”"),
        (rated_again, "the campaign “Seeds of Replies”"),
    ],
)
def test_a_selection_in_use_cannot_be_changed(campaign: Campaign, use_selection: Any, reason: str) -> None:
    selection = select(campaign)
    assert selection_uses(selection) == []
    use_selection(selection)
    for attempt in (lambda: select(campaign, threshold=5, again=True), lambda: seeds_unselect(selection=selection)):
        with pytest.raises(AnnotationError, match=f"can no longer change: it is used by {reason}"):
            attempt()
    assert names(SeedSelection.objects.get()) == ["a", "b", "d"]


def test_drafts_and_cancelled_runs_do_not_use_a_selection(campaign: Campaign) -> None:
    selection = select(campaign)
    seeds_rate_again(selection=selection)
    mined(selection)
    MiningRun.objects.update(state=JobState.CANCELLED, finished_at=timezone.now())
    assert selection_uses(selection) == []
    assert select(campaign, again=True).pk != selection.pk


# --- Rated again, and fallen ------------------------------------------------------------------------------------------


def test_every_selected_seed_gets_two_more_ratings(campaign: Campaign, manager: User) -> None:
    selection = select(campaign)
    draft = seeds_rate_again(selection=selection, by=manager)
    assert (draft.ratings_per_unit, draft.target, draft.response_list.name) == (2, "listed", "Seeds of Replies")
    assert set(draft.response_list.responses.values_list("pk", flat=True)) == set(
        selection.members.values_list("response_id", flat=True)
    )
    assert [criterion.question for criterion in draft.criteria.all()] == [
        criterion.question for criterion in campaign.criteria.all()
    ]
    second_draft = seeds_rate_again(selection=selection, ratings_per_unit=1, by=manager)
    assert second_draft.response_list == draft.response_list
    assert campaign_launch(campaign=draft).slots.count() == 6


def test_a_list_with_the_origin_of_a_selection_is_not_reused(campaign: Campaign) -> None:
    """The origin of a list is set by its creator, or by a file from another server with other ids."""
    selection = select(campaign)
    one_response = selection.members.order_by("pk").values_list("response_id", flat=True)[:1]
    origin = {"kind": "seeds", "selection": selection.pk, "threshold": 1}
    response_list_create(dataset=selection.dataset, name="Not all", responses=one_response, origin=origin)
    draft = seeds_rate_again(selection=selection)
    assert draft.response_list.responses.count() == selection.members.count() > 1


def test_seeds_rated_in_pairs_need_a_model(campaign: Campaign) -> None:
    selection = select(campaign)
    Campaign.objects.filter(pk=campaign.pk).update(presentation="pair")
    with pytest.raises(AnnotationError, match="were rated in pairs"):
        seeds_rate_again(selection=selection)


def test_a_seed_that_falls_below_the_threshold_is_kept_and_marked(campaign: Campaign) -> None:
    selection = select(campaign)
    more = campaign_launch(campaign=seeds_rate_again(selection=selection))
    b = selection.members.get(item__external_id="b").response
    for rater, value in (("x", 4), ("y", 3)):  # 3, 4, 5, 4, 3: a mean of 3.8
        rate(more, rater, b, value)
    other_campaign = make_campaign(campaign.dataset, name="Fluency", criteria={"fluency": (1, 5)})
    rate(other_campaign, "x", b, 5)  # another question
    now = means_now(selection)
    assert now[b.pk] == (Fraction(19, 5), 5)
    fallen = {pk for pk, mean in now.items() if has_fallen(selection, mean)}
    assert fallen == {b.pk}
    assert names(selection) == ["a", "b", "d"]
    (member,), after = members_page(selection, split="", among=fallen, after=None, size=10)
    assert (member.response, after) == (b, None)


def test_members_are_paged_by_split_in_the_order_of_the_items(campaign: Campaign) -> None:
    selection = select(campaign, shares={"dev": 1})
    item_ids, after = [], None
    for _ in range(3):
        page, after = members_page(selection, split="dev", among=None, after=after, size=1)
        item_ids += [member.item.external_id for member in page]
    assert (item_ids, after) == (["a", "b", "d"], None)
    assert members_page(selection, split="test", among=None, after=None, size=1) == ([], None)


def released(campaign: Campaign, *more: Campaign) -> Release:
    reference_set = reference_set_create(
        dataset=campaign.dataset,
        name=f"Set {Release.objects.count()}",
        campaigns=[campaign, *more],
        source_kinds=["seed"],
    )
    release = release_create(reference_set=reference_set)
    release_build(release_id=release.pk)
    release.refresh_from_db()
    assert release.state == JobState.DONE, release.error
    return release


def test_a_release_lists_the_seeds_that_fell(campaign: Campaign) -> None:
    assert fallen_seeds(released(campaign)) == set()  # nothing was selected
    selection = select(campaign)
    assert fallen_seeds(released(campaign)) == set()
    more = campaign_launch(campaign=seeds_rate_again(selection=selection))
    b = selection.members.get(item__external_id="b").response
    rate(more, "x", b, 3)
    assert fallen_seeds(released(campaign, more)) == {b.pk}


def test_seeds_cannot_fall_on_another_scale(campaign: Campaign, dataset: Dataset) -> None:
    selection = select(campaign)
    other_campaign = make_campaign(dataset, name="Wide", criteria={"quality": (1, 7)})
    for member in selection.members.all():
        rate(other_campaign, "x", member.response, 2)
    release = released(other_campaign)
    assert ReleaseWeight.objects.filter(release=release, rating_mean__lt=4).count() == 3
    assert fallen_seeds(release) == set()


def test_data_sets_and_campaigns_with_seeds_are_found(campaign: Campaign, dataset: Dataset) -> None:
    make_dataset(dataset.project, "plain")
    make_campaign(dataset, name="Empty")
    assert list(seed_campaigns(dataset)) == [campaign]
    assert list(seeded_datasets(dataset.project)) == [dataset]
    select(campaign)
    assert list(seeded_datasets(dataset.project)) == []


def test_many_different_means_are_binned() -> None:
    distribution = [(Fraction(n, 100), 1) for n in range(101)]
    steps = bars(distribution, 0, 1)
    assert (len(steps), sum(n for *_, n in steps), steps[0][:2], steps[-1][1]) == (30, 101, [0, 1 / 30], 1)


def test_seeds_of_two_campaigns_count_as_rated_less_until_both_are_done(campaign: Campaign, dataset: Dataset) -> None:
    b = Response.objects.get(text="Seed of b.")
    listed = response_list_create(dataset=dataset, name="B", responses=[b.pk], origin={})
    more = campaign_launch(campaign=campaign_for_list(response_list=listed, like=campaign, ratings_per_unit=2))
    rated = rated_seeds(dataset, [campaign, more])
    assert (rated.planned[b.pk], rated.means[b.pk].n) == (5, 3)
    assert rated.rated_less(rated.qualified({})) == 2
