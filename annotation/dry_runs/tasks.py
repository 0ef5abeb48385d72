"""What workers run for dry runs: fetch, call the service. Every task may run twice."""

from celery import shared_task

from annotation.dry_runs.services import running


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def dry_run_execute(dry_run_id: int) -> None:
    running.dry_run_execute(dry_run_id=dry_run_id)
