"""How a metric's correlation with human ratings moves with one of its parameters, over systems and over segments."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.ranks import Bools, Floats
from correlations.stats.segment_level import SegmentLevelResult, segment_level_correlation
from correlations.stats.system_level import USUAL, SystemLevelResult, system_level_correlation
from correlations.stats.units import checked_ratings

Progress = Callable[[int, int], None]
_REPLICATES_AT_ONCE = 250


@dataclass(frozen=True, eq=False)
class ParameterValue:
    """A metric at one value of the parameter.

    Attributes
    ----------
    statistics : (T, S, D) float
        What each segment contributes to a system's score.
    aggregate : callable
        Sums (..., D) to scores (...), high ones the better.
    scores : (T, S) float
        Of each segment alone, high ones the better; NaN where a segment does not count.
    """

    statistics: Floats
    aggregate: Callable[[Floats], Floats]
    scores: Floats


@dataclass(frozen=True, eq=False)
class Curves:
    """Replicates (B, V) of coefficients along V values; NaN where undefined."""

    system: dict[str, Floats]  # by the coefficient's key
    segment: Floats  # Pearson's


@dataclass(frozen=True)
class HeldOut:
    """A value chosen on one half of the segments and judged on the other, the mean over random halves."""

    chosen_on: float  # coefficient of the best value, on the half where it was chosen
    judged_on: float  # of the same value on the other half
    fixed: float  # of the value in use, on that other half
    shares: Floats  # (V,): how often each value was the best
    n_halves: int  # where all are defined


def usable_outputs(values: Sequence[ParameterValue], human: ArrayLike) -> Bools:
    """Return (T, S) outputs with a rating, and a score at every value, so that values differ in nothing else.

    Examples
    --------
    >>> values = [ParameterValue(np.ones((2, 2, 1)), sum, np.array(scores)) for scores in ([[1, 2], [3, np.nan]],)]
    >>> usable_outputs(values, [[4, np.nan], [2, 5]]).tolist()
    [[True, False], [True, False]]
    """
    scored = np.logical_and.reduce([np.isfinite(value.scores) for value in values])
    return np.asarray(scored & np.isfinite(checked_ratings(human)))


def system_level(
    value: ParameterValue,
    human: ArrayLike,
    systems: Sequence[str],
    outputs: Bools,
    *,
    coefficients: Sequence[str] = USUAL,
) -> tuple[SystemLevelResult, Floats]:
    """Correlate each system's score over these outputs with its mean rating over them.

    Parameters
    ----------
    value : ParameterValue
    human : (T, S) float
        Ratings; NaN for an output without a rating.
    systems : T names
    outputs : (T, S) bool
        With a rating and a score: see `usable_outputs`.
    coefficients : sequence of keys of `COEFFICIENTS`

    Returns
    -------
    SystemLevelResult
        NaN, with the reason, if a system has no score or no rating, and as `system_level_correlation` says.
    (T,) float
        The systems' scores.
    """
    weights = np.ones((1, outputs.shape[1]))
    scores, ratings = system_scores(value, outputs, weights)[0], system_ratings(_of(outputs, human), weights)[0]
    for name, along in (("score", scores), ("rating", ratings)):
        missing = np.flatnonzero(~np.isfinite(along))
        if missing.size:
            undefined, reason = dict.fromkeys(coefficients, math.nan), f"no {name} of {systems[missing[0]]}"
            return SystemLevelResult(len(systems), undefined, undefined, (), reason), scores
    return system_level_correlation(scores, ratings, systems, coefficients=coefficients), scores


def segment_level(
    value: ParameterValue, human: ArrayLike, outputs: Bools, *, coefficients: Sequence[str] = USUAL
) -> SegmentLevelResult:
    """Correlate scores of outputs with their ratings, over all systems together.

    Parameters are those of `system_level`; n counts outputs that are scored and rated.

    Examples
    --------
    >>> scores = np.array([[0.1, 0.4], [0.2, 0.3]])
    >>> value = ParameterValue(scores[..., None], lambda sums: sums[..., 0], scores)
    >>> result = segment_level(value, [[1, 4], [2, np.nan]], np.full((2, 2), True))
    >>> result.n, round(result.values["pearson"], 3)
    (3, 1.0)
    """
    return segment_level_correlation(np.where(outputs, value.scores, np.nan), human, coefficients=coefficients)


def bootstrap_weights(outputs: Bools, n_replicates: int, seed: int | np.random.SeedSequence) -> Floats:
    """Return (B, S) how often each segment is drawn: as many as have one of these outputs (T, S), with replacement."""
    usable = np.flatnonzero(outputs.any(axis=0))
    rng = np.random.default_rng(seed)
    weights = np.zeros((n_replicates, outputs.shape[1]))
    if usable.size:
        weights[:, usable] = rng.multinomial(usable.size, np.full(usable.size, 1 / usable.size), size=n_replicates)
    return weights


def curves(
    values: Sequence[ParameterValue],
    human: ArrayLike,
    outputs: Bools,
    weights: Floats,
    *,
    coefficients: Sequence[str] = USUAL,
    progress: Progress | None = None,
) -> Curves:
    """Compute coefficients over outputs (T, S), those of a segment counted as often as ``weights`` (B, S) says."""
    ratings = _of(outputs, human)
    system = {name: np.full((len(weights), len(values)), np.nan) for name in coefficients}
    segment = np.full((len(weights), len(values)), np.nan)
    of_systems = system_ratings(ratings, weights)
    for index, value in enumerate(values):
        for start in range(0, len(weights), _REPLICATES_AT_ONCE):
            block = slice(start, start + _REPLICATES_AT_ONCE)
            scores = system_scores(value, outputs, weights[block])
            for name in coefficients:
                system[name][block, index] = COEFFICIENTS[name].batch(scores, of_systems[block])
        segment[:, index] = weighted_pearson(value.scores, ratings, weights)
        if progress is not None:
            progress(index + 1, len(values))
    return Curves(system, segment)


def held_out_halves(
    values: Sequence[ParameterValue],
    human: ArrayLike,
    outputs: Bools,
    fixed: int,
    *,
    coefficient: str,
    n_halves: int,
    seed: int,
) -> HeldOut:
    """Measure what choosing the best value is worth on segments that it was not chosen on.

    Parameters
    ----------
    fixed : int
        Index of the value in use, which was chosen beforehand.
    coefficient : str
        A key of `COEFFICIENTS`; over systems.

    Returns
    -------
    HeldOut
        NaN if no halving leaves every coefficient defined.
    """
    if coefficient not in COEFFICIENTS:
        raise ValueError(f"coefficient is {coefficient!r}: accepted are {', '.join(COEFFICIENTS)}")
    segments = outputs.any(axis=0)
    usable = np.flatnonzero(segments)
    rng = np.random.default_rng(seed)
    first = np.zeros((n_halves, segments.size))
    for half in first:
        half[rng.choice(usable, usable.size // 2, replace=False)] = 1
    second = np.where(segments, 1 - first, 0.0)
    chosen, judged = (
        curves(values, human, outputs, half, coefficients=[coefficient]).system[coefficient] for half in (first, second)
    )
    defined = np.isfinite(chosen).all(axis=1) & np.isfinite(judged).all(axis=1)
    if not defined.any():
        return HeldOut(math.nan, math.nan, math.nan, np.zeros(len(values)), 0)
    chosen, judged = chosen[defined], judged[defined]
    best = chosen.argmax(axis=1)
    rows = np.arange(best.size)
    return HeldOut(
        float(chosen[rows, best].mean()),
        float(judged[rows, best].mean()),
        float(judged[:, fixed].mean()),
        np.bincount(best, minlength=len(values)) / best.size,
        int(best.size),
    )


def best_index(coefficients: ArrayLike) -> int | None:
    """Return the index of the highest coefficient, the first if several are equal; None if none is defined."""
    values = np.asarray(coefficients, dtype=np.float64)
    return None if np.isnan(values).all() else int(np.nanargmax(values))


def _of(outputs: Bools, human: ArrayLike) -> Floats:
    """Return the ratings of these outputs alone."""
    return np.where(outputs, checked_ratings(human), np.nan)


def system_scores(value: ParameterValue, outputs: Bools, weights: Floats) -> Floats:
    """Return (B, T) scores of systems, over their outputs that count."""
    n_systems, n_segments, width = value.statistics.shape
    counted = np.where(outputs[..., None], value.statistics, 0.0)
    flat = counted.transpose(1, 0, 2).reshape(n_segments, n_systems * width)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(value.aggregate((weights @ flat).reshape(len(weights), n_systems, width)))


def system_ratings(ratings: Floats, weights: Floats) -> Floats:
    """Return (B, T) mean ratings of systems; NaN for a system without a rated output."""
    rated = np.isfinite(ratings)
    total = weights @ np.where(rated, ratings, 0.0).T
    count = weights @ rated.T.astype(np.float64)
    return np.where(count > 0, total / np.where(count > 0, count, 1.0), np.nan)


def weighted_pearson(scores: Floats, ratings: Floats, weights: Floats) -> Floats:
    """Return (B,) Pearson's coefficient over outputs, those of a segment counted as often as it."""
    defined = np.isfinite(scores) & np.isfinite(ratings)
    if not defined.any():
        return np.full(len(weights), np.nan)
    # Centred first, so that sums of squares lose nothing to cancellation.
    x = np.where(defined, scores - scores[defined].mean(), 0.0)
    y = np.where(defined, ratings - ratings[defined].mean(), 0.0)
    parts = np.stack([part.sum(axis=0) for part in (defined.astype(np.float64), x, y, x * x, y * y, x * y)], axis=1)
    n, sx, sy, sxx, syy, sxy = np.moveaxis(weights @ parts, -1, 0)
    n = np.where(n > 0, n, np.nan)
    below = (sxx - sx * sx / n) * (syy - sy * sy / n)
    tiny = np.maximum(1e-24 * sxx * syy, 1e-300)
    return np.where(below > tiny, np.clip((sxy - sx * sy / n) / np.sqrt(np.maximum(below, tiny)), -1, 1), np.nan)
