"""Statistics about large releases, computed once by a worker and stored."""

from typing import Any

from django.db import transaction

from annotation.core.jobs import Claim, job_run
from annotation.core.packing import packed
from annotation.models import FiguresPart, JobState, Release, ReleaseFigures
from annotation.models.jobs import FINISHED_STATES
from annotation.references.weighing.selectors.attention import ATTENTION
from annotation.references.weighing.selectors.guard import TEXTS
from annotation.references.weighing.selectors.influence import INFLUENCE
from annotation.references.weighing.selectors.sensitivity import SENSITIVITY
from annotation.references.weighing.selectors.stored import StoredStatistics, figures_key, is_large

STATISTICS: dict[FiguresPart, StoredStatistics[Any]] = {
    statistics.part: statistics for statistics in (ATTENTION, SENSITIVITY, INFLUENCE, TEXTS)
}
STEPS = 2  # computing, storing


def figures_request(*, release: Release, part: FiguresPart) -> tuple[ReleaseFigures, bool]:
    """Return the row of a page's current statistics, and whether this call created it.

    If so, the caller enqueues ``annotation.references.tasks.release_figures_compute`` with its id.
    """
    return ReleaseFigures.objects.defer("content").get_or_create(
        release=release, part=part, key=figures_key(release, part), defaults={"progress_total": STEPS}
    )


def figures_prepare(*, release_id: int) -> list[int]:
    """Create the rows of all pages of a large release, and return the ids to enqueue; none for a small release."""
    release = Release.objects.select_related("reference_set").filter(pk=release_id, state=JobState.DONE).first()
    if release is None or not is_large(release):
        return []
    requests = (figures_request(release=release, part=part) for part in FiguresPart)
    return [figures.pk for figures, is_new in requests if is_new]


def figures_compute(*, figures_id: int) -> None:
    """Claim, compute and store; safe to run twice."""
    job_run(ReleaseFigures, figures_id, _compute)


def _compute(job: ReleaseFigures, claim: Claim) -> None:
    part = FiguresPart(job.part)
    claim.progress(0, STEPS, f"Computing: {part.label.lower()}")
    statistics = STATISTICS[part]
    content = packed(statistics.as_tree(statistics.compute(job.release)))
    claim.progress(1, STEPS, "Storing")
    with transaction.atomic():
        claim.lock()
        earlier = job.release.figures.filter(part=part, pk__lt=job.pk, state__in=FINISHED_STATES)
        earlier.delete()  # they describe an earlier state
        claim.finish(content=content, progress_total=STEPS)
