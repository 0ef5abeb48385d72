"""Amazon Mechanical Turk, through its Requester API of 2017-01-17.

Written after docs.aws.amazon.com/AWSMechTurk: API Reference (CreateHITType, CreateHITWithHITType,
UpdateExpirationForHIT, CreateAdditionalAssignmentsForHIT, ListAssignmentsForHIT, ApproveAssignment, RejectAssignment,
SendBonus, ExternalQuestion) and Requester Guide (How Mechanical Turk tasks are rendered).

A study is one HIT with as many assignments as the study has places: a worker takes it once and rates many items. HITs
have no drafts, so a HIT type, which costs nothing, is the draft until the study is published. Amazon lists submitted
assignments only, not returned or timed-out ones: their items are free again when their leases end.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import ROUND_UP, Decimal
from importlib import import_module
from typing import Any

from annotation.recruitment.providers import base
from annotation.recruitment.providers.addresses import origin
from annotation.recruitment.providers.codes import code_for
from annotation.recruitment.providers.errors import ArrivalRefused, NotFound, ProviderError
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
DRAFT = "type:"  # prefix of the id of a HIT type, which is not yet a HIT
LONGEST_FEEDBACK = 1024
FEE = Decimal("0.20")
SMALLEST_FEE = Decimal("0.01")
PAGE = 100
CLOCK_DIFFERENCE = timedelta(minutes=10)  # at most, between Amazon's clock and ours


class MechanicalTurk(base.Provider):
    key = "mturk"
    label = "Mechanical Turk"
    capabilities = frozenset(
        base.Capability(name) for name in ("studies", "submissions", "review", "bonus", "embedded")
    )
    settings = (base.Setting("submit_origins", "MTURK_SUBMIT_ORIGINS", ()),)  # used instead of Amazon's
    account_fields = (
        base.Field(
            "access_key",
            "Access key id",
            "Of an AWS user with the policy AmazonMechanicalTurkFullAccess.",
            required=True,
        ),
        base.Field(
            "secret_key",
            "Secret access key",
            "Shown once, when the access key is made.",
            kind=base.FieldKind.SECRET,
            required=True,
        ),
    )
    api = "https://mturk-requester.us-east-1.amazonaws.com"
    endpoints = ((SANDBOX, "Amazon's sandbox: no money, no strangers"),)
    connect_text = (
        "For those who have a requester account: Amazon admits no new ones. You need the access key of an AWS user."
    )
    connect_notice = "Amazon has admitted no new requesters since 30 July 2026. Existing accounts continue to work."
    study_fields = (
        base.Field("keywords", "Keywords", "Comma-separated.", kind=base.FieldKind.WORDS, max_length=200),
        base.Field(
            "countries",
            "Countries",
            "Two letters each, comma-separated, such as GB, US. Empty: all.",
            kind=base.FieldKind.WORDS,
            max_length=200,
            section=base.Section.ELIGIBILITY,
        ),
    )
    recruit_text = (
        "Amazon's workers, for requesters who have an account already: one HIT with as many assignments as you want "
        "people."
    )
    currency = "USD"
    # Silberman et al., Responsible research with crowds: pay crowdworkers at least minimum wage, CACM 61(3), 2018.
    fair_per_hour = {"USD": Decimal("7.25")}
    fair_source = "the federal minimum wage in the United States"
    parameters = ("assignmentId", "hitId", "workerId")
    rater_id = "worker ID"
    rejection = base.RejectionRules(
        takes_reason=False, max_length=LONGEST_FEEDBACK, help=f"Up to {LONGEST_FEEDBACK:,} characters."
    )
    bonuses_resume = True

    def __init__(
        self,
        *,
        access_key: str = "",
        secret_key: str = "",
        endpoint: str = "",
        submit_origins: Sequence[str] = (),
        backoff: Backoff | None = None,
    ) -> None:
        """Connect with AWS keys. Without them workers are still recognised and sent back."""
        super().__init__(endpoint=endpoint, backoff=backoff)
        self._access_key = access_key.strip()
        self._secret_key = secret_key.strip()
        self.form_targets = tuple(submit_origins) or SUBMIT_ORIGINS
        self.frame_ancestors = (*FRAME_ANCESTORS, *submit_origins)
        self._connection: Any = None

    @classmethod
    def fee_percent(cls, *, places: int, agreed: Decimal) -> Decimal:
        return Decimal(40 if places >= wire.HIGH_FEE_ASSIGNMENTS else 20)

    @classmethod
    def warnings(cls, *, places: int, agreed_fee: Decimal) -> list[str]:
        if places < wire.HIGH_FEE_ASSIGNMENTS:
            return []
        return ["From ten assignments on Amazon's fee is 40 % instead of 20 %: several small HITs cost less."]

    # --- Raters ------------------------------------------------------------------------------------------------------

    def arrival(self, query: Mapping[str, str]) -> base.Arrival | None:
        assignment, hit = query.get("assignmentId", "").strip(), query.get("hitId", "").strip()
        if not assignment and not hit:
            return None
        if assignment == NO_ASSIGNMENT:
            return base.Arrival(rater="", study=hit if IDENTIFIER.fullmatch(hit) else "", session="", is_preview=True)
        worker = query.get("workerId", "").strip()
        for name, value in {"assignmentId": assignment, "hitId": hit, "workerId": worker}.items():
            if not IDENTIFIER.fullmatch(value):
                raise ArrivalRefused(
                    f"{name}: found {value[:80]!r}; accepted: letters and digits, as Mechanical Turk fills them in.",
                    fields={name: ["Accepted: letters and digits."]},
                )
        return base.Arrival(worker, hit, assignment, return_to=self._return_address(query.get("turkSubmitTo", "")))

    def _return_address(self, submit_to: str) -> str:
        """Return the origin; refuse unknown origins, because the worker's form is posted there."""
        address = origin(submit_to)
        if address not in self.form_targets:
            accepted = " or ".join(sorted(self.form_targets))
            raise ArrivalRefused(
                f"turkSubmitTo: found {submit_to[:80]!r}; accepted: {accepted}.",
                fields={"turkSubmitTo": [f"Accepted: {accepted}."]},
            )
        return address

    def arrival_proof(self, arrival: base.Arrival) -> base.Proof:
        """Confirm the assignment. Amazon names its worker only once it is submitted."""
        try:
            return base.confirmed(self.submission(arrival.session), arrival)
        except NotFound as error:
            raise ArrivalRefused("assignmentId: Mechanical Turk knows no such assignment; accepted: yours.") from error
        except ProviderError as error:
            if not wire.is_unfinished(error):
                raise
            return base.Proof.SUBMISSION

    def entry_url(self, url: str) -> str:
        return url  # Amazon adds its four parameters

    def completion(
        self, arrival: base.Arrival, outcome: base.Outcome, codes: Sequence[base.CompletionCode]
    ) -> base.Completion:
        if arrival.is_preview or not arrival.return_to:
            return base.Completion()
        if any(code.outcome == outcome and code.after == base.AfterCode.ASK_RETURN for code in codes):
            return base.Completion()  # a HIT is returned on Mechanical Turk's own page, instead of being submitted
        code = code_for(codes, outcome)
        # Amazon refuses a form whose only field is the assignment.
        fields = {"assignmentId": arrival.session, "outcome": outcome.value, "code": code}
        return base.Completion(f"{arrival.return_to}/mturk/externalSubmit", method="POST", fields=fields, code=code)

    # --- Account -----------------------------------------------------------------------------------------------------

    def account(self) -> base.Account:
        data = self._call("get_account_balance")
        return base.Account(self._access_key, self._access_key, "USD", Decimal(data["AvailableBalance"]))

    # --- Studies -----------------------------------------------------------------------------------------------------

    def study_create(self, draft: base.StudyDraft) -> base.Study:
        self.check_extra(draft)
        data = self._call("create_hit_type", **wire.hit_type(draft))
        return base.Study(
            DRAFT + data["HITTypeId"], base.StudyState.DRAFT, "HIT type", places=draft.places, places_taken=0
        )

    def study_publish(self, study: str, draft: base.StudyDraft) -> base.Study:
        """Create the HIT. Repeating it is harmless for a day, while Amazon remembers the draft's reference."""
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

    def study_pause(self, study: str) -> base.Study:
        """Expire the HIT, because Amazon has no pause; workers who have accepted it may still finish."""
        self._expire(study, datetime.now(UTC) - timedelta(days=1))
        return self.study_fetch(study)

    def study_resume(self, study: str, draft: base.StudyDraft) -> base.Study:
        self._expire(study, datetime.now(UTC) + draft.open_for)
        return self.study_fetch(study)

    def study_stop(self, study: str) -> base.Study:
        """Expire the HIT, as for a pause, and report it as completed."""
        return replace(self.study_pause(study), state=base.StudyState.COMPLETED)

    def study_fetch(self, study: str) -> base.Study:
        if study.startswith(DRAFT):
            return base.Study(study, base.StudyState.DRAFT, "HIT type")
        return self._study(self._call("get_hit", HITId=_id(study))["HIT"])

    def study_extend(self, study: str, *, places: int, reference: str) -> base.Study:
        current = self.study_fetch(study).places or 0
        if places < current:
            raise ProviderError.at("places", f"Found {places}; accepted: {current} or more.")
        limit = wire.HIGH_FEE_ASSIGNMENTS
        if current < limit <= places:
            message = f"Found {places}; accepted: up to {limit - 1}, because a HIT that began below stays below."
            raise ProviderError.at("places", message)
        if places > current:
            request = {"HITId": _id(study), "NumberOfAdditionalAssignments": places - current}
            self._call_once("create_additional_assignments_for_hit", reference, **request)
        return self.study_fetch(study)

    def _expire(self, study: str, when: datetime) -> None:
        if study.startswith(DRAFT):
            raise ProviderError("The study has not been published; accepted: one that has.")
        self._call("update_expiration_for_hit", HITId=_id(study), ExpireAt=when)

    def _study(self, hit: Mapping[str, Any]) -> base.Study:
        return wire.study_of(hit, sandbox="sandbox" in self._endpoint, now=datetime.now(UTC))

    # --- Submissions -------------------------------------------------------------------------------------------------

    def submissions(self, study: str) -> Iterator[base.Submission]:
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

    def submission(self, submission: str) -> base.Submission:
        return wire.submission_of(self._call("get_assignment", AssignmentId=_id(submission))["Assignment"])

    def approve(self, submission: str) -> None:
        self._decide(base.SubmissionStatus.APPROVED, "approve_assignment", AssignmentId=_id(submission))

    def reject(self, submission: str, *, reason: base.RejectionReason, message: str) -> None:
        message = message.strip()
        if not 1 <= len(message) <= LONGEST_FEEDBACK:
            raise ProviderError.at(
                "message",
                f"Found {len(message)} characters; accepted: 1 to {LONGEST_FEEDBACK}. The worker reads them.",
            )
        self._decide(
            base.SubmissionStatus.REJECTED, "reject_assignment", AssignmentId=_id(submission), RequesterFeedback=message
        )

    def _decide(self, status: base.SubmissionStatus, operation: str, **request: Any) -> None:
        """Make a decision. Amazon refuses to repeat one; a repetition with the same result counts as done."""
        try:
            self._call(operation, **request)
        except ProviderError as error:
            if error.retriable or not error.status:
                raise
            if self.submission(request["AssignmentId"]).status != status:
                raise

    # --- Bonuses -----------------------------------------------------------------------------------------------------

    def bonus_prepare(self, study: str, payments: Sequence[base.Bonus]) -> base.BonusBatch:
        wire.check_bonuses(payments)
        amount = sum((payment.amount for payment in payments), Decimal(0))
        fees = sum(
            (max(SMALLEST_FEE, (payment.amount * FEE).quantize(SMALLEST_FEE, ROUND_UP)) for payment in payments),
            Decimal(0),
        )
        return base.BonusBatch("", study, tuple(payments), amount, fees, amount + fees, prepared_at=datetime.now(UTC))

    def bonus_pay(self, batch: base.BonusBatch) -> None:
        """Pay one by one; sending an interrupted batch again pays the rest."""
        for payment in batch.payments:
            # Amazon remembers a token for a day, but lists bonuses for good.
            if self._is_paid(payment, since=batch.prepared_at):
                continue
            self._call_once(
                "send_bonus",
                payment.reference,
                WorkerId=_id(payment.rater),
                AssignmentId=_id(payment.submission),
                BonusAmount=f"{payment.amount:.2f}",
                Reason=payment.reason.strip(),
            )

    def _is_paid(self, payment: base.Bonus, *, since: datetime) -> bool:
        data = self._call("list_bonus_payments", AssignmentId=_id(payment.submission), MaxResults=PAGE)
        return any(
            Decimal(bonus["BonusAmount"]) == payment.amount
            and bonus.get("Reason", "").strip() == payment.reason.strip()
            and (wire.moment(bonus.get("GrantTime")) or since) >= since - CLOCK_DIFFERENCE
            for bonus in data.get("BonusPayments", [])
        )

    # --- Requests ----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connect(self) -> Any:
        if self._connection is None:
            for name in ("access_key", "secret_key"):
                if not getattr(self, f"_{name}"):
                    raise ProviderError.at(name, "Found none; accepted: an AWS key, to be entered with the account.")
            self._connection = _aws().connect(
                access_key=self._access_key, secret_key=self._secret_key, endpoint=self._endpoint
            )
        return self._connection

    def _call(self, operation: str, **request: Any) -> Any:
        # Every write here carries a token or sets a state, so that repeating it is harmless.
        call: Callable[..., Any] = getattr(self._connect(), operation)
        return self._backoff.run(lambda: _aws().translated(lambda: call(**request)), idempotent=True)

    def _call_once(self, operation: str, reference: str, **request: Any) -> None:
        """Make a request that Amazon carries out once for each reference."""
        try:
            self._call(operation, **request, UniqueRequestToken=wire.token(reference))
        except ProviderError as error:
            if not wire.is_repeated(error):
                raise


def _id(value: str) -> str:
    if not IDENTIFIER.fullmatch(value):
        raise ProviderError(f"Found {value[:80]!r}; accepted: an id from Mechanical Turk.")
    return value


def _aws() -> Any:
    """Import boto3 with the first request: loading it is slow, and most installations never need it."""
    return import_module("annotation.recruitment.providers.mturk.aws")
