"""HITs, assignments and bonuses, tested on a fake of Mechanical Turk that checks signatures and rules."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import httpx
import pytest

from annotation.recruitment.providers.base import (
    AfterCode,
    Bonus,
    CompletionCode,
    Eligibility,
    Outcome,
    RejectionReason,
    Study,
    StudyDraft,
    StudyState,
    SubmissionStatus,
)
from annotation.recruitment.providers.codes import code_for, new_codes
from annotation.recruitment.providers.errors import AccessRefused, NotFound, NotSupported, ProviderError
from annotation.recruitment.providers.mturk import client as mturk_client
from annotation.recruitment.providers.mturk import wire
from annotation.recruitment.providers.mturk.client import MechanicalTurk
from annotation.recruitment.providers.retry import Backoff
from tests.annotation.recruitment.providers.mturk.fake import FakeMechanicalTurk

CODES = new_codes()
Draft = Callable[..., StudyDraft]


@pytest.fixture
def study(mturk: MechanicalTurk, draft: Draft) -> Study:
    study_draft = draft(codes=CODES, places=5)
    return mturk.study_publish(mturk.study_create(study_draft).id, study_draft)


def test_an_account_has_a_currency_and_a_balance(mturk: MechanicalTurk) -> None:
    account = mturk.account()
    assert (account.currency, account.balance) == ("USD", Decimal("10000.00"))


@pytest.mark.parametrize("wrong", [{"access_key": "AKIAWRONG"}, {"secret_key": "wrong"}])
def test_wrong_keys_are_refused(fake_mturk: FakeMechanicalTurk, wrong: dict[str, str]) -> None:
    keys = {"access_key": fake_mturk.access_key, "secret_key": fake_mturk.secret_key, **wrong}
    with MechanicalTurk(**keys, endpoint=fake_mturk.base_url) as client, pytest.raises(AccessRefused, match="keys"):
        client.account()


def test_a_draft_creates_no_hit(mturk: MechanicalTurk, fake_mturk: FakeMechanicalTurk, draft: Draft) -> None:
    study = mturk.study_create(draft(extra={"keywords": ["text", " rating "]}, approve_after=timedelta(days=3)))
    assert (study.state, fake_mturk.hits) == (StudyState.DRAFT, {})
    (hit_type,) = fake_mturk.types.values()
    assert hit_type["Reward"] == "2.50"
    assert hit_type["Keywords"] == "text, rating"
    assert hit_type["AutoApprovalDelayInSeconds"] == 3 * 24 * 3600
    assert hit_type["AssignmentDurationInSeconds"] == 45 * 60  # three times the minutes it takes
    assert mturk.study_fetch(study.id).state == StudyState.DRAFT


def test_publishing_creates_one_hit_with_our_page_in_its_frame(
    mturk: MechanicalTurk, fake_mturk: FakeMechanicalTurk, draft: Draft
) -> None:
    study_draft = draft(entry_url="https://assay.example.org/r/abc/?a=1&b=2", places=7, open_for=timedelta(days=2))
    study = mturk.study_publish(mturk.study_create(study_draft).id, study_draft)
    assert (study.state, study.places, study.places_taken) == (StudyState.PUBLISHED, 7, 0)
    hit = fake_mturk.hits[study.id]
    assert hit["MaxAssignments"] == 7
    assert hit["Expiration"] == pytest.approx((datetime.now(UTC) + timedelta(days=2)).timestamp(), abs=60)
    assert fake_mturk.preview_url(study.id).startswith(
        "https://assay.example.org/r/abc/?a=1&b=2&assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId="
    )


def test_publishing_twice_creates_one_hit(mturk: MechanicalTurk, fake_mturk: FakeMechanicalTurk, draft: Draft) -> None:
    drafted = mturk.study_create(draft())
    first = mturk.study_publish(drafted.id, draft())
    assert mturk.study_publish(drafted.id, draft()).id == first.id
    assert mturk.study_publish(first.id, draft()).id == first.id
    assert list(fake_mturk.hits) == [first.id]


def test_a_publication_whose_answer_is_lost_creates_one_hit(
    mturk: MechanicalTurk, fake_mturk: FakeMechanicalTurk, draft: Draft, naps: list[float]
) -> None:
    drafted = mturk.study_create(draft())
    fake_mturk.drop(where="CreateHITWithHITType", after=True)
    study = mturk.study_publish(drafted.id, draft())
    assert list(fake_mturk.hits) == [study.id]
    assert naps == [0.5]


def test_eligibility_becomes_qualifications(
    mturk: MechanicalTurk, fake_mturk: FakeMechanicalTurk, draft: Draft
) -> None:
    """System qualification types as AWS lists them under QualificationRequirement."""
    mturk.study_create(
        draft(
            eligibility=Eligibility(approval_rate=98, approvals=500, adult_content=True),
            extra={"countries": ["US", "gb"]},
        )
    )
    (hit_type,) = fake_mturk.types.values()
    requirements = {
        requirement["QualificationTypeId"]: requirement for requirement in hit_type["QualificationRequirements"]
    }
    assert requirements["000000000000000000L0"]["IntegerValues"] == [98]
    assert requirements["00000000000000000040"]["IntegerValues"] == [500]
    assert requirements["00000000000000000071"]["LocaleValues"] == [{"Country": "US"}, {"Country": "GB"}]
    assert requirements["00000000000000000060"]["ActionsGuarded"] == "DiscoverPreviewAndAccept"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"title": "x" * 129}, "title"),
        ({"description": " "}, "description"),
        ({"reward": Decimal("0")}, "reward"),
        ({"reward": Decimal("0.015")}, "reward"),
        ({"places": 0}, "places"),
        ({"minutes": 0}, "minutes"),
        ({"extra": {"devices": ["desktop"]}}, "devices"),
        ({"entry_url": "http://assay.example.org/"}, "entry_url"),
        ({"maximum_minutes": 60 * 24 * 366}, "maximum_minutes"),
        ({"approve_after": timedelta(days=31)}, "approve_after"),
        ({"eligibility": Eligibility(exclude_studies=["x"])}, "exclude_studies"),
        ({"eligibility": Eligibility(exclude_raters=["x"])}, "exclude_raters"),
        (
            {
                "codes": [
                    CompletionCode(Outcome.COMPLETED, "DONE1234", AfterCode.REVIEW),
                    CompletionCode(Outcome.SCREENED_OUT, "OUT12345", AfterCode.PAY_SCREEN_OUT, "", Decimal(1), 3),
                ]
            },
            "codes",
        ),
    ],
)
def test_an_invalid_draft_is_refused_before_anything_is_sent(
    mturk: MechanicalTurk, fake_mturk: FakeMechanicalTurk, draft: Draft, change: dict[str, object], field: str
) -> None:
    with pytest.raises(ProviderError, match="accepted") as refusal:
        mturk.study_create(draft(**change))
    assert field in refusal.value.fields
    assert fake_mturk.requests == []


def test_a_pause_is_an_expiry_that_can_be_undone(
    mturk: MechanicalTurk, fake_mturk: FakeMechanicalTurk, study: Study, draft: Draft
) -> None:
    assert mturk.study_pause(study.id).state == StudyState.PAUSED
    with pytest.raises(ValueError, match="expired"):
        fake_mturk.worker_accepts(study.id)
    assert mturk.study_resume(study.id, draft()).state == StudyState.PUBLISHED
    fake_mturk.worker_accepts(study.id)
    assert mturk.study_stop(study.id).state == StudyState.COMPLETED


def test_a_draft_cannot_be_paused(mturk: MechanicalTurk, draft: Draft) -> None:
    with pytest.raises(ProviderError, match="has not been published"):
        mturk.study_pause(mturk.study_create(draft()).id)


def test_places_are_added_once_even_if_the_answer_is_lost(
    mturk: MechanicalTurk, fake_mturk: FakeMechanicalTurk, study: Study
) -> None:
    fake_mturk.drop(where="CreateAdditionalAssignmentsForHIT", after=True)
    assert mturk.study_extend(study.id, places=8, reference="more-1").places == 8
    assert mturk.study_extend(study.id, places=8, reference="more-1").places == 8
    with pytest.raises(ProviderError, match="accepted: 8 or more"):
        mturk.study_extend(study.id, places=7, reference="more-2")


def test_a_hit_of_fewer_than_10_places_cannot_grow_to_10(mturk: MechanicalTurk, study: Study) -> None:
    """AWS, CreateAdditionalAssignmentsForHIT: not from fewer than 10 to 10 or more."""
    with pytest.raises(ProviderError, match="accepted: up to 9"):
        mturk.study_extend(study.id, places=10, reference="more-1")


def test_an_unknown_hit_is_not_found(mturk: MechanicalTurk) -> None:
    with pytest.raises(NotFound, match="does not exist"):
        mturk.study_fetch("3DOESNOTEXIST")


# --- Assignments -----------------------------------------------------------------------------------------------------


def submitted(fake: FakeMechanicalTurk, mturk: MechanicalTurk, study: Study) -> str:
    """Accept a HIT as a worker, arrive, and post the last form as a browser would."""
    assignment, url = fake.worker_accepts(study.id)
    arrival = mturk.arrival(dict(httpx.URL(url).params))
    assert arrival is not None
    completion = mturk.completion(arrival, Outcome.COMPLETED, CODES)
    assert httpx.post(completion.url, data=dict(completion.fields)).status_code == 200
    return assignment.id


def test_a_worker_accepts_works_and_submits_through_our_form(
    mturk: MechanicalTurk, fake_mturk: FakeMechanicalTurk, study: Study
) -> None:
    assignment = submitted(fake_mturk, mturk, study)
    (submission,) = mturk.submissions(study.id)
    assert (submission.id, submission.status, submission.study) == (assignment, SubmissionStatus.AWAITING, study.id)
    assert submission.rater == fake_mturk.assignments[assignment].worker_id
    assert submission.code == code_for(CODES, Outcome.COMPLETED)
    assert submission.started_at is not None
    assert submission.ended_at is not None
    assert submission.ended_at.tzinfo is UTC
    assert mturk.study_fetch(study.id).places_taken == 1


def test_amazon_refuses_a_form_that_holds_only_the_assignment(
    mturk: MechanicalTurk, fake_mturk: FakeMechanicalTurk, study: Study
) -> None:
    assignment, _ = fake_mturk.worker_accepts(study.id)
    url = f"{fake_mturk.base_url}/mturk/externalSubmit"
    assert httpx.post(url, data={"assignmentId": assignment.id}).status_code == 400


def test_open_and_returned_assignments_are_not_listed(
    mturk: MechanicalTurk, fake_mturk: FakeMechanicalTurk, study: Study
) -> None:
    fake_mturk.worker_accepts(study.id)
    fake_mturk.worker_returns(fake_mturk.worker_accepts(study.id)[0].id)
    assert list(mturk.submissions(study.id)) == []
    assert mturk.study_fetch(study.id).places_taken == 1


def test_all_pages_are_read(
    mturk: MechanicalTurk, fake_mturk: FakeMechanicalTurk, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mturk_client, "PAGE", 2)
    ids = [submitted(fake_mturk, mturk, study) for _ in range(5)]
    assert [submission.id for submission in mturk.submissions(study.id)] == ids
    assert fake_mturk.count("ListAssignmentsForHIT") == 3


def test_approving_twice_approves_once(mturk: MechanicalTurk, fake_mturk: FakeMechanicalTurk, study: Study) -> None:
    assignment = submitted(fake_mturk, mturk, study)
    mturk.approve(assignment)
    mturk.approve(assignment)
    assert mturk.submission(assignment).status == SubmissionStatus.APPROVED


def test_a_rejection_carries_its_message_and_is_not_undone_by_an_approval(
    mturk: MechanicalTurk, fake_mturk: FakeMechanicalTurk, study: Study
) -> None:
    assignment = submitted(fake_mturk, mturk, study)
    mturk.reject(assignment, reason=RejectionReason.FAILED_CHECK, message="Three of four checks failed.")
    assert fake_mturk.assignments[assignment].feedback == "Three of four checks failed."
    with pytest.raises(ProviderError, match="InvalidAssignmentState"):
        mturk.approve(assignment)
    assert mturk.submission(assignment).status == SubmissionStatus.REJECTED


@pytest.mark.parametrize("message", ["", "  ", "x" * 1025])
def test_a_rejection_needs_a_message(
    mturk: MechanicalTurk, fake_mturk: FakeMechanicalTurk, study: Study, message: str
) -> None:
    assignment = submitted(fake_mturk, mturk, study)
    with pytest.raises(ProviderError, match="accepted: 1 to 1024"):
        mturk.reject(assignment, reason=RejectionReason.OTHER, message=message)


def test_throttled_requests_are_retried(
    mturk: MechanicalTurk, fake_mturk: FakeMechanicalTurk, study: Study, naps: list[float]
) -> None:
    fake_mturk.fail(400, data={"__type": "ThrottlingException", "message": "Rate exceeded"}, times=2)
    assert mturk.study_fetch(study.id).state == StudyState.PUBLISHED
    fake_mturk.fail(503, data={"__type": "ServiceFault", "Message": "Try again"}, retry_after="6")
    assert mturk.study_fetch(study.id).state == StudyState.PUBLISHED
    assert naps == [0.5, 1.0, 6.0]


def test_a_refused_connection_is_an_error() -> None:
    client = MechanicalTurk(access_key="a", secret_key="b", endpoint="http://127.0.0.1:9", backoff=Backoff(attempts=1))
    with client, pytest.raises(ProviderError, match="could not be reached") as refusal:
        client.account()
    assert not refusal.value.sent


@pytest.mark.parametrize("submission", ["", "a b", "../x", "x" * 65])
def test_a_malformed_id_is_refused(mturk: MechanicalTurk, submission: str) -> None:
    with pytest.raises(ProviderError, match="accepted: an id"):
        mturk.approve(submission)


# --- Bonuses ---------------------------------------------------------------------------------------------------------


def bonus(fake: FakeMechanicalTurk, assignment: str, amount: str, reference: str = "") -> Bonus:
    worker = fake.assignments[assignment].worker_id
    return Bonus(assignment, worker, Decimal(amount), reference or f"bonus-{assignment}", "For careful work.")


def test_a_bonus_is_priced_before_it_is_paid(
    mturk: MechanicalTurk, fake_mturk: FakeMechanicalTurk, study: Study
) -> None:
    """Fees as on mturk.com, Pricing: 20 per cent of a bonus, at least one cent."""
    first, second = (submitted(fake_mturk, mturk, study) for _ in range(2))
    batch = mturk.bonus_prepare(study.id, [bonus(fake_mturk, first, "1.50"), bonus(fake_mturk, second, "0.02")])
    assert (batch.amount, batch.fees, batch.total) == (Decimal("1.52"), Decimal("0.31"), Decimal("1.83"))
    assert fake_mturk.bonuses == []
    mturk.bonus_pay(batch)
    assert [paid_bonus["BonusAmount"] for paid_bonus in fake_mturk.bonuses] == ["1.50", "0.02"]


def test_paying_an_interrupted_batch_again_pays_the_rest(
    mturk: MechanicalTurk, fake_mturk: FakeMechanicalTurk, study: Study
) -> None:
    assignments = [submitted(fake_mturk, mturk, study) for _ in range(3)]
    batch = mturk.bonus_prepare(study.id, [bonus(fake_mturk, assignment, "1") for assignment in assignments])
    fake_mturk.drop(where="SendBonus", after=True)
    fake_mturk.fail(
        400, where="SendBonus", data={"__type": "RequestError", "Message": "No funds", "TurkErrorCode": "X"}
    )
    with pytest.raises(ProviderError, match="No funds"):
        mturk.bonus_pay(batch)
    fake_mturk.forget_tokens()  # a day later
    mturk.bonus_pay(batch)
    mturk.bonus_pay(batch)
    assert sorted(paid_bonus["AssignmentId"] for paid_bonus in fake_mturk.bonuses) == sorted(assignments)


def test_a_bonus_whose_answer_is_lost_is_paid_once(
    mturk: MechanicalTurk, fake_mturk: FakeMechanicalTurk, study: Study
) -> None:
    batch = mturk.bonus_prepare(study.id, [bonus(fake_mturk, submitted(fake_mturk, mturk, study), "1")])
    fake_mturk.drop(where="SendBonus", after=True)
    mturk.bonus_pay(batch)
    assert len(fake_mturk.bonuses) == 1


def test_a_second_bonus_for_the_same_work_is_another_bonus(
    mturk: MechanicalTurk, fake_mturk: FakeMechanicalTurk, study: Study
) -> None:
    assignment = submitted(fake_mturk, mturk, study)
    mturk.bonus_pay(mturk.bonus_prepare(study.id, [bonus(fake_mturk, assignment, "1", "first")]))
    fake_mturk.bonuses[0]["GrantTime"] -= 3600
    mturk.bonus_pay(mturk.bonus_prepare(study.id, [bonus(fake_mturk, assignment, "1", "second")]))
    assert len(fake_mturk.bonuses) == 2


def test_invalid_bonuses_are_refused(mturk: MechanicalTurk, fake_mturk: FakeMechanicalTurk, study: Study) -> None:
    valid = bonus(fake_mturk, submitted(fake_mturk, mturk, study), "1")
    for payments in (
        [],
        [Bonus(valid.submission, valid.rater, Decimal("0"), "r", "why")],
        [Bonus(valid.submission, valid.rater, Decimal("0.001"), "r", "why")],
        [Bonus(valid.submission, valid.rater, Decimal(1), "r", " ")],
        [Bonus(valid.submission, valid.rater, Decimal(1), "", "why")],
        [valid, valid],
    ):
        with pytest.raises(ProviderError, match="accepted") as refusal:
            mturk.bonus_prepare(study.id, payments)
        assert "payments" in refusal.value.fields


def test_missing_capabilities_are_refused_by_name(mturk: MechanicalTurk) -> None:
    with pytest.raises(NotSupported, match="Mechanical Turk has no webhooks"):
        mturk.webhook_secret()
    with pytest.raises(NotSupported, match="requests to return"):
        mturk.request_return("3X", reason="x")


# --- The form a worker posted ----------------------------------------------------------------------------------------


def test_the_answers_of_a_form_are_read() -> None:
    """The example of AWS, QuestionFormAnswers, shortened."""
    xml = (
        '<?xml version="1.0" encoding="UTF-8"?><QuestionFormAnswers xmlns="http://mechanicalturk.amazonaws.com/'
        'AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd"><Answer><QuestionIdentifier>nextmove'
        "</QuestionIdentifier><FreeText>C3 &amp; D4</FreeText></Answer><Answer><QuestionIdentifier>likelytowin"
        "</QuestionIdentifier><FreeText/></Answer></QuestionFormAnswers>"
    )
    assert wire.answers(xml) == {"nextmove": "C3 & D4", "likelytowin": ""}


@pytest.mark.parametrize(
    "xml", ["", "no xml", "<a>", '<!DOCTYPE x [<!ENTITY y "z">]><x>&y;</x>', "<QuestionFormAnswers/>"]
)
def test_an_invalid_form_has_no_answers(xml: str) -> None:
    assert wire.answers(xml) == {}


def test_entities_of_a_form_are_not_expanded() -> None:
    xml = (
        '<!DOCTYPE x [<!ENTITY y "z">]><QuestionFormAnswers><Answer><QuestionIdentifier>code</QuestionIdentifier>'
        "<FreeText>&y;</FreeText></Answer></QuestionFormAnswers>"
    )
    assert wire.answers(xml) == {}


def test_long_references_become_different_tokens() -> None:
    assert wire.token("short") == "short"
    assert len(wire.token("x" * 65)) == len(wire.token("x" * 66)) == 64
    assert wire.token("x" * 65) != wire.token("x" * 66)
