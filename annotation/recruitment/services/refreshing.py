"""Read the state of a study and its submissions from the provider."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Case, When
from django.db.models.functions import Now
from django.template.defaultfilters import pluralize
from django.utils import timezone

from annotation.core.errors import AnnotationError
from annotation.models import (
    CampaignState,
    Participation,
    Rater,
    Recruitment,
    RecruitmentState,
    ReturnPolicy,
    Submission,
)
from annotation.models import SubmissionStatus as Status
from annotation.models.identities import IdentityUnreadable, digests_of, seal, shown, texts_by_digest
from annotation.projects.services.audit import audit_record
from annotation.quality.services.decisions import rater_exclude, rater_leaves
from annotation.recruitment.providers import base
from annotation.recruitment.providers.errors import ProviderError
from annotation.recruitment.services.accounts import client_of
from annotation.recruitment.services.arrivals import identities_of, submission_of, unreadable_check
from annotation.recruitment.services.budget import money_check
from annotation.recruitment.services.changes import locked, options_change
from annotation.recruitment.services.forgetting import is_forgotten, marks_are_read
from annotation.recruitment.services.terms import terms_of

REFRESH_PERIOD = timedelta(days=40)  # of a completed study with open submissions; providers decide within 30
UNKNOWN = "The provider knows no such submission."
OTHER_RATER = "The provider names another rater."
LIST_DELAY = timedelta(minutes=10)  # so long may a submission be missing from the provider's list


def recruitment_refresh(*, recruitment: Recruitment, patient: bool = True) -> int:
    """Read the study and every submission; return how many submissions changed. Safe to run twice, or at once."""
    account = recruitment.account
    if account is None or not recruitment.external_id:
        return 0
    began = timezone.now()
    try:
        unreadable_check(recruitment)
        with client_of(account, patient=patient) as client:
            study = client.study_fetch(recruitment.external_id)
            submissions = list(client.submissions(study.id))
            lists_all = base.Capability.RETURNS in client.capabilities
    except (ProviderError, IdentityUnreadable) as error:
        error_record(recruitment, error)
        raise
    changed = sum(submission_apply(recruitment=recruitment, reported=each) for each in submissions)
    if lists_all:
        _mark_unknown(recruitment, {each.id for each in submissions}, began)
    study_apply(recruitment=recruitment, study=study)
    marks_are_read(recruitment)
    options_change(recruitment, trouble=None)
    Recruitment.objects.filter(pk=recruitment.pk).update(refreshed_at=began)
    return changed


@transaction.atomic
def study_apply(*, recruitment: Recruitment, study: base.Study) -> None:
    """Store the state that the provider reports. A stopped study stays stopped: some report it as paused."""
    fresh = locked(recruitment)
    reported = {"said": study.reported, "url": study.url or None, "taken": study.places_taken, "places": study.places}
    fresh.options = {**fresh.options, **{name: value for name, value in reported.items() if value is not None}}
    if study.state is not None and study.state.value != fresh.state and fresh.state != RecruitmentState.COMPLETED:
        before, fresh.state = fresh.state, study.state.value
        label = RecruitmentState(fresh.state).label.lower()
        audit_record(
            verb="recruitment.state",
            summary=f"“{fresh.name}” is {label} at the provider ({study.reported}).",
            campaign=fresh.campaign,
            data={"recruitment": fresh.pk, "from": before},
        )
    fresh.save(update_fields=["options", "state"])


@transaction.atomic
def submission_apply(*, recruitment: Recruitment, reported: base.Submission) -> bool:
    """Store the provider's state of a submission. If it was returned, release its slots by the return policy.

    Call it where ``unreadable_check`` was called: else one that cannot be read would be stored a second time.
    """
    if is_forgotten(recruitment, reported.id):
        return False
    new = {"rater": _known_rater(recruitment, reported), "started_at": reported.started_at}
    submission, created = submission_of(recruitment, reported.id, new)
    before = Status(submission.status)
    after = before if reported.status is None else Status(reported.status.value)
    values: dict[str, Any] = {
        "status": after,
        "started_at": reported.started_at or submission.started_at,
        "ended_at": reported.ended_at or submission.ended_at,
        "paid": _paid(recruitment, submission, after),
        "note": _note(submission, reported),
    }
    if not created and all(getattr(submission, name) == value for name, value in values.items()):
        return False
    if values["paid"] is not None and submission.paid is None:
        values |= _paid_before(submission, values["started_at"], after)
    Submission.objects.filter(pk=submission.pk).update(**values, updated_at=Now())
    if values["paid"] != submission.paid:
        money_check(recruitment)
    if after != before and after.value in base.RELEASED and submission.rater is not None and _is_latest(submission):
        _release_slots(recruitment, submission.rater, after)
    return True


def _known_rater(recruitment: Recruitment, reported: base.Submission) -> Rater | None:
    """Return None for a participant who took a place but never came here."""
    if not reported.rater:
        return None
    sessions = ["", *digests_of(reported.id)]
    identities = identities_of(recruitment, reported.rater).filter(session_digest__in=sessions)
    identity = identities.order_by("-session_digest").first()  # the one under this submission first
    return identity.rater if identity else None


def _paid(recruitment: Recruitment, submission: Submission, status: Status) -> Any:
    if status not in (Status.APPROVED, Status.SCREENED_OUT):
        return None
    if submission.paid is not None:
        return submission.paid
    terms = terms_of(recruitment)
    if status == Status.APPROVED:
        return terms.reward
    return next((code.reward for code in terms.codes if code.reward is not None), None)


def _paid_before(submission: Submission, started_at: datetime | None, status: Status) -> dict[str, Any]:
    """Return what was paid for a submission whose id was lost, and take it from there: it is paid once.

    Which of them it was is not known, as the provider names it as a new one: the one that began at the same time, else
    any. The sums are the same.
    """
    lost = Submission.objects.select_for_update().filter(
        recruitment=submission.recruitment_id, digest__startswith=Submission.LOST_PREFIX, status=status
    )
    same_time = Case(When(started_at=started_at, then=0), default=1)
    before = lost.exclude(paid=None).order_by(same_time, "pk").first()
    if before is None:
        return {}
    Submission.objects.filter(pk=before.pk).update(paid=None, bonus=None)
    bonuses = [each for each in (before.bonus, submission.bonus) if each is not None]
    return {"paid": before.paid, "bonus": sum(bonuses) if bonuses else None}


def _note(submission: Submission, reported: base.Submission) -> str:
    identity = getattr(submission.rater, "identity", None)
    if identity is not None and reported.rater and identity.digest not in digests_of(reported.rater):
        return OTHER_RATER
    if reported.status == base.SubmissionStatus.AWAITING and reported.code != submission.code:
        entered = f"“{reported.code[:40]}”" if reported.code else "none"
        if any(known and known in reported.code for known in (reported.rater, reported.id)):
            entered = "an id of the rater"  # which is stored nowhere in the clear
        expected = f"“{submission.code}” was given" if submission.code else "none was given"
        return f"Code entered: {entered}; {expected}."
    if reported.status == base.SubmissionStatus.ACTIVE and reported.return_requested_at is not None:
        return "Asked to return."
    return "" if reported.status is not None else f"The provider says: {reported.reported[:60]}."


def _is_latest(submission: Submission) -> bool:
    """Return whether no later submission of the rater holds the slots."""
    later = Submission.objects.filter(
        rater=submission.rater, recruitment__campaign=submission.recruitment.campaign_id, pk__gt=submission.pk
    )
    return not later.exclude(status__in=base.RELEASED).exclude(outcome=base.Outcome.SCREENED_OUT).exists()


def _release_slots(recruitment: Recruitment, rater: Rater, status: Status) -> None:
    campaign = recruitment.campaign
    if recruitment.return_policy == ReturnPolicy.KEEP:
        return
    if not Participation.objects.filter(campaign=campaign, rater=rater).exists():
        return
    if recruitment.return_policy == ReturnPolicy.AT_ONCE:
        released = rater_leaves(campaign=campaign, rater=rater)
        audit_record(
            verb="rater.leaves",
            summary=f"Submission {status.label.lower()} at {recruitment.get_provider_display()}: "
            f"{released} item{pluralize(released)} given back.",
            campaign=campaign,
            rater=rater,
            data={"recruitment": recruitment.pk, "released": released},
        )
        return
    campaign.refresh_from_db(fields=["state"])
    rater_exclude(
        campaign=campaign,
        rater=rater,
        reason=f"Submission {status.label.lower()} at {recruitment.get_provider_display()}; the recruitment replaces.",
        replace=campaign.state in (CampaignState.RUNNING, CampaignState.PAUSED),
    )


def _mark_unknown(recruitment: Recruitment, known: Iterable[str], began: datetime) -> None:
    """Note the submissions that the provider does not list, because someone invented the address."""
    submissions = Submission.objects.filter(recruitment=recruitment).exclude(sealed="")
    unknown = submissions.exclude(digest__in=list(texts_by_digest(known))).filter(started_at__lt=began - LIST_DELAY)
    unknown.exclude(note=UNKNOWN).update(note=UNKNOWN, updated_at=Now())


def error_record(recruitment: Recruitment, error: AnnotationError) -> None:
    """Store an error for the recruitment's page; the next refresh that succeeds removes it."""
    now = timezone.now().isoformat(timespec="seconds")
    options_change(recruitment, trouble={"at": now, "sealed": seal(text=error.message[:300])})


def trouble_of(recruitment: Recruitment) -> dict[str, str] | None:
    """Return when the last refresh failed, and why. The provider's words may name raters: they are stored encrypted."""
    stored = recruitment.options.get("trouble")
    return stored and {"at": stored["at"], "message": shown(stored.get("sealed", ""), "text")}


def recruitments_due() -> list[int]:
    """Return connected recruitments whose submissions have not been read lately."""
    latest = timezone.now() - timedelta(seconds=settings.PROVIDER_REFRESH_SECONDS)
    connected = Recruitment.objects.filter(account__isnull=False).exclude(external_id="")
    connected = connected.exclude(state=RecruitmentState.DRAFT)
    due = []
    for recruitment in connected.order_by("pk"):
        error = recruitment.options.get("trouble")
        failed_at = datetime.fromisoformat(error["at"]) if error else None
        tried_at = max(filter(None, [recruitment.refreshed_at, failed_at]), default=None)
        if (tried_at is None or tried_at < latest) and _may_change(recruitment):
            due.append(recruitment.pk)
    return due


def _may_change(recruitment: Recruitment) -> bool:
    if recruitment.state != RecruitmentState.COMPLETED:
        return True
    undecided = recruitment.submissions.filter(status__in=[Status.ACTIVE, Status.AWAITING]).exclude(note=UNKNOWN)
    return undecided.exists() and recruitment.created_at > timezone.now() - REFRESH_PERIOD
