"""What the product knows about a coefficient of agreement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from numpy.typing import ArrayLike

from correlations.stats.coefficients.samples import PairedSamples, Sample
from correlations.stats.intervals import Interval
from correlations.stats.ranks import Floats, as_paired_batches


@dataclass(frozen=True)
class Coefficient:
    """A coefficient in [-1, 1] of a metric (x) and human ratings (y).

    Parameters
    ----------
    key : str
        Its name in specifications.
    short : str
        Its name in results, tables and printed lines: ASCII, a few letters.
    name : str
        Its name in sentences.
    label, symbol : str
        Its names in headings and beside numbers.
    formula : callable
        ``PairedSamples`` to values of shape (batch,). NaN where a side is constant or holds a NaN.
    source : str
        Where it was published.
    interval : callable, optional
        ``(value, n)`` to the 95% ``Interval`` for n independent observations.
    no_interval : str
        Why there is no such interval.
    pvalue : callable, optional
        ``(value, n)`` to the two-sided p-value of no relation, for n independent observations.
    undefined : str
        What makes it NaN other than a constant side or a missing value; empty if nothing does.
    to_pearson, from_pearson : callable
        To the Pearson's r of a bivariate normal distribution with this coefficient, and back (Kruskal, "Ordinal
        measures of association", JASA 1958).
    """

    key: str
    short: str
    name: str
    label: str
    symbol: str
    formula: Callable[[PairedSamples], Floats]
    source: str
    interval: Callable[..., Interval] | None = None
    no_interval: str = "no more than 3 observations"
    pvalue: Callable[[float, int], float] | None = None
    undefined: str = ""
    to_pearson: Callable[[float], float] = float
    from_pearson: Callable[[float], float] = float

    @property
    def has_pvalue(self) -> bool:
        return self.pvalue is not None

    def batch(self, x: ArrayLike, y: ArrayLike, *, mirrored: bool = False) -> Floats:
        """Compute it over the last axis, for many samples at once.

        Parameters
        ----------
        x, y : arrays of shape (..., n)
            The metric's and the ratings' side of paired observations; leading shapes broadcast.
        mirrored : bool
            Answer for the 2 n observations (x, y) and (-x, -y).

        Returns
        -------
        ndarray of shape (...)
            In [-1, 1]. NaN where n < 2, where x or y is constant (mirrored: all zero), or where either holds a NaN.

        Raises
        ------
        ValueError
            If the last axes differ in length or the leading shapes do not broadcast.
        """
        first, second, leading = as_paired_batches(x, y)
        samples = PairedSamples(Sample(first, mirrored), Sample(second, mirrored))
        return self.formula(samples).reshape(leading)
