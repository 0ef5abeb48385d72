"""Per-segment sufficient statistics of the BLEU family, from a `MatchTable` and any subset of the references."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.scoring.aggregates import BleuAggregate, log_brevity_penalty
from metrics.scoring.arrays import Bools, Floats, Ints
from metrics.scoring.metric import CorpusState, MetricStatistics
from metrics.scoring.ngrams import MatchTable, OrderMatches
from metrics.scoring.pairs import checked_mask
from metrics.scoring.texts import check_choice

Semantics: TypeAlias = Literal["galley2015", "sacrebleu2018"]

SEMANTICS = ("galley2015", "sacrebleu2018")

# Weights are fractions: tenths from 5 ratings on 5 points, thousandths rounded in a file, and otherwise means of up to
# 16 ratings on up to 17 points, or of two such criteria (4 * lcm(1..16)). Sums of those are exact below 3e9 n-grams.
EXACT_SCALES = (10, 1000, 2_882_880)
FIRST = 64  # weights that show most misfits at once

# By order: faster than exp(log / N), and 1 of 1.
ROOTS: dict[int, Callable[[Floats], Floats]] = {
    1: np.positive,
    2: np.sqrt,
    3: np.cbrt,
    4: lambda values: np.sqrt(np.sqrt(values)),
}


@dataclass(frozen=True, eq=False)
class SegmentStatistics:
    """What a segment contributes to BLEU or ΔBLEU. The leading shape is (T, S): systems, segments; or part of it.

    Attributes
    ----------
    packed : (T, S, 2 + 2 N) float
        ``hyp_len``, ``ref_len``, ``numerators``, ``denominators`` side by side; `BleuAggregate` takes sums of them. All
        zero if the segment is not valid.
    top_weight : (T, S) float
        Highest weight of the subset times ``weight_scale``; 1 for BLEU.
    valid : (T, S) bool
        False if the subset is empty (BLEU) or has no positive weight (ΔBLEU): the segment does not count.
    weight_scale : int
        10 if all weights are multiples of 0.1, else the first of the `EXACT_SCALES` that makes them whole, else 1.
    """

    packed: Floats
    top_weight: Floats
    valid: Bools
    weight_scale: int = 1

    @classmethod
    def of_segments(cls, packed: Floats, top_weight: Floats, valid: Bools, weight_scale: int) -> SegmentStatistics:
        """Make them from top weights and validity (S,), which systems share, and ``packed`` (T, S, 2 + 2 N)."""
        shape = packed.shape[:-1]
        packed.flags.writeable = False  # tables remember it
        return cls(packed, np.broadcast_to(top_weight, shape), np.broadcast_to(valid, shape), weight_scale)

    @property
    def max_order(self) -> int:
        return orders_of(self.packed)

    @property
    def hyp_len(self) -> Floats:
        """Return the tokens (T, S) of the hypothesis."""
        return self.packed[..., 0]

    @property
    def ref_len(self) -> Floats:
        """Return the tokens (T, S) of its closest reference in the subset, ties to the shorter."""
        return self.packed[..., 1]

    @property
    def numerators(self) -> Floats:
        """Return them (T, S, N) times ``weight_scale``: whole if this is one of the `EXACT_SCALES`; may be negative."""
        return self.packed[..., 2 : 2 + self.max_order]

    @property
    def denominators(self) -> Floats:
        """Return them (T, S, N), likewise; 0 or more."""
        return self.packed[..., 2 + self.max_order :]

    def __getitem__(self, index: int | slice | NDArray[np.intp] | Bools) -> SegmentStatistics:
        """Return the statistics of one system (or of some segments, once a system is chosen)."""
        return SegmentStatistics(
            _at(self.packed, index), _at(self.top_weight, index), _at(self.valid, index), self.weight_scale
        )

    def up_to(self, max_order: int) -> SegmentStatistics:
        """Return the statistics of n-grams up to this order."""
        if max_order == self.max_order:
            return self
        packed = np.empty((*self.valid.shape, 2 + 2 * max_order))
        fill_packed(packed, self.hyp_len, self.ref_len, self.numerators, self.denominators)
        return replace(self, packed=packed)

    def aggregate(self, smoothing: str = "none", *, without_match: bool = False) -> BleuAggregate:
        """Return the aggregate of these statistics."""
        return BleuAggregate(self.max_order, smoothing, self.weight_scale, without_match)

    def sentence_scores(self, *, smooth_brevity: bool = False) -> Floats:
        """Return BLEU+1, or its weighted form, of each segment, in [0, 1]; NaN if not valid or both sides are empty.

        For n >= 2 the top weight (1 for BLEU) is added to the numerator, after negative ones are clamped to 0, and to
        the denominator. Hence p_2 of a one-word hypothesis, which has no bigram, is (0 + 1) / (0 + 1) = 1.

        References
        ----------
        Nakov, Guzmán, Vogel, Optimizing for Sentence-Level BLEU+1 Yields Short Translations, COLING 2012.
        """
        product, below = np.maximum(self.numerators[..., 0], 0.0), self.denominators[..., 0].copy()
        for order in range(1, self.max_order):
            product *= np.maximum(self.numerators[..., order], 0.0) + self.top_weight
            below *= self.denominators[..., order] + self.top_weight
        below += below == 0  # a text without a token, or tiny weights whose products are 0
        brevity = log_brevity_penalty(self.hyp_len, self.ref_len + 1.0 if smooth_brevity else self.ref_len)
        scores = ROOTS[self.max_order](product / below) * np.exp(brevity)
        defined = self.valid & ((self.hyp_len > 0) | (self.ref_len > 0))
        return np.where(defined, scores, np.nan)


def orders_of(packed: Floats) -> int:
    """Return N of `SegmentStatistics.packed`."""
    return int(packed.shape[-1]) // 2 - 1


def fill_packed(
    packed: Floats, hyp_len: Floats | Ints, ref_len: Floats, numerators: Floats, denominators: Floats
) -> None:
    """Write statistics into ``packed``, a `SegmentStatistics.packed`, up to its order.

    Column by column: NumPy copies many rows of few numbers one row at a time.
    """
    max_order = orders_of(packed)
    packed[..., 0], packed[..., 1] = hyp_len, ref_len
    for order in range(max_order):
        packed[..., 2 + order] = numerators[..., order]
        packed[..., 2 + max_order + order] = denominators[..., order]


def _at(values: NDArray[Any], index: int | slice | NDArray[np.intp] | Bools) -> NDArray[Any]:
    """Return ``values[index]``; for rows by number `take` is ten times faster."""
    if isinstance(index, np.ndarray) and index.dtype != np.bool_:
        return values.take(index.astype(np.intp, copy=False), axis=0)
    return np.asarray(values[index])


class SummedStatistics(MetricStatistics):
    """Statistics of a corpus metric of the family; scores of segments are computed lazily."""

    def __init__(self, segments: SegmentStatistics, smoothing: str, *, without_match: bool = False) -> None:
        object.__setattr__(self, "segments", segments)
        object.__setattr__(self, "packed", segments.packed)
        object.__setattr__(self, "valid", segments.valid)
        object.__setattr__(self, "aggregate", segments.aggregate(smoothing, without_match=without_match))

    segments: SegmentStatistics

    @cached_property
    def sentence_scores(self) -> Floats:
        return self.segments.sentence_scores()


def bleu_statistics(
    table: MatchTable, reference_mask: ArrayLike | None = None, *, max_order: int | None = None
) -> SegmentStatistics:
    """Return the statistics of BLEU against the references in ``reference_mask``.

    Parameters
    ----------
    table : MatchTable
    reference_mask : (R,) bool, optional
        True for a reference to use; all by default.
    max_order : int, optional
        N; that of the table by default.

    Returns
    -------
    SegmentStatistics
        Shape (T, S). Segments without a reference in the subset are not valid.

    References
    ----------
    Papineni et al., BLEU, ACL 2002; Galley et al., ΔBLEU, ACL 2015, section 2.

    Examples
    --------
    >>> from metrics.scoring.ngrams import build_match_table
    >>> table = build_match_table([["a a b", "c"]], [["a c", "a a"], ["d"]], max_order=2)
    >>> bleu_statistics(table).packed[0]
    array([[3., 2., 2., 1., 3., 2.],
           [1., 1., 0., 0., 1., 0.]])
    >>> bleu_statistics(table, [True, False, False]).valid[0]
    array([ True, False])
    """
    n_orders = _checked_order(table, max_order)
    mask = _checked_mask(table, reference_mask)
    return table.remembered(("bleu", _key(mask)), lambda: _bleu_statistics(table, mask)).up_to(n_orders)


def _bleu_statistics(table: MatchTable, mask: Bools | None) -> SegmentStatistics:
    """Compute all orders of the table: longer n-grams are few, and another order may follow."""
    numerators = np.empty((table.hyp_len.size, table.max_order))
    for order, matches in enumerate(table.orders):
        clipped = matches.clipped
        if mask is not None:
            clipped = clipped * _reduced(np.logical_or, mask[matches.reference], matches.tiers)
        numerators[:, order] = _summed(_reduced(np.maximum, clipped, matches.cases), matches, table.hyp_len.size)
    top_weight = maximum_per_segment(table, np.ones(table.n_references) if mask is None else mask.astype(np.float64))
    return _assemble(table, mask, numerators, top_weight, 1)


def delta_bleu_statistics(
    table: MatchTable,
    weights: ArrayLike,
    reference_mask: ArrayLike | None = None,
    *,
    semantics: str = "galley2015",
    max_order: int | None = None,
    weight_scale: WeightScale | None = None,
) -> SegmentStatistics:
    """Return the statistics of ΔBLEU against the weighted references in ``reference_mask``.

    Parameters
    ----------
    table : MatchTable
    weights : (R,) float
        One per reference in the table's order (see `flat_weights`); unitless. Finite for references in the mask.
    reference_mask : (R,) bool, optional
    semantics : {"galley2015", "sacrebleu2018"}
        "galley2015", the equation of section 3: per n-gram the maximum over the references that hold it of weight times
        clipped count. "sacrebleu2018", the first author's later code: the maximum weight times the maximum count.
    max_order : int, optional
    weight_scale : WeightScale, optional
        Of the whole corpus, if these segments are a part of it.

    Returns
    -------
    SegmentStatistics
        Shape (T, S). Segments whose highest weight in the subset is <= 0 are not valid.

    References
    ----------
    Galley et al., ΔBLEU: A Discriminative Metric for Generation Tasks with Intrinsically Diverse Targets, ACL 2015, §3.

    Examples
    --------
    >>> from metrics.scoring.ngrams import build_match_table
    >>> table = build_match_table([["a a"]], [["a", "a a"]], max_order=1)
    >>> for semantics in SEMANTICS:
    ...     statistics = delta_bleu_statistics(table, [0.9, 0.5], semantics=semantics)
    ...     print(statistics.numerators.item() / statistics.weight_scale)
    1.0
    1.8
    """
    check_choice("semantics", semantics, SEMANTICS)
    n_orders = _checked_order(table, max_order)
    mask = _checked_mask(table, reference_mask)
    checked = _checked_weights(table, weights, mask)
    scale = weight_scale.scale if weight_scale else _exact_scale(checked)
    key = ("delta_bleu", semantics, _key(mask), scale, checked.tobytes())
    return table.remembered(key, lambda: _delta_statistics(table, checked, mask, semantics, scale)).up_to(n_orders)


def _delta_statistics(
    table: MatchTable, weights: Floats, mask: Bools | None, semantics: str, scale: int
) -> SegmentStatistics:
    scaled = weights if scale == 1 else np.rint(weights * scale)
    # The maximum of an n-gram that only references outside the subset hold stays -inf: no match, contributes 0.
    masked = scaled if mask is None else np.where(mask, scaled, -np.inf)
    numerators = np.empty((table.hyp_len.size, table.max_order))
    for order, matches in enumerate(table.orders):
        weight = _reduced(np.maximum, masked[matches.reference], matches.tiers)
        if semantics == "galley2015":
            best = _reduced(np.maximum, weight * matches.clipped, matches.cases)
        else:
            # The count is at least 1: n-grams without a match stay -inf.
            clipped = matches.clipped if mask is None else np.where(weight == -np.inf, 1.0, matches.clipped)
            best = _reduced(np.maximum, weight, matches.cases) * _reduced(np.maximum, clipped, matches.cases)
        if mask is not None:
            best[best == -np.inf] = 0.0
        numerators[:, order] = _summed(best, matches, table.hyp_len.size)
    return _assemble(table, mask, numerators, maximum_per_segment(table, masked), scale)


def flat_weights(table: MatchTable, weights: Sequence[Sequence[float]]) -> Floats:
    """Return weights given per segment in the table's flat reference order (R,).

    Raises
    ------
    ValueError
        A segment has another number of weights than references, or a weight is no number.

    Examples
    --------
    >>> from metrics.scoring.ngrams import build_match_table
    >>> flat_weights(build_match_table([["a", "b"]], [["a", "c"], ["b"]]), [[0.9, -0.1], [0.5]])
    array([ 0.9, -0.1,  0.5])
    """
    expected = table.references_per_segment()
    if len(weights) != expected.size:
        raise ValueError(f"weights: found {len(weights)}; accepted: {expected.size}, one list per segment")
    for index, (values, count) in enumerate(zip(weights, expected.tolist(), strict=True)):
        if not isinstance(values, Sequence | np.ndarray):
            raise ValueError(f"weights[{index}]: found {values!r}; accepted: a list of numbers, one per reference")
        if len(values) != count:
            raise ValueError(f"weights[{index}]: found {len(values)} weights; accepted: {count}, one per reference")
    try:
        return np.fromiter(chain.from_iterable(weights), dtype=np.float64, count=table.n_references)
    except (TypeError, ValueError):
        index, value = next(
            (i, w) for i, values in enumerate(weights) for w in values if not isinstance(w, int | float)
        )
        raise ValueError(f"weights[{index}]: found {value!r}; accepted: numbers") from None


def _key(mask: Bools | None) -> bytes | None:
    return None if mask is None else mask.tobytes()


def _checked_order(table: MatchTable, max_order: int | None) -> int:
    if max_order is None:
        return table.max_order
    if not 1 <= max_order <= table.max_order:
        raise ValueError(f"max_order: found {max_order}; accepted: 1 to {table.max_order}, the order of the table")
    return max_order


def _checked_mask(table: MatchTable, reference_mask: ArrayLike | None) -> Bools | None:
    if reference_mask is None:
        return None
    mask = checked_mask(reference_mask, table.n_references)
    return None if mask.all() else mask


def _checked_weights(table: MatchTable, weights: ArrayLike, mask: Bools | None) -> Floats:
    values = np.asarray(weights, dtype=np.float64)
    if values.shape != (table.n_references,):
        raise ValueError(f"weights: found shape {values.shape}; accepted: ({table.n_references},), one per reference")
    bad = ~np.isfinite(values) if mask is None else ~np.isfinite(values) & mask
    if bad.any():
        index = int(np.flatnonzero(bad)[0])
        segment = int(table.reference_segment[index])
        raise ValueError(
            f"weights: found {values[index]} for reference {index - table.reference_offsets[segment]} of segment "
            f"{segment}; accepted: finite numbers for every reference in the subset"
        )
    return values if mask is None else np.where(mask, values, 0.0)


def exact_weights(weights: Floats) -> tuple[Floats, int]:
    """Scale weights to whole numbers, if one of the scales does: sums and ties are then exact.

    Parameters
    ----------
    weights : (R,) float
        Finite.

    Returns
    -------
    weights : (R,) float
        Multiplied by the scale; whole numbers unless that is 1.
    scale : int
        The first of `EXACT_SCALES` that makes them whole to nine decimals, else 1.

    Examples
    --------
    >>> exact_weights(np.array([0.1 + 0.2, -0.4]))
    (array([ 3., -4.]), 10)
    """
    scale = _exact_scale(weights)
    return (weights, 1) if scale == 1 else (np.rint(weights * scale), scale)


@dataclass(frozen=True)
class WeightScale(CorpusState):
    """Which of the `EXACT_SCALES` make all weights whole numbers."""

    fitting: tuple[int, ...]

    @property
    def scale(self) -> int:
        return self.fitting[0] if self.fitting else 1

    def joined(self, other: WeightScale) -> WeightScale:
        return WeightScale(tuple(scale for scale in self.fitting if scale in other.fitting))


def weight_scales(weights: ArrayLike, reference_mask: ArrayLike | None = None) -> WeightScale:
    """Return the scales of the weights (R,) in ``reference_mask``."""
    values = np.asarray(weights, dtype=np.float64)
    return WeightScale(tuple(_fitting(values[checked_mask(reference_mask, values.size)])))


def _exact_scale(weights: Floats) -> int:
    return next(_fitting(weights), 1)


def _fitting(weights: Floats) -> Iterator[int]:
    for scale in EXACT_SCALES:
        if _is_whole(weights[:FIRST], scale) and _is_whole(weights, scale):
            yield scale


def _is_whole(weights: Floats, scale: int) -> bool:
    scaled = weights * scale
    return bool((np.abs(scaled - np.rint(scaled)) <= 1e-9 * scale).all())


def _reduced(ufunc: np.ufunc, values: Floats | Bools, starts: Ints) -> Floats:
    """Reduce the values from each start to the next."""
    return np.asarray(ufunc.reduceat(values, starts)) if starts.size else np.empty(0)


def _summed(values: Floats, matches: OrderMatches, n_hypotheses: int) -> Floats:
    """Return (H,) sums over the n-grams of each hypothesis of values (U,) of their cases."""
    # bincount of nothing returns integers, hence astype.
    summed = np.bincount(matches.hypothesis, weights=values[matches.case], minlength=n_hypotheses)
    return summed.astype(np.float64, copy=False)


def maximum_per_segment(table: MatchTable, values: Floats) -> Floats:
    """Return the maximum (S,) over each segment's references; -inf if it has none."""
    maxima = np.full(table.n_segments, -np.inf)
    filled = np.flatnonzero(table.references_per_segment())
    if filled.size:
        maxima[filled] = np.maximum.reduceat(values, table.reference_offsets[filled])
    return maxima


def _closest_reference_length(table: MatchTable, mask: Bools | None) -> Floats:
    """Return the length (H,) of the closest reference of the subset, ties to the shorter; 0 if it is empty."""
    lengths = np.zeros(table.hyp_len.size)
    pairs = table.lengths
    if pairs.starts.size:
        key = pairs.key if mask is None else np.where(mask[pairs.reference], pairs.key, np.iinfo(np.int64).max)
        lengths[pairs.hypothesis] = np.minimum.reduceat(key, pairs.starts) % pairs.radix
    return lengths


def closest_lengths(table: MatchTable, mask: Bools | None) -> Floats:
    """Return the lengths (H,) of the closest references in a mask; None stands for all references."""
    return table.remembered(("closest", _key(mask)), lambda: _closest_reference_length(table, mask))


def _assemble(
    table: MatchTable, mask: Bools | None, numerators: Floats, top_weight: Floats, weight_scale: int
) -> SegmentStatistics:
    valid = top_weight > 0
    weight = np.where(valid, top_weight, 0.0)
    n_grams = np.maximum(table.hyp_len[:, None] - np.arange(table.max_order), 0)
    # max_j w_ij times the n-grams of the hypothesis: the denominator of section 3; with weight 1, BLEU's.
    denominators = weight[table.row_segment][:, None] * n_grams
    closest = closest_lengths(table, mask)
    packed = np.empty((table.hyp_len.size, 2 + 2 * table.max_order))
    fill_packed(packed, table.hyp_len, closest, numerators, denominators)
    if not valid.all():
        packed[~valid[table.row_segment]] = 0.0
    return SegmentStatistics.of_segments(_at(packed, table.rows), weight, valid, weight_scale)
