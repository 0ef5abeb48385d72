"""The copy of a campaign on which a dry run works, in a hidden project; removed without a trace."""

import uuid
from dataclasses import replace

from django.db import transaction

from annotation.campaigns.services.drafts import draft_of
from annotation.campaigns.services.lifecycle import campaign_launch
from annotation.campaigns.services.writing import campaign_create
from annotation.core.jobs import Claim
from annotation.core.purging import projects_purge
from annotation.dry_runs.services.extent import Extent
from annotation.models import Admission, Campaign, DryRun, JobState, Project

LEASE = 7 * 24 * 3600  # leases end by the raters' simulated clocks here, not by the database's


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
    projects_purge(Project.objects.filter(pk=project_id, is_sandbox=True).values_list("pk", flat=True))


def sandboxes_left() -> list[int]:
    """Return the sandboxes of dead workers: those without a dry run that waits or runs."""
    at_work = DryRun.objects.filter(state__in=[JobState.QUEUED, JobState.RUNNING], sandbox__isnull=False)
    left = Project.objects.filter(is_sandbox=True).exclude(pk__in=at_work.values("sandbox"))
    return list(left.order_by("pk").values_list("pk", flat=True))
