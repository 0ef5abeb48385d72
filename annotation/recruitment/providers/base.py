"""What Assay asks of a provider of raters, in its own words; each provider answers in one file.

Money is in major units of the account's currency, as ``Decimal``: 1.50 is one pound fifty, whatever unit the provider
counts in.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from types import TracebackType
from typing import Any, ClassVar, Literal, Self

from annotation.recruitment.providers.errors import NotSupported


class Outcome(StrEnum):
    """How a rater's stay ended, as Assay saw it."""

    COMPLETED = "completed"
    FAILED_QUALIFICATION = "failed_qualification"
    FAILED_ATTENTION = "failed_attention"
    SCREENED_OUT = "screened_out"
    NO_CONSENT = "no_consent"
    OUT_OF_WORK = "out_of_work"


class AfterCode(StrEnum):
    """What the provider does with a submission once its completion code is entered."""

    APPROVE = "approve"
    REVIEW = "review"
    ASK_RETURN = "ask_return"
    PAY_SCREEN_OUT = "pay_screen_out"


class Capability(StrEnum):
    DRAFTS = "drafts"  # a study can be looked at before it takes raters
    STUDIES = "studies"  # created, published, paused and stopped from here
    SUBMISSIONS = "submissions"  # listed
    RETURNS = "returns"  # returned and timed-out submissions are among them
    REVIEW = "review"  # approve and reject
    REQUEST_RETURN = "request_return"
    BONUS = "bonus"
    WEBHOOKS = "webhooks"
    CODES = "codes"  # a completion code by outcome
    EMBEDDED = "embedded"  # the rater's pages are shown in a frame of the provider's
    PREVIEW = "preview"  # people look before they accept


class StudyState(StrEnum):
    DRAFT = "draft"
    PUBLISHED = "published"
    PAUSED = "paused"
    COMPLETED = "completed"


class SubmissionStatus(StrEnum):
    ACTIVE = "active"
    AWAITING = "awaiting"
    APPROVED = "approved"
    REJECTED = "rejected"
    RETURNED = "returned"
    TIMED_OUT = "timed_out"
    SCREENED_OUT = "screened_out"


# The provider holds no place for these any more, nor will it pay for them.
GIVEN_UP = frozenset({SubmissionStatus.RETURNED, SubmissionStatus.TIMED_OUT})


class RejectionReason(StrEnum):
    FAILED_CHECK = "failed_check"
    LOW_EFFORT = "low_effort"
    TOO_QUICKLY = "too_quickly"
    TOO_SLOWLY = "too_slowly"
    FAILED_INSTRUCTIONS = "failed_instructions"
    NO_CODE = "no_code"
    BAD_CODE = "bad_code"
    NO_DATA = "no_data"
    MALINGERING = "malingering"
    UNSUPPORTED_DEVICE = "unsupported_device"
    OTHER = "other"


@dataclass(frozen=True)
class CredentialField:
    """One thing a manager types in to connect an account; ``secret`` ones are kept encrypted."""

    name: str
    label: str
    help: str
    secret: bool = False
    required: bool = True


@dataclass(frozen=True)
class Arrival:
    """Who has just come. A preview names nobody and must take no slot."""

    rater: str
    study: str
    session: str
    is_preview: bool = False
    return_to: str = ""  # where a form must be posted at the end, checked; Mechanical Turk only


@dataclass(frozen=True)
class CompletionCode:
    """The code for one outcome, and what the provider does when it is entered."""

    outcome: Outcome
    code: str
    after: AfterCode
    reason: str = ""  # shown to the rater who is asked to return
    reward: Decimal | None = None  # of a paid screen-out
    places: int | None = None  # screen-outs paid before the provider pauses the study


@dataclass(frozen=True)
class Completion:
    """Where the rater goes at the end: a link, a form to post, or, with neither, a code to write down."""

    url: str = ""
    method: Literal["GET", "POST"] = "GET"
    fields: Mapping[str, str] = field(default_factory=dict)
    code: str = ""


@dataclass(frozen=True)
class Eligibility:
    """Who may take part. What a provider cannot express it refuses, by name; nothing is dropped silently."""

    approval_rate: int | None = None  # per cent, at least
    approvals: int | None = None  # earlier approved submissions, at least
    countries: Sequence[str] = ()  # ISO 3166 alpha-2; Mechanical Turk
    exclude_studies: Sequence[str] = ()  # ids of studies whose raters may not come again; Prolific
    exclude_raters: Sequence[str] = ()  # external ids
    adult_content: bool = False
    filters: Sequence[Mapping[str, Any]] = ()  # the provider's own, as its API takes them


@dataclass(frozen=True)
class StudyDraft:
    """A study to be created; ``reference`` is Assay's own id for it and makes repeats of the same request harmless."""

    title: str
    description: str
    entry_url: str
    reward: Decimal
    places: int
    minutes: int
    reference: str
    codes: Sequence[CompletionCode] = ()
    maximum_minutes: int | None = None
    internal_name: str = ""
    eligibility: Eligibility = field(default_factory=Eligibility)
    keywords: Sequence[str] = ()
    open_for: timedelta = timedelta(days=14)
    approve_after: timedelta = timedelta(days=7)  # unreviewed submissions are paid by then, where it can be chosen
    devices: Sequence[str] = ()  # desktop, tablet, mobile; none named means all


@dataclass(frozen=True)
class Study:
    id: str
    state: StudyState | None  # None: the provider names a state Assay does not know; ``said`` has it
    said: str
    places: int | None = None
    places_taken: int | None = None
    url: str = ""  # the manager's page of it at the provider


@dataclass(frozen=True)
class Submission:
    """One rater's stay at the provider."""

    id: str
    study: str
    rater: str
    status: SubmissionStatus | None  # None: a status Assay does not know, or that is about to change; ``said`` has it
    said: str
    started_at: datetime | None = None
    ended_at: datetime | None = None
    code: str = ""
    return_requested_at: datetime | None = None


@dataclass(frozen=True)
class Bonus:
    """Extra pay for one submission; ``reference`` is unique to this payment."""

    submission: str
    rater: str
    amount: Decimal
    reference: str
    reason: str = ""


@dataclass(frozen=True)
class BonusBatch:
    """Bonuses with what they will cost. Nothing has been paid yet."""

    id: str
    study: str
    payments: tuple[Bonus, ...]
    amount: Decimal
    fees: Decimal
    total: Decimal
    prepared_at: datetime


@dataclass(frozen=True)
class Account:
    id: str
    name: str
    currency: str
    balance: Decimal | None


@dataclass(frozen=True)
class WebhookSubscription:
    id: str
    event: str
    url: str


@dataclass(frozen=True)
class WebhookEvent:
    """A verified message. Deliveries repeat: ``id`` is the same each time, and the store keeps it once."""

    id: str
    kind: str
    sent_at: datetime
    study: str = ""
    submission: str = ""
    rater: str = ""
    status: SubmissionStatus | None = None
    study_state: StudyState | None = None
    payload: Mapping[str, Any] = field(default_factory=dict)


class Provider(ABC):
    """A way by which raters come. Calls that a provider lacks raise :class:`NotSupported`."""

    kind: ClassVar[str]
    label: ClassVar[str]
    capabilities: ClassVar[frozenset[Capability]] = frozenset()
    credentials: ClassVar[tuple[CredentialField, ...]] = ()
    frame_ancestors: ClassVar[tuple[str, ...]] = ()  # origins that show the rater's pages in a frame
    form_targets: ClassVar[tuple[str, ...]] = ()  # origins the last form may be posted to

    # --- Raters ------------------------------------------------------------------------------------------------------

    @abstractmethod
    def arrival(self, query: Mapping[str, str]) -> Arrival | None:
        """Who the query string names; None where it names nobody of this provider's."""

    @abstractmethod
    def entry_url(self, url: str) -> str:
        """The address to give the provider, so that it fills in who comes."""

    @abstractmethod
    def completion(self, arrival: Arrival, outcome: Outcome, codes: Sequence[CompletionCode]) -> Completion:
        """Where a rater goes whose stay ended so."""

    # --- Account -----------------------------------------------------------------------------------------------------

    def account(self) -> Account:
        """Whose account this is: the test of a connection."""
        raise self._lacks("accounts")

    # --- Studies -----------------------------------------------------------------------------------------------------

    def study_create(self, draft: StudyDraft) -> Study:
        """The draft at the provider. It takes no raters and costs nothing before it is published."""
        raise self._lacks("studies")

    def study_publish(self, study: str, draft: StudyDraft) -> Study:
        """The study takes raters. Its id may change: keep the one returned."""
        raise self._lacks("studies")

    def study_pause(self, study: str) -> Study:
        raise self._lacks("studies")

    def study_resume(self, study: str, draft: StudyDraft) -> Study:
        raise self._lacks("studies")

    def study_stop(self, study: str) -> Study:
        raise self._lacks("studies")

    def study_fetch(self, study: str) -> Study:
        raise self._lacks("studies")

    def study_extend(self, study: str, *, places: int, reference: str) -> Study:
        """The study gets so many places in all; fewer than it has is refused."""
        raise self._lacks("studies")

    # --- Submissions -------------------------------------------------------------------------------------------------

    def submissions(self, study: str) -> Iterator[Submission]:
        """Every submission, page after page."""
        raise self._lacks("lists of submissions")

    def submission(self, submission: str) -> Submission:
        raise self._lacks("lists of submissions")

    def approve(self, submission: str) -> None:
        """Pay for it. Approving what is approved changes nothing."""
        raise self._lacks("approvals")

    def approve_many(self, submissions: Sequence[str]) -> None:
        """Each in turn, or all at once where the provider has a way; what is approved already is left as it is."""
        for submission in submissions:
            self.approve(submission)

    def reject(self, submission: str, *, reason: RejectionReason, message: str) -> None:
        """Do not pay for it. The rater reads the message."""
        raise self._lacks("rejections")

    def request_return(self, submission: str, *, reason: str) -> None:
        """Ask the rater to give the submission back, which costs them no standing."""
        raise self._lacks("requests to return")

    # --- Bonuses -----------------------------------------------------------------------------------------------------

    def bonus_prepare(self, study: str, payments: Sequence[Bonus]) -> BonusBatch:
        """What the bonuses will cost; keep the batch before paying it."""
        raise self._lacks("bonuses")

    def bonus_pay(self, batch: BonusBatch) -> None:
        """Pay a prepared batch, once. An error whose ``unknown`` is set may have paid: do not simply repeat."""
        raise self._lacks("bonuses")

    # --- Webhooks ----------------------------------------------------------------------------------------------------

    def webhook_secret(self) -> str:
        """The secret that messages are signed with; made where there is none yet."""
        raise self._lacks("webhooks")

    def webhook_subscribe(self, url: str) -> list[WebhookSubscription]:
        """Have every event Assay handles sent to the address; subscribing again adds nothing."""
        raise self._lacks("webhooks")

    def webhook_unsubscribe(self, subscription: str) -> None:
        raise self._lacks("webhooks")

    def webhook_event(self, *, headers: Mapping[str, str], body: bytes, secret: str, now: datetime) -> WebhookEvent:
        """The message, if it is genuine and fresh."""
        raise self._lacks("webhooks")

    # --- Housekeeping ------------------------------------------------------------------------------------------------

    def close(self) -> None:  # noqa: B027 - nothing to close is a fine answer
        """Give connections back."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _lacks(self, what: str) -> NotSupported:
        return NotSupported(f"{self.label} has no {what}.")
