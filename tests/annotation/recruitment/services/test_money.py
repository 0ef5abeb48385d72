from decimal import Decimal

import pytest

from annotation.core.errors import AnnotationError
from annotation.models import AuditEntry, Campaign, Rater, Recruitment, Submission, User
from annotation.models import SubmissionStatus as Status
from annotation.rating.services.raters import participation_start
from annotation.records.services.erasure import rater_erase
from annotation.recruitment import tasks
from annotation.recruitment.providers.base import RejectionReason
from annotation.recruitment.providers.errors import ProviderError
from annotation.recruitment.selectors import submission_rows, top_ups
from annotation.recruitment.services import arrivals, bonuses, refreshing, reviewing
from annotation.recruitment.services.bonuses import batch_of
from tests.annotation.recruitment.providers.mturk.fake import FakeMechanicalTurk
from tests.annotation.recruitment.providers.prolific.fake import FakeProlific
from tests.annotation.worlds.campaigns import rate_next
from tests.annotation.worlds.recruited import arrival_of, comes

MESSAGE = "You answered the three attention checks with the lowest value, although their texts ask for the highest one."


@pytest.fixture
def awaiting(study: Recruitment, fake_prolific: FakeProlific) -> list[Submission]:
    """Three raters have finished; the first of them rated three items."""
    for number in range(3):
        admitted = comes(study, fake_prolific)
        participation_start(campaign=study.campaign, rater=admitted.rater)
        for _ in range(3 if number == 0 else 1):
            rate_next(study.campaign, admitted.rater)
        fake_prolific.participant_completes(admitted.submission.external_id, "X")
    refreshing.recruitment_refresh(recruitment=study)
    return list(Submission.objects.order_by("pk"))


def statuses() -> list[str]:
    return list(Submission.objects.order_by("pk").values_list("status", flat=True))


def test_approving_twice_pays_once(study: Recruitment, fake_prolific: FakeProlific, awaiting: list[Submission]) -> None:
    result = reviewing.submissions_approve(recruitment=study, submissions=awaiting[:2])
    assert (result.requested, result.confirmed) == (2, 2)
    assert statuses() == [Status.APPROVED, Status.APPROVED, Status.AWAITING]
    result = reviewing.submissions_approve(recruitment=study, submissions=awaiting)
    assert (result.requested, result.confirmed, result.skipped) == (1, 1, 2)
    with pytest.raises(AnnotationError, match="none of them awaits"):
        reviewing.submissions_approve(recruitment=study, submissions=awaiting)
    assert AuditEntry.objects.filter(verb="submission.approve").count() == 2
    assert Submission.objects.filter(paid=Decimal("2.50")).count() == 3


def test_an_approval_whose_answer_was_lost_is_confirmed(
    study: Recruitment, fake_prolific: FakeProlific, awaiting: list[Submission]
) -> None:
    fake_prolific.drop(where="bulk-approve", after=True)
    result = reviewing.submissions_approve(recruitment=study, submissions=awaiting)
    assert (result.requested, result.confirmed) == (3, 3)
    assert set(statuses()) == {Status.APPROVED}
    assert AuditEntry.objects.filter(verb="submission.approve").count() == 1


def test_a_rejection_needs_a_message_of_minimum_length(
    study: Recruitment, fake_prolific: FakeProlific, awaiting: list[Submission]
) -> None:
    reason = RejectionReason.FAILED_CHECK
    with pytest.raises(ProviderError) as refusal:
        reviewing.submissions_reject(recruitment=study, submissions=awaiting[:1], reason=reason, message="Bad.")
    assert list(refusal.value.fields) == ["message"]
    assert set(statuses()) == {Status.AWAITING}
    reviewing.submissions_reject(recruitment=study, submissions=awaiting[:1], reason=reason, message=MESSAGE)
    assert statuses() == [Status.REJECTED, Status.AWAITING, Status.AWAITING]
    assert fake_prolific.people[awaiting[0].external_id].rejection["rejection_category"] == "FAILED_CHECK"


def test_asking_to_return_does_not_change_the_status(
    study: Recruitment, fake_prolific: FakeProlific, awaiting: list[Submission]
) -> None:
    reviewing.submissions_ask_return(recruitment=study, submissions=awaiting[:1], reason="The test was not passed.")
    assert fake_prolific.people[awaiting[0].external_id].return_requested
    assert set(statuses()) == {Status.AWAITING}


def test_items_beyond_the_reward_are_due_as_a_bonus(study: Recruitment, awaiting: list[Submission]) -> None:
    """Three items at 1.00 each, of which the reward covers 2.50."""
    due = top_ups(study, reward=Decimal("2.50"), rows=submission_rows(study))
    assert due == {awaiting[0].pk: Decimal("0.50")}


def test_a_bonus_is_prepared_and_then_paid_once(
    study: Recruitment, fake_prolific: FakeProlific, awaiting: list[Submission]
) -> None:
    first = awaiting[0]
    batch = bonuses.bonus_prepare(recruitment=study, amounts={first.pk: Decimal("0.50")}, reason="More screens")
    assert (batch.amount, batch.total) == (Decimal("0.50"), Decimal("0.6667"))
    assert fake_prolific.bonuses_paid == []
    assert bonuses.bonus_pay(recruitment=study, batch_id=batch.id).state == "paid"
    with pytest.raises(AnnotationError, match="The batch is paid"):
        bonuses.bonus_pay(recruitment=study, batch_id=batch.id)
    assert fake_prolific.bonuses_paid == [(first.external_id, 0.5)]
    first.refresh_from_db()
    assert first.bonus == Decimal("0.50")
    assert top_ups(study, reward=Decimal("2.50"), rows=submission_rows(study)) == {}
    study.refresh_from_db()
    assert first.external_id not in str(study.options["bonuses"])  # erasing the rater would not remove it there


@pytest.mark.parametrize("after", [False, True])
def test_a_payment_whose_answer_was_lost_is_never_repeated_automatically(
    study: Recruitment, fake_prolific: FakeProlific, awaiting: list[Submission], after: bool
) -> None:
    amounts = {awaiting[0].pk: Decimal("0.50")}
    batch = bonuses.bonus_prepare(recruitment=study, amounts=amounts, reason="More screens")
    fake_prolific.drop(where="/pay/", after=after)
    with pytest.raises(ProviderError):
        bonuses.bonus_pay(recruitment=study, batch_id=batch.id)
    study.refresh_from_db()
    unsettled = batch_of(study, batch.id)
    assert unsettled is not None
    assert unsettled.state == "unknown"
    assert fake_prolific.count("/pay/") == 1
    with pytest.raises(AnnotationError, match="The batch is unknown"):
        bonuses.bonus_pay(recruitment=study, batch_id=batch.id)
    settled = bonuses.bonus_settle(recruitment=study, batch_id=batch.id, paid=after)
    assert settled.state == ("paid" if after else "prepared")
    if not after:
        bonuses.bonus_pay(recruitment=study, batch_id=batch.id)
    assert len(fake_prolific.bonuses_paid) == 1
    assert Submission.objects.get(pk=awaiting[0].pk).bonus == Decimal("0.50")


def test_paying_an_interrupted_batch_at_amazon_pays_the_rest(
    hit: Recruitment, campaign: Campaign, fake_mturk: FakeMechanicalTurk
) -> None:
    for worker in ("A1WORKER", "A2WORKER", "A3WORKER"):
        assignment, url = fake_mturk.worker_accepts(hit.external_id, worker)
        arrivals.arrival_admit(recruitment=hit, arrival=arrival_of(hit, url))
        fake_mturk.worker_submits(assignment.id, {"outcome": "completed", "code": "X"})
    refreshing.recruitment_refresh(recruitment=hit)
    amounts = dict.fromkeys(Submission.objects.values_list("pk", flat=True), Decimal("0.10"))
    batch = bonuses.bonus_prepare(recruitment=hit, amounts=amounts, reason="Thanks")
    assert (batch.amount, batch.fees) == (Decimal("0.30"), Decimal("0.06"))
    fake_mturk.fail(400, where="SendBonus", data={"__type": "RequestError", "Message": "No funds"})
    with pytest.raises(ProviderError):
        bonuses.bonus_pay(recruitment=hit, batch_id=batch.id)
    fake_mturk.forget_tokens()
    hit.refresh_from_db()
    assert bonuses.bonus_pay(recruitment=hit, batch_id=batch.id).state == "paid"
    assert sorted(paid_bonus["WorkerId"] for paid_bonus in fake_mturk.bonuses) == ["A1WORKER", "A2WORKER", "A3WORKER"]


def test_amounts_are_read_by_id_or_pseudonym_and_every_bad_line_is_listed(
    study: Recruitment, awaiting: list[Submission]
) -> None:
    first, second, third = awaiting
    name = Rater.objects.get(pk=second.rater_id).pseudonym
    amounts = bonuses.amounts_read(recruitment=study, text=f"{first.external_id}, 0.50\n\n{name};1,25\n")
    assert amounts == {first.pk: Decimal("0.50"), second.pk: Decimal("1.25")}
    bad_lines = (
        f"nobody,1\n{third.external_id},-1\n{third.external_id},0.005\n{first.external_id},1\n{first.external_id},1"
    )
    with pytest.raises(AnnotationError) as refusal:
        bonuses.amounts_read(recruitment=study, text=bad_lines)
    assert [line.split(":")[0] for line in refusal.value.fields["lines"]] == ["Line 1", "Line 2", "Line 3", "Line 5"]


def test_an_erased_rater_is_neither_approved_nor_paid(
    study: Recruitment, fake_prolific: FakeProlific, awaiting: list[Submission]
) -> None:
    rater_erase(rater=Rater.objects.get(pk=awaiting[0].rater_id))
    study.refresh_from_db()
    with pytest.raises(AnnotationError, match="cannot be paid"):
        bonuses.bonus_prepare(recruitment=study, amounts={awaiting[0].pk: Decimal("1.00")}, reason="More")
    result = reviewing.submissions_approve(recruitment=study, submissions=awaiting)
    assert (result.requested, result.skipped) == (2, 1)
    study.refresh_from_db()
    refreshing.recruitment_refresh(recruitment=study)
    assert Submission.objects.count() == 3  # Prolific's list does not bring it back
    assert Submission.objects.filter(pk=awaiting[0].pk).get().external_id.startswith("erased-")


def test_a_recruitment_by_hand_refuses_approvals_and_bonuses(campaign: Campaign) -> None:
    from tests.annotation.worlds.recruited import make_recruitment

    recruitment = make_recruitment(campaign, None)
    for act in (
        lambda: reviewing.submissions_approve(recruitment=recruitment, submissions=[]),
        lambda: bonuses.bonus_prepare(recruitment=recruitment, amounts={1: Decimal(1)}, reason="More"),
    ):
        with pytest.raises(AnnotationError, match="created by hand"):
            act()


def test_the_task_approves_many_and_ignores_a_repeated_request(
    study: Recruitment, fake_prolific: FakeProlific, awaiting: list[Submission], manager: User
) -> None:
    for _ in range(2):
        tasks.submissions_approve(study.pk, [submission.pk for submission in awaiting], manager.pk)
    assert set(statuses()) == {Status.APPROVED}
    assert AuditEntry.objects.get(verb="submission.approve").actor == manager
    fake_prolific.token = "withdrawn"
    tasks.recruitment_refresh(study.pk)
    study.refresh_from_db()
    assert "does not accept this token" in (refreshing.trouble_of(study) or {})["message"]
