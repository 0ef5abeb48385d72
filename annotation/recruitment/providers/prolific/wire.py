"""Translate between Prolific's JSON and Assay's classes, without network access."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from annotation.recruitment.providers import base
from annotation.recruitment.providers.amounts import require_amount
from annotation.recruitment.providers.codes import check_codes
from annotation.recruitment.providers.errors import ProviderError

PARAMETERS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
STUDY_STATES = {
    "UNPUBLISHED": base.StudyState.DRAFT,
    "SCHEDULED": base.StudyState.PUBLISHED,
    "PUBLISHING": base.StudyState.PUBLISHED,
    "ACTIVE": base.StudyState.PUBLISHED,
    "PAUSED": base.StudyState.PAUSED,
    "AWAITING REVIEW": base.StudyState.COMPLETED,
    "COMPLETED": base.StudyState.COMPLETED,
}
SUBMISSION_STATUSES = {
    "RESERVED": base.SubmissionStatus.ACTIVE,
    "ACTIVE": base.SubmissionStatus.ACTIVE,
    "AWAITING REVIEW": base.SubmissionStatus.AWAITING,
    "APPROVED": base.SubmissionStatus.APPROVED,
    "PARTIALLY APPROVED": base.SubmissionStatus.APPROVED,
    "REJECTED": base.SubmissionStatus.REJECTED,
    "RETURNED": base.SubmissionStatus.RETURNED,
    "TIMED OUT": base.SubmissionStatus.TIMED_OUT,
    "SCREENED OUT": base.SubmissionStatus.SCREENED_OUT,
}
CODE_TYPES = {  # of other outcomes: OTHER
    base.Outcome.COMPLETED: "COMPLETED",
    base.Outcome.FAILED_ATTENTION: "FAILED_ATTENTION_CHECK",
    base.Outcome.NO_CONSENT: "NO_CONSENT",
}
REJECTIONS = {reason: reason.value.upper() for reason in base.RejectionReason} | {
    base.RejectionReason.UNSUPPORTED_DEVICE: "UNSUPP_DEVICE"
}
FIELD_NAMES = {  # Assay's names for Prolific's fields
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
UPPER_END = 1_000_000_000  # of ranges that need one


# --- To Prolific -----------------------------------------------------------------------------------------------------


def study_body(draft: base.StudyDraft, *, project: str) -> dict[str, Any]:
    """Return the body of Create a draft study."""
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


def _check(draft: base.StudyDraft) -> None:
    for name in ("title", "description"):
        if not getattr(draft, name).strip():
            raise ProviderError.at(name, "Found nothing; accepted: a text that participants read.")
    draft.check()
    if draft.maximum_minutes is not None and draft.maximum_minutes < draft.minutes:
        message = f"Found {draft.maximum_minutes}; accepted: {draft.minutes} or more, the minutes the study takes."
        raise ProviderError.at("maximum_minutes", message)
    if unknown := sorted(set(draft.extra.get("devices", ())) - set(DEVICES)):
        raise ProviderError.at("devices", f"Found {', '.join(unknown)}; accepted: {', '.join(sorted(DEVICES))}.")
    for name in PARAMETERS:
        if f"{{{{%{name}%}}}}" not in draft.entry_url:
            message = f"Found an address without {{{{%{name}%}}}}; accepted: an address from entry_url()."
            raise ProviderError.at("entry_url", message)
    check_codes(draft.codes)


def code_body(code: base.CompletionCode) -> dict[str, Any]:
    kind = "FIXED_SCREENOUT" if code.after == base.AfterCode.PAY_SCREEN_OUT else CODE_TYPES.get(code.outcome, "OTHER")
    return {"code": code.code, "code_type": kind, "actor": "participant", "actions": actions_of(code)}


def actions_of(code: base.CompletionCode) -> list[dict[str, Any]]:
    if code.after == base.AfterCode.APPROVE:
        return [{"action": "AUTOMATICALLY_APPROVE"}]
    if code.after == base.AfterCode.REVIEW:
        return [{"action": "MANUALLY_REVIEW"}]
    if code.after == base.AfterCode.ASK_RETURN:
        return [{"action": "REQUEST_RETURN", "return_reason": code.reason.strip()}]
    if code.reward is None or code.places is None or code.places < 1:
        message = f"{code.outcome}: found no reward or no number of places; accepted: both, for a paid screen-out."
        raise ProviderError.at("codes", message)
    reward = to_minor(code.reward, field="codes")
    return [{"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": reward, "slots": code.places}]


def filters_body(eligibility: base.Eligibility) -> list[dict[str, Any]]:
    filters: list[dict[str, Any]] = [dict(chosen) for chosen in eligibility.filters]
    if eligibility.approval_rate is not None:
        if not 0 <= eligibility.approval_rate <= 100:
            raise ProviderError.at("approval_rate", f"Found {eligibility.approval_rate}; accepted: 0 to 100 per cent.")
        filters.append(_range("approval_rate", eligibility.approval_rate, 100))
    if eligibility.approvals is not None:
        filters.append(_range("approval_numbers", eligibility.approvals, UPPER_END))
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
    """Return pounds as pence."""
    require_amount(amount, field=field)
    return int(amount * 100)


def check_bonuses(payments: Sequence[base.Bonus]) -> None:
    if not payments:
        raise ProviderError.at("payments", "Found none; accepted: one bonus or more.")
    submissions: set[str] = set()
    for payment in payments:
        require_amount(payment.amount, field="payments")
        if payment.submission in submissions:
            message = f"Found submission {payment.submission} twice; accepted: one bonus for each submission at a time."
            raise ProviderError.at("payments", message)
        if not payment.submission.isalnum() and not payment.submission.replace("-", "").isalnum():
            message = f"Found submission {payment.submission!r}; accepted: an id from Prolific."
            raise ProviderError.at("payments", message)
        submissions.add(payment.submission)


def with_field_names(error: ProviderError) -> ProviderError:
    """Return the refusal with the names of the fields that a manager filled in."""
    error.fields = {FIELD_NAMES.get(name, name): messages for name, messages in error.fields.items()}
    return error


# --- From Prolific ---------------------------------------------------------------------------------------------------


def from_minor(amount: object) -> Decimal:
    try:
        return (Decimal(str(amount)) / 100).quantize(Decimal("0.0001")).normalize() + Decimal("0.00")
    except InvalidOperation as error:
        raise ProviderError(f"Prolific named the amount {amount!r}; accepted: a number.", answer=str(amount)) from error


def study_of(data: Mapping[str, Any], *, app: str) -> base.Study:
    status = text(data.get("status"))
    return base.Study(
        id=text(data.get("id")),
        state=STUDY_STATES.get(plain(status)),
        reported=status,
        places=_whole(data.get("total_available_places")),
        places_taken=_whole(data.get("places_taken")),
        url=f"{app}/researcher/workspaces/studies/{text(data.get('id'))}",
    )


def submission_of(data: Mapping[str, Any], *, study: str = "") -> base.Submission:
    """Return a submission; lists and single submissions name some fields differently."""
    status = text(data.get("status"))
    return base.Submission(
        id=text(data.get("id")),
        study=text(data.get("study_id")) or study,
        rater=text(data.get("participant_id") or data.get("participant")),
        status=SUBMISSION_STATUSES.get(plain(status)),
        reported=status,
        started_at=moment(data.get("started_at")),
        ended_at=moment(data.get("completed_at")),
        code=text(data.get("study_code") or data.get("entered_code")),
        return_requested_at=moment(data.get("return_requested")),
    )


def subscription_of(data: Mapping[str, Any]) -> base.WebhookSubscription:
    return base.WebhookSubscription(text(data.get("id")), text(data.get("event_type")), text(data.get("target_url")))


def plain(status: str) -> str:
    """Return a status as the tables here spell it: Prolific also writes AWAITING_REVIEW and TIMED-OUT."""
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
