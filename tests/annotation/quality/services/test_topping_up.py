"""More ratings where they decide: which items get them, what the record holds, and what raters are then handed."""

from collections import Counter

import numpy as np
import pytest
from django.urls import reverse

from annotation.core.errors import AnnotationError
from annotation.models import Campaign, Project, Slot, SlotState, Unit, User
from annotation.quality.selectors.monitoring.live import campaign_monitor
from annotation.quality.selectors.topping_up import Question, questions
from annotation.quality.services.amendments import chain_check
from annotation.quality.services.operations import campaign_extend, campaign_top_up, items_add, system_stop
from annotation.results.selectors.verdicts import compute_results
from tests.annotation.worlds.campaigns import add_response, make_campaign, make_dataset
from tests.annotation.worlds.close import make_rated, work

pytestmark = pytest.mark.django_db


@pytest.fixture
def rated(project: Project) -> Campaign:
    return make_rated(project)


def slots_by_label(campaign: Campaign) -> Counter[str]:
    return Counter(Slot.objects.filter(campaign=campaign).values_list("unit__label", flat=True))


def test_further_ratings_go_to_the_two_systems_in_question_and_raters_are_handed_exactly_those(
    rated: Campaign, manager: User
) -> None:
    assert questions(rated) == [Question("relevance", ("Cy", "Bo"))]
    amendment = campaign_top_up(campaign=rated, ratings=30, criterion="relevance", systems=["Bo", "Cy"], by=manager)
    counts = slots_by_label(rated)
    assert (counts["Ada"], counts["Bo"] + counts["Cy"]) == (36, 72 + 30)
    assert amendment.data | {"places_hash": ""} == {
        "question": "relevance: Bo and Cy",
        "places": 30,
        "units": amendment.data["units"],
        "floor": 3,
        "most": 9,
        "seed": rated.seed,
        "counted_ratings": 108,
        "places_hash": "",
    }
    assert chain_check(rated).broken is None
    before = campaign_monitor(rated)
    assert (before.slots_total, before.slots_done) == (138, 108)
    work(rated, 9)
    units = Unit.objects.filter(campaign=rated)
    assert all(unit.done_slots == unit.ratings_wanted for unit in units)
    assert {unit.ratings_wanted for unit in units.filter(label="Ada")} == {3}
    assert not Slot.objects.exclude(state=SlotState.DONE).exists()
    assert campaign_monitor(rated).slots_done == 138


def test_a_unit_with_more_ratings_weighs_no_more_in_results(rated: Campaign) -> None:
    """The oracle: the mean over items of means, by hand."""
    campaign_top_up(campaign=rated, ratings=7, criterion="relevance")
    work(rated, 4)
    (verdict,) = compute_results([rated]).criteria
    for system in verdict.systems:
        units = Unit.objects.filter(campaign=rated, label=system.name)
        by_item = [np.mean(unit.responses.get().ratings.values_list("value", flat=True)) for unit in units]
        assert system.estimate == pytest.approx(np.mean(by_item))
    assert len({system.ratings for system in verdict.systems}) > 1


def test_the_monitor_finds_the_same_differences_as_the_results_and_says_how_rough_a_forecast_is(
    rated: Campaign, manager, as_user
) -> None:
    (known,) = campaign_monitor(rated).figures.forecasts
    (verdict,) = compute_results([rated]).criteria
    assert known.n_certain == sum(pair.is_certain for pair in verdict.pairs) == 2
    (pair,) = known.pairs
    assert (pair.first, pair.second, known.planned) == ("Cy", "Bo", 0)
    (shown,) = [each for each in verdict.pairs if {each.first, each.second} == {"Bo", "Cy"}]
    assert pair.difference == pytest.approx(shown.difference)
    assert known.sentence.endswith(
        f" This is rough: it allows for the difference, {pair.difference:.2f} ± {pair.half_width:.2f} now, corrected "
        "for the number of differences, to turn out smaller or larger."
    )
    page = as_user(manager).get(reverse("annotation:campaign-monitor-fragment", args=[rated.project.slug, rated.pk]))
    text = page.content.decode()
    assert "all are in" in text, "no chance as planned where nothing is planned"
    assert "Chance as planned" in text


@pytest.mark.parametrize("presentation", ["pair", "list"])
def test_pairs_and_lists_are_topped_up_where_they_show_both_systems(project: Project, presentation: str) -> None:
    campaign = make_campaign(make_dataset(project, items=12), presentation=presentation, ratings_per_unit=2)
    work(campaign, 2)
    asked = questions(campaign)[-1]
    assert set(asked.systems) == {"Bo", "Cy"}
    campaign_top_up(campaign=campaign, ratings=10, criterion=asked.criterion, systems=asked.systems)
    raised = Unit.objects.filter(campaign=campaign, ratings_wanted__gt=2)
    assert sum(unit.ratings_wanted - 2 for unit in raised) == 10
    assert all({"Bo", "Cy"} <= {*unit.label.split(", ")} for unit in raised)
    work(campaign, 6)
    assert all(unit.done_slots == unit.ratings_wanted for unit in Unit.objects.filter(campaign=campaign))


def test_a_campaign_that_weighs_references_is_topped_up_where_ratings_are_fewest(project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=4), target="references", ratings_per_unit=2)
    assert questions(campaign) == [Question()]
    campaign_top_up(campaign=campaign, ratings=2)
    campaign_top_up(campaign=campaign, ratings=2)
    assert set(Unit.objects.filter(campaign=campaign).values_list("ratings_wanted", flat=True)) == {3}


def test_the_floor_comes_first_and_later_changes_keep_what_was_added(rated: Campaign) -> None:
    campaign_top_up(campaign=rated, ratings=40, criterion="relevance", floor=4, most=5)
    wanted = dict(Unit.objects.filter(campaign=rated).values_list("pk", "ratings_wanted"))
    assert Counter(wanted.values()) == {4: 32, 5: 4}
    amendment = campaign_extend(campaign=rated, ratings_per_unit=5)
    assert amendment.data["places"] == 32
    assert Counter(Slot.objects.values_list("unit", flat=True)) == dict.fromkeys(wanted, 5)
    item = rated.dataset.items.create(external_id="more", position=99, message="More?")
    add_response(item, "Number 99 is what oB would pick.", rated.dataset.systems.get(name="Bo"))
    items_add(campaign=rated)
    assert set(Unit.objects.filter(campaign=rated).values_list("ratings_wanted", flat=True)) == {5}


def test_stopped_units_get_nothing(rated: Campaign) -> None:
    system_stop(campaign=rated, system=rated.dataset.systems.get(name="Bo"))
    campaign_top_up(campaign=rated, ratings=5, criterion="relevance", systems=["Bo", "Cy"])
    assert {each.label for each in Unit.objects.filter(campaign=rated, ratings_wanted__gt=3)} == {"Cy"}


@pytest.mark.parametrize(
    ("choices", "field", "message"),
    [
        ({"ratings": 0}, "ratings", "Found 0; accepted: 1 or more."),
        ({"ratings": 9, "floor": 2}, "floor", "Found 2; accepted: 3, which every item has, to 100."),
        ({"ratings": 9, "most": 3}, "most", "Found 3; accepted: 4 to 100."),
        ({"ratings": 9, "floor": 4}, "ratings", "Found 9; accepted: 36 or more, to bring every item to 4 ratings."),
        ({"ratings": 999}, "ratings", "Found 999; accepted: up to 144, with at most 9 ratings of an item."),
        ({"ratings": 9, "criterion": "wit"}, "criterion", "Found 'wit'; accepted: relevance."),
        (
            {"ratings": 9, "systems": ["Ada", "Bo"]},
            "systems",
            "Found Ada, Bo; accepted are two whose order is open: Cy, Bo.",
        ),
    ],
)
def test_what_cannot_be_done_is_named_and_changes_nothing(
    rated: Campaign, choices: dict[str, object], field: str, message: str
) -> None:
    with pytest.raises(AnnotationError) as refused:
        campaign_top_up(campaign=rated, **{"criterion": "relevance", **choices})
    assert message in str(refused.value)
    assert Slot.objects.count() == 108
