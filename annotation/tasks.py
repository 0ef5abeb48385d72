"""What workers run: fetch, call the service. Every task may run twice."""

from contextlib import suppress

from celery import Task, shared_task
from django.conf import settings

from annotation.core import jobs
from annotation.core.errors import AnnotationError
from annotation.core.shards import Enqueue
from annotation.dry_runs import services as dry_runs
from annotation.judgements import services as imports
from annotation.mining import services as mining
from annotation.models import (
    Corpus,
    DatasetImport,
    DryRun,
    Job,
    MiningRun,
    RatingImport,
    Recruitment,
    Release,
    ReleaseFigures,
    SeedSelecting,
    Submission,
    User,
    WeightsImport,
)
from annotation.quality.services import snapshots
from annotation.rating.services import handout, pace
from annotation.recruitment import services as recruitment
from annotation.recruitment.providers.errors import ProviderError
from annotation.references.releases.services import evidence, releases, weights_imports
from annotation.references.weighing.services import figures
from annotation.seeds.services import selecting as seeds_selecting


def again(task: Task, job_id: int) -> None:
    """Enqueue once more; the message is worthless once the next sweep may have sent another."""
    task.apply_async((job_id,), expires=settings.SWEEP_SECONDS)


def helpers(task: Task, job_id: int) -> Enqueue:
    """Return what enqueues a number of helpers for a job in shards. A lost message costs speed, nothing else."""

    def enqueue(number: int) -> None:
        for _ in range(number):
            task.delay(job_id)

    return enqueue


@shared_task
def sweep() -> None:
    """Tidy up, and hand out again what dead workers left."""
    handout.slots_sweep()
    pace.paces_update()
    work: tuple[tuple[type[Job], Task], ...] = (
        (Release, release_build),
        (ReleaseFigures, release_figures_compute),
        (WeightsImport, weights_import_execute),
        (SeedSelecting, seeds_select_execute),
        (DatasetImport, dataset_import_execute),
        (RatingImport, rating_import_execute),
        (DryRun, dry_run_execute),
        (Corpus, corpus_index),
        (MiningRun, mining_run_execute),
    )
    for model, task in work:
        for job_id in jobs.stale_ids(model):
            again(task, job_id)
    for release_id in evidence.releases_without_evidence():
        again(release_evidence_fill, release_id)
    dry_runs.sandboxes_sweep()
    for campaign_id in snapshots.snapshots_waiting():
        again(campaign_snapshot, campaign_id)
    for recruitment_id in recruitment.recruitments_due():
        again(recruitment_refresh, recruitment_id)
    for event_id in recruitment.events_due():
        again(provider_event_handle, event_id)


@shared_task
def campaign_snapshot(campaign_id: int) -> None:
    snapshots.snapshot_update(campaign_id=campaign_id)


@shared_task
def release_build(release_id: int) -> None:
    releases.release_build(release_id=release_id)
    figures_follow(release_id)


def figures_follow(release_id: int) -> None:
    """What the pages of a large release will need is computed next, before anybody asks."""
    for figures_id in figures.figures_prepare(release_id=release_id):
        release_figures_compute.delay(figures_id)


@shared_task
def release_figures_compute(figures_id: int) -> None:
    figures.figures_compute(figures_id=figures_id)


@shared_task
def release_evidence_fill(release_id: int) -> None:
    evidence.release_evidence_fill(release_id=release_id)


@shared_task
def dataset_import_execute(import_id: int) -> None:
    imports.dataset_import_execute(import_id=import_id)


@shared_task
def rating_import_execute(import_id: int) -> None:
    imports.rating_import_execute(import_id=import_id)


@shared_task
def weights_import_execute(import_id: int) -> None:
    made = weights_imports.weights_import_execute(import_id=import_id)
    if made is not None:
        figures_follow(made)


@shared_task
def seeds_select_execute(selecting_id: int) -> None:
    seeds_selecting.seeds_select_execute(selecting_id=selecting_id)


@shared_task
def dry_run_execute(dry_run_id: int) -> None:
    dry_runs.dry_run_execute(dry_run_id=dry_run_id)


@shared_task
def corpus_index(corpus_id: int) -> None:
    mining.corpus_index(corpus_id=corpus_id)


@shared_task
def mining_run_execute(run_id: int) -> None:
    mining.mining_run_execute(run_id=run_id, enqueue=helpers(mining_run_help, run_id))


@shared_task
def mining_run_help(run_id: int) -> None:
    """Work beside the worker that holds the run; other tasks have their turn in between."""
    if mining.mining_run_help(run_id=run_id):
        mining_run_help.delay(run_id)


@shared_task
def recruitment_refresh(recruitment_id: int) -> None:
    with recruitment.turn(recruitment.RECRUITMENTS, recruitment_id) as mine:
        found = Recruitment.objects.select_related("account", "campaign").filter(pk=recruitment_id).first()
        if mine and found is not None:
            with suppress(ProviderError):  # written down with the recruitment, and tried again later
                recruitment.recruitment_refresh(recruitment=found)


@shared_task
def submissions_approve(recruitment_id: int, submission_ids: list[int], user_id: int) -> None:
    found = Recruitment.objects.select_related("account", "campaign").get(pk=recruitment_id)
    chosen = Submission.objects.filter(recruitment=found, pk__in=submission_ids)
    with suppress(AnnotationError):  # such as that all are decided, where this ran before
        recruitment.submissions_approve(
            recruitment=found, submissions=list(chosen), by=User.objects.get(pk=user_id), patient=True
        )


@shared_task
def provider_event_handle(event_id: int) -> None:
    recruitment.event_handle(event_id=event_id)
