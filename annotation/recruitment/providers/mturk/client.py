"""Amazon Mechanical Turk, through its Requester API of 2017-01-17.

Written after docs.aws.amazon.com/AWSMechTurk: API Reference (CreateHITType, CreateHITWithHITType,
UpdateExpirationForHIT, CreateAdditionalAssignmentsForHIT, ListAssignmentsForHIT, ApproveAssignment, RejectAssignment,
SendBonus, ExternalQuestion) and Requester Guide (How Mechanical Turk tasks are rendered).

A study is one HIT with as many assignments as it has places: a worker takes it once and rates many units. It has no
draft of its own, so a HIT type, which costs nothing, stands for one until the study is published. Amazon lists
submitted assignments only: who returned a HIT or let it run out is not told, and the lease of the unit decides.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import ROUND_UP, Decimal
from importlib import import_module
from typing import Any, ClassVar, TypeVar

from annotation.recruitment.providers.addresses import origin
from annotation.recruitment.providers.base import (
    Account,
    AfterCode,
    Arrival,
    Bonus,
    BonusBatch,
    Capability,
    Completion,
    CompletionCode,
    Field,
    FieldKind,
    Outcome,
    Provider,
    RejectionReason,
    RejectionRules,
    Section,
    Setting,
    Study,
    StudyDraft,
    StudyState,
    Submission,
    SubmissionStatus,
)
from annotation.recruitment.providers.codes import code_for
from annotation.recruitment.providers.errors import ArrivalRefused, ProviderError
from annotation.recruitment.providers.mturk import wire
from annotation.recruitment.providers.retry import Backoff

SANDBOX = "https://mturk-requester-sandbox.us-east-1.amazonaws.com"
SUBMIT_ORIGINS = ("https://www.mturk.com", "https://workersandbox.mturk.com")
FRAME_ANCESTORS = (
    "https://worker.mturk.com",
    "https://workersandbox.mturk.com",
    "https://www.mturk.com",
    "https://requester.mturk.com",
    "https://requestersandbox.mturk.com",
)
NO_ASSIGNMENT = "ASSIGNMENT_ID_NOT_AVAILABLE"
IDENTIFIER = re.compile(r"[0-9A-Za-z]{1,64}")
DRAFT = "type:"  # before a HIT type's id, which is no HIT's
LONGEST_FEEDBACK = 1024
FEE = Decimal("0.20")
SMALLEST_FEE = Decimal("0.01")
PAGE = 100
CLOCKS = timedelta(minutes=10)  # how far theirs and ours may be apart

T = TypeVar("T")


class MechanicalTurk(Provider):
    key: ClassVar[str] = "mturk"
    label: ClassVar[str] = "Mechanical Turk"
    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {
            Capability.STUDIES,
            Capability.SUBMISSIONS,
            Capability.REVIEW,
            Capability.BONUS,
            Capability.EMBEDDED,
        }
    )
    # Workers may come from these origins and are sent back to them, instead of to Amazon's.
    settings: ClassVar[tuple[Setting, ...]] = (Setting("submit_origins", "MTURK_SUBMIT_ORIGINS", ()),)
    account_fields: ClassVar[tuple[Field, ...]] = (
        Field(
            "access_key",
            "Access key id",
            "Of an AWS user with the policy AmazonMechanicalTurkFullAccess.",
            required=True,
        ),
        Field(
            "secret_key",
            "Secret access key",
            "Shown once, when the access key is made.",
            kind=FieldKind.SECRET,
            required=True,
        ),
    )
    api: ClassVar[str] = "https://mturk-requester.us-east-1.amazonaws.com"
    endpoints: ClassVar[tuple[tuple[str, str], ...]] = ((SANDBOX, "Amazon's sandbox: no money, no strangers"),)
    connect_text: ClassVar[str] = (
        "For those who have a requester account: Amazon admits no new ones. You need the access key of an AWS user."
    )
    connect_notice: ClassVar[str] = (
        "Amazon has admitted no new requesters since 30 July 2026. Existing accounts continue to work."
    )
    study_fields: ClassVar[tuple[Field, ...]] = (
        Field("keywords", "Keywords", "Comma-separated.", kind=FieldKind.WORDS, max_length=200),
        Field(
            "countries",
            "Countries",
            "Two letters each, comma-separated, such as GB, US. Empty: all.",
            kind=FieldKind.WORDS,
            max_length=200,
            section=Section.ELIGIBILITY,
        ),
    )
    recruit_text: ClassVar[str] = (
        "Amazon's workers, for requesters who have an account already: one HIT with as many assignments as you want "
        "people."
    )
    currency: ClassVar[str] = "USD"
    parameters: ClassVar[tuple[str, ...]] = ("assignmentId", "hitId", "workerId")
    rater_id: ClassVar[str] = "worker ID"
    rejection: ClassVar[RejectionRules] = RejectionRules(
        takes_reason=False, max_length=LONGEST_FEEDBACK, help=f"Up to {LONGEST_FEEDBACK:,} characters."
    )
    bonuses_resume: ClassVar[bool] = True

    def __init__(
        self,
        *,
        access_key: str = "",
        secret_key: str = "",
        endpoint: str = "",
        submit_origins: Sequence[str] = (),
        backoff: Backoff | None = None,
    ) -> None:
        """Without keys workers are still recognised and sent back. Other origins than Amazon's are for tests."""
        super().__init__(endpoint=endpoint, backoff=backoff)
        self._access_key = access_key.strip()
        self._secret_key = secret_key.strip()
        self.form_targets = tuple(submit_origins) or SUBMIT_ORIGINS
        self.frame_ancestors = (*FRAME_ANCESTORS, *submit_origins)
        self._open: Any = None

    @classmethod
    def fee_percent(cls, *, places: int, agreed: Decimal) -> Decimal:
        return Decimal(40 if places >= wire.DEARER else 20)

    @classmethod
    def warnings(cls, *, places: int, agreed_fee: Decimal) -> list[str]:
        if places < wire.DEARER:
            return []
        return ["From ten assignments on Amazon's fee is 40 % instead of 20 %: several small HITs cost less."]

    # --- Raters ------------------------------------------------------------------------------------------------------

    def arrival(self, query: Mapping[str, str]) -> Arrival | None:
        assignment, hit = query.get("assignmentId", "").strip(), query.get("hitId", "").strip()
        if not assignment and not hit:
            return None
        if assignment == NO_ASSIGNMENT:
            return Arrival(rater="", study=hit if IDENTIFIER.fullmatch(hit) else "", session="", is_preview=True)
        worker = query.get("workerId", "").strip()
        for name, value in {"assignmentId": assignment, "hitId": hit, "workerId": worker}.items():
            if not IDENTIFIER.fullmatch(value):
                raise ArrivalRefused(
                    f"{name}: found {value[:80]!r}; accepted: letters and digits, as Mechanical Turk fills them in.",
                    fields={name: ["Accepted: letters and digits."]},
                )
        return Arrival(worker, hit, assignment, return_to=self._checked(query.get("turkSubmitTo", "")))

    def _checked(self, submit_to: str) -> str:
        """The origin, one of those allowed: a made-up one would carry the worker's form anywhere."""
        found = origin(submit_to)
        if found not in self.form_targets:
            accepted = " or ".join(sorted(self.form_targets))
            raise ArrivalRefused(
                f"turkSubmitTo: found {submit_to[:80]!r}; accepted: {accepted}.",
                fields={"turkSubmitTo": [f"Accepted: {accepted}."]},
            )
        return found

    def entry_url(self, url: str) -> str:
        return url  # the four parameters are added to whatever address the HIT names

    def completion(self, arrival: Arrival, outcome: Outcome, codes: Sequence[CompletionCode]) -> Completion:
        if arrival.is_preview or not arrival.return_to:
            return Completion()
        if any(code.outcome == outcome and code.after == AfterCode.ASK_RETURN for code in codes):
            return Completion()  # a HIT is returned on Mechanical Turk's own page, instead of being submitted
        code = code_for(codes, outcome)
        # Amazon takes no form whose only field is the assignment.
        fields = {"assignmentId": arrival.session, "outcome": outcome.value, "code": code}
        return Completion(f"{arrival.return_to}/mturk/externalSubmit", method="POST", fields=fields, code=code)

    # --- Account -----------------------------------------------------------------------------------------------------

    def account(self) -> Account:
        data = self._call("get_account_balance")
        return Account(self._access_key, self._access_key, "USD", Decimal(data["AvailableBalance"]))

    # --- Studies -----------------------------------------------------------------------------------------------------

    def study_create(self, draft: StudyDraft) -> Study:
        self.check_extra(draft)
        data = self._call("create_hit_type", **wire.hit_type(draft))
        return Study(DRAFT + data["HITTypeId"], StudyState.DRAFT, "HIT type", places=draft.places, places_taken=0)

    def study_publish(self, study: str, draft: StudyDraft) -> Study:
        """Harmless to repeat for a day: so long Amazon knows the draft's reference."""
        if not study.startswith(DRAFT):
            return self.study_fetch(study)
        request = wire.hit(draft, hit_type=study.removeprefix(DRAFT))
        try:
            data = self._call("create_hit_with_hit_type", **request)
        except ProviderError as error:
            if existing := wire.existing_hit(error):
                return self.study_fetch(existing)
            raise
        return self._study(data["HIT"])

    def study_pause(self, study: str) -> Study:
        """There is no pause: the HIT expires, and whoever has accepted it may still finish."""
        self._expire(study, datetime.now(UTC) - timedelta(days=1))
        return self.study_fetch(study)

    def study_resume(self, study: str, draft: StudyDraft) -> Study:
        self._expire(study, datetime.now(UTC) + draft.open_for)
        return self.study_fetch(study)

    def study_stop(self, study: str) -> Study:
        """As a pause; Amazon does not tell the two apart."""
        self._expire(study, datetime.now(UTC) - timedelta(days=1))
        found = self.study_fetch(study)
        return Study(found.id, StudyState.COMPLETED, found.said, found.places, found.places_taken, found.url)

    def study_fetch(self, study: str) -> Study:
        if study.startswith(DRAFT):
            return Study(study, StudyState.DRAFT, "HIT type")
        return self._study(self._call("get_hit", HITId=_id(study))["HIT"])

    def study_extend(self, study: str, *, places: int, reference: str) -> Study:
        has = self.study_fetch(study).places or 0
        if places < has:
            raise ProviderError.at("places", f"Found {places}; accepted: {has} or more.")
        if has < wire.DEARER <= places:
            message = f"Found {places}; accepted: up to {wire.DEARER - 1}, because a HIT that began below stays below."
            raise ProviderError.at("places", message)
        if places > has:
            request = {"HITId": _id(study), "NumberOfAdditionalAssignments": places - has}
            try:
                self._call("create_additional_assignments_for_hit", **request, UniqueRequestToken=wire.token(reference))
            except ProviderError as error:
                if not wire.done_before(error):
                    raise
        return self.study_fetch(study)

    def _expire(self, study: str, when: datetime) -> None:
        if study.startswith(DRAFT):
            raise ProviderError("The study has not been published; accepted: one that has.")
        self._call("update_expiration_for_hit", HITId=_id(study), ExpireAt=when)

    def _study(self, hit: Mapping[str, Any]) -> Study:
        return wire.study_of(hit, sandbox="sandbox" in self._endpoint, now=datetime.now(UTC))

    # --- Submissions -------------------------------------------------------------------------------------------------

    def submissions(self, study: str) -> Iterator[Submission]:
        if study.startswith(DRAFT):
            return
        page: dict[str, str] = {}
        while True:
            data = self._call("list_assignments_for_hit", HITId=_id(study), MaxResults=PAGE, **page)
            for assignment in data.get("Assignments", []):
                yield wire.submission_of(assignment)
            following = data.get("NextToken", "")
            if not following or following == page.get("NextToken"):
                return
            page = {"NextToken": following}

    def submission(self, submission: str) -> Submission:
        return wire.submission_of(self._call("get_assignment", AssignmentId=_id(submission))["Assignment"])

    def approve(self, submission: str) -> None:
        self._settle(SubmissionStatus.APPROVED, "approve_assignment", AssignmentId=_id(submission))

    def reject(self, submission: str, *, reason: RejectionReason, message: str) -> None:
        message = message.strip()
        if not 1 <= len(message) <= LONGEST_FEEDBACK:
            raise ProviderError.at(
                "message",
                f"Found {len(message)} characters; accepted: 1 to {LONGEST_FEEDBACK}. The worker reads them.",
            )
        self._settle(
            SubmissionStatus.REJECTED, "reject_assignment", AssignmentId=_id(submission), RequesterFeedback=message
        )

    def _settle(self, wanted: SubmissionStatus, operation: str, **request: Any) -> None:
        """Deciding a second time is refused by Amazon; the same decision is no mistake."""
        try:
            self._call(operation, **request)
        except ProviderError as error:
            if error.retriable or not error.status:
                raise
            if self.submission(request["AssignmentId"]).status != wanted:
                raise

    # --- Bonuses -----------------------------------------------------------------------------------------------------

    def bonus_prepare(self, study: str, payments: Sequence[Bonus]) -> BonusBatch:
        wire.check_bonuses(payments)
        amount = sum((payment.amount for payment in payments), Decimal(0))
        fees = sum(
            (max(SMALLEST_FEE, (one.amount * FEE).quantize(SMALLEST_FEE, ROUND_UP)) for one in payments), Decimal(0)
        )
        return BonusBatch("", study, tuple(payments), amount, fees, amount + fees, prepared_at=datetime.now(UTC))

    def bonus_pay(self, batch: BonusBatch) -> None:
        """One by one; a batch that broke off may be sent again, and pays the rest."""
        for payment in batch.payments:
            # Amazon knows a token for a day only, its list of bonuses for good.
            if self._paid(payment, since=batch.prepared_at):
                continue
            try:
                self._call(
                    "send_bonus",
                    WorkerId=_id(payment.rater),
                    AssignmentId=_id(payment.submission),
                    BonusAmount=f"{payment.amount:.2f}",
                    Reason=payment.reason.strip(),
                    UniqueRequestToken=wire.token(payment.reference),
                )
            except ProviderError as error:
                if not wire.done_before(error):
                    raise

    def _paid(self, payment: Bonus, *, since: datetime) -> bool:
        data = self._call("list_bonus_payments", AssignmentId=_id(payment.submission), MaxResults=PAGE)
        return any(
            Decimal(found["BonusAmount"]) == payment.amount
            and found.get("Reason", "").strip() == payment.reason.strip()
            and (wire.moment(found.get("GrantTime")) or since) >= since - CLOCKS
            for found in data.get("BonusPayments", [])
        )

    # --- The wire ----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def _client(self) -> Any:
        if self._open is None:
            for name in ("access_key", "secret_key"):
                if not getattr(self, f"_{name}"):
                    raise ProviderError.at(name, "Found none; accepted: an AWS key, to be entered with the account.")
            self._open = _aws().connect(
                access_key=self._access_key, secret_key=self._secret_key, endpoint=self._endpoint
            )
        return self._open

    def _call(self, operation: str, **request: Any) -> Any:
        # Every write here carries a token or sets a state, so that repeating it is harmless.
        call: Callable[..., Any] = getattr(self._client(), operation)
        return self._backoff.run(lambda: _aws().translated(lambda: call(**request)), idempotent=True)


def _id(value: str) -> str:
    if not IDENTIFIER.fullmatch(value):
        raise ProviderError(f"Found {value[:80]!r}; accepted: an id as Mechanical Turk gives them.")
    return value


def _aws() -> Any:
    """Imported when Amazon is first asked: an installation that never does has no use for it."""
    return import_module("annotation.recruitment.providers.mturk.aws")
