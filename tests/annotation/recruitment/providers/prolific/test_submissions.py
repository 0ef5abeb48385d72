"""Submissions, decisions and bonuses at Prolific, tested on a fake."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from annotation.recruitment.providers.base import (
    AfterCode,
    Bonus,
    Outcome,
    RejectionReason,
    Study,
    StudyDraft,
    StudyState,
    SubmissionStatus,
)
from annotation.recruitment.providers.codes import code_for, new_codes
from annotation.recruitment.providers.errors import NotFound, ProviderError
from annotation.recruitment.providers.prolific import client as prolific_client
from annotation.recruitment.providers.prolific import wire
from annotation.recruitment.providers.prolific.client import Prolific
from tests.annotation.recruitment.providers.prolific.fake import REJECTIONS, FakeProlific

CODES = new_codes({Outcome.OUT_OF_WORK: AfterCode.APPROVE})
LONG = "Your answers to three of the four attention checks differ from what the text says, and your ratings repeat."


@pytest.fixture
def study(prolific: Prolific, draft: Callable[..., StudyDraft]) -> Study:
    study_draft = draft(codes=CODES, places=12)
    return prolific.study_publish(prolific.study_create(study_draft).id, study_draft)


def test_a_participant_enters_finishes_and_awaits_review(
    prolific: Prolific, fake_prolific: FakeProlific, study: Study
) -> None:
    entered, url = fake_prolific.participant_enters(study.id)
    query = dict(pair.split("=") for pair in url.split("?")[1].split("&"))
    assert query["PROLIFIC_PID"] == entered.participant_id
    (submission,) = prolific.submissions(study.id)
    assert (submission.status, submission.rater, submission.study) == (
        SubmissionStatus.ACTIVE,
        entered.participant_id,
        study.id,
    )
    assert submission.started_at is not None
    assert abs(submission.started_at - datetime.now(UTC)) < timedelta(minutes=1)

    fake_prolific.participant_completes(entered.id, code_for(CODES, Outcome.COMPLETED))
    submission = prolific.submission(entered.id)
    assert submission.status == SubmissionStatus.AWAITING
    assert submission.ended_at is not None
    assert submission.code == code_for(CODES, Outcome.COMPLETED)


@pytest.mark.parametrize(
    ("outcome", "status", "return_requested"),
    [
        (Outcome.COMPLETED, SubmissionStatus.AWAITING, False),
        (Outcome.OUT_OF_WORK, SubmissionStatus.APPROVED, False),
        (Outcome.NO_CONSENT, SubmissionStatus.AWAITING, True),
    ],
)
def test_a_code_has_the_effect_that_the_manager_chose(
    prolific: Prolific,
    fake_prolific: FakeProlific,
    study: Study,
    outcome: Outcome,
    status: SubmissionStatus,
    return_requested: bool,
) -> None:
    entered, _ = fake_prolific.participant_enters(study.id)
    fake_prolific.participant_completes(entered.id, code_for(CODES, outcome))
    (submission,) = prolific.submissions(study.id)
    assert submission.status == status
    assert (submission.return_requested_at is not None) == return_requested


def test_returned_and_timed_out_submissions_are_distinguished(
    prolific: Prolific, fake_prolific: FakeProlific, study: Study
) -> None:
    fake_prolific.participant_returns(fake_prolific.participant_enters(study.id)[0].id)
    fake_prolific.participant_times_out(fake_prolific.participant_enters(study.id)[0].id)
    assert [submission.status for submission in prolific.submissions(study.id)] == [
        SubmissionStatus.RETURNED,
        SubmissionStatus.TIMED_OUT,
    ]
    assert prolific.study_fetch(study.id).places_taken == 0


def test_a_full_study_whose_participants_have_all_finished_is_completed(
    prolific: Prolific, fake_prolific: FakeProlific, study: Study
) -> None:
    for _ in range(12):
        entered, _ = fake_prolific.participant_enters(study.id)
        fake_prolific.participant_completes(entered.id, code_for(CODES, Outcome.COMPLETED))
    fetched = prolific.study_fetch(study.id)
    assert (fetched.state, fetched.reported) == (StudyState.COMPLETED, "AWAITING REVIEW")


def test_all_pages_are_read_and_each_submission_once(
    prolific: Prolific, fake_prolific: FakeProlific, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prolific_client, "PAGE", 5)
    entered = [fake_prolific.participant_enters(study.id)[0].id for _ in range(12)]
    assert [submission.id for submission in prolific.submissions(study.id)] == entered
    assert fake_prolific.count("/submissions/") == 3


def test_a_failed_page_is_retried(
    prolific: Prolific, fake_prolific: FakeProlific, study: Study, naps: list[float]
) -> None:
    fake_prolific.participant_enters(study.id)
    fake_prolific.fail(503, where="/submissions/")
    assert len(list(prolific.submissions(study.id))) == 1
    assert len(naps) == 1


def test_an_empty_study_has_no_submissions(prolific: Prolific, study: Study) -> None:
    assert list(prolific.submissions(study.id)) == []


def test_the_list_of_an_unknown_study_is_refused(prolific: Prolific) -> None:
    with pytest.raises(NotFound):
        list(prolific.submissions("60aca280709ee40ec37d4885"))


def awaiting(fake: FakeProlific, study: Study) -> str:
    entered, _ = fake.participant_enters(study.id)
    fake.participant_completes(entered.id, code_for(CODES, Outcome.COMPLETED))
    return entered.id


def test_approving_twice_approves_once(prolific: Prolific, fake_prolific: FakeProlific, study: Study) -> None:
    submission = awaiting(fake_prolific, study)
    prolific.approve(submission)
    prolific.approve(submission)
    assert prolific.submission(submission).status == SubmissionStatus.APPROVED


def test_an_approval_whose_answer_is_lost_is_repeated(
    prolific: Prolific, fake_prolific: FakeProlific, study: Study
) -> None:
    submission = awaiting(fake_prolific, study)
    fake_prolific.drop(where="transition", after=True)
    prolific.approve(submission)
    assert prolific.submission(submission).status == SubmissionStatus.APPROVED


def test_many_are_approved_in_batches(
    prolific: Prolific, fake_prolific: FakeProlific, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prolific_client, "BULK", 2)
    submissions = [awaiting(fake_prolific, study) for _ in range(5)]
    prolific.approve_many(submissions)
    assert {submission.status for submission in prolific.submissions(study.id)} == {SubmissionStatus.APPROVED}
    assert fake_prolific.count("bulk-approve") == 3


def test_an_active_submission_cannot_be_approved(prolific: Prolific, fake_prolific: FakeProlific, study: Study) -> None:
    entered, _ = fake_prolific.participant_enters(study.id)
    with pytest.raises(ProviderError, match="ACTIVE cannot be approved"):
        prolific.approve(entered.id)


def test_a_rejection_carries_its_category_and_message(
    prolific: Prolific, fake_prolific: FakeProlific, study: Study
) -> None:
    submission = awaiting(fake_prolific, study)
    prolific.reject(submission, reason=RejectionReason.FAILED_CHECK, message=LONG)
    assert prolific.submission(submission).status == SubmissionStatus.REJECTED
    assert fake_prolific.people[submission].rejection == {"message": LONG, "rejection_category": "FAILED_CHECK"}


@pytest.mark.parametrize("message", ["", "Too quick.", "x" * 99, " " * 200, "a" + " " * 150])
def test_a_rejection_needs_a_message_of_a_hundred_characters(
    prolific: Prolific, fake_prolific: FakeProlific, study: Study, message: str
) -> None:
    """docs.prolific.com, Approve or reject a submission: at least 100 characters."""
    submission = awaiting(fake_prolific, study)
    with pytest.raises(ProviderError, match="accepted: 100 or more") as refusal:
        prolific.reject(submission, reason=RejectionReason.TOO_QUICKLY, message=message)
    assert "message" in refusal.value.fields
    assert fake_prolific.count("transition") == 1  # the study's own


@pytest.mark.parametrize("reason", list(RejectionReason))
def test_every_reason_has_a_category_at_prolific(
    prolific: Prolific, fake_prolific: FakeProlific, study: Study, reason: RejectionReason
) -> None:
    submission = awaiting(fake_prolific, study)
    prolific.reject(submission, reason=reason, message=LONG)
    assert prolific.submission(submission).status == SubmissionStatus.REJECTED
    rejection = fake_prolific.people[submission].rejection
    assert rejection["message"] == LONG
    assert rejection["rejection_category"] in REJECTIONS  # as docs.prolific.com lists them


def test_a_participant_is_asked_to_return(prolific: Prolific, fake_prolific: FakeProlific, study: Study) -> None:
    entered, _ = fake_prolific.participant_enters(study.id)
    prolific.request_return(entered.id, reason="Withdrew consent")
    assert prolific.submission(entered.id).return_requested_at is not None
    with pytest.raises(ProviderError, match="Found no reason"):
        prolific.request_return(entered.id, reason=" ")


# --- Bonuses ---------------------------------------------------------------------------------------------------------


def bonus(submission: str, amount: str) -> Bonus:
    return Bonus(submission, "", Decimal(amount), reference=f"bonus-{submission}")


def test_a_bonus_is_priced_before_it_is_paid(prolific: Prolific, fake_prolific: FakeProlific, study: Study) -> None:
    first, second = awaiting(fake_prolific, study), awaiting(fake_prolific, study)
    batch = prolific.bonus_prepare(study.id, [bonus(first, "4.25"), bonus(second, "0.1")])
    assert (batch.amount, batch.fees, batch.total) == (Decimal("4.35"), Decimal("1.45"), Decimal("5.80"))
    assert fake_prolific.bonuses_paid == []
    prolific.bonus_pay(batch)
    assert fake_prolific.bonuses_paid == [(first, 4.25), (second, 0.10)]


def test_amounts_are_in_pounds_with_two_decimals_on_the_wire(
    prolific: Prolific, fake_prolific: FakeProlific, study: Study
) -> None:
    """docs.prolific.com, Set up bonuses: an amount of 30 pays £30.00."""
    submission = awaiting(fake_prolific, study)
    prolific.bonus_prepare(study.id, [bonus(submission, "30")])
    (request,) = [sent for sent in fake_prolific.requests if "bonus-payments" in sent.path]
    assert request.json() == {"study_id": study.id, "csv_bonuses": f"{submission},30.00"}


def test_a_payment_whose_answer_is_lost_is_never_repeated(
    prolific: Prolific, fake_prolific: FakeProlific, study: Study
) -> None:
    """docs.prolific.com, Pay bonuses: not idempotent, sent twice it pays twice."""
    batch = prolific.bonus_prepare(study.id, [bonus(awaiting(fake_prolific, study), "1")])
    fake_prolific.drop(where="/pay/", after=True)
    with pytest.raises(ProviderError) as refusal:
        prolific.bonus_pay(batch)
    assert refusal.value.unknown
    assert len(fake_prolific.bonuses_paid) == 1


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_refused_payment_is_never_repeated(
    prolific: Prolific, fake_prolific: FakeProlific, study: Study, status: int
) -> None:
    batch = prolific.bonus_prepare(study.id, [bonus(awaiting(fake_prolific, study), "1")])
    fake_prolific.fail(status, where="/pay/")
    with pytest.raises(ProviderError) as refusal:
        prolific.bonus_pay(batch)
    assert refusal.value.unknown == (status != 429)
    assert fake_prolific.bonuses_paid == []


def test_a_price_other_than_requested_stops_the_payment(
    prolific: Prolific, fake_prolific: FakeProlific, study: Study
) -> None:
    fake_prolific.fail(
        201,
        where="bonus-payments",
        data={"id": "621014cb8e9e0f81e387021f", "study": study.id, "amount": 42500, "total_amount": 56666.7},
    )
    with pytest.raises(ProviderError, match=r"would pay 425\.00 instead of 4\.25; nothing has been paid"):
        prolific.bonus_prepare(study.id, [bonus("60d9aadeb86739de712faee0", "4.25")])


@pytest.mark.parametrize(
    "payments",
    [
        [],
        [bonus("60d9aadeb86739de712faee0", "0")],
        [bonus("60d9aadeb86739de712faee0", "-1")],
        [bonus("60d9aadeb86739de712faee0", "0.005")],
        [bonus("60d9aadeb86739de712faee0", "1"), bonus("60d9aadeb86739de712faee0", "1")],
        [bonus("x,99.00\n60d9aadeb86739de712faee0", "1")],
    ],
)
def test_invalid_bonuses_are_refused(
    prolific: Prolific, fake_prolific: FakeProlific, study: Study, payments: list[Bonus]
) -> None:
    with pytest.raises(ProviderError, match="accepted") as refusal:
        prolific.bonus_prepare(study.id, payments)
    assert "payments" in refusal.value.fields
    assert fake_prolific.count("bonus") == 0


def test_a_bonus_for_an_unknown_submission_is_refused(prolific: Prolific, study: Study) -> None:
    with pytest.raises(ProviderError, match="not a participant or submission"):
        prolific.bonus_prepare(study.id, [bonus("60d9aadeb86739de712faee0", "1")])


def test_fractions_of_a_penny_in_fees_are_kept() -> None:
    """The example of docs.prolific.com, Set up bonuses: 850, 283.34 and 1133.34 pence."""
    assert wire.from_minor(850) == Decimal("8.50")
    assert wire.from_minor(283.34) == Decimal("2.8334")
    assert wire.from_minor(1133.34) - wire.from_minor(850) == Decimal("2.8334")
