"""Recognise a rater who comes through a provider, and decide whether they may take part."""

from dataclasses import dataclass
from enum import StrEnum

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from annotation.models import Rater, RaterIdentity, Recruitment, RecruitmentState, Submission
from annotation.models import SubmissionStatus as Status
from annotation.rating.services.raters import rater_create
from annotation.recruitment.providers.base import RELEASED, Arrival, Outcome
from annotation.recruitment.providers.errors import ArrivalRefused

ENDED = (Status.AWAITING, Status.APPROVED, Status.REJECTED, Status.SCREENED_OUT)


class Destination(StrEnum):
    """The page for an arriving rater."""

    WORK = "work"
    FINISH = "finish"  # the submission has ended
    BEFORE = "before"  # the person has taken part in this campaign before, through another submission


@dataclass(frozen=True)
class Admission:
    rater: Rater
    submission: Submission
    destination: Destination


@transaction.atomic
def arrival_admit(*, recruitment: Recruitment, arrival: Arrival) -> Admission:
    """Return the rater with this id at the provider, and the submission; both are created on first arrival.

    The same person in another browser is the same rater. A person joins a campaign once: a second submission continues
    the first, unless that one was finished.
    """
    _check_study(recruitment, arrival)
    rater = _rater(recruitment, arrival.rater)
    # A person's arrivals wait for each other, so that two submissions cannot both be the first.
    Rater.objects.select_for_update(no_key=True).get(pk=rater.pk)
    submission = _submission(recruitment, rater, arrival)
    if submission.status in ENDED:
        return Admission(rater, submission, Destination.FINISH)
    others = Submission.objects.filter(rater=rater, recruitment__campaign=recruitment.campaign_id)
    others = others.exclude(pk=submission.pk).exclude(outcome__in=[Outcome.SCREENED_OUT, Outcome.NO_CONSENT])
    if others.exclude(status__in=RELEASED).filter(~Q(outcome="") | Q(status__in=ENDED)).exists():
        return Admission(rater, submission, Destination.BEFORE)
    # A rater who accepts again has released the earlier submission; not every provider reports that.
    others.filter(status=Status.ACTIVE).update(status=Status.RETURNED, note="Went on under a later submission.")
    return Admission(rater, submission, Destination.WORK)


def _check_study(recruitment: Recruitment, arrival: Arrival) -> None:
    if recruitment.account_id is None:
        known = Submission.objects.filter(recruitment=recruitment, external_id=arrival.session)
        if recruitment.state == RecruitmentState.COMPLETED and not known.exists():
            raise ArrivalRefused("This invitation is closed; accepted: raters who began before.")
        return
    if recruitment.state == RecruitmentState.DRAFT:
        raise ArrivalRefused(
            "This study has not been published from here yet. If you are trying it out: the address is right."
        )
    if recruitment.external_id and arrival.study != recruitment.external_id:
        raise ArrivalRefused(
            f"Found study {arrival.study[:64]!r}; accepted: the study that this address was made for.",
            fields={"study": ["Not the study that this address was made for."]},
        )


def identities_of(recruitment: Recruitment, external_id: str) -> QuerySet[RaterIdentity]:
    """Return the identity, if there is one, of the rater with this id at the recruitment's provider."""
    return RaterIdentity.objects.select_related("rater").filter(
        project=recruitment.campaign.project_id, provider=recruitment.provider, external_id=external_id
    )


def _rater(recruitment: Recruitment, external_id: str) -> Rater:
    known = identities_of(recruitment, external_id)
    if identity := known.first():
        return identity.rater
    try:
        with transaction.atomic():
            rater = rater_create(project=recruitment.campaign.project)
            RaterIdentity.objects.create(
                rater=rater, project=rater.project, provider=recruitment.provider, external_id=external_id
            )
            return rater
    except IntegrityError:  # another request was first
        return known.get().rater


def _submission(recruitment: Recruitment, rater: Rater, arrival: Arrival) -> Submission:
    submission, created = Submission.objects.select_for_update().get_or_create(
        recruitment=recruitment,
        external_id=arrival.session,
        defaults={"rater": rater, "started_at": Now(), "submit_to": arrival.return_to, "updated_at": Now()},
    )
    if created:
        submission.refresh_from_db()
        return submission
    if submission.rater_id is None:  # read from the provider before the person came
        submission.rater = rater
    elif submission.rater_id != rater.pk:
        raise ArrivalRefused("This submission belongs to another rater; accepted: your own submission.")
    submission.submit_to = arrival.return_to or submission.submit_to
    if submission.status == Status.RETURNED and submission.note.startswith("Went on"):
        submission.status, submission.note = Status.ACTIVE, ""
    submission.save(update_fields=["rater", "submit_to", "status", "note"])
    return submission


def current_submission(rater: Rater, campaign_id: int) -> Submission | None:
    """Return the rater's submission in a campaign: the latest not returned or timed out, else the latest."""
    submissions = Submission.objects.select_related("recruitment__account", "recruitment__campaign")
    newest = submissions.filter(rater=rater, recruitment__campaign=campaign_id).order_by("-pk")
    current = newest.exclude(status__in=RELEASED).exclude(outcome=Outcome.SCREENED_OUT)
    return current.first() or newest.first()
