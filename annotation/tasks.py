"""What the scheduler sends every few seconds: a heartbeat, and the sweep, which hands out what dead workers left."""

from celery import Task, shared_task
from django.conf import settings

from annotation.core import heartbeats, jobs, kept_files, limits
from annotation.core.queues import LONG, SHORT, long_task
from annotation.datasets.services import drafts
from annotation.datasets.tasks import dataset_import_execute
from annotation.dry_runs.services.running import sandboxes_sweep
from annotation.dry_runs.tasks import dry_run_execute
from annotation.judgements.services.preview import PREVIEW
from annotation.judgements.tasks import rating_import_execute
from annotation.mining.tasks import corpus_index, mining_run_execute
from annotation.models import (
    Corpus,
    DataDeletion,
    DatasetImport,
    DryRun,
    Job,
    MiningRun,
    ProjectDeletion,
    ProjectImport,
    RatingImport,
    Release,
    ReleaseFigures,
    SeedSelecting,
    WeightsImport,
)
from annotation.notifications.services import sending
from annotation.notifications.tasks import notification_deliver
from annotation.projects.services import sign_ins
from annotation.projects.tasks import project_delete
from annotation.quality.services import snapshots
from annotation.quality.tasks import campaign_snapshot
from annotation.rating.services import handout, pace
from annotation.recruitment.services import events, refreshing
from annotation.recruitment.tasks import provider_event_handle, recruitment_refresh
from annotation.references.tasks import release_build, release_figures_compute, weights_import_execute
from annotation.removal.tasks import data_delete
from annotation.seeds.tasks import seeds_select_execute
from annotation.transfer.tasks import project_import_execute


def again(task: Task, job_id: int) -> None:
    """Enqueue a job again; the message expires when the next sweep may send another."""
    task.apply_async((job_id,), expires=settings.SWEEP_SECONDS)


def stale_jobs_enqueue(*work: tuple[type[Job], Task]) -> None:
    """Enqueue the jobs of these models that wait for too long or whose worker died."""
    for model, task in work:
        for job_id in jobs.stale_ids(model):
            again(task, job_id)


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def heartbeat() -> None:
    heartbeats.task_heartbeat(SHORT)


@long_task
def long_heartbeat() -> None:
    heartbeats.task_heartbeat(LONG)


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def sweep() -> None:
    """End lapsed leases and enqueue lost and waiting work again. Safe to run twice."""
    handout.slots_sweep()
    limits.limits_sweep()
    sign_ins.sign_ins_sweep()
    kept_files.kept_files_sweep()
    drafts.unconfirmed_sweep(DatasetImport.objects.all())
    drafts.unconfirmed_sweep(RatingImport.objects.all(), PREVIEW)
    pace.paces_update()
    stale_jobs_enqueue(
        (ProjectDeletion, project_delete),
        (DataDeletion, data_delete),
        (ProjectImport, project_import_execute),
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
    sandboxes_sweep()
    for campaign_id in snapshots.snapshots_waiting():
        again(campaign_snapshot, campaign_id)
    for recruitment_id in refreshing.recruitments_due():
        again(recruitment_refresh, recruitment_id)
    for delivery_id in sending.deliveries_due():
        again(notification_deliver, delivery_id)
    for event_id in events.events_due():
        again(provider_event_handle, event_id)
