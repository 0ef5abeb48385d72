"""Selecting seeds as a job: checked and queued for a user, done by a worker, whole or not at all."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from annotation.core.errors import AnnotationError, JobCancelled, JobLost
from annotation.core.jobs import Claim, job_run
from annotation.models import Campaign, Dataset, SeedSelecting, SeedSelection, User
from annotation.seeds.criteria import criteria_values
from annotation.seeds.services.selections import seeds_check, seeds_select

STEPS = 1


def seeds_select_create(
    *,
    dataset: Dataset,
    campaigns: Sequence[Campaign],
    threshold: float,
    shares: Mapping[str, float],
    seed: int,
    again: bool = False,
    by: User | None = None,
    **criteria: int,
) -> SeedSelecting:
    """Queue a selection; see ``seeds_select``. The caller enqueues ``annotation.seeds.tasks.seeds_select_execute``."""
    arguments: dict[str, Any] = {"threshold": threshold, "shares": dict(shares), "seed": seed, "again": again}
    arguments |= criteria_values(criteria)
    seeds_check(dataset=dataset, campaigns=campaigns, **arguments)
    return SeedSelecting.objects.create(
        project=dataset.project,
        dataset=dataset,
        requested_by=by,
        asked={**arguments, "campaigns": [campaign.pk for campaign in campaigns]},
        progress_total=STEPS,
    )


def seeds_select_execute(*, selecting_id: int) -> None:
    """Claim, work, finish; safe to run twice."""
    job_run(SeedSelecting, selecting_id, _execute)


def _execute(job: SeedSelecting, claim: Claim) -> None:
    arguments = dict(job.asked)
    campaigns = Campaign.objects.in_bulk(arguments.pop("campaigns"))
    claim.progress(0, STEPS, "Reading ratings")
    try:
        with transaction.atomic():
            claim.lock()
            selection: SeedSelection = seeds_select(
                dataset=job.dataset, campaigns=list(campaigns.values()), by=job.requested_by, **arguments
            )
            claim.finish(selection=selection, progress_total=STEPS)
    except (JobLost, JobCancelled):
        raise
    except AnnotationError as error:
        claim.fail(error.message, report={"fields": error.fields})
