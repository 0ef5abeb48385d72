import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from annotation.allocation.handout import Candidate, next_unit, systems_to_avoid
from annotation.campaigns.services.lifecycle import campaign_close, campaign_pause, campaign_resume
from annotation.core.errors import AnnotationError
from annotation.models import (
    Campaign,
    Participation,
    Presentation,
    PresentationOutcome,
    Project,
    Rater,
    Rating,
    Slot,
    SlotState,
    System,
    Unit,
)
from annotation.rating.services.handout import slots_sweep, unit_request, unit_return
from annotation.rating.services.raters import rater_create
from tests.annotation.worlds.campaigns import answer, join, make_campaign, make_dataset, rate_next


def shorten_leases(campaign: Campaign, seconds: float = 0.3) -> None:
    """Let leases end in some seconds, by the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE annotation_slot SET expires_at = statement_timestamp() + make_interval(secs => %s)"
            " WHERE campaign_id = %s AND state = 'leased'",
            [seconds, campaign.pk],
        )


def lapse(campaign: Campaign) -> None:
    shorten_leases(campaign, -1)


@pytest.mark.django_db(transaction=True)
def test_fifty_concurrent_raters_fill_every_slot_once_and_none_rates_a_unit_twice(project: Project) -> None:
    dataset = make_dataset(project, items=10)
    campaign = make_campaign(dataset, ratings_per_unit=5)  # 30 units x 5 slots
    raters = [join(campaign) for _ in range(50)]
    start = Barrier(len(raters))

    def work(rater: Rater) -> int:
        done = 0
        try:
            start.wait(30)
            while rate_next(campaign, rater) is not None:
                done += 1
        finally:
            connection.close()
        return done

    with ThreadPoolExecutor(len(raters)) as pool:
        done = list(pool.map(work, raters))  # a deadlock or a broken constraint would be raised here

    slots = Slot.objects.filter(campaign=campaign)
    assert sum(done) == slots.count() == 150
    assert set(slots.values_list("state", flat=True)) == {SlotState.DONE}
    assert set(Unit.objects.filter(campaign=campaign).values_list("done_slots", flat=True)) == {5}
    submitted = Presentation.objects.filter(campaign=campaign, outcome=PresentationOutcome.SUBMITTED)
    assert max(Counter(submitted.values_list("unit", "rater")).values()) == 1
    assert sorted(submitted.values_list("slot", flat=True)) == sorted(slots.values_list("pk", flat=True))
    assert Rating.objects.filter(campaign=campaign, extra=False).count() == 150


@pytest.mark.django_db(transaction=True)
def test_a_lapsed_lease_goes_to_another_rater_and_the_late_answer_is_stored_as_extra(
    project: Project,
) -> None:
    campaign = make_campaign(make_dataset(project, items=1, systems=["Ada"]), ratings_per_unit=1, lease_seconds=5)
    slow, quick = join(campaign), join(campaign)
    held = unit_request(campaign=campaign, rater=slow)
    assert held is not None
    shorten_leases(campaign, 0.5)
    assert unit_request(campaign=campaign, rater=quick) is None  # still held

    time.sleep(0.7)
    handed_out = unit_request(campaign=campaign, rater=quick)
    assert handed_out is not None
    assert (handed_out.unit_id, handed_out.slot_id) == (held.unit_id, held.slot_id)
    held.refresh_from_db()
    assert held.outcome == PresentationOutcome.LAPSED

    late_answer = answer(held, value=1)
    assert late_answer.extra
    assert not answer(handed_out, value=5).extra
    assert list(Rating.objects.order_by("id").values_list("value", "extra")) == [(1.0, True), (5.0, False)]
    assert Unit.objects.get().done_slots == 1


@pytest.mark.django_db
def test_a_late_answer_counts_while_no_other_rater_has_the_slot(project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=2, systems=["Ada"]), ratings_per_unit=1)
    first, second = join(campaign), join(campaign)
    lapsed, swept = unit_request(campaign=campaign, rater=first), unit_request(campaign=campaign, rater=second)
    assert lapsed is not None
    assert swept is not None
    lapse(campaign)
    assert not answer(lapsed).extra
    assert slots_sweep() == 1
    assert slots_sweep() == 0
    swept.refresh_from_db()
    assert swept.outcome == PresentationOutcome.LAPSED
    assert not answer(swept).extra
    assert set(Slot.objects.values_list("state", flat=True)) == {SlotState.DONE}
    assert set(Unit.objects.values_list("done_slots", flat=True)) == {1}


@pytest.mark.django_db
def test_reloading_shows_the_same_presentation_in_the_same_order(project: Project) -> None:
    campaign = make_campaign(make_dataset(project), presentation="pair")
    rater = join(campaign)
    first = unit_request(campaign=campaign, rater=rater)
    second = unit_request(campaign=campaign, rater=rater)
    assert first is not None
    assert first == second
    assert first.order == second.order
    assert Slot.objects.filter(rater=rater).count() == Presentation.objects.count() == 1


@pytest.mark.django_db
def test_a_lapsed_unit_returns_to_its_rater_after_all_others_and_a_returned_one_never_does(project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=4, systems=["Ada"]))
    rater = join(campaign)
    lapsed = unit_request(campaign=campaign, rater=rater)
    lapse(campaign)
    returned = unit_request(campaign=campaign, rater=rater)
    assert lapsed is not None
    assert returned is not None
    assert unit_return(presentation=returned)
    assert not unit_return(presentation=returned)  # once is enough
    assert Slot.objects.get(pk=returned.slot_id).state == SlotState.RETURNED

    presentations = [rate_next(campaign, rater) for _ in range(4)]
    units = [presentation.unit_id if presentation else None for presentation in presentations]
    others = set(campaign.units.values_list("pk", flat=True)) - {lapsed.unit_id, returned.unit_id}
    assert set(units[:2]) == others
    assert units[2:] == [lapsed.unit_id, None]


@pytest.mark.django_db
def test_the_database_chooses_the_unit_that_the_pure_rule_chooses(project: Project) -> None:
    """The oracle is annotation.allocation.next_unit, given the state before each request."""
    dataset = make_dataset(project, items=5, systems=["Ada", "Bo", "Cy", "Di"])
    campaign = make_campaign(dataset, ratings_per_unit=3, presentation="pair")
    raters = [join(campaign) for _ in range(4)]
    shown: dict[int, list[list[int]]] = {rater.pk: [] for rater in raters}
    for step in range(50):
        rater = raters[step * 7 % 4]
        presented = Presentation.objects.filter(rater=rater).values("unit")
        candidates = [
            Candidate(unit.position, unit.slots.exclude(state=SlotState.OPEN).count(), unit.systems)
            for unit in campaign.units.exclude(pk__in=presented)
            if unit.slots.filter(state=SlotState.OPEN).exists()
        ]
        seed = Participation.objects.get(campaign=campaign, rater=rater).order_seed
        avoid = systems_to_avoid(shown[rater.pk][::-1], n_responses=2, n_systems=4)
        expected = next_unit(candidates, rater_seed=seed, avoid=avoid)
        presentation = unit_request(campaign=campaign, rater=rater)
        assert (presentation and presentation.unit.position) == (expected and expected.unit)
        if presentation is None:
            continue
        shown[rater.pk].append(presentation.unit.systems)
        if step % 3:
            answer(presentation)
        else:  # another rater holds the slot: a held slot counts as filled
            Slot.objects.filter(pk=presentation.slot_id).update(rater=rater_create(project=project))
    assert Slot.objects.filter(state=SlotState.OPEN).count() == 90 - 50


@pytest.mark.django_db
def test_no_rater_gets_a_system_twice_in_a_row_while_another_is_left(project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=8, systems=["Ada", "Bo", "Cy", "Di"]), ratings_per_unit=1)
    names = dict(System.objects.values_list("pk", "name"))
    rater = join(campaign)
    shown_systems: list[str] = []
    remaining = Counter(names[systems[0]] for systems in campaign.units.values_list("systems", flat=True))
    while (presentation := rate_next(campaign, rater)) is not None:
        system = names[presentation.unit.systems[0]]
        if shown_systems and system == shown_systems[-1]:
            assert set(+remaining) == {system}, f"{system} again although {remaining} were waiting"
        remaining[system] -= 1
        shown_systems.append(system)
    assert len(shown_systems) == 32


@pytest.mark.django_db
@pytest.mark.parametrize("k", [4, 5])
def test_each_pair_is_shown_in_both_orders_equally_often(project: Project, k: int) -> None:
    campaign = make_campaign(make_dataset(project, items=3), presentation="pair", ratings_per_unit=k)
    for _ in range(k):
        rater = join(campaign)
        while rate_next(campaign, rater) is not None:
            pass
    orders: dict[int, Counter[tuple[int, ...]]] = defaultdict(Counter)
    for unit, order in Presentation.objects.values_list("unit", "order"):
        orders[unit][tuple(order)] += 1
    assert len(orders) == 9
    for counts in orders.values():
        assert sorted(counts) == [(0, 1), (1, 0)]
        assert max(counts.values()) - min(counts.values()) == k % 2
    for response, position, criterion in Rating.objects.values_list("response", "position", "criterion")[:5]:
        shown = Presentation.objects.filter(ratings__response=response, ratings__position=position)
        number = Unit.objects.get(presentations=shown[0]).unit_responses.get(response=response).number
        assert shown[0].order[position] == number, criterion


@pytest.mark.django_db
def test_a_paused_campaign_accepts_answers_to_held_units_only_and_a_closed_one_none(
    project: Project,
) -> None:
    campaign = make_campaign(make_dataset(project))
    first_rater, second_rater = join(campaign), join(campaign)
    first, second = (
        unit_request(campaign=campaign, rater=first_rater),
        unit_request(campaign=campaign, rater=second_rater),
    )
    assert first is not None
    assert second is not None
    campaign_pause(campaign=campaign)
    assert unit_request(campaign=campaign, rater=first_rater) is None
    assert answer(first).written == 1
    campaign_resume(campaign=campaign)
    assert unit_request(campaign=campaign, rater=second_rater) == second
    campaign_close(campaign=campaign)
    assert unit_request(campaign=campaign, rater=second_rater) is None
    with pytest.raises(AnnotationError, match="has been closed"):
        answer(second)
    assert Rating.objects.count() == 1


@pytest.mark.django_db
def test_a_rater_gets_no_more_than_the_campaign_allows_and_only_after_agreeing(project: Project) -> None:
    campaign = make_campaign(make_dataset(project), max_units_per_rater=3)
    rater = join(campaign)
    assert [rate_next(campaign, rater) is not None for _ in range(4)] == [True, True, True, False]
    with pytest.raises(AnnotationError, match="has not agreed"):
        unit_request(campaign=campaign, rater=rater_create(project=project))


@pytest.mark.django_db
def test_units_outside_the_window_are_handed_out_when_the_window_is_used_up(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.rating.services.handout.WINDOW", 3)
    campaign = make_campaign(make_dataset(project, items=10), ratings_per_unit=1)
    rater = join(campaign)
    done = 0
    while rate_next(campaign, rater) is not None:
        done += 1
    assert done == 30
