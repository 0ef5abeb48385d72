"""What a study would have given with fewer ratings or fewer references: curves by subsampling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from correlations.stats.ranks import Floats, Ints
from correlations.stats.sampled_units import Progress, sampled_unit_correlation
from correlations.stats.shared_segments import on_shared_segments
from correlations.stats.units import StudyMetric, UnitSampling

HELD_IN = 0.95  # of the draws: from then on a conclusion holds
USUAL_DRAWS, USUAL_ASSIGNMENTS = 100, 4
ONE_SIDED = 1.6448536269514722  # standard normal, 95%
OF_DRAWS = 12  # tells their random numbers from those of assignments

# k and a generator to the rows and the mean ratings of one draw. For one state of the generator, what k + 1 keeps holds
# what k keeps.
Subset = Callable[[int, np.random.Generator], tuple[Sequence[StudyMetric], Floats]]


@dataclass(frozen=True)
class Measured:
    """One study's leading coefficients, and how the compared rows differ on the segments that both can use."""

    compared: Sequence[tuple[int, int]]  # rows, by their indices
    values: Floats  # (rows,)
    differences: Floats  # (compared,)
    segments: Ints  # (rows,) that count for any pair of systems


@dataclass(frozen=True)
class Curve:
    """Coefficients over draws at each of P points; NaN where one is undefined."""

    points: tuple[int, ...]
    values: Floats = field(repr=False)  # (P, draws, rows)
    differences: Floats = field(repr=False)  # (P, draws, compared)
    segments: Floats = field(repr=False)  # (P, rows): the mean over draws

    def ahead(self) -> Floats:
        """Return in which share of the draws the first of the compared rows is ahead, (P, compared)."""
        with np.errstate(invalid="ignore"):
            return np.asarray((self.differences > 0).mean(axis=1))


def measured(
    metrics: Sequence[StudyMetric],
    human: ArrayLike,
    pairs: ArrayLike,
    sampling: UnitSampling,
    compared: Sequence[tuple[int, int]],
) -> Measured:
    """Measure rows and compared pairs of rows in one study, by the first of its coefficients."""
    lead = sampling.coefficients[0]
    shared, indices = on_shared_segments(metrics, compared)
    rows = sampled_unit_correlation(shared, human, pairs, replace(sampling, coefficients=(lead,))).rows
    values = np.array([row.coefficients[lead].mean for row in rows])
    differences = np.array([values[a] - values[b] for a, b in indices])
    segments = np.array([row.n_valid_segments for row in rows[: len(metrics)]], dtype=np.int64)
    return Measured(compared, values[: len(metrics)], differences, segments)


def subsampling_curve(
    points: Sequence[int],
    subset: Subset,
    whole: tuple[Sequence[StudyMetric], Floats],
    own: Measured,
    pairs: ArrayLike,
    sampling: UnitSampling,
    *,
    n_draws: int = USUAL_DRAWS,
    progress: Progress | None = None,
) -> Curve:
    """Draw what each point keeps, and measure the study on it.

    A draw is measured over a few assignments and set against the whole study over the same ones; the study's own value
    plus that difference is the draw's value. So the noise of few assignments is taken out, and a draw that keeps
    everything has the study's own value.

    Parameters
    ----------
    points : sequence of int
        How many to keep; ascending, the last one everything.
    subset : callable
        See ``Subset``.
    whole : rows and mean ratings of the study.
    own : Measured
        The study's own values, over all its assignments; the same rows are compared in draws.
    pairs, sampling
        As in ``sampled_unit_correlation``; ``n_assignments`` are those of a draw.
    n_draws : int

    Returns
    -------
    Curve
        The same for the same seed, and at a point the same whatever the other points.

    Examples
    --------
    >>> rng = np.random.default_rng(7)
    >>> quality = rng.normal(size=(3, 400)) + np.array([[0.0], [0.3], [0.6]])
    >>> ratings = quality[..., None] + rng.normal(size=(3, 400, 4))
    >>> row = StudyMetric("total", (quality + rng.normal(size=quality.shape))[..., None], lambda sums: sums[..., 0])
    >>> whole = [row], ratings.mean(axis=-1)
    >>> pairs, sampling = [(0, 1), (0, 2)], UnitSampling(unit_size=50, seed=1, n_assignments=10)
    >>> own = measured(*whole, pairs, sampling, [])
    >>> def some(k, rng):
    ...     return [row], rng.permuted(ratings, axis=-1)[..., :k].mean(axis=-1)
    >>> curve = subsampling_curve([1, 2, 4], some, whole, own, pairs, sampling, n_draws=5)
    >>> bool((curve.values[2].round(12) == own.values.round(12)).all()), bool(curve.values[0].std() > 0)
    (True, True)
    """
    compared = own.compared
    on_few = measured(*whole, pairs, sampling, compared)
    seeds = np.random.SeedSequence([_seed(sampling), OF_DRAWS]).spawn(n_draws)
    values = np.empty((len(points), n_draws, len(own.values)))
    differences = np.empty((len(points), n_draws, len(compared)))
    segments = np.empty(values.shape)
    for draw, seed in enumerate(seeds):
        for p, k in enumerate(points):
            if draw and p == len(points) - 1:  # with everything kept all draws are the same
                values[p, draw], differences[p, draw], segments[p, draw] = (
                    values[p, 0],
                    differences[p, 0],
                    segments[p, 0],
                )
                continue
            each = measured(*subset(k, np.random.default_rng(seed)), pairs, sampling, compared)
            values[p, draw] = np.clip(own.values + (each.values - on_few.values), -1, 1)
            differences[p, draw] = own.differences + (each.differences - on_few.differences)
            segments[p, draw] = each.segments
        if progress is not None:
            progress(draw + 1, n_draws)
    return Curve(tuple(points), values, differences, segments.mean(axis=1))


def _seed(sampling: UnitSampling) -> int:
    if isinstance(sampling.seed, np.random.Generator):
        raise ValueError(
            "sampling.seed is a generator: a number is expected, since each draw uses the same assignments"
        )
    return sampling.seed


def needed(points: Sequence[int], ahead: ArrayLike) -> int | None:
    """Return the smallest point from which on the share never falls below 95%; None if the last is below.

    Examples
    --------
    >>> needed([1, 2, 3, 4], [0.8, 0.96, 0.94, 1.0]), needed([1, 2], [0.97, 0.9])
    (4, None)
    """
    smallest = None
    for point, share in zip(reversed(points), reversed(np.asarray(ahead).tolist()), strict=True):
        if share < HELD_IN:
            break
        smallest = point
    return smallest


def counts_up_to(most: int) -> tuple[int, ...]:
    """Return the points of a curve: every number up to 6, then fewer and fewer, and the last.

    >>> counts_up_to(4), counts_up_to(23)
    ((1, 2, 3, 4), (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 23))
    """
    thinned = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500)
    return (*(count for count in thinned if count < most), most)


def rank_within(group: Ints, keys: Floats) -> Ints:
    """Return each entry's place, from 0, among those of its group by ascending key.

    >>> rank_within(np.array([0, 1, 0, 0]), np.array([0.5, 0.9, 0.1, 0.7])).tolist()
    [1, 0, 0, 2]
    """
    order = np.lexsort((keys, group))
    sorted_group = group[order]
    starts = np.flatnonzero(np.r_[True, sorted_group[1:] != sorted_group[:-1]][: group.size])
    lengths = np.diff(np.append(starts, group.size))
    ranks = np.empty(group.size, dtype=np.int64)
    ranks[order] = np.arange(group.size) - np.repeat(starts, lengths)
    return ranks


def enough_for(spread_of_items: float, spread_of_all: float, difference: float) -> tuple[float | None, float | None]:
    """Return how many times as many ratings, or else items, would let a difference hold in 95% of draws.

    Variances add, and fall with the number of what is drawn; a difference holds if it is 1.645 times its spread.

    Parameters
    ----------
    spread_of_items, spread_of_all : float
        Standard deviation of the difference over draws of items, and of items and raters.
    difference : float
        Above 0.

    Returns
    -------
    ratings : float or None
        None if the spread over items alone is too large: more ratings do not help.
    items : float or None
        With their ratings; None if the difference is 0.

    Examples
    --------
    >>> [round(each, 2) for each in enough_for(0.03, 0.05, 0.0658)]
    [2.28, 1.56]
    >>> enough_for(0.05, 0.06, 0.0658)[0] is None
    True
    """
    allowed = (difference / ONE_SIDED) ** 2
    if not allowed > 0:
        return None, None
    of_raters = max(spread_of_all**2 - spread_of_items**2, 0.0)
    left = allowed - spread_of_items**2
    ratings = max(of_raters / left, 1.0) if left > 0 else None
    return ratings, max(spread_of_all**2 / allowed, 1.0)
