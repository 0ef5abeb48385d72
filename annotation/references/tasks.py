"""What workers run for reference sets: fetch, call the service. Every task may run twice."""

from celery import shared_task

from annotation.references.releases.services import imports, releases
from annotation.references.weighing.services import figures


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def release_build(release_id: int) -> None:
    releases.release_build(release_id=release_id)
    figures_follow(release_id)


def figures_follow(release_id: int) -> None:
    """Compute next what the pages of a large release show."""
    for figures_id in figures.figures_prepare(release_id=release_id):
        release_figures_compute.delay(figures_id)


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def release_figures_compute(figures_id: int) -> None:
    figures.figures_compute(figures_id=figures_id)


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def weights_import_execute(import_id: int) -> None:
    release_id = imports.weights_import_execute(import_id=import_id)
    if release_id is not None:
        figures_follow(release_id)
