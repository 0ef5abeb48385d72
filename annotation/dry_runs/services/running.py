"""A dry run from the request to its result. Whatever happens on the way, the sandbox is gone afterwards."""

from collections.abc import Mapping
from typing import Any

import structlog
from django.db import transaction

from annotation.core.errors import AnnotationError
from annotation.core.jobs import Claim, job_run
from annotation.dry_runs.services.loopback import serving
from annotation.dry_runs.services.measuring import measured, times_shift
from annotation.dry_runs.services.sandbox import sandbox_open, sandbox_purge, sandboxes_left
from annotation.dry_runs.services.specification import Extent, Specification, extent
from annotation.dry_runs.services.walking import Journal, Rules, Walk
from annotation.dry_runs.simulation.raters import SimulatedRater, population
from annotation.models import Campaign, DryRun, User
from annotation.projects.services.audit import audit_record

log = structlog.get_logger("assay.dry_run")


@transaction.atomic
def dry_run_create(*, campaign: Campaign, specification: Mapping[str, Any], by: User | None = None) -> DryRun:
    """Written down; a worker does it. Also of a launched campaign, whose data set as it is now is used."""
    if campaign.imported:
        raise AnnotationError(
            "The ratings of this campaign were collected elsewhere: there is nothing to play through."
        )
    chosen = Specification.from_dict(specification)
    dry_run = DryRun.objects.create(campaign=campaign, specification=chosen.to_dict(), requested_by=by)
    audit_record(
        verb="campaign.dry_run",
        summary=f"Asked for dry run {dry_run.pk} of “{campaign.name}” with {chosen.raters} simulated raters.",
        campaign=campaign,
        by=by,
        data={"dry_run": dry_run.pk, **chosen.to_dict()},
    )
    return dry_run


@transaction.atomic
def dry_run_delete(*, dry_run: DryRun, by: User | None = None) -> None:
    """Its result is forgotten; one that is waiting or at work must be cancelled first."""
    found = DryRun.objects.select_for_update().get(pk=dry_run.pk)
    if not found.is_finished:
        raise AnnotationError("The dry run has not ended yet: cancel it first.")
    audit_record(
        verb="campaign.dry_run_delete",
        summary=f"Deleted dry run {dry_run.pk} of “{dry_run.campaign.name}”.",
        campaign=dry_run.campaign,
        by=by,
    )
    found.delete()


def dry_run_execute(*, dry_run_id: int) -> None:
    """Claims, plays through, measures, cleans up; safe to run twice."""
    job_run(DryRun, dry_run_id, _work)


def sandboxes_sweep() -> int:
    """Remove what workers that died have left; how many."""
    left = sandboxes_left()
    for project_id in left:
        sandbox_purge(project_id)
    return len(left)


def _work(dry_run: DryRun, claim: Claim) -> None:
    if dry_run.sandbox_id is not None:
        sandbox_purge(dry_run.sandbox_id)  # of a worker that died
    specification = Specification.from_dict(dry_run.specification)
    claim.progress(0, 1, "Making the copy")
    chosen = extent(dry_run.campaign, specification)
    project_id = None
    try:
        sandbox = sandbox_open(dry_run=dry_run, claim=claim, extent=chosen)
        project_id = sandbox.project_id
        result = _played(dry_run, claim, sandbox, specification, chosen)
    finally:
        if project_id is not None:
            sandbox_purge(project_id)
    claim.finish(result=result, sandbox=None)


def _played(
    dry_run: DryRun, claim: Claim, sandbox: Campaign, specification: Specification, chosen: Extent
) -> dict[str, Any]:
    raters = people(specification, chosen.raters)

    def report(answered: int, hours: float) -> None:
        claim.progress(answered, max(chosen.screens, answered + 1), f"Rating: {hours:.1f} hours by the raters' clocks")

    with serving() as connection:
        walk = Walk(
            campaign=sandbox,
            rules=Rules.of(dry_run.campaign),
            raters=raters,
            arrivals_per_hour=chosen.arrivals_per_hour,
            seed=specification.seed,
            connection=connection,
            report=report,
        )
        journal: Journal = walk.play()
    answered = len(journal.answered)
    claim.progress(answered, answered + 1, "Measuring")
    log.info("dry run played", dry_run=dry_run.pk, screens=answered, findings=len(journal.findings))
    times_shift(journal)
    return measured(
        original=dry_run.campaign,
        sandbox=sandbox,
        raters=raters,
        journal=journal,
        specification=specification,
        extent=chosen,
    )


def people(specification: Specification, n: int) -> list[SimulatedRater]:
    return population(
        n,
        seed=specification.seed,
        bias_sd=specification.bias_sd,
        noise=specification.noise,
        spam_share=specification.spam_share,
        dropout=specification.dropout,
        median_seconds=specification.median_seconds,
        speed_sd=specification.speed_sd,
        lapse=specification.lapse,
    )
