"""Somers' d of the rating given the metric."""

from __future__ import annotations

import numpy as np

from correlations.stats.coefficients.coefficient import Coefficient
from correlations.stats.coefficients.kendall import from_pearson, to_pearson
from correlations.stats.coefficients.samples import PairedSamples
from correlations.stats.ranks import Floats


def somers_d(samples: PairedSamples) -> Floats:
    """Count concordant minus discordant pairs, as a share of the pairs that the metric does not tie.

    The rating (y) is the dependent variable and the metric (x) predicts it: d(rating | metric), what
    ``scipy.stats.somersd(x=metric, y=rating)`` computes. Ties of the rating lower it, ties of the metric do not.

    Examples
    --------
    >>> SOMERS_D.batch([[1, 2, 2, 4], [1, 3, 2, 4]], [[1, 3, 2, 4], [1, 2, 2, 4]]).round(4).tolist()
    [1.0, 0.8333]
    """
    counts = samples.concordance
    result = np.full(counts.balance.shape, np.nan)
    defined = (counts.untied_x > 0) & (counts.untied_y > 0) & samples.complete
    np.divide(counts.balance, counts.untied_x, out=result, where=defined)
    return np.asarray(np.clip(result, -1.0, 1.0))


SOMERS_D = Coefficient(
    key="somers_d",
    short="d",
    name="Somers’ d of the rating given the metric",
    label="Somers’ d (rating given metric)",
    symbol="d",
    formula=somers_d,
    source="Somers, “A new asymmetric measure of association for ordinal variables”, American Sociological Review 1962",
    no_interval="Fisher’s z is not made for Somers’ d",
    to_pearson=to_pearson,  # without ties it is Kendall's tau
    from_pearson=from_pearson,
)
