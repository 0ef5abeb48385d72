"""Between Prolific's JSON and Assay's words; nothing here talks to anybody."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from annotation.recruitment.providers.addresses import require_https
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
    Submission,
    SubmissionStatus,
    WebhookSubscription,
)
from annotation.recruitment.providers.codes import check_codes
from annotation.recruitment.providers.errors import ProviderError

PARAMETERS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
STUDY_STATES = {
    "UNPUBLISHED": StudyState.DRAFT,
    "SCHEDULED": StudyState.PUBLISHED,
    "PUBLISHING": StudyState.PUBLISHED,
    "ACTIVE": StudyState.PUBLISHED,
    "PAUSED": StudyState.PAUSED,
    "AWAITING REVIEW": StudyState.COMPLETED,
    "COMPLETED": StudyState.COMPLETED,
}
SUBMISSION_STATUSES = {
    "RESERVED": SubmissionStatus.ACTIVE,
    "ACTIVE": SubmissionStatus.ACTIVE,
    "AWAITING REVIEW": SubmissionStatus.AWAITING,
    "APPROVED": SubmissionStatus.APPROVED,
    "PARTIALLY APPROVED": SubmissionStatus.APPROVED,
    "REJECTED": SubmissionStatus.REJECTED,
    "RETURNED": SubmissionStatus.RETURNED,
    "TIMED OUT": SubmissionStatus.TIMED_OUT,
    "SCREENED OUT": SubmissionStatus.SCREENED_OUT,
}
CODE_TYPES = {
    Outcome.COMPLETED: "COMPLETED",
    Outcome.FAILED_QUALIFICATION: "OTHER",
    Outcome.FAILED_ATTENTION: "FAILED_ATTENTION_CHECK",
    Outcome.SCREENED_OUT: "OTHER",
    Outcome.NO_CONSENT: "NO_CONSENT",
    Outcome.OUT_OF_WORK: "OTHER",
}
REJECTIONS = {
    RejectionReason.FAILED_CHECK: "FAILED_CHECK",
    RejectionReason.LOW_EFFORT: "LOW_EFFORT",
    RejectionReason.TOO_QUICKLY: "TOO_QUICKLY",
    RejectionReason.TOO_SLOWLY: "TOO_SLOWLY",
    RejectionReason.FAILED_INSTRUCTIONS: "FAILED_INSTRUCTIONS",
    RejectionReason.NO_CODE: "NO_CODE",
    RejectionReason.BAD_CODE: "BAD_CODE",
    RejectionReason.NO_DATA: "NO_DATA",
    RejectionReason.MALINGERING: "MALINGERING",
    RejectionReason.UNSUPPORTED_DEVICE: "UNSUPP_DEVICE",
    RejectionReason.OTHER: "OTHER",
}
OUR_FIELDS = {
    "name": "title",
    "internal_name": "internal_name",
    "description": "description",
    "external_study_url": "entry_url",
    "reward": "reward",
    "total_available_places": "places",
    "estimated_completion_time": "minutes",
    "maximum_allowed_time": "maximum_minutes",
    "completion_codes": "codes",
    "filters": "eligibility",
    "device_compatibility": "devices",
    "project": "project",
}
DEVICES = {"desktop": "Computer", "tablet": "Tablet", "mobile": "Phone"}
MOST = 1_000_000_000  # an upper end for ranges that need one


@dataclass(frozen=True)
class Filter:
    """One thing raters can be chosen by: ``choices`` by id for a selection, ``lower`` and ``upper`` for a range."""

    id: str
    title: str
    kind: str
    choices: Mapping[str, str]
    lower: float | None
    upper: float | None


# --- To Prolific -----------------------------------------------------------------------------------------------------


def study_body(draft: StudyDraft, *, project: str) -> dict[str, Any]:
    """The body of Create a draft study."""
    _check(draft)
    body: dict[str, Any] = {
        "name": draft.title.strip(),
        "internal_name": draft.internal_name.strip() or draft.title.strip(),
        "description": draft.description.strip(),
        "external_study_url": draft.entry_url,
        "prolific_id_option": "url_parameters",
        "completion_codes": [code_body(code) for code in draft.codes],
        "total_available_places": draft.places,
        "estimated_completion_time": draft.minutes,
        "reward": to_minor(draft.reward, field="reward"),
        "filters": filters_body(draft.eligibility),
        "submissions_config": {"max_submissions_per_participant": 1},
        "metadata": draft.reference,
    }
    if draft.maximum_minutes is not None:
        body["maximum_allowed_time"] = draft.maximum_minutes
    if devices := draft.extra.get("devices"):
        body["device_compatibility"] = list(devices)
    if draft.eligibility.adult_content:
        body["content_warnings"] = ["explicit"]
    if project:
        body["project"] = project
    return body


def _check(draft: StudyDraft) -> None:
    for name in ("title", "description"):
        if not getattr(draft, name).strip():
            raise ProviderError.at(name, "Found nothing; accepted: a text that participants read.")
    for name in ("places", "minutes"):
        if getattr(draft, name) < 1:
            raise ProviderError.at(name, f"Found {getattr(draft, name)}; accepted: 1 or more.")
    if draft.maximum_minutes is not None and draft.maximum_minutes < draft.minutes:
        message = f"Found {draft.maximum_minutes}; accepted: {draft.minutes} or more, the minutes the study takes."
        raise ProviderError.at("maximum_minutes", message)
    if unknown := sorted(set(draft.extra.get("devices", ())) - set(DEVICES)):
        raise ProviderError.at("devices", f"Found {', '.join(unknown)}; accepted: {', '.join(sorted(DEVICES))}.")
    for name in PARAMETERS:
        if f"{{{{%{name}%}}}}" not in draft.entry_url:
            message = f"Found an address without {{{{%{name}%}}}}; accepted: one that entry_url() has made."
            raise ProviderError.at("entry_url", message)
    require_https(draft.entry_url, field="entry_url")
    check_codes(draft.codes)


def code_body(code: CompletionCode) -> dict[str, Any]:
    kind = "FIXED_SCREENOUT" if code.after == AfterCode.PAY_SCREEN_OUT else CODE_TYPES[code.outcome]
    return {"code": code.code, "code_type": kind, "actor": "participant", "actions": actions_of(code)}


def actions_of(code: CompletionCode) -> list[dict[str, Any]]:
    if code.after == AfterCode.APPROVE:
        return [{"action": "AUTOMATICALLY_APPROVE"}]
    if code.after == AfterCode.REVIEW:
        return [{"action": "MANUALLY_REVIEW"}]
    if code.after == AfterCode.ASK_RETURN:
        return [{"action": "REQUEST_RETURN", "return_reason": code.reason.strip()}]
    if code.reward is None or code.places is None or code.places < 1:
        message = f"{code.outcome}: found no reward or no number of places; accepted: both, for a paid screen-out."
        raise ProviderError.at("codes", message)
    reward = to_minor(code.reward, field="codes")
    return [{"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": reward, "slots": code.places}]


def filters_body(eligibility: Eligibility) -> list[dict[str, Any]]:
    filters: list[dict[str, Any]] = [dict(chosen) for chosen in eligibility.filters]
    if eligibility.approval_rate is not None:
        if not 0 <= eligibility.approval_rate <= 100:
            raise ProviderError.at("approval_rate", f"Found {eligibility.approval_rate}; accepted: 0 to 100 per cent.")
        filters.append(_range("approval_rate", eligibility.approval_rate, 100))
    if eligibility.approvals is not None:
        filters.append(_range("approval_numbers", eligibility.approvals, MOST))
    if eligibility.exclude_studies:
        filters.append(_selection("previous_studies_blocklist", eligibility.exclude_studies))
    if eligibility.exclude_raters:
        filters.append(_selection("custom_blocklist", eligibility.exclude_raters))
    return filters


def _range(name: str, lower: int, upper: int) -> dict[str, Any]:
    return {"filter_id": name, "selected_range": {"lower": lower, "upper": upper}}


def _selection(name: str, values: Sequence[str]) -> dict[str, Any]:
    return {"filter_id": name, "selected_values": list(values)}


def to_minor(amount: Decimal, *, field: str) -> int:
    """Pounds to pence, exactly."""
    minor = amount * 100
    if not amount.is_finite() or amount <= 0 or minor != minor.to_integral_value():
        raise ProviderError.at(field, f"Found {amount}; accepted: an amount above 0 with at most two decimals.")
    return int(minor)


def check_bonuses(payments: Sequence[Bonus]) -> None:
    if not payments:
        raise ProviderError.at("payments", "Found none; accepted: one bonus or more.")
    seen: set[str] = set()
    for payment in payments:
        to_minor(payment.amount, field="payments")
        if payment.submission in seen:
            message = f"Found submission {payment.submission} twice; accepted: one bonus for each submission at a time."
            raise ProviderError.at("payments", message)
        if not payment.submission.isalnum() and not payment.submission.replace("-", "").isalnum():
            message = f"Found submission {payment.submission!r}; accepted: an id of Prolific's."
            raise ProviderError.at("payments", message)
        seen.add(payment.submission)


def in_our_words(error: ProviderError) -> ProviderError:
    """The same refusal, tied to the fields a manager filled in."""
    error.fields = {OUR_FIELDS.get(name, name): messages for name, messages in error.fields.items()}
    return error


# --- From Prolific ---------------------------------------------------------------------------------------------------


def from_minor(amount: object) -> Decimal:
    try:
        return (Decimal(str(amount)) / 100).quantize(Decimal("0.0001")).normalize() + Decimal("0.00")
    except InvalidOperation as error:
        raise ProviderError(f"Prolific named the amount {amount!r}; accepted: a number.", said=str(amount)) from error


def study_of(data: Mapping[str, Any], *, app: str) -> Study:
    said = text(data.get("status"))
    return Study(
        id=text(data.get("id")),
        state=STUDY_STATES.get(plain(said)),
        said=said,
        places=_whole(data.get("total_available_places")),
        places_taken=_whole(data.get("places_taken")),
        url=f"{app}/researcher/workspaces/studies/{text(data.get('id'))}",
    )


def submission_of(data: Mapping[str, Any], *, study: str = "") -> Submission:
    """List and single view name some fields differently."""
    said = text(data.get("status"))
    return Submission(
        id=text(data.get("id")),
        study=text(data.get("study_id")) or study,
        rater=text(data.get("participant_id") or data.get("participant")),
        status=SUBMISSION_STATUSES.get(plain(said)),
        said=said,
        started_at=moment(data.get("started_at")),
        ended_at=moment(data.get("completed_at")),
        code=text(data.get("study_code") or data.get("entered_code")),
        return_requested_at=moment(data.get("return_requested")),
    )


def subscription_of(data: Mapping[str, Any]) -> WebhookSubscription:
    return WebhookSubscription(text(data.get("id")), text(data.get("event_type")), text(data.get("target_url")))


def is_for(data: Mapping[str, Any], event: str, url: str) -> bool:
    return data.get("event_type") == event and data.get("target_url") == url


def filter_of(data: Mapping[str, Any]) -> Filter:
    return Filter(
        id=text(data.get("filter_id")),
        title=text(data.get("title")),
        kind=text(data.get("type")),
        choices={str(key): str(value) for key, value in (data.get("choices") or {}).items()},
        lower=data.get("min"),
        upper=data.get("max"),
    )


def plain(status: str) -> str:
    """Prolific writes AWAITING REVIEW and AWAITING_REVIEW, TIMED-OUT and TIMED OUT."""
    return status.upper().replace("_", " ").replace("-", " ").strip()


def text(value: object) -> str:
    return "" if value is None else str(value)


def moment(value: object) -> datetime | None:
    if not value:
        return None
    try:
        then = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return then if then.tzinfo else then.replace(tzinfo=UTC)


def _whole(value: object) -> int | None:
    return None if value is None else int(float(str(value)))
