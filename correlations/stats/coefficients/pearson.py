"""Pearson's product-moment correlation."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from correlations.stats.coefficients.coefficient import Coefficient
from correlations.stats.coefficients.samples import PairedSamples
from correlations.stats.intervals import fisher_z_interval
from correlations.stats.ranks import Floats


def pearson(samples: PairedSamples) -> Floats:
    """Correlate the values themselves; mirrored samples have a mean of 0 by themselves.

    Examples
    --------
    >>> PEARSON.batch([1, 2, 3, 4], [[1, 3, 2, 4], [5, 5, 5, 5]]).round(4).tolist()
    [0.8, nan]
    """
    x, y = samples.x.values, samples.y.values
    result = np.full(x.shape[0], np.nan)
    if samples.n == 0:
        return result
    # A constant sample's mean can miss its value by rounding, so the values themselves are compared.
    anchors = (0.0, 0.0) if samples.mirrored else (x[:, :1], y[:, :1])
    defined = np.isfinite(x).all(axis=1) & np.isfinite(y).all(axis=1)
    defined &= (x != anchors[0]).any(axis=1) & (y != anchors[1]).any(axis=1)
    a, b = (_centred(side[defined], mirrored=samples.mirrored) for side in (x, y))
    a /= np.abs(a).max(axis=1, keepdims=True)  # keeps squares clear of underflow and overflow
    b /= np.abs(b).max(axis=1, keepdims=True)
    scale = np.sqrt(np.einsum("bn,bn->b", a, a) * np.einsum("bn,bn->b", b, b))
    result[defined] = np.clip(np.einsum("bn,bn->b", a, b) / scale, -1.0, 1.0)
    return result


def _centred(values: Floats, *, mirrored: bool) -> Floats:
    return values if mirrored else np.asarray(values - values.mean(axis=1, keepdims=True))


def pearson_pvalue(r: float, n: int) -> float:
    """Return the two-sided p from t = r sqrt((n - 2) / (1 - r^2)) with n - 2 degrees of freedom; NaN for NaN."""
    if math.isnan(r):
        return math.nan
    if abs(r) == 1:
        return 0.0
    return 2 * float(special.stdtr(n - 2, -abs(r) * math.sqrt((n - 2) / (1 - r * r))))


PEARSON = Coefficient(
    key="pearson",
    short="r",
    name="Pearson’s r",
    label="Pearson’s r",
    symbol="r",
    formula=pearson,
    source="Pearson, “Mathematical contributions to the theory of evolution, III”, Phil. Trans. R. Soc. A 1896",
    interval=fisher_z_interval,
    pvalue=pearson_pvalue,
    undefined="a value is infinite",
)
