"""Between Mechanical Turk's requests and Assay's words; nothing here talks to anybody."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

from annotation.recruitment.providers.addresses import require_https
from annotation.recruitment.providers.base import (
    AfterCode,
    Bonus,
    Eligibility,
    Study,
    StudyDraft,
    StudyState,
    Submission,
    SubmissionStatus,
)
from annotation.recruitment.providers.codes import check_codes
from annotation.recruitment.providers.errors import ProviderError

EXTERNAL_QUESTION = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"
# Qualifications that Amazon keeps for every worker.
APPROVAL_RATE = "000000000000000000L0"
APPROVALS = "00000000000000000040"
LOCALE = "00000000000000000071"
ADULT = "00000000000000000060"
DEARER = 10  # from so many assignments on the fee doubles
LONGEST_TITLE = 128
LONGEST_DESCRIPTION = 2000
LONGEST_ANNOTATION = 255
LONGEST_TOKEN = 64
YEAR = timedelta(days=365)
MONTH = timedelta(days=30)
SHORTEST = timedelta(seconds=30)

STATUSES = {
    "Submitted": SubmissionStatus.AWAITING,
    "Approved": SubmissionStatus.APPROVED,
    "Rejected": SubmissionStatus.REJECTED,
}
STATES = {
    "Assignable": StudyState.PUBLISHED,
    "Unassignable": StudyState.PUBLISHED,
    "Reviewable": StudyState.COMPLETED,
    "Reviewing": StudyState.COMPLETED,
    "Disposed": StudyState.COMPLETED,
}
HIT_ID = re.compile(r"\b[0-9A-Z]{20,64}\b")


# --- To Amazon -------------------------------------------------------------------------------------------------------


def hit_type(draft: StudyDraft) -> dict[str, Any]:
    """The request of CreateHITType."""
    _check(draft)
    minutes = draft.maximum_minutes or 3 * draft.minutes
    return {
        "Title": draft.title.strip(),
        "Description": draft.description.strip(),
        "Reward": f"{draft.reward:.2f}",
        "Keywords": ", ".join(word.strip() for word in draft.extra.get("keywords", ()) if word.strip()),
        "AssignmentDurationInSeconds": _seconds(timedelta(minutes=minutes), YEAR, field="maximum_minutes"),
        "AutoApprovalDelayInSeconds": _seconds(draft.approve_after, MONTH, field="approve_after", least=timedelta(0)),
        "QualificationRequirements": qualifications(draft.eligibility, draft.extra.get("countries", ())),
    }


def hit(draft: StudyDraft, *, hit_type: str) -> dict[str, Any]:
    """The request of CreateHITWithHITType; its token lets it be repeated without a second HIT."""
    _check(draft)
    return {
        "HITTypeId": hit_type,
        "MaxAssignments": draft.places,
        "LifetimeInSeconds": _seconds(draft.open_for, YEAR, field="open_for"),
        "Question": external_question(draft.entry_url),
        "RequesterAnnotation": (draft.internal_name or draft.reference)[:LONGEST_ANNOTATION],
        "UniqueRequestToken": token(draft.reference),
    }


def external_question(url: str) -> str:
    """A page of ours in a frame of theirs, as high as the window."""
    return (
        f'<ExternalQuestion xmlns="{EXTERNAL_QUESTION}"><ExternalURL>{escape(url)}</ExternalURL>'
        "<FrameHeight>0</FrameHeight></ExternalQuestion>"
    )


def token(reference: str) -> str:
    """At most 64 characters; a longer reference is hashed."""
    if not reference:
        raise ProviderError.at("reference", "Found none; accepted: an id that is this request's own.")
    return reference if len(reference) <= LONGEST_TOKEN else hashlib.sha256(reference.encode()).hexdigest()


def qualifications(eligibility: Eligibility, countries: Sequence[str]) -> list[dict[str, Any]]:
    for name in ("exclude_studies", "exclude_raters"):
        if getattr(eligibility, name):
            message = "Found some; accepted: none, Mechanical Turk excludes workers by qualifications alone."
            raise ProviderError.at(name, message)
    wanted = [dict(chosen) for chosen in eligibility.filters]
    if eligibility.approval_rate is not None:
        wanted.append(_at_least(APPROVAL_RATE, eligibility.approval_rate))
    if eligibility.approvals is not None:
        wanted.append(_at_least(APPROVALS, eligibility.approvals))
    if countries:
        wanted.append(
            {
                "QualificationTypeId": LOCALE,
                "Comparator": "In",
                "LocaleValues": [{"Country": country.upper()} for country in countries],
                "ActionsGuarded": "Accept",
            }
        )
    if eligibility.adult_content:
        wanted.append(
            {
                "QualificationTypeId": ADULT,
                "Comparator": "EqualTo",
                "IntegerValues": [1],
                "ActionsGuarded": "DiscoverPreviewAndAccept",
            }
        )
    return wanted


def _at_least(qualification: str, value: int) -> dict[str, Any]:
    return {
        "QualificationTypeId": qualification,
        "Comparator": "GreaterThanOrEqualTo",
        "IntegerValues": [value],
        "ActionsGuarded": "Accept",
    }


def _check(draft: StudyDraft) -> None:
    for name, longest in {"title": LONGEST_TITLE, "description": LONGEST_DESCRIPTION}.items():
        length = len(getattr(draft, name).strip())
        if not 1 <= length <= longest:
            raise ProviderError.at(name, f"Found {length} characters; accepted: 1 to {longest}.")
    for name in ("places", "minutes"):
        if getattr(draft, name) < 1:
            raise ProviderError.at(name, f"Found {getattr(draft, name)}; accepted: 1 or more.")
    require_https(draft.entry_url, field="entry_url")
    _dollars(draft.reward, field="reward")
    if draft.codes:
        check_codes(draft.codes)
    if any(code.after == AfterCode.PAY_SCREEN_OUT for code in draft.codes):
        message = "Found a paid screen-out; accepted: others, Mechanical Turk pays the whole reward or a bonus."
        raise ProviderError.at("codes", message)


def _seconds(span: timedelta, most: timedelta, *, field: str, least: timedelta = SHORTEST) -> int:
    if not least <= span <= most:
        raise ProviderError.at(field, f"Found {span}; accepted: {least} to {most}.")
    return int(span.total_seconds())


def _dollars(amount: Decimal, *, field: str) -> None:
    if not amount.is_finite() or amount <= 0 or amount * 100 != (amount * 100).to_integral_value():
        raise ProviderError.at(field, f"Found {amount}; accepted: an amount above 0 with at most two decimals.")


def check_bonuses(payments: Sequence[Bonus]) -> None:
    if not payments:
        raise ProviderError.at("payments", "Found none; accepted: one bonus or more.")
    references: set[str] = set()
    for payment in payments:
        _dollars(payment.amount, field="payments")
        if not payment.reason.strip():
            message = f"{payment.submission}: found no reason; accepted: a text that the worker reads."
            raise ProviderError.at("payments", message)
        if not payment.reference or payment.reference in references:
            message = f"{payment.submission}: found no reference of its own; accepted: one that no other bonus has."
            raise ProviderError.at("payments", message)
        references.add(payment.reference)


# --- From Amazon -----------------------------------------------------------------------------------------------------


def study_of(data: Mapping[str, Any], *, sandbox: bool, now: datetime) -> Study:
    said = str(data.get("HITStatus", ""))
    state = STATES.get(said)
    places, left = data.get("MaxAssignments"), data.get("NumberOfAssignmentsAvailable")
    expiry = moment(data.get("Expiration"))
    if state is not None and said != "Disposed" and expiry and expiry <= now and left:
        state = StudyState.PAUSED
    host = "https://workersandbox.mturk.com" if sandbox else "https://worker.mturk.com"
    return Study(
        id=str(data["HITId"]),
        state=state,
        said=said,
        places=places,
        places_taken=None if places is None or left is None else places - left,
        url=f"{host}/mturk/preview?groupId={data.get('HITGroupId', '')}",
    )


def submission_of(data: Mapping[str, Any]) -> Submission:
    said = str(data.get("AssignmentStatus", ""))
    return Submission(
        id=str(data["AssignmentId"]),
        study=str(data.get("HITId", "")),
        rater=str(data.get("WorkerId", "")),
        status=STATUSES.get(said),
        said=said,
        started_at=moment(data.get("AcceptTime")),
        ended_at=moment(data.get("SubmitTime")),
        code=answers(str(data.get("Answer", ""))).get("code", ""),
    )


def answers(xml: str) -> dict[str, str]:
    """The fields of the form a worker posted, out of QuestionFormAnswers; empty where it is not that."""
    if not xml or "<!DOCTYPE" in xml:
        return {}
    try:
        root = ET.fromstring(xml)  # noqa: S314 - without a document type there are no entities to expand
    except ET.ParseError:
        return {}
    found: dict[str, str] = {}
    for answer in root.findall("{*}Answer"):
        name = answer.findtext("{*}QuestionIdentifier")
        if name:
            found[name] = answer.findtext("{*}FreeText") or ""
    return found


def moment(value: object) -> datetime | None:
    return value.astimezone(UTC) if isinstance(value, datetime) else None


# --- What went wrong -------------------------------------------------------------------------------------------------


def existing_hit(error: ProviderError) -> str:
    """The HIT that an earlier request with the same token has made; empty where the error says something else."""
    found = HIT_ID.search(error.said) if done_before(error) else None
    return found[0] if found else ""


def done_before(error: ProviderError) -> bool:
    """An earlier request with the same token has done it."""
    said = error.said.lower()
    return bool(error.status) and any(sign in said for sign in ("alreadyexists", "already exists", "duplicaterequest"))
