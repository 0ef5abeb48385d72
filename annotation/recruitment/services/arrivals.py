"""Recognise a rater who comes through a provider, and decide whether they may take part."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any

import structlog
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from annotation.core import sql
from annotation.core.errors import AnnotationError
from annotation.models import Presentation, Rater, RaterIdentity, Recruitment, RecruitmentState, Submission
from annotation.models import SubmissionStatus as Status
from annotation.models.identities import IdentityUnreadable, digest_of, digests_of, of_unknown_key
from annotation.rating.selectors.handout import ANSWERED
from annotation.rating.services.raters import rater_create
from annotation.recruitment.providers.base import RELEASED, AfterCode, Arrival, Outcome, Proof
from annotation.recruitment.providers.errors import ArrivalRefused, ProviderError
from annotation.recruitment.services.accounts import client_of
from annotation.recruitment.services.changes import locked
from annotation.recruitment.services.terms import terms_of

log = structlog.get_logger()
SHORTEST_STAY = timedelta(minutes=10)  # that an unconfirmed rater without an answer holds a place
ENDED = (Status.AWAITING, Status.APPROVED, Status.REJECTED, Status.SCREENED_OUT)


class Destination(StrEnum):
    """The page for an arriving rater."""

    WORK = "work"
    FINISH = "finish"  # the submission has ended
    BEFORE = "before"  # the person has taken part in this campaign before, through another submission


class Postponed(StrEnum):
    UNREACHABLE = "unreachable"  # the provider cannot be asked whether the rater holds the submission
    ELSEWHERE = "elsewhere"  # a rater with this id has begun in another browser, under another submission
    CROWDED = "crowded"  # too many raters have just come from the same address
    FULL = "full"  # as many raters as the study has places are here, and the provider confirms none of them


class ArrivalPostponed(AnnotationError):
    """The rater may well be entitled to come, but not now or not in this browser; ``why`` is for the page."""

    def __init__(self, why: Postponed) -> None:
        super().__init__(why.value)
        self.why = why


@dataclass(frozen=True)
class Admission:
    rater: Rater
    submission: Submission
    destination: Destination


def is_known(*, recruitment: Recruitment, arrival: Arrival) -> bool:
    """Return whether this rater has come under this submission before: only its holder knows both ids."""
    return _known_rater(recruitment, arrival) is not None


def arrival_admit(*, recruitment: Recruitment, arrival: Arrival, browser: Rater | None = None) -> Admission:
    """Return the rater with this id at the provider, and the submission; both are created on first arrival.

    The same person in another browser is the same rater. A person joins a campaign once: a second submission continues
    the first, unless that one was finished. An existing rater is recognised only if the provider confirms the arrival,
    if the rater has come under this submission before, or in the rater's own browser: an address is easily written.
    """
    _check_study(recruitment, arrival)
    known = is_known(recruitment=recruitment, arrival=arrival)
    if not known and has_unreadable(recruitment):
        log.error("no key opens ids of raters: see SECRET_KEY_FALLBACKS", recruitment=recruitment.pk)
        raise ArrivalPostponed(Postponed.UNREACHABLE)  # a known rater would become a second one
    return _admit(recruitment, arrival, Proof.RATER if known else _proof(recruitment, arrival), browser)


@transaction.atomic
def _admit(recruitment: Recruitment, arrival: Arrival, proof: Proof, browser: Rater | None) -> Admission:
    turn_of_ids(recruitment, arrival.rater, arrival.session)
    rater = _known_rater(recruitment, arrival) or _rater(recruitment, arrival, proof, browser)
    identity_renew(rater.identity)
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
        known = Submission.objects.filter(recruitment=recruitment, digest__in=digests_of(arrival.session))
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
    """Return the identities with this id at the recruitment's provider: the confirmed one, and others by submission."""
    identities = RaterIdentity.objects.select_related("rater").order_by("pk")
    return identities.filter(
        project=recruitment.campaign.project_id, provider=recruitment.provider, digest__in=digests_of(external_id)
    )


def has_unreadable(recruitment: Recruitment) -> bool:
    """Return whether raters of this provider have ids that no key of this installation can open."""
    identities = RaterIdentity.objects.filter(
        project=recruitment.campaign.project_id, provider=recruitment.provider
    ).filter(of_unknown_key())
    return identities.exists() or recruitment.submissions.filter(of_unknown_key()).exists()


def unreadable_check(recruitment: Recruitment) -> None:
    """Refuse to read a study of which some submissions, or their raters, could not be found again."""
    if has_unreadable(recruitment):
        raise IdentityUnreadable


def turn_of_ids(recruitment: Recruitment, *ids: str) -> None:
    """Wait until no one else stores these ids, to the end of the transaction.

    While the secret key is being changed, two processes may write different digests of one id, which the database
    does not take for the same. The lock is on the digests under all keys, of which they have one in common.
    """
    scope = f"{recruitment.campaign.project_id}:{recruitment.provider}:"
    digests = sorted(digest for each in ids for digest in digests_of(each))
    locks = [scope + digest for digest in digests]
    sql.rows("SELECT pg_advisory_xact_lock(hashtextextended(each, 0)) FROM unnest(%s::text[]) each", [locks])


def identity_renew(row: RaterIdentity | Submission) -> None:
    """Encrypt a row under the present key if it was found under a former one."""
    before = row.sealed
    if not row.reseal():
        return
    values = {name: getattr(row, name) for name in row.SEALED}
    with suppress(IntegrityError), transaction.atomic():  # another row of the same person has the present key already
        type(row)._default_manager.filter(pk=row.pk, sealed=before).update(**values)  # unless it was just erased


def _known_rater(recruitment: Recruitment, arrival: Arrival) -> Rater | None:
    """Return the rater who has come with both ids of this address before."""
    submissions = Submission.objects.select_related("rater__identity").filter(
        recruitment=recruitment, digest__in=digests_of(arrival.session)
    )
    submission = submissions.filter(rater__identity__digest__in=digests_of(arrival.rater)).first()
    return submission.rater if submission else None


def _proof(recruitment: Recruitment, arrival: Arrival) -> Proof:
    if recruitment.account is None:
        return Proof.NOTHING
    try:
        with client_of(recruitment.account, patient=False) as client:
            return client.arrival_proof(arrival)
    except ArrivalRefused:
        raise
    except ProviderError as error:
        raise ArrivalPostponed(Postponed.UNREACHABLE) from error


def _rater(recruitment: Recruitment, arrival: Arrival, proof: Proof, browser: Rater | None) -> Rater:
    """Return the confirmed rater with this id; an unconfirmed id is a rater of its own under each submission."""
    identities = identities_of(recruitment, arrival.rater)
    if proof == Proof.RATER:
        return _rater_of(recruitment, arrival.rater, session="")
    raters = {identity.rater: identity.session_digest for identity in identities}
    for rater, session in raters.items():
        if rater == browser or session in digests_of(arrival.session):
            return rater
    if Submission.objects.filter(rater__in=raters, recruitment__campaign=recruitment.campaign_id).exists():
        raise ArrivalPostponed(Postponed.ELSEWHERE)
    if proof == Proof.NOTHING:
        _check_places(recruitment)
    return _rater_of(recruitment, arrival.rater, session=arrival.session)


def _rater_of(recruitment: Recruitment, external_id: str, *, session: str) -> Rater:
    sessions = digests_of(session) if session else [""]
    known = identities_of(recruitment, external_id).filter(session_digest__in=sessions)
    if identity := known.first():
        return identity.rater
    try:
        with transaction.atomic():
            rater = rater_create(project=recruitment.campaign.project)
            identity = RaterIdentity(rater=rater, project=rater.project, provider=recruitment.provider)
            identity.external_id, identity.session = external_id, session
            identity.save()
            return rater
    except IntegrityError:  # another request was first
        return known[:1].get().rater


def _check_places(recruitment: Recruitment) -> None:
    """Refuse unconfirmed raters above the study's places.

    A place is taken by a submission that has ended in a way that keeps it, and by one that began or was worked on
    within the minutes the study takes: no one reports who returned a place.
    """
    terms = terms_of(locked(recruitment))  # locked: arrivals at the same time cannot share the last place
    leaving = [code.outcome for code in terms.codes if code.after in (AfterCode.ASK_RETURN, AfterCode.PAY_SCREEN_OUT)]
    since = timezone.now() - max(timedelta(minutes=terms.minutes), SHORTEST_STAY)
    answers = Presentation.objects.filter(
        campaign=recruitment.campaign_id, rater=OuterRef("rater"), outcome__in=ANSWERED, ended_at__gte=since
    )
    present = Submission.objects.filter(recruitment=recruitment).exclude(status__in=RELEASED)
    present = present.exclude(outcome__in=[*leaving, Outcome.SCREENED_OUT, Outcome.NO_CONSENT])
    taken = present.filter(~Q(outcome="") | Q(status__in=ENDED) | Q(started_at__gte=since) | Exists(answers))
    if terms.places and taken.count() >= terms.places:
        raise ArrivalPostponed(Postponed.FULL)


def _submission(recruitment: Recruitment, rater: Rater, arrival: Arrival) -> Submission:
    values = {"rater": rater, "started_at": Now(), "submit_to": arrival.return_to, "updated_at": Now()}
    submission, created = submission_of(recruitment, arrival.session, values)
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


def submission_of(recruitment: Recruitment, external_id: str, values: Mapping[str, Any]) -> tuple[Submission, bool]:
    """Return the submission with this id, locked, and whether it was created, with these values.

    Call it where ``has_unreadable`` was asked: it may be one of those that cannot be read.
    """
    submissions = recruitment.submissions.select_for_update().order_by("pk")
    known = submissions.filter(digest__in=digests_of(external_id))
    submission = known.first()
    if submission is None:
        turn_of_ids(recruitment, external_id)
        submission = known.first()
    if submission is None:
        new = {**values, "external_id": external_id}
        return recruitment.submissions.get_or_create(digest=digest_of(external_id), defaults=new)
    identity_renew(submission)
    return submission, False


def current_submission(rater: Rater, campaign_id: int) -> Submission | None:
    """Return the rater's submission in a campaign: the latest not returned or timed out, else the latest."""
    submissions = Submission.objects.select_related("recruitment__account", "recruitment__campaign")
    newest = submissions.filter(rater=rater, recruitment__campaign=campaign_id).order_by("-pk")
    current = newest.exclude(status__in=RELEASED).exclude(outcome=Outcome.SCREENED_OUT)
    return current.first() or newest.first()
