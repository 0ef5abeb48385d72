"""Seeds are selected by their means and split reproducibly; a selection in use does not change."""

import hashlib
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from django.utils import timezone

from annotation.campaigns.services.lifecycle import campaign_launch
from annotation.core.errors import AnnotationError
from annotation.models import (
    Campaign,
    CampaignState,
    Corpus,
    Dataset,
    Item,
    JobState,
    MiningRun,
    Presentation,
    Rating,
    Response,
    ResponseSource,
    SeedMember,
    SeedSelection,
    Unit,
    UnitResponse,
    User,
)
from annotation.seeds.selectors import (
    selection_uses,
    thresholds,
)
from annotation.seeds.services.rating_again import seeds_rate_again
from annotation.seeds.services.selections import SelectionRules, seeds_preview, seeds_unselect
from tests.annotation.seeds.judged import HALVES, judged, names, select
from tests.annotation.worlds.rated import make_campaign, make_dataset, make_rater


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
