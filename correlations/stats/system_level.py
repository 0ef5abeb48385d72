"""System-level correlation: one metric score and one human score for each system."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.ranks import Floats

USUAL = ("pearson", "spearman", "kendall")


@dataclass(frozen=True)
class LeftOut:
    """The coefficients without one system, by key."""

    system: str
    values: dict[str, float]


@dataclass(frozen=True)
class SystemLevelResult:
    """Coefficients over systems, by key; each NaN, with the reason, where undefined."""

    n: int
    values: dict[str, float]
    pvalues: dict[str, float]  # two-sided, for the coefficients that have such a test
    left_out: tuple[LeftOut, ...]  # in the order of the systems
    reason: str | None

    @property
    def most_influential(self) -> LeftOut | None:
        """Return the system whose absence moves Pearson's coefficient most, or leaves none; None if undefined."""
        whole = self.values["pearson"]
        if math.isnan(whole) or self.n <= 3:
            return None
        alone = next((each for each in self.left_out if math.isnan(each.values["pearson"])), None)
        return alone or max(self.left_out, key=lambda each: abs(each.values["pearson"] - whole))


def system_level_correlation(
    metric: ArrayLike, human: ArrayLike, systems: Sequence[str], *, coefficients: Sequence[str] = USUAL
) -> SystemLevelResult:
    """Correlate metric and human scores over systems, with each system left out in turn.

    Parameters
    ----------
    metric, human : arrays of shape (n,)
        One finite score for each system, in any unit.
    systems : sequence of n distinct names
    coefficients : sequence of keys of ``COEFFICIENTS``
        Pearson's among them.

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
    >>> round(result.values["pearson"], 3), round(result.pvalues["pearson"], 3), result.most_influential.system
    (0.826, 0.174, 'D')
    """
    x, y = _checked("metric", metric, systems), _checked("human", human, systems)
    n = x.size
    entries = [COEFFICIENTS[key] for key in coefficients]
    values = dict.fromkeys(coefficients, math.nan)
    reason = None
    if n < 3:
        reason = f"{n} systems: at least 3 are needed"
    elif (x == x[0]).all() or (y == y[0]).all():
        reason = f"the {'metric' if (x == x[0]).all() else 'human'} scores are constant"
    else:
        values = {entry.key: float(entry.batch(x, y)) for entry in entries}
    pvalues = {entry.key: entry.pvalue(values[entry.key], n) for entry in entries if entry.pvalue is not None}
    others = np.array([np.delete(np.arange(n), i) for i in range(n)])
    without = {entry.key: entry.batch(x[others], y[others]) if n > 3 else np.full(n, math.nan) for entry in entries}
    left_out = tuple(
        LeftOut(name, {key: float(along[index]) for key, along in without.items()})
        for index, name in enumerate(systems)
    )
    return SystemLevelResult(n, values, pvalues, left_out, reason)


def least_significant_r(n: int, *, alpha: float = 0.05) -> float:
    """Return the least Pearson's r over n systems whose two-sided p is at most ``alpha``.

    Parameters
    ----------
    n : int
        Systems, at least 3.
    alpha : float
        In (0, 1).

    Returns
    -------
    float
        In [0, 1]: a metric that has nothing to do with the ratings reaches it, up or down, in a share ``alpha`` of
        samples of systems.

    Raises
    ------
    ValueError
        If n is below 3.

    References
    ----------
    Student's t with n - 2 degrees of freedom, solved for r: r = t / sqrt(t^2 + n - 2).

    Examples
    --------
    >>> round(least_significant_r(4), 3), round(least_significant_r(6), 3)
    (0.95, 0.811)
    """
    if n < 3:
        raise ValueError(f"n is {n}: at least 3 systems are needed")
    t = float(stdtrit(n - 2, 1 - alpha / 2))
    return t / math.sqrt(t * t + n - 2)


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
