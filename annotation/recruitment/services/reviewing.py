"""Paying for submissions, or not. Saying the same twice is harmless; what counts is read again afterwards."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.db import transaction

from annotation.core.errors import AnnotationError
from annotation.models import Recruitment, Submission, User
from annotation.models import SubmissionStatus as Status
from annotation.projects.services.audit import audit_record
from annotation.recruitment.providers import Provider
from annotation.recruitment.providers.base import RejectionReason
from annotation.recruitment.providers.errors import ProviderError
from annotation.recruitment.services.accounts import client_of
from annotation.recruitment.services.refreshing import note_trouble, recruitment_refresh
from annotation.recruitment.services.terms import terms_of

ERASED = "erased-"


@dataclass(frozen=True)
class Reviewed:
    """``asked`` of the provider; ``settled`` are as wanted now; ``left`` were not for deciding any more."""

    asked: int
    settled: int
    left: int


def submissions_approve(
    *, recruitment: Recruitment, submissions: Sequence[Submission], by: User | None = None, patient: bool = False
) -> Reviewed:
    reward = terms_of(recruitment).reward
    return _decide(
        recruitment,
        submissions,
        (Status.AWAITING,),
        Status.APPROVED,
        lambda client, ids: client.approve_many(ids),
        ("approve", f"approved at {reward} {terms_of(recruitment).currency} each"),
        by,
        patient,
    )


def submissions_reject(
    *,
    recruitment: Recruitment,
    submissions: Sequence[Submission],
    reason: RejectionReason,
    message: str,
    by: User | None = None,
    patient: bool = False,
) -> Reviewed:
    """Reject submissions: they are not paid. Raters read the message."""

    def reject(client: Provider, ids: Sequence[str]) -> None:
        for one in ids:
            client.reject(one, reason=reason, message=message)

    done = ("reject", f"rejected ({reason.value.replace('_', ' ')})")
    return _decide(recruitment, submissions, (Status.AWAITING,), Status.REJECTED, reject, done, by, patient)


def submissions_ask_return(
    *,
    recruitment: Recruitment,
    submissions: Sequence[Submission],
    reason: str,
    by: User | None = None,
    patient: bool = False,
) -> Reviewed:
    """Ask raters to return their submissions, which does not affect their standing."""

    def ask(client: Provider, ids: Sequence[str]) -> None:
        for one in ids:
            client.request_return(one, reason=reason)

    states = (Status.ACTIVE, Status.AWAITING)
    return _decide(recruitment, submissions, states, None, ask, ("ask_return", "asked to return"), by, patient)


def _decide(
    recruitment: Recruitment,
    submissions: Sequence[Submission],
    accepted: Sequence[Status],
    wanted: Status | None,
    ask: Callable[[Provider, Sequence[str]], None],
    done: tuple[str, str],
    by: User | None,
    patient: bool,
) -> Reviewed:
    if recruitment.account is None:
        raise AnnotationError("This study was created by hand: review its submissions on the provider's pages.")
    fresh = Submission.objects.filter(pk__in=[one.pk for one in submissions], recruitment=recruitment)
    due = [one for one in fresh.order_by("pk") if one.status in accepted and not one.external_id.startswith(ERASED)]
    if not due:
        found = "none of them awaits a decision" if submissions else "none was chosen"
        raise AnnotationError(f"Nothing was done: {found}.")
    ids = [one.external_id for one in due]
    trouble: ProviderError | None = None
    with client_of(recruitment.account, patient=patient) as client:
        try:
            ask(client, ids)
        except ProviderError as error:
            trouble = error  # some of them may be through: that is looked up before anything is said
    try:
        recruitment_refresh(recruitment=recruitment, patient=patient)
    except ProviderError as error:
        trouble = trouble or error
    settled = Submission.objects.filter(pk__in=[one.pk for one in due])
    settled = settled.filter(status=wanted) if wanted else settled
    n = 0 if trouble is not None and wanted is None else settled.count()
    if trouble is None or n:
        _record(recruitment, due, n, done, by)
    if trouble is not None and n < len(due):
        note_trouble(recruitment, trouble)
        if wanted and n:
            trouble.message = f"{trouble.message} {n} of {len(due)} are {wanted.label.lower()} now; the rest are not."
        raise trouble
    return Reviewed(len(due), n, len(submissions) - len(due))


@transaction.atomic
def _record(
    recruitment: Recruitment, due: Sequence[Submission], n: int, done: tuple[str, str], by: User | None
) -> None:
    act, said = done
    audit_record(
        verb=f"submission.{act}",
        summary=f"“{recruitment.name}”: {len(due)} submission{'' if len(due) == 1 else 's'} {said}; {n} confirmed.",
        campaign=recruitment.campaign,
        by=by,
        # Ids of our own: the provider's are erased with the rater.
        data={"recruitment": recruitment.pk, "submissions": [one.pk for one in due], "confirmed": n},
    )
