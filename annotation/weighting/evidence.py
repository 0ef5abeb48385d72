"""The evidence of a weight: how far its judgements differ, and a histogram of them."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from annotation.weighting.groups import mean_and_spread
from annotation.weighting.table import FloatArray, IntArray, RatingTable, scale_is_open

MOST_BINS = 11
EQUAL_BINS = 10
MOST_DOUBLINGS = 5  # of an open scale: the outermost bins hold everything from 32 times and from a 32nd


@dataclass(frozen=True)
class Bins:
    """Bins of a histogram of judgements.

    Attributes
    ----------
    kind : str
        ``points``, a bin per point of the scale; ``equal``, bins of equal width between its ends; ``ratios``, a bin
        per doubling of the ratio to the standard, if the scale has no ends.
    inner : tuple of float
        The edges between neighbouring bins, ascending; a value on an edge belongs to the bin above it.
    labels : tuple of str
        One per bin, from the lowest.
    """

    kind: str
    inner: tuple[float, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Evidence:
    """The evidence of each response, in the order of the table's codes.

    Attributes
    ----------
    spread : float array, shape (R,)
        Standard deviation of the judgements (n - 1), in units of the scale; NaN below two judgements.
    counts : int array, shape (R, B)
        Judgements in each bin.
    """

    spread: FloatArray
    counts: IntArray


def histogram_bins(low: float, high: float, *, has_points: bool = True, parts: int = 1) -> Bins:
    """Return the bins for judgements on a scale: at most 11, the same for every response.

    Parameters
    ----------
    low, high : float
        Ends of the scale; both NaN for a scale without ends, whose values are natural logarithms of ratios.
    has_points : bool
        Whether raters chose among whole numbers. False for a slider.
    parts : int
        The most numbers whose mean a judgement is, such as the criteria; two of them make half points.

    Returns
    -------
    Bins
        A bin per point that a mean of so many numbers can be, if there are 11 at most; else a bin per whole point, if
        there are 11 at most: a value between two belongs to the nearer, and half way to the upper. Else 10 bins of
        equal width; the last holds the upper end, too. Without ends, a bin per doubling: from a 32nd of the standard or
        less to 32 times of it or more.

    Raises
    ------
    ValueError
        When only one end is a number, or the ends are not in order.

    Examples
    --------
    >>> histogram_bins(1, 5).labels
    ('1', '2', '3', '4', '5')
    >>> histogram_bins(1, 3, parts=2).labels
    ('1', '1.5', '2', '2.5', '3')
    >>> histogram_bins(0, 100, has_points=False).labels[0]
    '0 to 10'
    """
    if scale_is_open(low, high):
        doublings = np.arange(-MOST_DOUBLINGS, MOST_DOUBLINGS + 1)
        inner = (doublings[1:] - 0.5) * np.log(2)
        return Bins("ratios", tuple(inner.tolist()), tuple(_ratio_label(int(power)) for power in doublings))
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ValueError(f"scale is [{low}, {high}]; accepted: two finite numbers, low < high, or NaN for both")
    if has_points and high - low < MOST_BINS:
        step = 1 / parts if (high - low) * parts < MOST_BINS else 1.0
        points = np.arange(low, high + step / 2, step)
        about = "about " if parts * step > 1 else ""
        return Bins("points", tuple((points[1:] - step / 2).tolist()), tuple(f"{about}{point:.3g}" for point in points))
    edges = np.linspace(low, high, EQUAL_BINS + 1)
    labels = (f"{start:.4g} to {end:.4g}" for start, end in pairwise(edges))
    return Bins("equal", tuple(edges[1:-1].tolist()), tuple(labels))


def response_evidence(table: RatingTable, bins: Bins) -> Evidence:
    """Compute the spread and the histogram of every response's judgements; two judgements of a rater count as two.

    Examples
    --------
    >>> table = RatingTable([0, 0, 0, 1], [0, 1, 2, 0], [2, 4, 4, 5])
    >>> evidence = response_evidence(table, histogram_bins(1, 5))
    >>> evidence.counts.tolist()
    [[0, 1, 0, 2, 0], [0, 0, 0, 0, 1]]
    >>> evidence.spread.round(3).tolist()
    [1.155, nan]
    """
    n_bins = len(bins.labels)
    bin_index = np.searchsorted(np.array(bins.inner), table.value, side="right")
    counts = np.bincount(table.response * n_bins + bin_index, minlength=table.n_responses * n_bins)
    _, spread = mean_and_spread(table.value, table.response, table.counts())
    return Evidence(spread, counts.reshape(table.n_responses, n_bins))


def _ratio_label(power: int) -> str:
    label = f"{2**power}" if power >= 0 else f"1/{2**-power}"
    return f"at most {label}" if power == -MOST_DOUBLINGS else f"at least {label}" if power == MOST_DOUBLINGS else label
