"""Kendall's tau-b."""

from __future__ import annotations

import math

import numpy as np

from correlations.stats.coefficients.coefficient import Coefficient
from correlations.stats.coefficients.samples import PairedSamples
from correlations.stats.intervals import fisher_z_interval
from correlations.stats.ranks import Floats


def kendall_tau_b(samples: PairedSamples) -> Floats:
    """Count concordant minus discordant pairs, corrected for ties on both sides.

    Examples
    --------
    >>> KENDALL.batch([[1, 2, 3, 4], [1, 2, 2, 4]], [1, 3, 2, 4]).round(4).tolist()
    [0.6667, 0.9129]
    """
    counts = samples.concordance
    squares = counts.untied_x.astype(np.float64) * counts.untied_y.astype(np.float64)
    return samples.ratio(counts.balance, squares)


def to_pearson(tau: float) -> float:
    """Return the r of a bivariate normal distribution, which has no ties.

    >>> round(to_pearson(1 / 3), 4), round(from_pearson(0.5), 4)
    (0.5, 0.3333)
    """
    return math.sin(math.pi * tau / 2)


def from_pearson(r: float) -> float:
    return 2 / math.pi * math.asin(r)


KENDALL = Coefficient(
    key="kendall",
    short="tau",
    name="Kendall’s tau-b",
    label="Kendall’s τ",
    symbol="τ",
    formula=kendall_tau_b,
    source="Kendall, “The treatment of ties in ranking problems”, Biometrika 1945",
    interval=fisher_z_interval,
    to_pearson=to_pearson,
    from_pearson=from_pearson,
)
