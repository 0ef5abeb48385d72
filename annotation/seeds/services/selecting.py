"""Selecting seeds as a job: checked and queued for a user, done by a worker, whole or not at all."""

from django.db import transaction

from annotation.core.errors import AnnotationError, JobCancelled, JobLost
from annotation.core.jobs import Claim, job_run
from annotation.models import Campaign, SeedSelecting, User
from annotation.seeds.services.selections import SelectionRules, seeds_check, seeds_select

STEPS = 1


def seeds_select_create(*, rules: SelectionRules, again: bool = False, by: User | None = None) -> SeedSelecting:
    """Queue a selection; see ``seeds_select``. The caller enqueues ``annotation.seeds.tasks.seeds_select_execute``."""
    seeds_check(rules=rules, again=again)
    return SeedSelecting.objects.create(
        project=rules.dataset.project,
        dataset=rules.dataset,
        requested_by=by,
        asked={**rules.record, "again": again, "campaigns": [campaign.pk for campaign in rules.campaigns]},
        progress_total=STEPS,
    )


def seeds_select_execute(*, selecting_id: int) -> None:
    """Claim, work, finish; safe to run twice."""
    job_run(SeedSelecting, selecting_id, _execute)


def _execute(job: SeedSelecting, claim: Claim) -> None:
    values = dict(job.asked)
    again, campaigns = values.pop("again"), Campaign.objects.in_bulk(values.pop("campaigns"))
    claim.progress(0, STEPS, "Reading ratings")
    try:
        rules = SelectionRules.of(**values, dataset=job.dataset, campaigns=list(campaigns.values()))
        with transaction.atomic():
            claim.lock()
            selection = seeds_select(rules=rules, again=again, by=job.requested_by)
            claim.finish(selection=selection, progress_total=STEPS)
    except (JobLost, JobCancelled):
        raise
    except AnnotationError as error:
        claim.fail(error.message, report={"fields": error.fields})
