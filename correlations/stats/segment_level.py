"""Segment-level correlation: one metric score and one human score for each output."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.ranks import Bools, Floats
from correlations.stats.system_level import USUAL
from correlations.stats.units import checked_ratings

Grouping = Literal["all", "item", "system"]
Rounding = Literal["none", "nearest", "down"]
GROUPINGS: tuple[Grouping, ...] = ("all", "item", "system")
WHERE = {
    "item": "no item has two outputs whose scores and ratings differ",
    "system": "no system has two outputs whose scores and ratings differ",
}
_TINY = 1e-9  # of a step: a rescaled score that misses a whole step by rounding errors alone is on it


@dataclass(frozen=True)
class SegmentLevelResult:
    """Coefficients over outputs, by key; each NaN, with the reason, where undefined.

    Attributes
    ----------
    n : int
        Outputs with a score and a rating.
    values : dict of str to float
        In [-1, 1]. Within items or systems: the mean over those where it is defined.
    groups : dict of str to int
        How many items or systems that is; 1 over all outputs together.
    pvalues : dict of str to float
        Pearson's alone, over all outputs together, which it takes for independent; else NaN.
    """

    n: int
    values: dict[str, float]
    groups: dict[str, int]
    pvalues: dict[str, float]
    reason: str | None


def segment_level_correlation(
    scores: ArrayLike, ratings: ArrayLike, *, grouping: Grouping = "all", coefficients: Sequence[str] = USUAL
) -> SegmentLevelResult:
    """Correlate scores of outputs with their ratings: over all, within each item, or within each system.

    Over all outputs, a coefficient mixes three things: which systems are better, which items are easier, and which
    outputs of an item are better. Within items it answers the last alone, within systems the last two.

    Parameters
    ----------
    scores : (T, S) float
        Of T systems on S items, in any unit; NaN if missing.
    ratings : (T, S) float
        In points; NaN if missing.
    grouping : {"all", "item", "system"}
    coefficients : sequence of keys of ``COEFFICIENTS``

    Returns
    -------
    SegmentLevelResult
        NaN, with the reason, for fewer than 3 outputs, or if no group has scores and ratings that differ.

    Raises
    ------
    ValueError
        If the shapes differ, a value is infinite or ``grouping`` is unknown.

    References
    ----------
    [1] Novikova et al., "Why we need new evaluation metrics for NLG", EMNLP 2017, section 5.1 (over all).
    [2] Deutsch, Dror and Roth, "A statistical analysis of summarization evaluation metrics using resampling methods",
        TACL 2021, section 2.2 (within each input: the mean over inputs where it is defined).

    Examples
    --------
    >>> scores, ratings = [[0.1, 0.5, 0.9], [0.2, 0.4, 0.3]], [[1, 2, 5], [2, 1, 4]]
    >>> [round(segment_level_correlation(scores, ratings, grouping=by).values["pearson"], 2) for by in GROUPINGS]
    [0.69, 1.0, 0.32]
    """
    x, y = np.asarray(scores, dtype=np.float64), checked_ratings(ratings)
    if x.shape != y.shape or x.ndim != 2:
        raise ValueError(f"scores have shape {x.shape} and ratings {y.shape}: both are (systems, items)")
    if np.isinf(x).any():
        raise ValueError("a score is infinite: finite, or NaN if missing, is expected")
    if grouping not in GROUPINGS:
        raise ValueError(f"grouping is {grouping!r}: accepted are {', '.join(GROUPINGS)}")
    both = np.isfinite(x) & np.isfinite(y)
    n = int(both.sum())
    reason = _undefined(x[both], y[both])
    if reason:
        undefined = dict.fromkeys(coefficients, math.nan)
        return SegmentLevelResult(n, undefined, dict.fromkeys(coefficients, 0), {"pearson": math.nan}, reason)
    if grouping == "all":
        values = {key: float(COEFFICIENTS[key].batch(x[both], y[both])) for key in coefficients}
        pvalue = _pearson_pvalue(values.get("pearson", math.nan), n)
        return SegmentLevelResult(n, values, dict.fromkeys(coefficients, 1), {"pearson": pvalue}, None)
    rows = (x.T, y.T, both.T) if grouping == "item" else (x, y, both)
    values, groups = {}, {}
    for key in coefficients:
        within = _within(key, *rows)
        defined = within[np.isfinite(within)]
        values[key], groups[key] = float(defined.mean()) if defined.size else math.nan, int(defined.size)
    return SegmentLevelResult(
        n, values, groups, {"pearson": math.nan}, None if any(groups.values()) else WHERE[grouping]
    )


def _undefined(x: Floats, y: Floats) -> str | None:
    if x.size < 3:
        return f"{x.size} rated outputs: at least 3 are needed"
    for name, side in (("metric scores", x), ("ratings", y)):
        if (side == side[0]).all():
            return f"the {name} are constant"
    return None


def _within(key: str, x: Floats, y: Floats, both: Bools) -> Floats:
    """Return the coefficient within each row (G,), over its values that are there; NaN where undefined."""
    counts = both.sum(axis=1)
    values = np.full(len(x), np.nan)
    for n in np.unique(counts[counts >= 2]).tolist():
        rows = counts == n
        kept = both[rows]
        values[rows] = COEFFICIENTS[key].batch(x[rows][kept].reshape(-1, n), y[rows][kept].reshape(-1, n))
    return values


def _pearson_pvalue(r: float, n: int) -> float:
    """Return the two-sided p. (1 - r)(1 + r) and not 1 - r^2: of thousands of outputs t is large where r is near 1."""
    spread = math.sqrt(max((1 - r) * (1 + r), 0.0))
    t = math.inf if spread == 0 else abs(r) * math.sqrt(n - 2) / spread
    return 2 * float(special.stdtr(n - 2, -t))


@dataclass(frozen=True)
class RatingErrors:
    """How far scores on the scale of the ratings lie from the ratings, in points; NaN, with the reason, if undefined.

    ``constant_mae`` and ``constant_rmse`` are those of one and the same rating for every output, the mean of all.
    """

    n: int
    mae: float
    rmse: float
    constant_mae: float
    constant_rmse: float
    reason: str | None = None


def on_scale_by_range(
    scores: ArrayLike, *, low: float, high: float, step: float = 0.5, rounding: Rounding = "none"
) -> Floats:
    """Put scores on the scale of the ratings: the lowest of them on its low end, the highest on its high end.

    Parameters
    ----------
    scores : (...) float
        High ones the better; NaN if missing.
    low, high : float
        Ends of the scale, in points.
    step : float
        Points are rounded to ``low`` and whole steps above it; above 0.
    rounding : {"none", "nearest", "down"}
        "down" gives the errors that [1] printed.

    Returns
    -------
    (...) float
        In points. NaN where a score is missing, and everywhere if all scores are equal.

    Raises
    ------
    ValueError
        If ``low`` is not below ``high``, ``step`` is not above 0 or ``rounding`` is unknown.

    References
    ----------
    [1] Dušek, Novikova and Rieser, "Referenceless quality estimation for natural language generation", LGNL 2017,
        section 3.5: "normalised into the 1-6 range ... and further rounded to 0.5 steps".

    Examples
    --------
    >>> on_scale_by_range([0.0, 0.19, 0.5, 1.0], low=1, high=6, rounding="down").tolist()
    [1.0, 1.5, 3.5, 6.0]
    """
    if not low < high:
        raise ValueError(f"low is {low} and high {high}: low lies below high")
    if not step > 0:
        raise ValueError(f"step is {step}: above 0 is expected")
    if rounding not in ("none", "nearest", "down"):
        raise ValueError(f"rounding is {rounding!r}: accepted are none, nearest, down")
    x = np.asarray(scores, dtype=np.float64)
    known = x[np.isfinite(x)]
    if not known.size or known.min() == known.max():
        return np.full(x.shape, np.nan)
    placed = low + (x - known.min()) / (known.max() - known.min()) * (high - low)
    if rounding == "none":
        return np.asarray(placed)
    steps = (placed - low) / step
    whole = np.floor(steps + _TINY) if rounding == "down" else np.floor(steps + 0.5 + _TINY)
    return np.asarray(np.clip(low + whole * step, low, high))


def rating_errors(placed: ArrayLike, ratings: ArrayLike) -> RatingErrors:
    """Return the mean absolute and the root mean squared error of scores in points, beside a constant's.

    Parameters
    ----------
    placed : (...) float
        Scores on the scale of the ratings, as of `on_scale_by_range` or `worth.on_rating_scale`; NaN if missing.
    ratings : (...) float
        In points; NaN if missing.

    Returns
    -------
    RatingErrors
        Over outputs that have both; in points.

    Raises
    ------
    ValueError
        If the shapes differ.

    Examples
    --------
    >>> errors = rating_errors([1, 4, 5], [2, 4, 6])
    >>> round(errors.mae, 3), round(errors.rmse, 3), round(errors.constant_mae, 3)
    (0.667, 0.816, 1.333)
    """
    x, y = np.asarray(placed, dtype=np.float64), np.asarray(ratings, dtype=np.float64)
    if x.shape != y.shape:
        raise ValueError(f"scores have shape {x.shape} and ratings {y.shape}: one rating for each score is expected")
    both = np.isfinite(x) & np.isfinite(y)
    if not both.any():
        return RatingErrors(0, *(math.nan,) * 4, reason="no output has a score and a rating, or all scores are equal")
    apart, around = x[both] - y[both], y[both] - y[both].mean()
    return RatingErrors(
        n=int(both.sum()),
        mae=float(np.abs(apart).mean()),
        rmse=math.sqrt(float((apart**2).mean())),
        constant_mae=float(np.abs(around).mean()),
        constant_rmse=math.sqrt(float((around**2).mean())),
    )
