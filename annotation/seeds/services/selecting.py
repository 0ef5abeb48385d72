"""Selecting seeds as a job: checked and queued by a person, done by a worker, whole or not at all."""

from collections.abc import Mapping, Sequence

from django.db import transaction

from annotation.core.errors import AnnotationError, JobCancelled, JobLost
from annotation.core.jobs import Claim, job_run
from annotation.models import Campaign, Dataset, SeedSelecting, SeedSelection, User
from annotation.seeds.services.selections import seeds_check, seeds_select

STEPS = 1


def seeds_select_create(
    *,
    dataset: Dataset,
    campaigns: Sequence[Campaign],
    threshold: float,
    shares: Mapping[str, float],
    seed: int,
    min_ratings: int = 1,
    again: bool = False,
    by: User | None = None,
) -> SeedSelecting:
    """Queue a selection; see ``seeds_select``. The caller enqueues ``annotation.seeds.tasks.seeds_select_execute``."""
    seeds_check(
        dataset=dataset,
        campaigns=campaigns,
        threshold=threshold,
        shares=shares,
        seed=seed,
        min_ratings=min_ratings,
        again=again,
    )
    asked = {"threshold": threshold, "shares": dict(shares), "seed": seed, "min_ratings": min_ratings, "again": again}
    return SeedSelecting.objects.create(
        project=dataset.project,
        dataset=dataset,
        requested_by=by,
        asked={**asked, "campaigns": [campaign.pk for campaign in campaigns]},
        progress_total=STEPS,
    )


def seeds_select_execute(*, selecting_id: int) -> None:
    """Claims, works, finishes; safe to run twice."""
    job_run(SeedSelecting, selecting_id, _execute)


def _execute(job: SeedSelecting, claim: Claim) -> None:
    asked = dict(job.asked)
    found = Campaign.objects.in_bulk(asked.pop("campaigns"))
    claim.progress(0, STEPS, "Reading what raters said")
    try:
        with transaction.atomic():
            claim.lock()
            selection: SeedSelection = seeds_select(
                dataset=job.dataset, campaigns=list(found.values()), by=job.requested_by, **asked
            )
            claim.finish(selection=selection, progress_total=STEPS)
    except (JobLost, JobCancelled):
        raise
    except AnnotationError as error:
        claim.fail(error.message, report={"fields": error.fields})
