"""Good-Turing discounts as Katz (1987) uses them, and as SRILM does with few counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.arrays import Floats

# SRILM: a smaller probability, or rest of one, counts as 0 (Prob_Epsilon).
EPSILON = 3e-6


def discounts(counts_of_counts: ArrayLike, max_count: int) -> Floats:
    """Return the factor of each count.

    For counts r up to k::

        d_r = (r* / r - c) / (1 - c),   r* = (r + 1) n_(r+1) / n_r,   c = (k + 1) n_(k+1) / n_1     (Katz 1987, eq. 6)

    so that seen events lose what Good and Turing give the unseen: ``sum of n_r r (1 - d_r) = n_1``.

    Parameters
    ----------
    counts_of_counts : (k + 2,) int
        The r-th is n_r, how many events were seen r times; the first is not read.
    max_count : int
        k; higher counts are trusted.

    Returns
    -------
    (K + 1,) float in (0, 1], K <= k
        The r-th is d_r, the first 1. As SRILM's ngram-count does: k is lowered while n_(k+1) is 0; without an event
        seen once nothing is discounted; a coefficient that is not above 3e-6, or whose r* exceeds r, or whose n_r is 0,
        is 1. Beyond SRILM, which lets coefficients above 1 pass where c > 1, these are 1, too.

    References
    ----------
    Katz: Estimation of probabilities from sparse data for the language model component of a speech recognizer.
    IEEE Transactions on Acoustics, Speech, and Signal Processing 35(3), 1987.
    Stolcke: SRILM, an extensible language modeling toolkit. ICSLP 2002; manual page ngram-discount(7).

    Examples
    --------
    >>> discounts([0, 10, 3, 1], 2).round(3)
    array([1.   , 0.429, 0.286])
    """
    n = np.asarray(counts_of_counts, dtype=np.float64)
    k = max_count if n[1] > 0 else 0
    while k > 0 and n[k + 1] == 0:
        k -= 1
    factors = np.ones(k + 1)
    if k == 0:
        return factors
    common = (k + 1) * n[k + 1] / n[1]
    for r in range(1, k + 1):
        ratio = (r + 1) * n[r + 1] / (r * n[r]) if n[r] else np.inf
        coefficient = (ratio - common) / (1 - common) if common != 1 else np.inf
        if ratio <= 1 and EPSILON < coefficient <= 1:
            factors[r] = coefficient
    return factors


def widened(total: Floats, explicit: Floats) -> Floats:
    """Return denominators that leave probability for unseen events.

    If seen events take all but 3e-6 of the probability, the denominator grows by the least whole number that leaves
    more (SRILM, after Doug Paul's rule in the CMU toolkit).

    Parameters
    ----------
    total : (c,) float
        Sum of counts in each context.
    explicit : (c,) float
        Sum of discounted counts.

    Examples
    --------
    >>> widened(np.array([4.0, 4.0]), np.array([4.0, 3.5]))
    array([5., 4.])
    """
    missing = np.maximum(0.0, np.ceil(explicit / (1.0 - EPSILON) - total))
    full = explicit > (1.0 - EPSILON) * total
    missing = np.where(full, np.maximum(missing, 1.0), 0.0)
    # Rounding may give one too few.
    short = full & (explicit > (1.0 - EPSILON) * (total + missing))
    return total + missing + short
