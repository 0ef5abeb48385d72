"""The Bradley-Terry model of paired comparisons, with ties and an effect of the first place."""

from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt
import scipy
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from annotation.ranking.clustered import Clusters, two_way_variance
from annotation.ranking.family import family

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

FIRST, TIE, SECOND = range(3)  # alternatives of a comparison, in the order of the columns below
STEPS = 100  # of Newton; from 0 it needs fewer than ten
TOLERANCE = 1e-10


@dataclass(frozen=True, eq=False)
class BradleyTerry:
    """Strengths of n systems on the log scale; NaN, with the reason, if they have no finite estimate.

    Attributes
    ----------
    strengths : (n,) float
        With mean 0: of two systems without ties, the first is preferred with odds exp(their difference).
    tie : float
        Davidson's nu: the odds of a tie of two equal systems, to one of them being preferred; 0 without ties.
    order : float
        Log odds that the first place adds; 0 unless it was requested.
    components : (n,) int
        Systems with different numbers were never compared, not even through others.
    reason : str
        Why they are undefined; empty if they are defined.
    information : (n + 2, n + 2) float
        Inverse of the Hessian at the estimate, for strengths, log nu and order: what intervals start from.
    """

    strengths: FloatArray
    tie: float
    order: float
    components: IntArray
    reason: str = ""
    information: FloatArray = field(default_factory=lambda: np.zeros((0, 0)), repr=False)


@dataclass(frozen=True, eq=False)
class Certainty:
    """How sure strengths are, over new samples of raters and items; NaN where undefined.

    Attributes
    ----------
    low, high : (n,) float
        95% intervals of the strengths.
    difference_low, difference_high : (n, n) float
        Of the strength of the row less that of the column.
    p_values : (n, n) float
        Of no difference, two-sided, not corrected.
    adjusted, family_low, family_high : (n, n) float
        The same by Holm's correction over all pairs, and intervals of differences that hold together and agree with it:
        see ``annotation.ranking.family``.
    order_low, order_high : float
        Of the effect of the first place.
    """

    low: FloatArray
    high: FloatArray
    difference_low: FloatArray
    difference_high: FloatArray
    p_values: FloatArray
    adjusted: FloatArray
    family_low: FloatArray
    family_high: FloatArray
    order_low: float
    order_high: float


def bradley_terry(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    outcome: npt.ArrayLike,
    *,
    n_systems: int,
    order_effect: bool = False,
    weight: npt.ArrayLike | None = None,
) -> BradleyTerry:
    """Estimate strengths from paired comparisons by maximum likelihood.

    With strengths s, the first is preferred, neither, or the second, in the proportions exp(s_first),
    nu exp((s_first + s_second) / 2) and exp(s_second - order).

    Parameters
    ----------
    first, second : (N,) int
        The systems at the two places, 0 to n_systems - 1.
    outcome : (N,) int
        1 the first is better, 0 a tie, -1 the second is better.
    n_systems : int
    order_effect : bool
        Whether the first place may help or harm.
    weight : (N,) float, optional
        How often each comparison counts; by default once.

    Returns
    -------
    BradleyTerry
        Undefined if the comparisons fall apart into components, if some systems never lost to the others, or if the
        effect of the first place cannot be told from strengths.

    Raises
    ------
    ValueError
        Arrays of different length, systems outside their range or compared with themselves, other outcomes.

    References
    ----------
    [1] Bradley and Terry, Rank Analysis of Incomplete Block Designs, Biometrika 39, 1952.
    [2] Davidson, On Extending the Bradley-Terry Model to Accommodate Ties in Paired Comparison Experiments, JASA 65,
    1970, eq. 2.3.
    [3] Davidson and Beaver, On Extending the Bradley-Terry Model to Incorporate Within-Pair Order Effects, Biometrics
    33, 1977; ``order`` is the logarithm of 1 / gamma.

    Examples
    --------
    >>> fit = bradley_terry([0, 0, 0, 1], [1, 1, 1, 0], [1, 1, -1, -1], n_systems=2)
    >>> fit.strengths.round(3).tolist()  # won 3 of 4: the difference is log 3
    [0.549, -0.549]
    """
    comparisons = _checked(first, second, outcome, n_systems)
    counted = np.ones(len(comparisons)) if weight is None else np.asarray(weight, dtype=np.float64)
    if counted.shape != (len(comparisons),) or not (np.isfinite(counted) & (counted > 0)).all():
        raise ValueError(f"weight: accepted are {len(comparisons)} numbers above 0, one for each comparison")
    components = _components(comparisons, n_systems)
    undefined = BradleyTerry(np.full(n_systems, np.nan), np.nan, np.nan, components)
    if not len(comparisons):
        return _because(undefined, "there is no comparison")
    if components.max(initial=0) > 0:
        return _because(undefined, "some systems were never compared with the others, not even through a third one")
    table, counts = _counts(comparisons, counted)
    has_ties = bool(counts[:, TIE].any())
    features = _features(table[:, 0], table[:, 1], n_systems)
    free = _free(n_systems, has_ties=has_ties, order_effect=order_effect)
    design = features @ free  # (rows, 3, p)
    if reason := _why_infinite(design, counts, order_effect=order_effect):
        return _because(undefined, reason)
    estimate, hessian = _maximised(design, counts)
    parameters = free @ estimate
    information = free @ np.linalg.inv(hessian) @ free.T
    nu = float(np.exp(parameters[n_systems])) if has_ties else 0.0
    return BradleyTerry(parameters[:n_systems], nu, float(parameters[-1]), components, information=information)


def bradley_terry_certainty(
    fit: BradleyTerry,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    outcome: npt.ArrayLike,
    *,
    item: npt.ArrayLike,
    rater: npt.ArrayLike | None,
    weight: npt.ArrayLike | None = None,
) -> Certainty:
    """Return intervals of strengths and of their differences, over new samples of raters and items together.

    The errors are robust: comparisons by one rater, and of one item, may depend on each other.

    Parameters
    ----------
    fit : BradleyTerry
        Of the same comparisons.
    first, second, outcome, weight
        As given to ``bradley_terry``.
    item, rater : (N,) int
        Codes from 0. Without raters (None) the intervals are over items alone; a rater below 0 is one of their own.

    References
    ----------
    Cameron, Gelbach and Miller, Robust Inference with Multiway Clustering, Journal of Business and Economic Statistics
    29(2), 2011, eq. 2.11.

    Examples
    --------
    >>> comparisons = [0, 0, 0, 1, 0], [1, 1, 1, 0, 1], [1, 1, -1, -1, -1]
    >>> fit = bradley_terry(*comparisons, n_systems=2)
    >>> certainty = bradley_terry_certainty(fit, *comparisons, item=[0, 1, 2, 3, 4], rater=[0, 1, 2, 0, 1])
    >>> bool(certainty.low[0] < fit.strengths[0] < certainty.high[0])
    True
    """
    n = fit.strengths.size
    comparisons = _checked(first, second, outcome, n)
    low, high = np.full((2, n), np.nan)
    difference_low, difference_high, p_values, adjusted, family_low, family_high = np.full((6, n, n), np.nan)
    of_pairs = (difference_low, difference_high, p_values, adjusted, family_low, family_high)
    certainty = Certainty(low, high, *of_pairs, np.nan, np.nan)
    if fit.reason:
        return certainty
    counted = np.ones(len(comparisons)) if weight is None else np.asarray(weight, dtype=np.float64)
    moved = influences(fit, comparisons, counted)
    clusters = Clusters.of(item, rater)
    for system in range(n):
        own = ((comparisons[:, :2] == system).any(axis=1)) * counted
        half = two_way_variance(moved[:, system], clusters, own).half_width()
        low[system], high[system] = fit.strengths[system] - half, fit.strengths[system] + half
    pairs, variances = list(combinations(range(n), 2)), []
    for i, j in pairs:
        own = np.isin(comparisons[:, :2], (i, j)).any(axis=1) * counted
        difference = fit.strengths[i] - fit.strengths[j]
        variance = two_way_variance(moved[:, i] - moved[:, j], clusters, own, whole_raters=True)
        half, p = variance.half_width(), variance.p_value(difference)
        difference_low[i, j], difference_high[i, j] = difference - half, difference + half
        difference_low[j, i], difference_high[j, i] = -difference - half, -difference + half
        p_values[i, j] = p_values[j, i] = p
        variances.append(variance)
    apart = [fit.strengths[i] - fit.strengths[j] for i, j in pairs]
    together = family(apart, variances, [p_values[pair] for pair in pairs])
    for at, (i, j) in enumerate(pairs):
        adjusted[i, j] = adjusted[j, i] = together.adjusted[at]
        family_low[i, j], family_high[i, j] = together.family_low[at], together.family_high[at]
        family_low[j, i], family_high[j, i] = -together.family_high[at], -together.family_low[at]
    if not fit.order:
        return certainty
    half = two_way_variance(moved[:, -1], clusters, counted).half_width()
    return replace(certainty, order_low=fit.order - half, order_high=fit.order + half)


def influences(fit: BradleyTerry, comparisons: IntArray, weight: FloatArray) -> FloatArray:
    """Return (N, n + 2) what each comparison adds to strengths, log nu and order, of a fit that is defined.

    ``comparisons`` are rows of (first, second, outcome), ``weight`` how often each counts.
    """
    moved: FloatArray = (_scores(fit, comparisons) * weight[:, None]) @ fit.information
    return moved


def _checked(first: npt.ArrayLike, second: npt.ArrayLike, outcome: npt.ArrayLike, n_systems: int) -> IntArray:
    """Return comparisons as rows of (first, second, outcome)."""
    columns = [np.asarray(column) for column in (first, second, outcome)]
    if len({column.shape for column in columns}) != 1 or columns[0].ndim != 1:
        shapes = ", ".join(str(column.shape) for column in columns)
        raise ValueError(f"first, second and outcome have shapes {shapes}; accepted: one length")
    rows = np.stack(columns, axis=1).astype(np.int64) if columns[0].size else np.zeros((0, 3), dtype=np.int64)
    for name, column in zip(("first", "second"), rows.T, strict=False):
        bad = np.flatnonzero((column < 0) | (column >= n_systems))
        if bad.size:
            raise ValueError(f"{name}[{bad[0]}] is {column[bad[0]]}; accepted: 0 to {n_systems - 1}")
    bad = np.flatnonzero(rows[:, 0] == rows[:, 1])
    if bad.size:
        raise ValueError(f"comparison {bad[0]} is of system {rows[bad[0], 0]} with itself; accepted: two systems")
    bad = np.flatnonzero(~np.isin(columns[2], (-1, 0, 1)))
    if bad.size:
        raise ValueError(f"outcome[{bad[0]}] is {columns[2][bad[0]]}; accepted: 1, 0 and -1")
    return rows


def _components(comparisons: IntArray, n_systems: int) -> IntArray:
    edges = csr_array((np.ones(len(comparisons)), (comparisons[:, 0], comparisons[:, 1])), shape=(n_systems, n_systems))
    labels: IntArray = connected_components(edges, directed=False)[1].astype(np.int64)
    return labels


def _because(undefined: BradleyTerry, reason: str) -> BradleyTerry:
    return BradleyTerry(undefined.strengths, undefined.tie, undefined.order, undefined.components, reason)


def _counts(comparisons: IntArray, weight: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the distinct (first, second), and (rows, 3) how often each outcome occurred."""
    table, row = np.unique(comparisons[:, :2], axis=0, return_inverse=True)
    counts = np.zeros((len(table), 3))
    np.add.at(counts, (row.ravel(), 1 - comparisons[:, 2]), weight)
    return table, counts


def _features(first: IntArray, second: IntArray, n_systems: int) -> FloatArray:
    """Return (rows, 3, n + 2): the logit of each alternative is its features times (strengths, log nu, order)."""
    features = np.zeros((first.size, 3, n_systems + 2))
    row = np.arange(first.size)
    features[row, FIRST, first] = 1
    features[row, SECOND, second] = 1
    features[row, SECOND, -1] = -1  # [3]: gamma times the strength of the second
    features[row, TIE, first] = features[row, TIE, second] = 0.5  # [2] eq. 2.3: the geometric mean
    features[row, TIE, n_systems] = 1
    return features


def _free(n_systems: int, *, has_ties: bool, order_effect: bool) -> FloatArray:
    """Return (n + 2, p) the directions to estimate: strengths that sum to 0, and what else was requested."""
    contrasts = np.vstack([np.eye(n_systems - 1), -np.ones((1, n_systems - 1))]) if n_systems > 1 else np.zeros((1, 0))
    free = np.zeros((n_systems + 2, n_systems + 1))
    free[:n_systems, : n_systems - 1] = contrasts
    free[n_systems, n_systems - 1] = free[-1, n_systems] = 1
    kept = np.r_[np.full(n_systems - 1, True), has_ties, order_effect]
    return free[:, kept]


def _why_infinite(design: FloatArray, counts: FloatArray, *, order_effect: bool) -> str:
    """Return why no finite estimate maximises the likelihood; empty if one does.

    There is none if parameters can move so that no observed outcome ever becomes less likely: a linear programme
    (Albert and Anderson, On the Existence of Maximum Likelihood Estimates in Logistic Regression, Biometrika 71, 1984).
    """
    alternatives = [FIRST, TIE, SECOND] if counts[:, TIE].any() else [FIRST, SECOND]
    gains = np.concatenate(
        [
            (design[:, seen] - design[:, other])[counts[:, seen] > 0]
            for seen in alternatives
            for other in alternatives
            if other != seen
        ]
    )
    if np.linalg.matrix_rank(gains) < design.shape[2]:
        return "the effect of the first place cannot be told from strengths: pairs were shown in one order only"
    found = scipy.optimize.linprog(
        -gains.sum(axis=0), A_ub=-gains, b_ub=np.zeros(len(gains)), bounds=(-1, 1), method="highs"
    )
    if found.fun is not None and found.fun >= -1e-9:
        return ""
    also = ", or what was first on screen always won" if order_effect else ""
    return f"some systems never lost to the others{also}: how much better they are has no upper bound"


def _maximised(design: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the estimate and its Hessian by Newton's method with halved steps: the log-likelihood is concave."""
    possible = counts.sum(axis=0) > 0
    possible[[FIRST, SECOND]] = True
    total = counts.sum(axis=1, keepdims=True)
    estimate = np.zeros(design.shape[2])

    def likelihood(parameters: FloatArray) -> tuple[float, FloatArray]:
        logits = np.where(possible, design @ parameters, -np.inf)
        shares = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
        return float((counts * np.where(counts > 0, shares, 0.0)).sum()), np.exp(shares)

    value, shares = likelihood(estimate)
    for _ in range(STEPS):
        gradient = np.einsum("ra,rap->p", counts - total * shares, design)
        centred = design - np.einsum("ra,rap->rp", shares, design)[:, None]
        hessian = np.einsum("ra,rap,raq->pq", total * shares, centred, centred)
        step = np.linalg.solve(hessian, gradient)
        if np.abs(step).max(initial=0.0) < TOLERANCE:
            break
        scale = 1.0
        moved, moved_shares = likelihood(estimate + step)
        while moved < value - 1e-9 and scale > 1e-6:
            scale /= 2
            moved, moved_shares = likelihood(estimate + scale * step)
        estimate, value, shares = estimate + scale * step, moved, moved_shares
    return estimate, hessian


def _scores(fit: BradleyTerry, comparisons: IntArray) -> FloatArray:
    """Return (N, n + 2) the derivative of each comparison's log-likelihood."""
    n = fit.strengths.size
    table, row = np.unique(comparisons[:, :2], axis=0, return_inverse=True)
    features = _features(table[:, 0], table[:, 1], n)
    log_nu = np.log(fit.tie) if fit.tie > 0 else 0.0
    logits = features @ np.r_[fit.strengths, log_nu, fit.order]
    if fit.tie == 0:
        logits[:, TIE] = -np.inf
    shares = np.exp(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))
    expected = np.einsum("ra,rap->rp", shares, features)
    row = row.ravel()
    scores: FloatArray = features[row, 1 - comparisons[:, 2]] - expected[row]
    return scores
