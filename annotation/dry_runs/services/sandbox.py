"""The copy of a campaign on which a dry run works, in a hidden project; removed without a trace."""

import uuid
from collections.abc import Iterable
from dataclasses import replace

from django.db import connection, models, transaction

from annotation.campaigns.services.drafts import draft_of
from annotation.campaigns.services.lifecycle import campaign_launch
from annotation.campaigns.services.writing import campaign_create
from annotation.core import sql
from annotation.core.jobs import Claim
from annotation.dry_runs.services.extent import Extent
from annotation.models import (
    Admission,
    Amendment,
    AnswerDraft,
    AuditEntry,
    Campaign,
    CampaignPace,
    CampaignSnapshot,
    CheckAnswer,
    CheckUnit,
    Comment,
    Criterion,
    DryRun,
    JobState,
    Participation,
    Presentation,
    Project,
    QualityRules,
    Rater,
    RaterDecision,
    RaterIdentity,
    Rating,
    Slot,
    Unit,
    UnitResponse,
)

LEASE = 7 * 24 * 3600  # leases end by the raters' simulated clocks here, not by the database's
OF_CAMPAIGN: tuple[type[models.Model], ...] = (
    Rating,
    CheckAnswer,
    Comment,
    RaterDecision,
    QualityRules,
    Amendment,
    Presentation,
    Slot,
    Unit,
    CheckUnit,
    Participation,
    CampaignPace,
    CampaignSnapshot,
    Criterion,
)
OF_PROJECT: tuple[type[models.Model], ...] = (AuditEntry, RaterIdentity, Campaign, Rater)


@transaction.atomic
def sandbox_open(*, dry_run: DryRun, claim: Claim, extent: Extent) -> Campaign:
    """Copy and launch the campaign, without the rules that depend on the real clock."""
    claim.lock()
    original = dry_run.campaign
    name = f"Dry run {dry_run.pk} of {original.name}"[:120]
    project = Project.objects.create(name=name, slug=f"dry-run-{uuid.uuid4().hex}", is_sandbox=True)
    DryRun.objects.filter(pk=dry_run.pk).update(sandbox=project)
    draft = replace(
        draft_of(original),
        item_limit=extent.item_limit or original.item_limit,
        lease_seconds=LEASE,
        lease_min_seconds=None,
        lease_max_seconds=None,
        seconds_between_units=0,
        # Simulated raters have no accounts.
        admission=original.admission if original.admission == Admission.OPEN else Admission.NAMED,
    )
    return campaign_launch(campaign=campaign_create(project=project, draft=draft))


def sandbox_purge(project_id: int) -> None:
    """Remove a sandbox with everything in it, append-only records included, if it exists."""
    with transaction.atomic():
        project = Project.objects.select_for_update().filter(pk=project_id, is_sandbox=True).first()
        if project is None:
            return
        sql.execute("SET LOCAL assay.purge = 'on'")
        # Locked, so that no row refers to a campaign anew while those that do are removed.
        campaigns = list(Campaign.objects.select_for_update().filter(project=project).values_list("pk", flat=True))
        for child, parent in ((AnswerDraft, "presentation"), (UnitResponse, "unit")):
            ids = f"SELECT id FROM annotation_{parent} WHERE campaign_id = ANY(%s)"  # noqa: S608 - constants above
            _delete(child, f"{parent}_id IN ({ids})", campaigns)
        for model in OF_CAMPAIGN:
            _delete(model, "campaign_id = ANY(%s)", campaigns)
        _delete(Campaign.systems.through, "campaign_id = ANY(%s)", campaigns)
        for model in OF_PROJECT:
            _delete(model, "project_id = ANY(%s)", [project.pk])
        project.delete()  # and what else refers to it
        sql.execute("SET LOCAL assay.purge = 'off'")


def sandboxes_left() -> list[int]:
    """Return the sandboxes of dead workers: those without a dry run that waits or runs."""
    at_work = DryRun.objects.filter(state__in=[JobState.QUEUED, JobState.RUNNING], sandbox__isnull=False)
    left = Project.objects.filter(is_sandbox=True).exclude(pk__in=at_work.values("sandbox"))
    return list(left.order_by("pk").values_list("pk", flat=True))


def _delete(model: type[models.Model], condition: str, keys: Iterable[int]) -> None:
    """Delete rows in one statement; foreign keys are checked at the end."""
    table = connection.ops.quote_name(model._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {table} WHERE {condition}", [list(keys)])  # noqa: S608 - constants of this file
