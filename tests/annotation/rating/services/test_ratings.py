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


def test_an_answer_is_stored_per_response_and_criterion_with_its_position(presentation: Presentation) -> None:
    assert submit(presentation, {**VALUES, (0, "relevance"): "4"}).written == 4
    responses = [presentation.unit.unit_responses.get(number=number).response for number in presentation.order]
    stored = Rating.objects.values_list("position", "criterion__name", "response", "value", "revision", "extra")
    assert set(stored) == {
        (position, name, responses[position].pk, float(value), 0, False) for (position, name), value in VALUES.items()
    }
    slot = Slot.objects.get(pk=presentation.slot_id)
    assert (slot.state, slot.rater, slot.token, slot.expires_at) == (
        SlotState.DONE,
        presentation.rater,
        presentation.token,
        None,
    )
    assert Unit.objects.get(pk=presentation.unit_id).done_slots == 1


def test_a_repeated_answer_adds_no_rating_and_a_changed_one_is_a_correction(presentation: Presentation) -> None:
    submit(presentation, VALUES)
    ended = Presentation.objects.get(pk=presentation.pk).ended_at
    repeated = submit(presentation, VALUES)
    assert (repeated.written, repeated.correction) == (0, True)
    corrected = submit(presentation, {**VALUES, (1, "relevance"): 3})
    assert corrected.written == 1
    restored = submit(presentation, VALUES)
    assert restored.written == 1
    changed = Rating.objects.filter(position=1, criterion__name="relevance").order_by("revision")
    assert list(changed.values_list("revision", "value")) == [(0, 1.0), (1, 3.0), (2, 1.0)]
    current = current_ratings([presentation.campaign])
    assert {(rating.position, rating.criterion.name): rating.value for rating in current} == VALUES
    assert Unit.objects.get(pk=presentation.unit_id).done_slots == 1
    assert Presentation.objects.get(pk=presentation.pk).ended_at == ended  # the time of the first answer


@pytest.mark.django_db(transaction=True)
def test_concurrent_submissions_of_one_answer_are_one_rating(presentation: Presentation) -> None:
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


@pytest.mark.parametrize("value", [0, 6, "6", "three", 2.5, "", None, True, float("nan"), 10**400, [3]])
def test_a_value_off_the_scale_is_refused_at_its_field(presentation: Presentation, value: object) -> None:
    with pytest.raises(AnnotationError, match="a whole number from 1 to 5") as refused:
        submit(presentation, {**VALUES, (1, "relevance"): value})
    assert list(refused.value.fields) == ["r1-relevance"]
    assert Rating.objects.count() == 0
    assert Presentation.objects.get().outcome == PresentationOutcome.SHOWN


def test_values_for_other_criteria_or_positions_are_refused(presentation: Presentation) -> None:
    with pytest.raises(AnnotationError) as refused:
        submit(presentation, {**VALUES, (2, "relevance"): 3, (0, "humour"): 3})
    assert set(refused.value.fields) == {"r2-relevance", "r0-humour"}


def test_a_unit_of_another_rater_is_refused(presentation: Presentation) -> None:
    other_rater = join(presentation.campaign)
    for token in (presentation.token, uuid.uuid4()):
        with pytest.raises(SubmissionRefused, match="not handed out to you"):
            ratings_submit(token=token, rater=other_rater, values=VALUES)
    assert Rating.objects.count() == 0


def test_a_rater_who_returned_a_unit_may_still_answer_while_its_slot_is_free(presentation: Presentation) -> None:
    unit_return(presentation=presentation)
    assert not submit(presentation, VALUES).extra
    assert Slot.objects.get(pk=presentation.slot_id).token == presentation.token


def test_a_correction_of_a_late_answer_is_late_too(project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=1, systems=["Ada"]), ratings_per_unit=1)
    late = unit_request(campaign=campaign, rater=join(campaign))
    assert late is not None
    unit_return(presentation=late)
    handed_out = unit_request(campaign=campaign, rater=join(campaign))
    assert handed_out is not None
    assert answer(late, 2).extra
    assert answer(late, 4).extra
    answer(handed_out, 5)
    assert list(Rating.objects.order_by("id").values_list("value", "revision", "extra")) == [
        (2.0, 0, True),
        (4.0, 1, True),
        (5.0, 0, False),
    ]


@pytest.mark.django_db(transaction=True)
def test_a_snapshot_waits_for_open_submissions(presentation: Presentation) -> None:
    written, commit = Event(), Event()

    def submit_slowly() -> None:
        try:
            with transaction.atomic():
                submit(presentation, VALUES)
                written.set()
                commit.wait(30)
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
        commit.set()
        submitted.result(30)
    assert snapshot() == 4


def lapsed(presentation: Presentation) -> Presentation:
    """Let the lease of a presentation lapse and sweep its slot."""
    Slot.objects.filter(pk=presentation.slot_id).update(expires_at=Now() - timedelta(seconds=1))
    assert slots_sweep() == 1
    return presentation


@pytest.mark.django_db
@pytest.mark.parametrize("opened_by", ["cannot judge", "replacing"])
def test_a_unit_handed_out_twice_to_a_rater_counts_once_even_if_its_slot_was_reopened(
    project: Project, opened_by: str
) -> None:
    campaign = make_campaign(make_dataset(project, items=1, systems=["Ada", "Bo"]), presentation="pair")
    Campaign.objects.filter(pk=campaign.pk).update(cannot_judge_reasons=["Garbled"])
    campaign.refresh_from_db()
    rater = join(campaign)
    first = unit_request(campaign=campaign, rater=rater)
    assert first is not None
    lapsed(first)
    second = unit_request(campaign=campaign, rater=rater)
    assert second is not None
    assert second.unit_id == first.unit_id
    reasons = {1: "Garbled"} if opened_by == "cannot judge" else {}
    values = {(position, "relevance"): 4 for position in range(2) if position not in reasons}
    ratings_submit(token=second.token, rater=rater, values=values, cannot_judge=reasons)
    if reasons:
        assert cannot_judge_reopen(campaign=campaign) == 1
    else:
        assert rater_exclude(campaign=campaign, rater=rater, reason="Spam", replace=True).reopened == 1
        rater_include(campaign=campaign, rater=rater, reason="A mistake")
    assert answer(first, 2).extra  # from a tab left open
    counted = current_ratings([campaign]).filter(rater=rater)
    assert counted.count() == 2
    assert set(counted.values_list("presentation", flat=True)) == {second.pk}


@pytest.mark.django_db
def test_answers_to_returned_units_beyond_the_raters_limit_are_extra(project: Project) -> None:
    campaign = make_campaign(make_dataset(project), max_units_per_rater=2)
    rater = join(campaign)
    returned = []
    for _ in range(4):
        presentation = unit_request(campaign=campaign, rater=rater)
        assert presentation is not None
        assert unit_return(presentation=presentation)
        returned.append(presentation)
    assert [answer(presentation).extra for presentation in returned] == [False, False, True, True]
    assert Slot.objects.filter(state=SlotState.DONE).count() == 2


@pytest.mark.django_db
def test_an_answer_for_another_campaigns_unit_is_refused(project: Project) -> None:
    dataset = make_dataset(project)
    campaign, other_campaign = make_campaign(dataset), make_campaign(dataset, name="Other")
    rater = join(campaign)
    participation_start(campaign=other_campaign, rater=rater)
    presentation = unit_request(campaign=other_campaign, rater=rater)
    assert presentation is not None
    with pytest.raises(SubmissionRefused, match="not handed out to you"):
        ratings_submit(token=presentation.token, rater=rater, values={(0, "relevance"): 3}, campaign=campaign)
    assert (
        ratings_submit(
            token=presentation.token, rater=rater, values={(0, "relevance"): 3}, campaign=other_campaign
        ).written
        == 1
    )
