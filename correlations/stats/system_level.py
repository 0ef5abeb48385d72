"""System-level correlation: one metric score and one human score for each system."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from correlations.stats.coefficients import kendall_tau_b_batch, pearson_batch, spearman_batch
from correlations.stats.ranks import Floats


@dataclass(frozen=True)
class LeftOut:
    """The coefficients without one system."""

    system: str
    pearson: float
    spearman: float
    kendall: float


@dataclass(frozen=True)
class SystemLevelResult:
    """Coefficients over systems, each NaN, with the reason, where undefined."""

    n_systems: int
    pearson: float
    pearson_pvalue: float  # two-sided, of no linear relation
    spearman: float
    kendall: float
    left_out: tuple[LeftOut, ...]  # in the order of the systems
    reason: str | None

    @property
    def most_influential(self) -> LeftOut | None:
        """The system whose absence moves Pearson's coefficient most; None where undefined."""
        moved = [each for each in self.left_out if not math.isnan(each.pearson)]
        if math.isnan(self.pearson) or not moved:
            return None
        return max(moved, key=lambda each: abs(each.pearson - self.pearson))


def system_level_correlation(metric: ArrayLike, human: ArrayLike, systems: Sequence[str]) -> SystemLevelResult:
    """Correlate metric and human scores over systems, with each system left out in turn.

    Parameters
    ----------
    metric, human : arrays of shape (n,)
        One finite score for each system, in any unit.
    systems : sequence of n distinct names

    Returns
    -------
    SystemLevelResult
        NaN, with the reason, for fewer than 3 systems or constant scores.

    Raises
    ------
    ValueError
        If the lengths differ, a name repeats, or a score is not finite.

    References
    ----------
    D'Haro et al., "Automatic evaluation of end-to-end dialog systems with adequacy-fluency metrics", Computer Speech
    and Language 2019, Table 1.

    Examples
    --------
    >>> result = system_level_correlation([0.1, 0.2, 0.3, 0.9], [2.0, 3.0, 2.5, 3.5], ["A", "B", "C", "D"])
    >>> round(result.pearson, 3), round(result.pearson_pvalue, 3), result.most_influential.system
    (0.826, 0.174, 'D')
    """
    x, y = _checked("metric", metric, systems), _checked("human", human, systems)
    n = x.size
    everything = (math.nan, math.nan, math.nan)
    reason = None
    if n < 3:
        reason = f"{n} systems: at least 3 are needed"
    elif (x == x[0]).all() or (y == y[0]).all():
        reason = f"the {'metric' if (x == x[0]).all() else 'human'} scores are constant"
    else:
        everything = (float(pearson_batch(x, y)), float(spearman_batch(x, y)), float(kendall_tau_b_batch(x, y)))
    others = np.array([np.delete(np.arange(n), i) for i in range(n)])
    without = [f(x[others], y[others]) if n > 3 else np.full(n, math.nan) for f in _COEFFICIENTS]
    left_out = tuple(
        LeftOut(name, float(r), float(rho), float(tau)) for name, r, rho, tau in zip(systems, *without, strict=True)
    )
    return SystemLevelResult(n, everything[0], _pearson_pvalue(everything[0], n), *everything[1:], left_out, reason)


_COEFFICIENTS = (pearson_batch, spearman_batch, kendall_tau_b_batch)


def _pearson_pvalue(r: float, n: int) -> float:
    """Two-sided p from t = r sqrt((n - 2) / (1 - r^2)) with n - 2 degrees of freedom."""
    if math.isnan(r):
        return math.nan
    if abs(r) == 1:
        return 0.0
    return 2 * float(special.stdtr(n - 2, -abs(r) * math.sqrt((n - 2) / (1 - r * r))))


def _checked(name: str, scores: ArrayLike, systems: Sequence[str]) -> Floats:
    values = np.asarray(scores, dtype=np.float64)
    if values.shape != (len(systems),):
        raise ValueError(
            f"{name} scores have shape {values.shape}: one for each of the {len(systems)} systems is expected"
        )
    if len(set(systems)) != len(systems):
        repeated = next(system for i, system in enumerate(systems) if system in systems[:i])
        raise ValueError(f"system {repeated!r} is named twice")
    broken = np.flatnonzero(~np.isfinite(values))
    if broken.size:
        raise ValueError(f"{name} score of system {systems[broken[0]]!r} is {values[broken[0]]}: finite is expected")
    return values
