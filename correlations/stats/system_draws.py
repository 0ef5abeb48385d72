"""Agreement over systems with systems, raters, or items, systems and raters drawn anew, for the rows of a study.

The items and systems of a draw are those of `correlations.stats.draws`, so that all ranges of a row are of the same
draws. A draw depends on the study's seed, not on how many are computed at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.draws import shard_sizes
from correlations.stats.nested import over_drawn_systems
from correlations.stats.parameters import ParameterValue, bootstrap_weights, system_ratings, system_scores
from correlations.stats.ranks import Bools, Floats, Ints
from correlations.stats.resampling import RaterRatings
from correlations.stats.system_level import USUAL
from correlations.stats.units import checked_ratings

Report = Callable[[int, int], None]
_CELLS = 1_000_000  # outputs of draws in memory at a time


@dataclass(frozen=True, eq=False)
class SystemDraws:
    """A metric's coefficients (B,) over systems, by key; NaN where undefined."""

    over_systems: dict[str, Floats]
    over_raters: dict[str, Floats] | None  # None where no raters are given
    over_items_systems_and_raters: dict[str, Floats] | None


def system_draws(
    values: Sequence[ParameterValue],
    human: ArrayLike,
    outputs: Bools,
    *,
    raters: RaterRatings | None,
    seed: int,
    n_draws: int,
    report: Report | None = None,
) -> tuple[SystemDraws, ...]:
    """Draw anew, with replacement, what metrics' correlations over systems rest on.

    Parameters
    ----------
    values : sequence of M ParameterValue
        Metrics that are correlated over the same outputs.
    human : (T, S) float
        Mean ratings of T systems' outputs for S items; NaN if unrated.
    outputs : (T, S) bool
        Scored and rated.
    raters : RaterRatings, optional
        The ratings behind these outputs' means, and no others. A rater who is drawn twice counts twice; an output whose
        raters were all left out does not count in that draw, in scores or ratings.
    seed : int
        The study's.
    n_draws : int
        B, at least 1.
    report : callable, optional
        Takes how many draws are done, and how many there are.

    Returns
    -------
    tuple of SystemDraws
        In the order of ``values``. NaN where a draw leaves a system without outputs, or scores or ratings all equal.

    References
    ----------
    Deutsch, Dror and Roth, TACL 2021, section 4, of items and systems; Owen, "The pigeonhole bootstrap", Annals of
    Applied Statistics 2007, of raters beside them.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> quality = np.arange(6.0)[:, None] + rng.normal(size=(6, 40))
    >>> value = ParameterValue(quality[..., None], lambda sums: sums[..., 0], quality)
    >>> draws, = system_draws([value], quality, np.full((6, 40), True), raters=None, seed=1, n_draws=20)
    >>> draws.over_systems["pearson"].shape, draws.over_raters is None
    ((20,), True)
    """
    ratings = np.where(outputs, checked_ratings(human), np.nan)
    of_raters = None if raters is None else _RaterSums(values, outputs, raters)
    whole = np.ones((1, outputs.shape[1]))
    observed = [(system_scores(value, outputs, whole), system_ratings(ratings, whole)) for value in values]
    found = np.full((len(values), 3, len(USUAL), n_draws), np.nan)
    done = 0
    for number, size in enumerate(shard_sizes(n_draws)):
        items, systems, drawn_raters = np.random.SeedSequence(seed, spawn_key=(number,)).spawn(3)
        place = slice(done, done + size)
        for m, of_value in enumerate(observed):
            found[m, 0, :, place] = _coefficients(*_drawn(*of_value, systems, size))
        if of_raters is not None:
            weights = bootstrap_weights(outputs, size, items)
            times = of_raters.times(size, np.random.default_rng(drawn_raters))
            alone, together = of_raters.means(times, weights)
            for m in range(len(values)):
                found[m, 1, :, place] = _coefficients(*alone[m])
                found[m, 2, :, place] = _coefficients(*_drawn(*together[m], systems, size))
        done += size
        if report is not None:
            report(done, n_draws)
    return tuple(
        SystemDraws(
            _by_key(of_value[0]),
            None if raters is None else _by_key(of_value[1]),
            None if raters is None else _by_key(of_value[2]),
        )
        for of_value in found
    )


def _drawn(scores: Floats, ratings: Floats, seed: np.random.SeedSequence, size: int) -> tuple[Floats, Floats]:
    return over_drawn_systems(scores, ratings, rng=np.random.default_rng(seed), n_replicates=size)


def _coefficients(scores: Floats, ratings: Floats) -> Floats:
    return np.stack([COEFFICIENTS[key].batch(scores, ratings) for key in USUAL])


def _by_key(values: Floats) -> dict[str, Floats]:
    return dict(zip(USUAL, values, strict=True))


class _RaterSums:
    """Scores and mean ratings of systems where raters are drawn anew."""

    def __init__(self, values: Sequence[ParameterValue], outputs: Bools, raters: RaterRatings) -> None:
        self.values = values
        system, self.segment = np.nonzero(outputs)
        self.n_systems = outputs.shape[0]
        self.starts: Ints = np.searchsorted(system, np.arange(self.n_systems + 1))
        cell_of = np.full(outputs.shape, -1)
        cell_of[outputs] = np.arange(system.size)
        cell = cell_of[raters.system, raters.segment]
        if cell.size == 0 or (cell < 0).any():
            raise ValueError("raters hold ratings of other outputs, or none: accepted are those of these outputs")
        names, rater = np.unique(raters.rater, return_inverse=True)
        self.n_raters, shape = names.size, (system.size, names.size)
        self.totals = sparse.csr_array((raters.value, (cell, rater)), shape=shape)
        self.counts = sparse.csr_array((np.ones(cell.size), (cell, rater)), shape=shape)
        # All metrics side by side, and 1 for each output: one product for each system serves them all, and counts.
        columns = [value.statistics[outputs] for value in values]
        self.statistics = np.concatenate([*columns, np.ones((system.size, 1))], axis=1)
        self.ends = np.cumsum([value.statistics.shape[2] for value in values])[:-1]

    def times(self, size: int, rng: np.random.Generator) -> Floats:
        """Return how often each rater is drawn, (R, B): as many as there are, with replacement."""
        drawn = rng.multinomial(self.n_raters, np.full(self.n_raters, 1 / self.n_raters), size=size)
        return np.ascontiguousarray(drawn.T, dtype=np.float64)

    def means(self, times: Floats, weights: Floats) -> tuple[list[tuple[Floats, Floats]], list[tuple[Floats, Floats]]]:
        """Return each metric's scores (B, T) and the ratings (B, T): with every item once, and as often as weights say.

        ``weights`` are (B, S).
        """
        size, width = times.shape[1], self.statistics.shape[1] - 1
        sums, ratings = np.empty((2, size, self.n_systems, width)), np.empty((2, size, self.n_systems))
        # System by system, with many draws at a time: products of few draws take many times as long.
        for t, (first, last) in enumerate(pairwise(self.starts.tolist())):
            items = np.ascontiguousarray(weights[:, self.segment[first:last]].T)
            step = max(1, _CELLS // max(1, last - first))
            for begin in range(0, size, step):
                block = slice(begin, begin + step)
                means, counted = self._of_outputs(slice(first, last), np.ascontiguousarray(times[:, block]))
                of_items = items[:, block]
                totals = np.stack([means.sum(axis=0), np.einsum("cb,cb->b", means, of_items)])
                often = np.concatenate([counted, counted * of_items], axis=1)
                of_both = (often.T @ self.statistics[first:last]).reshape(2, -1, width + 1)
                sums[:, block, t] = of_both[..., :-1]
                with np.errstate(invalid="ignore"):
                    ratings[:, block, t] = totals / of_both[..., -1]
        alone, together = (self._by_metric(*each) for each in zip(sums, ratings, strict=True))
        return alone, together

    def _of_outputs(self, cells: slice, times: Floats) -> tuple[Floats, Floats]:
        """Return outputs' mean ratings (C, B) by drawn raters, 0 without any, and 1 for those that have some."""
        totals, counts = (np.asarray(each[cells] @ times) for each in (self.totals, self.counts))
        totals /= np.maximum(counts, 1.0)
        return totals, (counts > 0).astype(np.float64)

    def _by_metric(self, sums: Floats, ratings: Floats) -> list[tuple[Floats, Floats]]:
        parts = np.split(sums, self.ends, axis=2)
        with np.errstate(divide="ignore", invalid="ignore"):
            return [(value.aggregate(part), ratings) for value, part in zip(self.values, parts, strict=True)]
