"""The interface of providers of raters; each provider implements it, and describes itself, in its folder.

Money is in major units of the account's currency, as ``Decimal``: 1.50 is one pound fifty.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from types import TracebackType
from typing import Any, ClassVar, Literal, Self

from annotation.recruitment.providers.addresses import require_https
from annotation.recruitment.providers.errors import ArrivalRefused, NotSupported, ProviderError
from annotation.recruitment.providers.retry import Backoff


class LabelledEnum(StrEnum):
    """Values with labels for managers."""

    label: str

    def __new__(cls, value: str, label: str = "") -> Self:
        member = str.__new__(cls, value)
        member._value_, member.label = value, label
        return member


class Outcome(LabelledEnum):
    """How a rater's submission ended, as Assay saw it."""

    COMPLETED = "completed", "Completed"
    FAILED_QUALIFICATION = "failed_qualification", "Did not pass the test"
    FAILED_ATTENTION = "failed_attention", "Excluded during the work"
    SCREENED_OUT = "screened_out", "Has taken part before"
    NO_CONSENT = "no_consent", "Did not agree"
    OUT_OF_WORK = "out_of_work", "Nothing left to rate"


class AfterCode(LabelledEnum):
    """The provider's action once a completion code is entered."""

    APPROVE = "approve", "Paid at once"
    REVIEW = "review", "A person reviews it"
    ASK_RETURN = "ask_return", "Asked to return, unpaid"
    PAY_SCREEN_OUT = "pay_screen_out", "Paid a fixed amount for a screen-out"


class Capability(StrEnum):
    STUDIES = "studies"  # created, published, paused and stopped from here
    SUBMISSIONS = "submissions"  # listed
    RETURNS = "returns"  # returned and timed-out submissions are among them
    REVIEW = "review"  # approve and reject
    REQUEST_RETURN = "request_return"
    BONUS = "bonus"
    WEBHOOKS = "webhooks"
    EMBEDDED = "embedded"  # the provider shows the rater's pages in a frame
    PAID_SCREEN_OUT = "paid_screen_out"  # a fixed amount for raters who are screened out


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


# These take no place of the study any more and are not paid.
RELEASED = frozenset({SubmissionStatus.RETURNED, SubmissionStatus.TIMED_OUT})


class RejectionReason(LabelledEnum):
    FAILED_CHECK = "failed_check", "Failed the attention checks"
    LOW_EFFORT = "low_effort", "Low effort throughout"
    TOO_QUICKLY = "too_quickly", "Far too quick to have read the texts"
    TOO_SLOWLY = "too_slowly", "Took exceptionally long"
    FAILED_INSTRUCTIONS = "failed_instructions", "Did not follow the instructions"
    NO_CODE = "no_code", "No completion code"
    BAD_CODE = "bad_code", "A code that does not belong to the study"
    NO_DATA = "no_data", "No answers were received"
    MALINGERING = "malingering", "Answered untruthfully"
    UNSUPPORTED_DEVICE = "unsupported_device", "A device that was not allowed"
    OTHER = "other", "Something else"


class FieldKind(StrEnum):
    TEXT = "text"
    SECRET = "secret"  # noqa: S105 - stored encrypted, never shown again
    WORDS = "words"  # separated by commas; a list
    CHOICES = "choices"  # any number of them; a list


class Section(StrEnum):
    """A part of the form of a recruitment."""

    STUDY = "study"
    ELIGIBILITY = "eligibility"


@dataclass(frozen=True)
class Field:
    """A field of a form, as plain data."""

    name: str
    label: str
    help: str = ""
    kind: FieldKind = FieldKind.TEXT
    required: bool = False
    max_length: int = 500
    choices: tuple[tuple[str, str], ...] = ()  # value, label
    section: Section = Section.STUDY  # of a study's field

    @property
    def secret(self) -> bool:
        return self.kind == FieldKind.SECRET


@dataclass(frozen=True)
class Setting:
    """An argument of the provider that the environment sets: a text, or a list if the default is a tuple."""

    name: str
    variable: str
    default: str | tuple[str, ...] = ""


@dataclass(frozen=True)
class RejectionRules:
    """Rules for the message of a rejection."""

    takes_reason: bool = True  # one of RejectionReason
    min_length: int = 1
    max_length: int = 1024
    help: str = ""  # shown at the field of the message
    advice: str = ""  # shown after "A rejection hurts a rater's standing"


@dataclass(frozen=True)
class Arrival:
    """The ids of an arriving rater. A preview has no rater and must take no slot."""

    rater: str
    study: str
    session: str
    is_preview: bool = False
    return_to: str = ""  # the checked origin to which the last form is posted; empty if the provider needs none


class Proof(StrEnum):
    """What a provider's API confirms about an arrival."""

    RATER = "rater"  # this rater holds this submission of this study
    SUBMISSION = "submission"  # the submission exists; the API names its rater only at its end
    NOTHING = "nothing"


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
    """The rater's way back at the end: a link, a form to post, or, with neither, a code to write down."""

    url: str = ""
    method: Literal["GET", "POST"] = "GET"
    fields: Mapping[str, str] = field(default_factory=dict)
    code: str = ""


@dataclass(frozen=True)
class Eligibility:
    """Requirements for raters. A provider refuses those it cannot express, by name; it ignores none."""

    approval_rate: int | None = None  # per cent, at least
    approvals: int | None = None  # earlier approved submissions, at least
    exclude_studies: Sequence[str] = ()  # ids of studies whose raters may not come again
    exclude_raters: Sequence[str] = ()  # external ids
    adult_content: bool = False
    filters: Sequence[Mapping[str, Any]] = ()  # in the form of the provider's API


@dataclass(frozen=True)
class StudyDraft:
    """A study to be created; ``reference`` is Assay's id for it, which makes repeated requests harmless."""

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
    open_for: timedelta = timedelta(days=14)
    approve_after: timedelta = timedelta(days=7)  # then unreviewed submissions are paid, if the provider lets us choose
    extra: Mapping[str, Any] = field(default_factory=dict)  # values of the provider's study fields, by name

    def check(self) -> None:
        """Refuse numbers below 1 and an address without encryption, for every provider."""
        for name in ("places", "minutes"):
            if getattr(self, name) < 1:
                raise ProviderError.at(name, f"Found {getattr(self, name)}; accepted: 1 or more.")
        require_https(self.entry_url, field="entry_url")


@dataclass(frozen=True)
class Study:
    id: str
    state: StudyState | None  # None: a state that Assay does not know
    reported: str  # the provider's word for the state
    places: int | None = None
    places_taken: int | None = None
    url: str = ""  # the manager's page at the provider


@dataclass(frozen=True)
class Submission:
    """A rater's submission, as the provider reports it."""

    id: str
    study: str
    rater: str
    status: SubmissionStatus | None  # None: a status that Assay does not know, or that is about to change
    reported: str  # the provider's word for the status
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
    """Bonuses and their cost, before they are paid."""

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
    """A verified message. A repeated delivery has the same ``id`` and is stored once."""

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
    """A service that sends raters. Functions that it lacks raise :class:`NotSupported`.

    The class describes the provider for forms, pages, documents and prices; an instance is connected with an account.
    """

    key: ClassVar[str]  # stored with each recruitment; at most 20 characters
    label: ClassVar[str]
    sends_raters: ClassVar[bool] = True  # False: no account and no recruitment
    capabilities: ClassVar[frozenset[Capability]] = frozenset()

    # The connection
    settings: ClassVar[tuple[Setting, ...]] = ()
    account_fields: ClassVar[tuple[Field, ...]] = ()
    api: ClassVar[str] = ""  # address of the provider's API
    endpoints: ClassVar[tuple[tuple[str, str], ...]] = ()  # address and label of further APIs, such as a sandbox
    connect_text: ClassVar[str] = ""  # on the page of provider accounts
    connect_notice: ClassVar[str] = ""  # above the form that connects an account

    # A study
    study_fields: ClassVar[tuple[Field, ...]] = ()
    recruit_text: ClassVar[str] = ""  # on a campaign's page of recruitments
    by_hand_hint: ClassVar[str] = ""  # after "paste this address unchanged"
    currency: ClassVar[str] = ""  # the only currency; empty: the account's
    least_per_hour: ClassVar[Mapping[str, Decimal]] = {}  # by currency
    fair_per_hour: ClassVar[Mapping[str, Decimal]] = {}  # what is recommended at least, by currency
    fair_source: ClassVar[str] = ""  # who recommends it, after the amount

    # Raters
    parameters: ClassVar[tuple[str, ...]] = ()  # of the address by which a rater arrives; all are needed
    rater_id: ClassVar[str] = ""  # the raters' word for their id
    frame_ancestors: tuple[str, ...] = ()  # origins that show the rater's pages in a frame
    form_targets: tuple[str, ...] = ()  # origins the last form may be posted to

    # Decisions and pay
    rejection: ClassVar[RejectionRules] = RejectionRules()
    bonuses_resume: ClassVar[bool] = False  # paid one by one, so that sending a batch again pays only the rest

    def __init__(self, *, endpoint: str = "", backoff: Backoff | None = None) -> None:
        """Subclasses take further arguments: the names of their ``account_fields`` and ``settings``."""
        self._endpoint = (endpoint or self.api).rstrip("/")
        if self._endpoint:
            require_https(self._endpoint, field="endpoint")
        self._backoff = backoff or Backoff()

    @classmethod
    def fee_percent(cls, *, places: int, agreed: Decimal) -> Decimal:
        """Return the provider's fee on rewards; ``agreed`` is the percentage that the campaign sets."""
        return agreed

    @classmethod
    def warnings(cls, *, places: int, agreed_fee: Decimal) -> list[str]:
        """Return warnings for a manager who is about to publish a study."""
        return []

    def check_extra(self, draft: StudyDraft) -> None:
        """Refuse values for fields that this provider does not have."""
        names = {each.name for each in self.study_fields}
        for name in draft.extra:
            if name not in names:
                raise ProviderError.at(name, f"Found a value; accepted: none, {self.label} has no such field.")

    # --- Raters ------------------------------------------------------------------------------------------------------

    @abstractmethod
    def arrival(self, query: Mapping[str, str]) -> Arrival | None:
        """Return the rater whom the query string names; None if it names none of this provider."""

    def arrival_proof(self, arrival: Arrival) -> Proof:
        """Ask the API about an arrival, whose address anyone can write; refuse what the API denies."""
        return Proof.NOTHING

    @abstractmethod
    def entry_url(self, url: str) -> str:
        """Return the address for the provider, with fields in which it fills the rater's ids."""

    @abstractmethod
    def completion(self, arrival: Arrival, outcome: Outcome, codes: Sequence[CompletionCode]) -> Completion:
        """Return a rater's way back after this outcome."""

    # --- Account -----------------------------------------------------------------------------------------------------

    def account(self) -> Account:
        """Return the account's holder and balance: the test of a connection."""
        raise self._lacks("accounts")

    # --- Studies -----------------------------------------------------------------------------------------------------

    def study_create(self, draft: StudyDraft) -> Study:
        """Create a draft. It takes no raters and costs nothing before it is published."""
        raise self._lacks("studies")

    def study_publish(self, study: str, draft: StudyDraft) -> Study:
        """Let raters in. The study's id may change: use the one returned."""
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
        """Raise the number of places to ``places`` in all; refuse to lower it."""
        raise self._lacks("studies")

    # --- Submissions -------------------------------------------------------------------------------------------------

    def submissions(self, study: str) -> Iterator[Submission]:
        """Yield every submission, page by page."""
        raise self._lacks("lists of submissions")

    def submission(self, submission: str) -> Submission:
        raise self._lacks("lists of submissions")

    def approve(self, submission: str) -> None:
        """Pay for a submission. Repeating this changes nothing."""
        raise self._lacks("approvals")

    def approve_many(self, submissions: Sequence[str]) -> None:
        """Approve submissions, in one request if the provider can; approved ones stay as they are."""
        for submission in submissions:
            self.approve(submission)

    def reject(self, submission: str, *, reason: RejectionReason, message: str) -> None:
        """Refuse to pay for a submission. The rater reads the message."""
        raise self._lacks("rejections")

    def request_return(self, submission: str, *, reason: str) -> None:
        """Ask the rater to return the submission, which does not affect their standing."""
        raise self._lacks("requests to return")

    # --- Bonuses -----------------------------------------------------------------------------------------------------

    def bonus_prepare(self, study: str, payments: Sequence[Bonus]) -> BonusBatch:
        """Return the bonuses with their cost; store the batch before paying it."""
        raise self._lacks("bonuses")

    def bonus_pay(self, batch: BonusBatch) -> None:
        """Pay a prepared batch, once. After an error with ``unknown`` it may have been paid: do not simply repeat."""
        raise self._lacks("bonuses")

    # --- Webhooks ----------------------------------------------------------------------------------------------------

    def webhook_secret(self) -> str:
        """Return the secret with which messages are signed; create it if there is none yet."""
        raise self._lacks("webhooks")

    def webhook_subscribe(self, url: str) -> list[WebhookSubscription]:
        """Have every event that Assay handles sent to the address; subscribing again adds nothing."""
        raise self._lacks("webhooks")

    def webhook_event(self, *, headers: Mapping[str, str], body: bytes, secret: str, now: datetime) -> WebhookEvent:
        """Return a message once its signature and age are verified."""
        raise self._lacks("webhooks")

    # --- Housekeeping ------------------------------------------------------------------------------------------------

    def close(self) -> None:  # noqa: B027 - a provider may have nothing to close
        """Close connections."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _lacks(self, function: str) -> NotSupported:
        return NotSupported(f"{self.label} has no {function}.")


def confirmed(reported: Submission, arrival: Arrival) -> Proof:
    """Return the proof that a submission is this rater's; refuse another rater's, or another study's."""
    if reported.study != arrival.study:
        raise ArrivalRefused("This submission belongs to another study; accepted: a submission of this study.")
    if reported.rater != arrival.rater:
        raise ArrivalRefused("This submission belongs to another rater; accepted: your own submission.")
    return Proof.RATER
