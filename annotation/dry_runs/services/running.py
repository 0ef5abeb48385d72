"""Dry runs from the request to the result. Whatever happens, the sandbox is removed afterwards."""

from collections.abc import Mapping
from typing import Any

import structlog
from django.db import transaction

from annotation.core.errors import AnnotationError
from annotation.core.jobs import Claim, job_run
from annotation.dry_runs.services.extent import Extent, extent
from annotation.dry_runs.services.loopback import serving
from annotation.dry_runs.services.results import PlayedRun, dry_run_result, shift_times
from annotation.dry_runs.services.sandbox import sandbox_open, sandbox_purge, sandboxes_left
from annotation.dry_runs.services.walking import Timing, Walk
from annotation.dry_runs.simulation.raters import population
from annotation.dry_runs.specification import DryRunSpecification
from annotation.models import Campaign, DryRun, User
from annotation.projects.services.audit import audit_record

log = structlog.get_logger("assay.dry_run")


@transaction.atomic
def dry_run_create(*, campaign: Campaign, specification: Mapping[str, Any], by: User | None = None) -> DryRun:
    """Store a dry run, which a worker executes. A launched campaign is simulated with its data set as it is now."""
    if campaign.imported:
        raise AnnotationError("The ratings of this campaign were collected elsewhere: there is nothing to simulate.")
    chosen = DryRunSpecification.from_dict(specification)
    dry_run = DryRun.objects.create(campaign=campaign, specification=chosen.to_dict(), requested_by=by)
    audit_record(
        verb="campaign.dry_run",
        summary=f"Requested dry run {dry_run.pk} of “{campaign.name}” with {chosen.raters} simulated raters.",
        campaign=campaign,
        by=by,
        data={"dry_run": dry_run.pk, **chosen.to_dict()},
    )
    return dry_run


@transaction.atomic
def dry_run_delete(*, dry_run: DryRun, by: User | None = None) -> None:
    """Delete a dry run and its result; one that is waiting or running must be cancelled first."""
    locked = DryRun.objects.select_for_update().get(pk=dry_run.pk)
    if not locked.is_finished:
        raise AnnotationError("The dry run has not ended yet: cancel it first.")
    audit_record(
        verb="campaign.dry_run_delete",
        summary=f"Deleted dry run {dry_run.pk} of “{dry_run.campaign.name}”.",
        campaign=dry_run.campaign,
        by=by,
    )
    locked.delete()


def dry_run_execute(*, dry_run_id: int) -> None:
    """Execute the dry run; safe to run twice."""
    job_run(DryRun, dry_run_id, _work)


def sandboxes_sweep() -> int:
    """Remove the sandboxes of dead workers, and return their number."""
    left = sandboxes_left()
    for project_id in left:
        sandbox_purge(project_id)
    return len(left)


def _work(dry_run: DryRun, claim: Claim) -> None:
    if dry_run.sandbox_id is not None:
        sandbox_purge(dry_run.sandbox_id)  # of a dead worker
    claim.progress(0, 1, "Making the copy")
    specification = DryRunSpecification.from_dict(dry_run.specification)
    chosen = extent(dry_run.campaign, specification)
    project_id = None
    try:
        sandbox = sandbox_open(dry_run=dry_run, claim=claim, extent=chosen)
        project_id = sandbox.project_id
        result = _play(dry_run, claim, sandbox, specification, chosen)
    finally:
        if project_id is not None:
            sandbox_purge(project_id)
    claim.finish(result=result, sandbox=None)


def _play(
    dry_run: DryRun, claim: Claim, sandbox: Campaign, specification: DryRunSpecification, chosen: Extent
) -> dict[str, Any]:
    raters = population(chosen.raters, specification, seed=specification.seed)

    def report(answered: int, hours: float) -> None:
        note = f"Rating: {hours:.1f} hours of simulated time"
        claim.progress(answered, max(chosen.screens, answered + 1), note)

    with serving() as connection:
        journal = Walk(
            campaign=sandbox,
            timing=Timing.of(dry_run.campaign),
            raters=raters,
            arrivals_per_hour=chosen.arrivals_per_hour,
            seed=specification.seed,
            connection=connection,
            report=report,
        ).play()
    answered = len(journal.answered)
    claim.progress(answered, answered + 1, "Measuring")
    log.info("dry run played", dry_run=dry_run.pk, screens=answered, findings=len(journal.findings))
    shift_times(journal)
    return dry_run_result(PlayedRun(dry_run.campaign, sandbox, raters, journal, specification, chosen))
