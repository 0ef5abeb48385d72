"""How far raters agree: Krippendorff's alpha and one-way intraclass correlation."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.special import fdtri

from annotation.weighting.intervals import check_confidence, student_quantile
from annotation.weighting.table import FloatArray, IntArray, Ratings, RatingTable, as_table, ratio, value_counts

Level = Literal["nominal", "ordinal", "interval"]

RESAMPLES = 300  # for the interval of alpha on a campaign's page and in a release: the same ratings, the same interval


@dataclass(frozen=True)
class AlphaResult:
    """Krippendorff's alpha; at most 1, 0 where agreement is what chance gives, NaN with a reason where undefined."""

    alpha: float
    level: Level
    n_responses: int  # with ratings of two raters or more
    n_ratings: int  # of those responses
    n_repeats: int  # earlier ratings of a response by the same rater, left out
    reason: str
    low: float = np.nan  # ends of the bootstrap interval; NaN if none was requested or alpha is undefined
    high: float = np.nan


@dataclass(frozen=True)
class IccResult:
    """One-way intraclass correlation of single ratings and of mean ratings, each with its interval."""

    df_between: int
    df_within: int
    reason: str = ""
    icc_1: float = np.nan
    icc_1_low: float = np.nan
    icc_1_high: float = np.nan
    icc_k: float = np.nan
    icc_k_low: float = np.nan
    icc_k_high: float = np.nan
    k: float = np.nan  # ratings per response (k0 when they differ)
    f: float = np.nan


def krippendorff_alpha(
    ratings: Ratings,
    *,
    level: Level = "ordinal",
    n_bootstrap: int = 0,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> AlphaResult:
    """Compute the agreement of any number of raters with any ratings missing.

    Parameters
    ----------
    ratings : RatingTable, or R sequences of ratings (one column per rater)
        When a rater rated a response more than once, the latest rating counts: agreement with oneself is no agreement
        between raters.
    level : {"nominal", "ordinal", "interval"}
        How far apart two values are.
    n_bootstrap : int
        Resamples of the responses for the interval; 0 is none.
    confidence : float
        Of that interval, in (0, 1).
    rng : numpy.random.Generator, optional
        Draws the resamples; by default seeded with 0.

    Returns
    -------
    AlphaResult
        NaN when no response has two raters, or when all ratings are equal. Resamples in which all ratings are equal
        are left out of the interval.

    Raises
    ------
    ValueError
        Unknown level, ``n_bootstrap`` below 0, ``confidence`` outside (0, 1).

    References
    ----------
    Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011, section C (coincidences) and the difference
    functions of section D. The interval resamples whole responses, as Zapf et al., Measuring Inter-Rater Reliability
    for Nominal Data: Which Coefficients and Confidence Intervals Are Appropriate?, BMC Medical Research Methodology
    2016, do.

    Examples
    --------
    >>> round(krippendorff_alpha([[1, 1], [2, 3], [5, 5], [4, 4]], level="interval").alpha, 3)
    0.954
    """
    if level not in get_args(Level):
        raise ValueError(f"level is {level!r}; accepted: {', '.join(get_args(Level))}")
    if n_bootstrap < 0:
        raise ValueError(f"n_bootstrap is {n_bootstrap}; accepted: 0 or more")
    check_confidence(confidence)
    everything = as_table(ratings)
    table = everything.latest_per_rater()
    per_response = table.counts()
    table = table.select(per_response[table.response] >= 2)
    n_repeats = len(everything) - int(per_response.sum())
    n_responses = int(np.count_nonzero(per_response >= 2))
    values, rated, reason = _rated(table)
    alpha = np.nan if reason else _alpha(values, rated, level, np.ones(len(rated)))
    low, high = np.nan, np.nan
    if n_bootstrap and not reason:
        low, high = _bootstrap_ends(
            alpha, values, rated, level, n_bootstrap, rng or np.random.default_rng(0), confidence
        )
    return AlphaResult(alpha, level, n_responses, len(table), n_repeats, reason, low, high)


def _bootstrap_ends(
    alpha: float,
    values: FloatArray,
    rated: FloatArray,
    level: Level,
    n_bootstrap: int,
    rng: np.random.Generator,
    confidence: float,
) -> tuple[float, float]:
    """Return the interval from resampled responses: Student's on Fisher's z; NaN where alpha is 1."""
    rated = rated[np.lexsort(rated.T)]  # so that the order of the responses does not change the interval
    draws = rng.multinomial(len(rated), np.full(len(rated), 1 / len(rated)), size=n_bootstrap).astype(np.float64)
    if level == "interval":
        alphas = _interval_alphas(values, rated, draws)
    else:
        alphas = np.array([_alpha(values, rated, level, times) for times in draws])
    alphas = alphas[~np.isnan(alphas)]
    n = len(rated)
    if len(alphas) < 2 or n < 2 or not abs(alpha) < 1 - 1e-12:
        return np.nan, np.nan
    # On z = atanh(alpha) the error is that of alpha over 1 - alpha^2; a resample of n varies less than n new ones.
    error = alphas.std(ddof=1) * np.sqrt(n / (n - 1)) / (1 - alpha**2)
    reach = float(student_quantile(n - 1, confidence)) * error
    return float(np.tanh(np.arctanh(alpha) - reach)), float(np.tanh(np.arctanh(alpha) + reach))


def _rated(table: RatingTable) -> tuple[FloatArray, FloatArray, str]:
    """Return the values, how often each response has each of them, and why there is no alpha."""
    if len(table) == 0:
        return np.zeros(0), np.zeros((0, 0)), "no response has ratings of two raters"
    values, counts = value_counts(table)
    rated = counts[counts.any(axis=1)].astype(np.float64)
    same = f"every rating is {values[0]:g}: chance agreement is perfect too" if len(values) == 1 else ""
    return values, rated, same


def _alpha(values: FloatArray, rated: FloatArray, level: Level, times: FloatArray) -> float:
    """Return alpha if each response counts ``times`` times; NaN if all ratings are then equal."""
    pairable = times[:, None] * rated / (rated.sum(axis=1, keepdims=True) - 1)
    # Coincidences of values c and k: sum over responses of the ordered pairs (c, k), each response over m - 1.
    observed = rated.T @ pairable - np.diag(pairable.sum(axis=0))
    n_value = times @ rated
    total = n_value.sum()
    expected = (np.outer(n_value, n_value) - np.diag(n_value)) / (total - 1)
    difference = _squared_difference(values, n_value, level)
    chance = float((expected * difference).sum())
    return float(1 - (observed * difference).sum() / chance) if chance > 0 else np.nan


def _interval_alphas(values: FloatArray, rated: FloatArray, draws: FloatArray) -> FloatArray:
    """Return alphas of interval values in many resamples at once: squared differences follow from sums of squares."""
    n, total, squares = rated.sum(axis=1), rated @ values, rated @ values**2
    observed = draws @ ((n * squares - total**2) / (n - 1))
    all_n, all_total, all_squares = draws @ n, draws @ total, draws @ squares
    chance = (all_n * all_squares - all_total**2) / (all_n - 1)
    return 1 - ratio(observed, np.where(chance > 1e-12 * all_squares, chance, 0.0))


def _squared_difference(values: FloatArray, n_value: FloatArray, level: Level) -> FloatArray:
    if level == "nominal":
        return 1 - np.eye(len(values))
    # Ordinal: ratings strictly between, and half of those at either end; that is a difference of mid-ranks.
    position = np.cumsum(n_value) - n_value / 2 if level == "ordinal" else values
    squared: FloatArray = (position[:, None] - position[None, :]) ** 2
    return squared


def icc(ratings: Ratings, *, confidence: float = 0.95) -> IccResult:
    """Compute ICC(1) and ICC(k), the share of rating variance between responses, with interchangeable raters.

    Responses may have different numbers of ratings. ICC(k) is then the reliability of a mean of k0 ratings,
    ``k0 = (N - sum n_i^2 / N) / (R - 1)``, and the interval, exact for equal numbers, is approximate.

    Parameters
    ----------
    ratings : RatingTable, or R sequences of ratings
        Of a rater's ratings of a response the latest counts: ICC(k) is of means over k raters. Responses without
        ratings are left out.
    confidence : float
        In (0, 1).

    Returns
    -------
    IccResult
        Negative when responses differ less than their ratings would by chance. NaN with a reason below two responses,
        when no response has ratings of two raters, or when all ratings are equal.

    Raises
    ------
    ValueError
        ``confidence`` outside (0, 1).

    References
    ----------
    Shrout & Fleiss, Intraclass Correlations: Uses in Assessing Rater Reliability, Psychological Bulletin 1979: the
    one-way forms, ICC(1,1) and ICC(1,k), and their F intervals. McGraw & Wong, Psychological Methods 1996, the same
    as ICC(1) and ICC(k). k0: Donner, International Statistical Review 1986.

    Examples
    --------
    >>> result = icc([[1, 2], [4, 5], [3, 3]])
    >>> round(result.icc_1, 3), round(result.icc_k, 3)
    (0.862, 0.926)
    """
    check_confidence(confidence)
    table = as_table(ratings).latest_per_rater()
    n = table.counts()
    total, responses = len(table), int(np.count_nonzero(n))
    df_between, df_within = responses - 1, total - responses
    if df_between < 1:
        return IccResult(df_between, df_within, "fewer than two responses have ratings")
    if df_within < 1:
        return IccResult(df_between, df_within, "no response has ratings of two raters")
    if np.ptp(table.value) == 0:
        return IccResult(df_between, df_within, "every rating is the same")
    between, within = _mean_squares(table, n, df_between, df_within)
    k0 = (total - float((n.astype(np.float64) ** 2).sum()) / total) / df_between
    ratio = between / within if within > 0 else np.inf
    tail = (1 - confidence) / 2
    ratio_low = ratio / float(fdtri(df_between, df_within, 1 - tail))
    ratio_high = ratio * float(fdtri(df_within, df_between, 1 - tail))
    return IccResult(
        df_between,
        df_within,
        icc_1=_icc_single(ratio, k0),
        icc_1_low=_icc_single(ratio_low, k0),
        icc_1_high=_icc_single(ratio_high, k0),
        icc_k=_icc_mean(ratio),
        icc_k_low=_icc_mean(ratio_low),
        icc_k_high=_icc_mean(ratio_high),
        k=k0,
        f=ratio,
    )


def _mean_squares(table: RatingTable, n: IntArray, df_between: int, df_within: int) -> tuple[float, float]:
    centred = table.value - table.value.mean()
    mean = np.bincount(table.response, centred, minlength=len(n)) / np.maximum(n, 1)
    between = float((n * mean**2).sum()) / df_between
    within = float(((centred - mean[table.response]) ** 2).sum()) / df_within
    # Ratings that agree exactly within every response leave only rounding behind.
    scale = float((centred**2).sum())
    return between, within if within * df_within > 1e-24 * scale else 0.0


def _icc_single(ratio: float, k: float) -> float:
    # (MSB - MSW) / (MSB + (k - 1) MSW), divided through by MSW
    return 1.0 if np.isinf(ratio) else (ratio - 1) / (ratio + k - 1)


def _icc_mean(ratio: float) -> float:
    # (MSB - MSW) / MSB
    if ratio == 0:
        return -np.inf
    return 1 - 1 / ratio
