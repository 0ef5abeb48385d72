"""Mean ratings of systems, computed by a worker and stored under a hash of what they depend on."""

from django.db import transaction

from annotation.core.jobs import Claim, job_run
from annotation.models import Dataset
from annotation.models.jobs import FINISHED_STATES
from metrics.models import SystemRatings
from metrics.selectors.system_ratings import compute_ratings, ratings_key


def system_ratings_request(*, dataset: Dataset) -> SystemRatings | None:
    """Return a new row to compute; None if the current ratings are stored, are being computed, or there are none.

    One is computed at a time: while raters work, a page that is opened again and again does not queue more.
    """
    key = ratings_key(dataset)
    if not key or dataset.system_ratings.exclude(state__in=FINISHED_STATES).exists():
        return None
    row, is_new = SystemRatings.objects.get_or_create(dataset=dataset, key=key)
    return row if is_new else None


def system_ratings_compute(*, ratings_id: int) -> None:
    """Claim, compute and store; safe to run twice."""
    job_run(SystemRatings, ratings_id, _compute)


def _compute(row: SystemRatings, claim: Claim) -> None:
    content = compute_ratings(row.dataset)
    with transaction.atomic():
        claim.lock()
        row.dataset.system_ratings.filter(pk__lt=row.pk, state__in=FINISHED_STATES).delete()  # of earlier ratings
        claim.finish(content=content, progress_total=1)
