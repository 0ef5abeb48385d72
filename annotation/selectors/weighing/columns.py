"""A release's weights and judgements as arrays, and how what is computed from them is kept."""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
from django.core.cache import cache

from annotation.models import Release
from annotation.selectors.checks import rater_names
from annotation.selectors.ratings import FloatArray, IntArray
from annotation.selectors.releases import release_judgements
from annotation.weighting import RatingTable

KEPT_SECONDS = 6 * 3600
Kept = TypeVar("Kept")


class Columns(NamedTuple):
    """The weighted references of a release, by place of the item, then highest weight first."""

    response_id: IntArray
    item_id: IntArray
    item: IntArray  # dense code, in the order of the items
    weight: FloatArray
    low: FloatArray  # NaN where there is no interval
    high: FloatArray
    n_ratings: IntArray

    @property
    def n_items(self) -> int:
        return int(self.item[-1]) + 1 if len(self.item) else 0


class Judged(NamedTuple):
    """The judgements that weigh a release's references, with codes instead of ids."""

    table: RatingTable  # response: place in ``Columns``; rater: place in ``rater_id``
    rater_id: IntArray
    low: float
    high: float


def kept(release: Release, what: str, compute: Callable[[], Kept]) -> Kept:
    """What follows from the release's content alone: computed once, as long as the cache keeps it."""
    key = f"release-{what}-{release.pk}-{release.content_hash}"
    found: Kept | None = cache.get(key)
    if found is None:
        found = compute()
        cache.set(key, found, KEPT_SECONDS)
    return found


def release_columns(release: Release) -> Columns:
    return kept(release, "columns-1", lambda: _read(release))


def _read(release: Release) -> Columns:
    rows = (
        release.weights.order_by("item__position", "-weight", "response_id")
        .values_list("response_id", "item_id", "weight", "low", "high", "n_ratings")
        .iterator(chunk_size=20_000)
    )
    found = np.array([tuple(np.nan if cell is None else cell for cell in row) for row in rows], dtype=np.float64)
    found = found.reshape(-1, 6)
    response, item, n = (found[:, place].astype(np.int64) for place in (0, 1, 5))
    first = np.r_[True, item[1:] != item[:-1]][: len(item)]
    return Columns(response, item, np.cumsum(first) - 1, found[:, 2], found[:, 3], found[:, 4], n)


def judged(release: Release) -> Judged | None:
    """None of a release whose judgements are unknown here: its weights were made elsewhere."""
    found = release_judgements(release)
    if release.is_imported or not len(found.value):
        return None
    response_id = release_columns(release).response_id
    by_id = np.argsort(response_id)
    response = by_id[np.searchsorted(response_id[by_id], found.response_id)]
    # Codes by name, as releases are built: sums come in the same order on every machine.
    _, first, rater = np.unique(rater_names(found.rater_id), return_index=True, return_inverse=True)
    table = RatingTable(response, rater, found.value, n_responses=len(response_id))
    return Judged(table, found.rater_id[first], found.low, found.high)
