"""Wilcoxon's signed-rank test, exact for few items also where ranks are tied."""

import numpy as np
import numpy.typing as npt
import scipy

MOST_COUNTED = 13  # differences, zeros included: with more, tied ranks are tested as if the sum were normal


def signed_rank_p(differences: npt.ArrayLike) -> float:
    """Return the two-sided p, as `scipy.stats.wilcoxon` gives it; 1 if nothing differs.

    With ties SciPy counts the sums of all signs one by one, which takes half a second. Here they are counted by what
    the signs of each rank add to the sums of the ranks before it.

    Examples
    --------
    >>> signed_rank_p([1.0, 1.0, 2.0, -1.0, 0.0])
    0.5
    """
    values = np.asarray(differences, dtype=np.float64)
    changed = values[values != 0]
    if not changed.size:
        return 1.0
    sizes = np.abs(changed)
    if values.size > MOST_COUNTED or np.unique(sizes).size == values.size:
        return float(scipy.stats.wilcoxon(values).pvalue)
    doubled = np.rint(2 * scipy.stats.rankdata(sizes)).astype(np.int64)  # tied ranks are halves
    ways = np.ones(1)  # of each sum of the positive ranks
    for rank in doubled.tolist():
        ways = np.pad(ways, (0, rank)) + np.pad(ways, (rank, 0))
    found = int(doubled[changed > 0].sum())
    rarer = min(ways[: found + 1].sum(), ways[found:].sum())
    return float(min(2 * rarer / 2**changed.size, 1.0))
