"""The human ceiling of each row of a study: how far the raters agree among themselves over its items."""

from __future__ import annotations

from dataclasses import dataclass, field

from correlations.results.codec import spread_by_short
from correlations.results.common import Ends


@dataclass(frozen=True)
class CoefficientCeiling:
    """One coefficient of raters with raters.

    ``halves`` is that of random halves of the raters over units, ``ceiling`` what another panel as large as this one
    would reach; ``reason`` says why there is none, or is empty. ``one_rater`` is the mean agreement of a rater who is
    left out with the others over single outputs, ``metric`` the row's in the rater's place, and ``raters`` how many
    raters these are means over; for the leading coefficient with 95% intervals over
    items, and that of metric less rater.
    """

    halves: float | None
    ceiling: float | None
    reason: str
    one_rater: float | None
    metric: float | None
    raters: int
    one_rater_ends: Ends | None = None
    metric_ends: Ends | None = None
    difference_ends: Ends | None = None


@dataclass(frozen=True)
class RowCeiling:
    """``one_rater_reason`` says why no rater could be left out, or is empty."""

    coefficients: dict[str, CoefficientCeiling] = field(metadata=spread_by_short())
    splits: int
    raters_of_output: float | None
    one_rater_reason: str
