"""Weights from ratings standardised per rater, which removes a rater's severity and spread."""

import numpy as np

from annotation.ranking.standardised import standardised
from annotation.weighting.aggregation import Contributions, weigh
from annotation.weighting.result import WeightResult
from annotation.weighting.scheme import Scheme, SchemeParameter, WeighedResponse, two_decimals
from annotation.weighting.table import Ratings, RatingTable, as_table, check_scale, scale_is_open

CLIP = SchemeParameter("clip", 2.0, "Largest z-score")


def zscore_weights(
    ratings: Ratings,
    low: float,
    high: float,
    *,
    clip: float = CLIP.default,
) -> WeightResult:
    """Weigh each response by the mean of its per-rater z-scores, clipped to [-clip, +clip] and divided by ``clip``.

    Weight 0 is then the raters' average, not the middle of the scale. A rater whose ratings are all equal
    (or who gave only one) has no z-scores and does not count; ``n`` shows it.

    Parameters
    ----------
    clip : float
        Largest |z| kept, in standard deviations (n - 1 in the denominator) of a rater's ratings; > 0.
    ratings, low, high
        As in ``linear_weights``; both ends NaN for a scale without ends, such as magnitudes relative to
        a standard, whose logarithms are the ratings: log(value / standard).

    Returns
    -------
    WeightResult
        NaN with a reason where no rater of a response counts.

    Raises
    ------
    ValueError
        As in ``linear_weights``, or ``clip`` is not above 0.

    References
    ----------
    Graham et al., Continuous Measurement Scales in Human Evaluation of Machine Translation, LAW 2013, section 4
    (standardisation per rater); the clipping is Assay's.

    Examples
    --------
    >>> zscore_weights([[1, 3], [3, 5]], 1, 5, clip=2.0).weights.round(3).tolist()
    [-0.354, 0.354]
    """
    CLIP.check(clip)
    table = as_table(ratings)
    parts = zscore_contributions(table, low, high, clip=clip)
    scale = "none" if scale_is_open(low, high) else f"{low:g}..{high:g}"
    signature = f"weights:zscore|scale:{scale}|clip:{clip:g}"
    return weigh(table, parts, "mean", signature=signature)


def zscore_contributions(table: RatingTable, low: float, high: float, *, clip: float = CLIP.default) -> Contributions:
    """Return each rating as its clipped z-score over ``clip``, without raters that have no spread."""
    if not scale_is_open(low, high):
        check_scale(table, low, high)
    z = standardised(table.rater, table.value)
    keep = ~np.isnan(z)
    counted = table.select(keep)
    unusable = "every rater of this response gave one value throughout"
    return Contributions(counted, np.clip(z[keep], -clip, clip), np.ones(len(counted)), clip, unusable)


def check_ends(low: float, high: float, *, scheme: str) -> None:
    """Raise a ValueError that names this scheme, if another scheme needs ends and the scale has none."""
    if scale_is_open(low, high):
        problem = f"the scale has no ends, and the scheme {scheme!r} maps ends to -1 and +1"
        raise ValueError(f"{problem}; accepted: {ZSCORE.key}")


def _explain(response: WeighedResponse) -> list[str]:
    clip, mean = response.parameters[CLIP.name], f"{two_decimals(response.mean)}{response.scale}"
    return [
        f"mean {mean}; {response.n} judgements count, each as its rater's z-score",
        f"mean z-score, clipped at ±{clip:g} and divided by it → {two_decimals(response.weight, plus=True)}",
    ]


ZSCORE = Scheme(
    key="zscore",
    label="Z-scores",
    about="each rater against their own mean and spread; 0 is what raters give on average",
    method="A response's weight is the mean of its ratings' z-scores, each by its rater's mean and standard deviation, "
    "clipped at ±c and divided by c",
    formula="w = mean(clip(z, −c, c)) / c",
    weights=zscore_weights,
    contributions=zscore_contributions,
    centre="mean",
    explain=_explain,
    influence="Exact: each rater is standardised by their own ratings, whatever the other raters.",
    histograms="hold every judgement of a reference, its n those that weigh it: z-scores leave out raters all of "
    "whose ratings are equal, or who gave only one",
    parameters=(CLIP,),
    needs_ends=False,
)
