"""Read the state of a study and its submissions from the provider."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from annotation.models import (
    CampaignState,
    Participation,
    Rater,
    RaterIdentity,
    Recruitment,
    RecruitmentState,
    ReturnPolicy,
    Submission,
)
from annotation.models import SubmissionStatus as Status
from annotation.projects.services.audit import audit_record
from annotation.quality.services.decisions import rater_exclude, rater_leaves
from annotation.recruitment.providers.base import GIVEN_UP, Capability, Outcome, Study, SubmissionStatus
from annotation.recruitment.providers.base import Submission as Told
from annotation.recruitment.providers.errors import ProviderError
from annotation.recruitment.services.accounts import client_of
from annotation.recruitment.services.forgetting import is_forgotten
from annotation.recruitment.services.terms import terms_of

FOLLOWED_FOR = timedelta(days=40)  # a completed study whose submissions are still open; providers decide within 30
UNKNOWN = "The provider knows no such submission."
SETTLING = timedelta(minutes=10)  # until then a submission may be missing from the provider's list


def recruitment_refresh(*, recruitment: Recruitment, patient: bool = True) -> int:
    """Read the study and every submission; return how many submissions changed. Safe to run twice, or at once."""
    account = recruitment.account
    if account is None or not recruitment.external_id:
        return 0
    began = timezone.now()
    try:
        with client_of(account, patient=patient) as client:
            study = client.study_fetch(recruitment.external_id)
            told = list(client.submissions(study.id))
            lists_all = Capability.RETURNS in client.capabilities
    except ProviderError as error:
        note_trouble(recruitment, error)
        raise
    changed = sum(submission_apply(recruitment=recruitment, told=one) for one in told)
    if lists_all:
        _mark_unknown(recruitment, {one.id for one in told}, began)
    study_apply(recruitment=recruitment, study=study)
    with transaction.atomic():
        fresh = Recruitment.objects.select_for_update().get(pk=recruitment.pk)
        fresh.options = {name: value for name, value in fresh.options.items() if name != "trouble"}
        fresh.refreshed_at = began
        fresh.save(update_fields=["options", "refreshed_at"])
    return changed


@transaction.atomic
def study_apply(*, recruitment: Recruitment, study: Study) -> None:
    """Store the state that the provider reports. A stopped study stays stopped: some report it as paused."""
    fresh = Recruitment.objects.select_for_update().get(pk=recruitment.pk)
    fresh.options = {
        **fresh.options,
        "said": study.said,
        "url": study.url or fresh.options.get("url", ""),
        **({"taken": study.places_taken} if study.places_taken is not None else {}),
        **({"places": study.places} if study.places is not None else {}),
    }
    if study.state is not None and study.state.value != fresh.state and fresh.state != RecruitmentState.COMPLETED:
        before, fresh.state = fresh.state, study.state.value
        audit_record(
            verb="recruitment.state",
            summary=f"“{fresh.name}” is {RecruitmentState(fresh.state).label.lower()} at the provider ({study.said}).",
            campaign=fresh.campaign,
            data={"recruitment": fresh.pk, "from": before},
        )
    fresh.save(update_fields=["options", "state"])


@transaction.atomic
def submission_apply(*, recruitment: Recruitment, told: Told) -> bool:
    """Store the provider's state of one submission; a rater who gave up releases their slots, by the return policy."""
    if is_forgotten(recruitment, told.id):
        return False
    submission, created = Submission.objects.select_for_update().get_or_create(
        recruitment=recruitment,
        external_id=told.id,
        defaults={"rater": _known_rater(recruitment, told.rater), "started_at": told.started_at},
    )
    before = Status(submission.status)
    after = before if told.status is None else Status(told.status.value)
    told_now: dict[str, Any] = {
        "status": after,
        "started_at": told.started_at or submission.started_at,
        "ended_at": told.ended_at or submission.ended_at,
        "paid": _paid(recruitment, submission, after),
        "note": _note(submission, told),
    }
    if not created and all(getattr(submission, name) == value for name, value in told_now.items()):
        return False
    Submission.objects.filter(pk=submission.pk).update(**told_now, updated_at=Now())
    if after != before and after.value in GIVEN_UP and submission.rater is not None and _is_latest(submission):
        _give_up(recruitment, submission.rater, after)
    return True


def _known_rater(recruitment: Recruitment, external_id: str) -> Rater | None:
    """Return None for a participant who took a place but never came here."""
    found = RaterIdentity.objects.select_related("rater").filter(
        project=recruitment.campaign.project_id, provider=recruitment.provider, external_id=external_id
    )
    identity = found.first() if external_id else None
    return identity.rater if identity else None


def _paid(recruitment: Recruitment, submission: Submission, status: Status) -> Any:
    terms = terms_of(recruitment)
    if status == Status.APPROVED:
        return submission.paid if submission.paid is not None else terms.reward
    if status == Status.SCREENED_OUT:
        paid = next((one.reward for one in terms.codes if one.reward is not None), None)
        return submission.paid if submission.paid is not None else paid
    return None


def _note(submission: Submission, told: Told) -> str:
    if told.status == SubmissionStatus.AWAITING and told.code != submission.code:
        entered = f"“{told.code[:40]}”" if told.code else "none"
        expected = f"“{submission.code}” was given" if submission.code else "none was given"
        return f"Code entered: {entered}; {expected}."
    if told.status == SubmissionStatus.ACTIVE and told.return_requested_at is not None:
        return "Asked to return."
    return "" if told.status is not None else f"The provider says: {told.said[:60]}."


def _is_latest(submission: Submission) -> bool:
    """Whoever went on under a later submission holds what they hold through that one."""
    later = Submission.objects.filter(
        rater=submission.rater, recruitment__campaign=submission.recruitment.campaign_id, pk__gt=submission.pk
    )
    return (
        not later.exclude(status__in=[Status.RETURNED, Status.TIMED_OUT]).exclude(outcome=Outcome.SCREENED_OUT).exists()
    )


def _give_up(recruitment: Recruitment, rater: Rater, status: Status) -> None:
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
            f"{released} screen{'' if released == 1 else 's'} given back.",
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
    """Submissions here that the provider has never heard of: somebody made up the address."""
    mine = Submission.objects.filter(recruitment=recruitment).exclude(external_id__startswith="erased-")
    strange = mine.exclude(external_id__in=list(known)).filter(started_at__lt=began - SETTLING)
    strange.exclude(note=UNKNOWN).update(note=UNKNOWN, updated_at=Now())


def note_trouble(recruitment: Recruitment, error: ProviderError) -> None:
    with transaction.atomic():
        fresh = Recruitment.objects.select_for_update().get(pk=recruitment.pk)
        now = timezone.now().isoformat(timespec="seconds")
        fresh.options = {**fresh.options, "trouble": {"at": now, "message": error.message[:300]}}
        fresh.save(update_fields=["options"])


def recruitments_due() -> list[int]:
    """Connected recruitments whose submissions have not been read lately."""
    latest = timezone.now() - timedelta(seconds=settings.PROVIDER_REFRESH_SECONDS)
    connected = Recruitment.objects.filter(account__isnull=False).exclude(external_id="")
    connected = connected.exclude(state=RecruitmentState.DRAFT)
    due = []
    for one in connected.order_by("pk"):
        tried = max(filter(None, [one.refreshed_at, _troubled_at(one)]), default=None)
        if (tried is None or tried < latest) and _is_followed(one):
            due.append(one.pk)
    return due


def _troubled_at(recruitment: Recruitment) -> datetime | None:
    trouble = recruitment.options.get("trouble")
    return datetime.fromisoformat(trouble["at"]) if trouble else None


def _is_followed(recruitment: Recruitment) -> bool:
    if recruitment.state != RecruitmentState.COMPLETED:
        return True
    still = recruitment.submissions.filter(status__in=[Status.ACTIVE, Status.AWAITING]).exclude(note=UNKNOWN)
    return still.exists() and recruitment.created_at > timezone.now() - FOLLOWED_FOR
