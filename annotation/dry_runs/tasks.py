"""What workers run for dry runs: fetch, call the service. Every task may run twice."""

from annotation.core.queues import long_task
from annotation.dry_runs.services import running


@long_task
def dry_run_execute(dry_run_id: int) -> None:
    running.dry_run_execute(dry_run_id=dry_run_id)
