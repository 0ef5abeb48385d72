"""What workers run for reference sets: fetch, call the service. Every task may run twice."""

from celery import shared_task

from annotation.references.releases.services import evidence, releases, weights_imports
from annotation.references.weighing.services import figures


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
def weights_import_execute(import_id: int) -> None:
    made = weights_imports.weights_import_execute(import_id=import_id)
    if made is not None:
        figures_follow(made)
