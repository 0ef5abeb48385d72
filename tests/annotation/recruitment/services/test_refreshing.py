from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.campaigns.services.lifecycle import campaign_close
from annotation.core import turns
from annotation.models import (
    Campaign,
    Participation,
    Presentation,
    PresentationOutcome,
    Rater,
    RaterDecision,
    Rating,
    Recruitment,
    RecruitmentState,
    ReturnPolicy,
    Slot,
    SlotState,
    Submission,
)
from annotation.models import SubmissionStatus as Status
from annotation.rating.services.handout import unit_request
from annotation.rating.services.raters import participation_start
from annotation.recruitment.providers.errors import ProviderError
from annotation.recruitment.services import refreshing
from tests.annotation.recruitment.providers.mturk.fake import FakeMechanicalTurk
from tests.annotation.recruitment.providers.prolific.fake import FakeProlific
from tests.annotation.worlds.campaigns import rate_next
from tests.annotation.worlds.recruited import comes, make_recruitment


def at_work(study: Recruitment, fake_prolific: FakeProlific) -> tuple[Rater, str]:
    """Return a rater with one item answered and another one leased, and the submission's external id."""
    admitted = comes(study, fake_prolific)
    participation_start(campaign=study.campaign, rater=admitted.rater)
    assert rate_next(study.campaign, admitted.rater) is not None
    assert unit_request(campaign=study.campaign, rater=admitted.rater) is not None
    return admitted.rater, admitted.submission.external_id


def slots(rater: Rater, state: SlotState) -> int:
    return Slot.objects.filter(rater=rater, state=state).count()


@pytest.mark.parametrize("leaves", ["participant_returns", "participant_times_out"])
def test_slots_of_a_rater_who_left_are_free_at_once_and_answers_count(
    study: Recruitment, fake_prolific: FakeProlific, leaves: str
) -> None:
    rater, session = at_work(study, fake_prolific)
    getattr(fake_prolific, leaves)(session)
    assert refreshing.recruitment_refresh(recruitment=study) == 1
    assert refreshing.recruitment_refresh(recruitment=study) == 0
    assert (slots(rater, SlotState.LEASED), slots(rater, SlotState.DONE)) == (0, 1)
    assert Presentation.objects.filter(outcome=PresentationOutcome.LAPSED).count() == 1
    assert Participation.objects.get(rater=rater).excluded_at is None


def test_answers_of_a_rater_who_left_are_replaced_under_that_policy(
    study: Recruitment, fake_prolific: FakeProlific
) -> None:
    Recruitment.objects.update(return_policy=ReturnPolicy.REPLACE)
    study.refresh_from_db()
    rater, session = at_work(study, fake_prolific)
    fake_prolific.participant_returns(session)
    for _ in range(2):
        refreshing.recruitment_refresh(recruitment=study)
    assert (slots(rater, SlotState.LEASED), slots(rater, SlotState.DONE)) == (0, 0)
    assert Participation.objects.get(rater=rater).excluded_at is not None
    assert Rating.objects.filter(rater=rater).count() == 1  # still stored
    assert RaterDecision.objects.filter(rater=rater).count() == 1


def test_under_the_keep_policy_slots_stay_leased(study: Recruitment, fake_prolific: FakeProlific) -> None:
    Recruitment.objects.update(return_policy=ReturnPolicy.KEEP)
    study.refresh_from_db()
    rater, session = at_work(study, fake_prolific)
    fake_prolific.participant_returns(session)
    refreshing.recruitment_refresh(recruitment=study)
    assert (slots(rater, SlotState.LEASED), slots(rater, SlotState.DONE)) == (1, 1)


@pytest.mark.parametrize("policy", ReturnPolicy.values)
def test_a_return_to_a_closed_campaign_is_stored(study: Recruitment, fake_prolific: FakeProlific, policy: str) -> None:
    Recruitment.objects.update(return_policy=policy)
    study.refresh_from_db()
    _, session = at_work(study, fake_prolific)
    campaign_close(campaign=study.campaign)
    fake_prolific.participant_returns(session)
    assert refreshing.recruitment_refresh(recruitment=study) == 1
    assert Submission.objects.get().status == Status.RETURNED


def test_a_wrong_code_is_noted_and_a_paid_submission_has_its_amount(
    study: Recruitment, fake_prolific: FakeProlific
) -> None:
    admitted = comes(study, fake_prolific)
    fake_prolific.participant_completes(admitted.submission.external_id, "NONSENSE")
    refreshing.recruitment_refresh(recruitment=study)
    submission = Submission.objects.get()
    assert submission.status == Status.AWAITING
    assert submission.note == "Code entered: “NONSENSE”; none was given."
    fake_prolific.people[submission.external_id].status = "APPROVED"
    refreshing.recruitment_refresh(recruitment=study)
    submission.refresh_from_db()
    assert (submission.status, str(submission.paid)) == (Status.APPROVED, "2.50")


def test_submissions_without_a_rater_are_stored_too(study: Recruitment, fake_prolific: FakeProlific) -> None:
    fake_prolific.participant_enters(study.external_id)
    refreshing.recruitment_refresh(recruitment=study)
    assert Submission.objects.get().rater is None
    assert Rater.objects.count() == 0


def test_a_submission_that_prolific_does_not_know_is_marked(study: Recruitment, fake_prolific: FakeProlific) -> None:
    admitted = comes(study, fake_prolific)
    del fake_prolific.people[admitted.submission.external_id]
    refreshing.recruitment_refresh(recruitment=study)
    assert Submission.objects.get().note == ""  # it may be too new for Prolific's list
    Submission.objects.update(started_at=timezone.now() - timedelta(hours=1))
    refreshing.recruitment_refresh(recruitment=study)
    assert Submission.objects.get().note == "The provider knows no such submission."


def test_a_provider_that_is_down_changes_nothing_and_is_retried_later(
    study: Recruitment, fake_prolific: FakeProlific, settings
) -> None:
    _, session = at_work(study, fake_prolific)
    fake_prolific.participant_returns(session)
    assert refreshing.recruitments_due() == [study.pk]
    fake_prolific.fail(503, times=9)
    with pytest.raises(ProviderError):
        refreshing.recruitment_refresh(recruitment=study, patient=False)
    assert Submission.objects.get().status == Status.ACTIVE
    study.refresh_from_db()
    assert "trouble" in study.options
    assert refreshing.recruitments_due() == []
    settings.PROVIDER_REFRESH_SECONDS = 0
    assert refreshing.recruitments_due() == [study.pk]
    fake_prolific._troubles.clear()
    refreshing.recruitment_refresh(recruitment=study)
    study.refresh_from_db()
    assert "trouble" not in study.options
    assert Submission.objects.get().status == Status.RETURNED


def test_amazon_lists_only_submitted_assignments_and_the_others_do_not_change(
    hit: Recruitment, fake_mturk: FakeMechanicalTurk
) -> None:
    submitted, _ = fake_mturk.worker_accepts(hit.external_id, "A1WORKER")
    fake_mturk.worker_accepts(hit.external_id, "A2WORKER")
    fake_mturk.worker_submits(submitted.id, {"outcome": "completed", "code": "X"})
    assert refreshing.recruitment_refresh(recruitment=hit) == 1
    assert Submission.objects.get().status == Status.AWAITING
    hit.refresh_from_db()
    assert hit.options["taken"] == 2
    assert hit.state == RecruitmentState.PUBLISHED


def test_only_one_worker_refreshes_a_recruitment_at_a_time(campaign: Campaign) -> None:
    from django.db import connections

    recruitment = make_recruitment(campaign, None)
    other_connection = connections["default"].copy()
    try:
        with turns.turn(turns.RECRUITMENTS, recruitment.pk) as acquired, other_connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [turns.RECRUITMENTS, recruitment.pk])
            assert (acquired, cursor.fetchone()) == (True, (False,))
    finally:
        other_connection.close()
