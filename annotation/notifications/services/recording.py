"""Write what happened, in the transaction in which it happens, and to whom it is to be sent."""

from collections.abc import Mapping
from typing import Any

from django.apps import apps
from django.db import transaction
from django.db.models import Q, QuerySet

from annotation.core import sql
from annotation.core.turns import CAMPAIGN_ENDS
from annotation.models import (
    Campaign,
    Channel,
    Delivery,
    JobState,
    Notification,
    NotificationSettings,
    Project,
    Role,
    Slot,
    SlotState,
)
from annotation.notifications.kinds import KINDS, Kind, kind_of_job
from annotation.notifications.kinds.campaign_full import CAMPAIGN_FULL

LAST_SLOTS = 20  # open ones below which the end of a campaign is looked for


def settings_for(project_id: int, kind: Kind) -> "QuerySet[NotificationSettings]":
    """Return the settings of members who chose this kind and whose role may see what it is about."""
    roles = [role.value for role in Role if role.rank >= kind.role.rank]
    chosen = Q(by_email__contains=[kind.key]) | Q(by_webhook__contains=[kind.key])
    members = NotificationSettings.objects.filter(membership__project=project_id, membership__role__in=roles)
    return members.filter(chosen, membership__user__is_active=True)


@transaction.atomic
def notification_record(*, kind: str, project: Project, key: str, facts: Mapping[str, Any]) -> Notification | None:
    """Store an event once, with a delivery for each member and channel that chose its kind; None if no member did."""
    chosen = list(settings_for(project.pk, KINDS[kind]))
    if not chosen:
        return None
    notification, created = Notification.objects.get_or_create(
        project=project, kind=kind, key=key, defaults={"facts": {"project": project.slug, **facts}}
    )
    if created:
        Delivery.objects.bulk_create(
            Delivery(notification=notification, membership_id=each.membership_id, channel=channel)
            for each in chosen
            for channel, kinds in ((Channel.EMAIL, each.by_email), (Channel.WEBHOOK, each.by_webhook))
            if kind in kinds
        )
    return notification


def campaign_full_check(campaign: Campaign, filled_by: int) -> None:
    """Record that a campaign is full, if this transaction filled its last slot.

    ``filled_by`` is the presentation that did. Of two transactions that fill the last two slots, one waits here for the
    other: else neither would see an end.
    """
    if not settings_for(campaign.project_id, CAMPAIGN_FULL).exists():
        return
    unfinished = Slot.objects.filter(campaign=campaign, unit__stopped=False).exclude(state=SlotState.DONE)
    if unfinished[:LAST_SLOTS].count() == LAST_SLOTS:
        return
    sql.execute("SELECT pg_advisory_xact_lock(%s, %s)", [CAMPAIGN_ENDS, campaign.pk % 2**31])
    if unfinished.exists():
        return
    slots = Slot.objects.filter(campaign=campaign).count()
    notification_record(
        kind=CAMPAIGN_FULL.key,
        project=campaign.project,
        key=f"{campaign.pk}:{filled_by}",
        facts={"campaign": campaign.name, "campaign_pk": campaign.pk, "slots": slots},
    )


def job_ended(label: str, job_id: int, ending: str) -> None:
    """Record that a job is done or failed; ``ending`` tells this end from that of a later attempt."""
    kind = kind_of_job(label)
    if kind is None:
        return
    rows = apps.get_model(label)._default_manager
    if not settings_for(rows.values_list("project_id", flat=True).get(pk=job_id), kind).exists():
        return
    job = rows.select_related("project").get(pk=job_id)
    if job.state not in (JobState.DONE, JobState.FAILED):
        return
    facts = kind.jobs[label](job)
    if facts is not None:
        error = job.error if job.state == JobState.FAILED else ""
        notification_record(
            kind=kind.key, project=job.project, key=f"{label}:{job_id}:{ending}", facts={**facts, "error": error}
        )
