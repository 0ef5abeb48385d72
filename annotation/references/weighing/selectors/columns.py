"""A release's weights and judgements as arrays."""

from typing import NamedTuple

import numpy as np

from annotation.core.arrays import number_columns
from annotation.core.caching import cached
from annotation.models import Release
from annotation.quality.selectors.checks import rater_names
from annotation.rating.selectors.ratings import FloatArray, IntArray
from annotation.references.releases.selectors.releases import release_judgements
from annotation.references.weighing.selectors.stored import CACHE_SECONDS
from annotation.weighting.table import RatingTable


class Columns(NamedTuple):
    """The weighted references of a release, in the order of the items, then highest weight first."""

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

    table: RatingTable  # response: index in ``Columns``; rater: index in ``rater_id``
    rater_id: IntArray
    low: float
    high: float


def release_columns(release: Release) -> Columns:
    """Return the weights as arrays; cached, because a finished release never changes."""
    key = f"release-columns-1-{release.pk}-{release.content_hash}"
    return cached(key, lambda: _read(release), CACHE_SECONDS)


def _read(release: Release) -> Columns:
    query = """
        SELECT response_id, item_id, weight, coalesce(low, 'NaN'), coalesce(high, 'NaN'), n_ratings::bigint
        FROM annotation_releaseweight WHERE release_id = %(release)s
        ORDER BY item_position, weight DESC, response_id"""
    kinds = ("bigint", "bigint", "float8", "float8", "float8", "bigint")
    response, item, weight, low, high, n = number_columns(query, {"release": release.pk}, kinds)
    first = np.r_[True, item[1:] != item[:-1]][: len(item)]
    return Columns(response, item, np.cumsum(first) - 1, weight, low, high, n)


def judged(release: Release) -> Judged | None:
    """Return None for an imported release: its judgements are not stored."""
    judgements = release_judgements(release)
    if release.is_imported or not len(judgements.value):
        return None
    response_id = release_columns(release).response_id
    by_id = np.argsort(response_id)
    response = by_id[np.searchsorted(response_id[by_id], judgements.response_id)]
    # Codes by name, as releases are built: sums come in the same order on every machine.
    _, first, rater = np.unique(rater_names(judgements.rater_id), return_index=True, return_inverse=True)
    table = RatingTable(response, rater, judgements.value, n_responses=len(response_id))
    return Judged(table, judgements.rater_id[first], judgements.low, judgements.high)
