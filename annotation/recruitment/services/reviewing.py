"""Pay for submissions, or refuse to. Decisions may be repeated; what counts is read from the provider afterwards."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.template.defaultfilters import pluralize

from annotation.core.errors import AnnotationError
from annotation.models import Recruitment, Submission, User
from annotation.models import SubmissionStatus as Status
from annotation.projects.services.audit import audit_record
from annotation.recruitment.providers.base import Provider, RejectionReason
from annotation.recruitment.providers.errors import ProviderError
from annotation.recruitment.services.accounts import client_of
from annotation.recruitment.services.arrivals import unreadable_check
from annotation.recruitment.services.refreshing import error_record, recruitment_refresh
from annotation.recruitment.services.terms import terms_of


@dataclass(frozen=True)
class ReviewResult:
    """Numbers of submissions: sent to the provider, confirmed by it, and left out because they were decided before."""

    requested: int
    confirmed: int
    skipped: int


@dataclass(frozen=True)
class Decision:
    """A request to the provider about submissions with an accepted status."""

    verb: str
    summary: str
    accepted: tuple[Status, ...]
    request: Callable[[Provider, Sequence[str]], None]
    status: Status | None = None  # confirms the decision; None: nothing does


def submissions_approve(
    *, recruitment: Recruitment, submissions: Sequence[Submission], by: User | None = None, patient: bool = False
) -> ReviewResult:
    terms = terms_of(recruitment)
    summary = f"approved at {terms.reward} {terms.currency} each"

    def approve(client: Provider, ids: Sequence[str]) -> None:
        client.approve_many(ids)

    decision = Decision("approve", summary, (Status.AWAITING,), approve, Status.APPROVED)
    return _decide(recruitment, submissions, decision, by, patient=patient)


def submissions_reject(
    *,
    recruitment: Recruitment,
    submissions: Sequence[Submission],
    reason: RejectionReason,
    message: str,
    by: User | None = None,
) -> ReviewResult:
    """Reject submissions: they are not paid. Raters read the message."""

    def reject(client: Provider, ids: Sequence[str]) -> None:
        for external_id in ids:
            client.reject(external_id, reason=reason, message=message)

    summary = f"rejected ({reason.value.replace('_', ' ')})"
    return _decide(
        recruitment, submissions, Decision("reject", summary, (Status.AWAITING,), reject, Status.REJECTED), by
    )


def submissions_ask_return(
    *, recruitment: Recruitment, submissions: Sequence[Submission], reason: str, by: User | None = None
) -> ReviewResult:
    """Ask raters to return their submissions, which does not affect their standing."""

    def ask(client: Provider, ids: Sequence[str]) -> None:
        for external_id in ids:
            client.request_return(external_id, reason=reason)

    decision = Decision("ask_return", "asked to return", (Status.ACTIVE, Status.AWAITING), ask)
    return _decide(recruitment, submissions, decision, by)


def _decide(
    recruitment: Recruitment,
    submissions: Sequence[Submission],
    decision: Decision,
    by: User | None,
    *,
    patient: bool = False,
) -> ReviewResult:
    if recruitment.account is None:
        raise AnnotationError("This study was created by hand: review its submissions on the provider's pages.")
    fresh = Submission.objects.filter(pk__in=[each.pk for each in submissions], recruitment=recruitment)
    due = list(fresh.filter(status__in=decision.accepted).exclude(sealed="").order_by("pk"))
    if not due:
        problem = "none of them awaits a decision" if submissions else "none was chosen"
        raise AnnotationError(f"Nothing was done: {problem}.")
    unreadable_check(recruitment)  # else what comes of it could not be read back
    ids = [each.external_id for each in due]
    failure: ProviderError | None = None
    with client_of(recruitment.account, patient=patient) as client:
        try:
            decision.request(client, ids)
        except ProviderError as error:
            failure = error  # some decisions may have been made: the refresh shows which
    try:
        recruitment_refresh(recruitment=recruitment, patient=patient)
    except ProviderError as error:
        failure = failure or error
    confirmed = _confirmed(due, decision.status, failed=failure is not None)
    if failure is None or confirmed:
        _record(recruitment, due, confirmed, decision, by)
    if failure is not None and confirmed < len(due):
        error_record(recruitment, failure)
        if decision.status and confirmed:
            label = decision.status.label.lower()
            failure.message = f"{failure.message} {confirmed} of {len(due)} are {label} now; the rest are not."
        raise failure
    return ReviewResult(len(due), confirmed, len(submissions) - len(due))


def _confirmed(due: Sequence[Submission], status: Status | None, *, failed: bool) -> int:
    if status is None:
        return 0 if failed else len(due)
    return Submission.objects.filter(pk__in=[each.pk for each in due], status=status).count()


@transaction.atomic
def _record(
    recruitment: Recruitment, due: Sequence[Submission], confirmed: int, decision: Decision, by: User | None
) -> None:
    number = f"{len(due)} submission{pluralize(len(due))}"
    audit_record(
        verb=f"submission.{decision.verb}",
        summary=f"“{recruitment.name}”: {number} {decision.summary}; {confirmed} confirmed.",
        campaign=recruitment.campaign,
        by=by,
        # Assay's ids: the provider's are erased with the rater.
        data={"recruitment": recruitment.pk, "submissions": [each.pk for each in due], "confirmed": confirmed},
    )
