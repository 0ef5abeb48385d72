"""What workers run for seeds: fetch, call the service. Every task may run twice."""

from celery import shared_task

from annotation.seeds.services import selecting as seeds_selecting


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def seeds_select_execute(selecting_id: int) -> None:
    seeds_selecting.seeds_select_execute(selecting_id=selecting_id)
