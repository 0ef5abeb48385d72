import uuid
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest
from django.db import OperationalError, connection, transaction

from annotation.errors import AnnotationError
from annotation.models import Presentation, PresentationOutcome, Project, Rating, Slot, SlotState, Unit
from annotation.selectors.ratings import current_ratings
from annotation.services.handout import unit_request, unit_return
from annotation.services.ratings import Submission, SubmissionRefused, ratings_await, ratings_submit
from tests.annotation.campaigns import INFORMATIVENESS, RELEVANCE, answer, join, make_campaign, make_dataset


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
        SlotState.DONE, presentation.rater, presentation.token, None
    )  # fmt: skip
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
        (2.0, 0, True), (4.0, 1, True), (5.0, 0, False)
    ]  # fmt: skip


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
