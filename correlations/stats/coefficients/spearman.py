"""Spearman's rank correlation."""

from __future__ import annotations

import math

import numpy as np

from correlations.stats.coefficients.coefficient import Coefficient
from correlations.stats.coefficients.samples import PairedSamples
from correlations.stats.intervals import fisher_z_interval
from correlations.stats.ranks import Floats


def spearman(samples: PairedSamples) -> Floats:
    """Correlate ranks, ties given their average rank; infinite values are ranked like any others.

    Examples
    --------
    >>> SPEARMAN.batch([[1, 2, 3, 4], [1, 2, 2, 4]], [1, 3, 2, 4]).round(4).tolist()
    [0.8, 0.9487]
    """
    x, y, n = samples.x, samples.y, samples.n
    # Everything below is a whole number under 2^53 for n up to 100,000: the sums are exact.
    if samples.mirrored:
        first, second = x.signs * x.ranks.doubled, y.signs * y.ranks.doubled
    else:
        first, second = (x.ranks.doubled - n).astype(np.float64), (y.ranks.doubled - n).astype(np.float64)
    covariance = np.einsum("bn,bn->b", first, second)
    squares = np.einsum("bn,bn->b", first, first) * np.einsum("bn,bn->b", second, second)
    return samples.ratio(covariance, squares)


def to_pearson(rho: float) -> float:
    """Return the r of a bivariate normal distribution.

    >>> round(to_pearson(0.4826), 4), round(from_pearson(0.5), 4)
    (0.5, 0.4826)
    """
    return 2 * math.sin(math.pi * rho / 6)


def from_pearson(r: float) -> float:
    return 6 / math.pi * math.asin(r / 2)


SPEARMAN = Coefficient(
    key="spearman",
    short="rho",
    name="Spearman’s rho",
    label="Spearman’s ρ",
    symbol="ρ",
    formula=spearman,
    source="Spearman, “The proof and measurement of association between two things”, 1904",
    interval=fisher_z_interval,
    to_pearson=to_pearson,
    from_pearson=from_pearson,
)
