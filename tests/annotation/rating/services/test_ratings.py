import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier, Event

import pytest
from django.db import OperationalError, connection, transaction
from django.db.models.functions import Now

from annotation.core.errors import AnnotationError
from annotation.models import Campaign, Presentation, PresentationOutcome, Project, Rating, Slot, SlotState, Unit
from annotation.quality.services.decisions import cannot_judge_reopen, rater_exclude, rater_include
from annotation.rating.selectors.ratings import current_ratings
from annotation.rating.services.handout import slots_sweep, unit_request, unit_return
from annotation.rating.services.raters import participation_start
from annotation.rating.services.ratings import Submission, SubmissionRefused, ratings_await, ratings_submit
from tests.annotation.worlds.campaigns import INFORMATIVENESS, RELEVANCE, answer, join, make_campaign, make_dataset


@pytest.fixture
def presentation(project: Project) -> Presentation:
    """A pair rated on two criteria: four values."""
    campaign = make_campaign(make_dataset(project), presentation="pair", criteria=[RELEVANCE, INFORMATIVENESS])
    presentation = unit_request(campaign=campaign, rater=join(campaign))
    assert presentation is not None
    return presentation


VALUES = {(0, "relevance"): 4, (0, "informativeness"): 2, (1, "relevance"): 1, (1, "informativeness"): 5}


def submit(presentation: Presentation, values: dict[tuple[int, str], object]) -> Submission:
    return ratings_submit(token=presentation.token, rater=presentation.rater, values=values)


def test_an_answer_is_stored_per_response_and_criterion_with_its_place_on_screen(presentation: Presentation) -> None:
    assert submit(presentation, {**VALUES, (0, "relevance"): "4"}).written == 4
    shown = [presentation.unit.unit_responses.get(number=number).response for number in presentation.order]
    stored = Rating.objects.values_list("position", "criterion__name", "response", "value", "revision", "extra")
    assert set(stored) == {
        (position, name, shown[position].pk, float(value), 0, False) for (position, name), value in VALUES.items()
    }
    slot = Slot.objects.get(pk=presentation.slot_id)
    assert (slot.state, slot.rater, slot.token, slot.expires_at) == (
        SlotState.DONE,
        presentation.rater,
        presentation.token,
        None,
    )
    assert Unit.objects.get(pk=presentation.unit_id).done_slots == 1


def test_the_same_answer_twice_is_one_rating_and_another_one_a_correction(presentation: Presentation) -> None:
    submit(presentation, VALUES)
    ended = Presentation.objects.get(pk=presentation.pk).ended_at
    again = submit(presentation, VALUES)
    assert (again.written, again.correction) == (0, True)
    corrected = submit(presentation, {**VALUES, (1, "relevance"): 3})
    assert corrected.written == 1
    back = submit(presentation, VALUES)
    assert back.written == 1
    changed = Rating.objects.filter(position=1, criterion__name="relevance").order_by("revision")
    assert list(changed.values_list("revision", "value")) == [(0, 1.0), (1, 3.0), (2, 1.0)]
    current = current_ratings([presentation.campaign])
    assert {(rating.position, rating.criterion.name): rating.value for rating in current} == VALUES
    assert Unit.objects.get(pk=presentation.unit_id).done_slots == 1
    assert Presentation.objects.get(pk=presentation.pk).ended_at == ended  # the time of the first answer


@pytest.mark.django_db(transaction=True)
def test_sending_twice_at_the_same_moment_is_one_rating(presentation: Presentation) -> None:
    start = Barrier(8)

    def send(_: int) -> int:
        try:
            start.wait(30)
            return submit(presentation, VALUES).written
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        written = sorted(pool.map(send, range(8)))
    assert written == [0] * 7 + [4]
    assert Rating.objects.count() == 4
    assert Unit.objects.get(pk=presentation.unit_id).done_slots == 1


@pytest.mark.parametrize("found", [0, 6, "6", "three", 2.5, "", None, True, float("nan"), 10**400, [3]])
def test_a_value_off_the_scale_is_refused_with_field_found_and_accepted(
    presentation: Presentation, found: object
) -> None:
    with pytest.raises(AnnotationError, match="a whole number from 1 to 5") as refused:
        submit(presentation, {**VALUES, (1, "relevance"): found})
    assert list(refused.value.fields) == ["r1-relevance"]
    assert Rating.objects.count() == 0
    assert Presentation.objects.get().outcome == PresentationOutcome.SHOWN


def test_values_for_other_criteria_or_positions_are_refused(presentation: Presentation) -> None:
    with pytest.raises(AnnotationError) as refused:
        submit(presentation, {**VALUES, (2, "relevance"): 3, (0, "humour"): 3})
    assert set(refused.value.fields) == {"r2-relevance", "r0-humour"}


def test_a_foreign_unit_is_refused(presentation: Presentation) -> None:
    other = join(presentation.campaign)
    for token in (presentation.token, uuid.uuid4()):
        with pytest.raises(SubmissionRefused, match="not handed out to you"):
            ratings_submit(token=token, rater=other, values=VALUES)
    assert Rating.objects.count() == 0


def test_a_rater_who_gave_a_unit_back_may_still_answer_while_its_place_is_free(presentation: Presentation) -> None:
    unit_return(presentation=presentation)
    assert not submit(presentation, VALUES).extra
    assert Slot.objects.get(pk=presentation.slot_id).token == presentation.token


def test_a_correction_of_a_late_answer_is_late_too(project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=1, systems=["Ada"]), ratings_per_unit=1)
    late = unit_request(campaign=campaign, rater=join(campaign))
    assert late is not None
    unit_return(presentation=late)
    taken = unit_request(campaign=campaign, rater=join(campaign))
    assert taken is not None
    assert answer(late, 2).extra
    assert answer(late, 4).extra
    answer(taken, 5)
    assert list(Rating.objects.order_by("id").values_list("value", "revision", "extra")) == [
        (2.0, 0, True),
        (4.0, 1, True),
        (5.0, 0, False),
    ]


@pytest.mark.django_db(transaction=True)
def test_a_snapshot_waits_for_answers_on_their_way_in(presentation: Presentation) -> None:
    written, go_on = Event(), Event()

    def submit_slowly() -> None:
        try:
            with transaction.atomic():
                submit(presentation, VALUES)
                written.set()
                go_on.wait(30)
        finally:
            connection.close()

    def snapshot() -> int:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '100ms'")
            ratings_await(campaigns=[presentation.campaign])
            return Rating.objects.filter(campaign=presentation.campaign).count()

    with ThreadPoolExecutor(1) as pool:
        submitted = pool.submit(submit_slowly)
        assert written.wait(30)
        with pytest.raises(OperationalError, match="lock timeout"):
            snapshot()
        go_on.set()
        submitted.result(30)
    assert snapshot() == 4


def lapsed(presentation: Presentation) -> Presentation:
    """Its lease has run out and was put back."""
    Slot.objects.filter(pk=presentation.slot_id).update(expires_at=Now() - timedelta(seconds=1))
    assert slots_sweep() == 1
    return presentation


@pytest.mark.django_db
@pytest.mark.parametrize("opened_by", ["cannot judge", "replacing"])
def test_a_unit_that_came_back_to_its_rater_counts_once_even_where_its_place_was_opened_again(
    project: Project, opened_by: str
) -> None:
    campaign = make_campaign(make_dataset(project, items=1, systems=["Ada", "Bo"]), presentation="pair")
    Campaign.objects.filter(pk=campaign.pk).update(cannot_judge_reasons=["Garbled"])
    campaign.refresh_from_db()
    rater = join(campaign)
    first = unit_request(campaign=campaign, rater=rater)
    assert first is not None
    lapsed(first)
    again = unit_request(campaign=campaign, rater=rater)
    assert again is not None
    assert again.unit_id == first.unit_id
    reasons = {1: "Garbled"} if opened_by == "cannot judge" else {}
    places = {(place, "relevance"): 4 for place in range(2) if place not in reasons}
    ratings_submit(token=again.token, rater=rater, values=places, cannot_judge=reasons)
    if reasons:
        assert cannot_judge_reopen(campaign=campaign) == 1
    else:
        assert rater_exclude(campaign=campaign, rater=rater, reason="Spam", replace=True).reopened == 1
        rater_include(campaign=campaign, rater=rater, reason="A mistake")
    assert answer(first, 2).extra  # from a tab left open
    counted = current_ratings([campaign]).filter(rater=rater)
    assert counted.count() == 2
    assert set(counted.values_list("presentation", flat=True)) == {again.pk}


@pytest.mark.django_db
def test_units_put_aside_do_not_lead_past_the_most_that_one_rater_may_rate(project: Project) -> None:
    campaign = make_campaign(make_dataset(project), max_units_per_rater=2)
    rater = join(campaign)
    aside = []
    for _ in range(4):
        shown = unit_request(campaign=campaign, rater=rater)
        assert shown is not None
        assert unit_return(presentation=shown)
        aside.append(shown)
    assert [answer(shown).extra for shown in aside] == [False, False, True, True]
    assert Slot.objects.filter(state=SlotState.DONE).count() == 2


@pytest.mark.django_db
def test_an_answer_names_a_unit_of_the_campaign_it_is_sent_to(project: Project) -> None:
    dataset = make_dataset(project)
    campaign, other = make_campaign(dataset), make_campaign(dataset, name="Other")
    rater = join(campaign)
    participation_start(campaign=other, rater=rater)
    shown = unit_request(campaign=other, rater=rater)
    assert shown is not None
    with pytest.raises(SubmissionRefused, match="not handed out to you"):
        ratings_submit(token=shown.token, rater=rater, values={(0, "relevance"): 3}, campaign=campaign)
    assert ratings_submit(token=shown.token, rater=rater, values={(0, "relevance"): 3}, campaign=other).written == 1
