"""Translate between Mechanical Turk's requests and Assay's classes, without network access."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

from annotation.recruitment.providers import base
from annotation.recruitment.providers.amounts import require_amount
from annotation.recruitment.providers.codes import check_codes
from annotation.recruitment.providers.errors import ProviderError

EXTERNAL_QUESTION = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"
# Qualifications that Amazon records for every worker.
APPROVAL_RATE = "000000000000000000L0"
APPROVALS = "00000000000000000040"
LOCALE = "00000000000000000071"
ADULT = "00000000000000000060"
HIGH_FEE_ASSIGNMENTS = 10  # from this number on the fee doubles
LONGEST_TITLE = 128
LONGEST_DESCRIPTION = 2000
LONGEST_ANNOTATION = 255
LONGEST_TOKEN = 64
YEAR = timedelta(days=365)
MONTH = timedelta(days=30)
SHORTEST = timedelta(seconds=30)

STATUSES = {
    "Submitted": base.SubmissionStatus.AWAITING,
    "Approved": base.SubmissionStatus.APPROVED,
    "Rejected": base.SubmissionStatus.REJECTED,
}
STATES = {
    "Assignable": base.StudyState.PUBLISHED,
    "Unassignable": base.StudyState.PUBLISHED,
    "Reviewable": base.StudyState.COMPLETED,
    "Reviewing": base.StudyState.COMPLETED,
    "Disposed": base.StudyState.COMPLETED,
}
HIT_ID = re.compile(r"\b[0-9A-Z]{20,64}\b")


# --- To Amazon -------------------------------------------------------------------------------------------------------


def hit_type(draft: base.StudyDraft) -> dict[str, Any]:
    """Return the request of CreateHITType."""
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


def hit(draft: base.StudyDraft, *, hit_type: str) -> dict[str, Any]:
    """Return the request of CreateHITWithHITType; repeating it creates no second HIT, thanks to its token."""
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
    """Return the XML that shows a page in Amazon's frame, as high as the window."""
    return (
        f'<ExternalQuestion xmlns="{EXTERNAL_QUESTION}"><ExternalURL>{escape(url)}</ExternalURL>'
        "<FrameHeight>0</FrameHeight></ExternalQuestion>"
    )


def token(reference: str) -> str:
    """Return the reference as a request token: at most 64 characters; a longer reference is hashed."""
    if not reference:
        raise ProviderError.at("reference", "Found none; accepted: an id that no other request has.")
    return reference if len(reference) <= LONGEST_TOKEN else hashlib.sha256(reference.encode()).hexdigest()


def qualifications(eligibility: base.Eligibility, countries: Sequence[str]) -> list[dict[str, Any]]:
    for name in ("exclude_studies", "exclude_raters"):
        if getattr(eligibility, name):
            message = "Found some; accepted: none, Mechanical Turk excludes workers by qualifications alone."
            raise ProviderError.at(name, message)
    required = [dict(requirement) for requirement in eligibility.filters]
    for qualification, least in ((APPROVAL_RATE, eligibility.approval_rate), (APPROVALS, eligibility.approvals)):
        if least is not None:
            required.append(_requirement(qualification, "GreaterThanOrEqualTo", IntegerValues=[least]))
    if countries:
        locales = [{"Country": country.upper()} for country in countries]
        required.append(_requirement(LOCALE, "In", LocaleValues=locales))
    if eligibility.adult_content:
        required.append(_requirement(ADULT, "EqualTo", "DiscoverPreviewAndAccept", IntegerValues=[1]))
    return required


def _requirement(qualification: str, comparator: str, actions: str = "Accept", **values: Any) -> dict[str, Any]:
    return {"QualificationTypeId": qualification, "Comparator": comparator, "ActionsGuarded": actions, **values}


def _check(draft: base.StudyDraft) -> None:
    for name, longest in {"title": LONGEST_TITLE, "description": LONGEST_DESCRIPTION}.items():
        length = len(getattr(draft, name).strip())
        if not 1 <= length <= longest:
            raise ProviderError.at(name, f"Found {length} characters; accepted: 1 to {longest}.")
    draft.check()
    require_amount(draft.reward, field="reward")
    if draft.codes:
        check_codes(draft.codes)
    if any(code.after == base.AfterCode.PAY_SCREEN_OUT for code in draft.codes):
        message = "Found a paid screen-out; accepted: others, Mechanical Turk pays the whole reward or a bonus."
        raise ProviderError.at("codes", message)


def _seconds(span: timedelta, most: timedelta, *, field: str, least: timedelta = SHORTEST) -> int:
    if not least <= span <= most:
        raise ProviderError.at(field, f"Found {span}; accepted: {least} to {most}.")
    return int(span.total_seconds())


def check_bonuses(payments: Sequence[base.Bonus]) -> None:
    if not payments:
        raise ProviderError.at("payments", "Found none; accepted: one bonus or more.")
    references: set[str] = set()
    for payment in payments:
        require_amount(payment.amount, field="payments")
        if not payment.reason.strip():
            message = f"{payment.submission}: found no reason; accepted: a text that the worker reads."
            raise ProviderError.at("payments", message)
        if not payment.reference or payment.reference in references:
            message = (
                f"{payment.submission}: found no reference, or one used twice; accepted: one that no other bonus has."
            )
            raise ProviderError.at("payments", message)
        references.add(payment.reference)


# --- From Amazon -----------------------------------------------------------------------------------------------------


def study_of(data: Mapping[str, Any], *, sandbox: bool, now: datetime) -> base.Study:
    status = str(data.get("HITStatus", ""))
    state = STATES.get(status)
    places, left = data.get("MaxAssignments"), data.get("NumberOfAssignmentsAvailable")
    expiry = moment(data.get("Expiration"))
    if state is not None and status != "Disposed" and expiry and expiry <= now and left:
        state = base.StudyState.PAUSED
    host = "https://workersandbox.mturk.com" if sandbox else "https://worker.mturk.com"
    return base.Study(
        id=str(data["HITId"]),
        state=state,
        reported=status,
        places=places,
        places_taken=None if places is None or left is None else places - left,
        url=f"{host}/mturk/preview?groupId={data.get('HITGroupId', '')}",
    )


def submission_of(data: Mapping[str, Any]) -> base.Submission:
    status = str(data.get("AssignmentStatus", ""))
    return base.Submission(
        id=str(data["AssignmentId"]),
        study=str(data.get("HITId", "")),
        rater=str(data.get("WorkerId", "")),
        status=STATUSES.get(status),
        reported=status,
        started_at=moment(data.get("AcceptTime")),
        ended_at=moment(data.get("SubmitTime")),
        code=answers(str(data.get("Answer", ""))).get("code", ""),
    )


def answers(xml: str) -> dict[str, str]:
    """Return the fields of a worker's form from QuestionFormAnswers XML; empty for other XML."""
    if not xml or "<!DOCTYPE" in xml:
        return {}
    try:
        root = ET.fromstring(xml)  # noqa: S314 - without a document type there are no entities to expand
    except ET.ParseError:
        return {}
    names_and_texts = (
        (answer.findtext("{*}QuestionIdentifier"), answer.findtext("{*}FreeText"))
        for answer in root.findall("{*}Answer")
    )
    return {name: text or "" for name, text in names_and_texts if name}


def moment(value: object) -> datetime | None:
    return value.astimezone(UTC) if isinstance(value, datetime) else None


# --- Errors ----------------------------------------------------------------------------------------------------------


def existing_hit(error: ProviderError) -> str:
    """Return the id of the HIT that an earlier request with the same token has made; empty for other errors."""
    match = HIT_ID.search(error.answer) if is_repeated(error) else None
    return match[0] if match else ""


def is_unfinished(error: ProviderError) -> bool:
    """Return whether the assignment exists, but has not been submitted."""
    return "invalidassignmentstate" in error.answer.lower() or "can be called with a status of" in error.answer


def is_repeated(error: ProviderError) -> bool:
    """Return whether an earlier request with the same token was carried out."""
    answer = error.answer.lower()
    return bool(error.status) and any(
        word in answer for word in ("alreadyexists", "already exists", "duplicaterequest")
    )
