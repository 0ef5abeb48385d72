"""Aggregates: from sums of sufficient statistics to scores, over any leading axes.

An aggregate is a frozen value, stored as its `parameters` and rebuilt by `aggregate_from`, so that stored sums can be
scored again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.arrays import Bools, Floats
from metrics.scoring.texts import check_choice, check_order

SMOOTHINGS = ("none", "exp", "add-one")

# sacrebleu's value for an empty precision, recall or F with ``eps_smoothing``.
EPSILON = 1e-16


@dataclass(frozen=True)
class Aggregate(ABC):
    """Sums (..., D) to scores (...)."""

    kind: ClassVar[str]

    @property
    @abstractmethod
    def width(self) -> int:
        """D, the number of statistics."""

    @abstractmethod
    def __call__(self, sums: ArrayLike) -> Floats: ...

    def clamped(self, sums: ArrayLike) -> Bools:
        """Return which scores are 0 only because a numerator <= 0 has no logarithm."""
        return np.zeros(self._checked(sums).shape[:-1], dtype=bool)

    def parameters(self) -> dict[str, Any]:
        return {"kind": self.kind, **asdict(self)}

    def _checked(self, sums: ArrayLike) -> Floats:
        array = np.asarray(sums, dtype=np.float64)
        if array.ndim == 0 or array.shape[-1] != self.width:
            raise ValueError(f"sums: found shape {array.shape}; accepted: {self.width} statistics along the last axis")
        return array


@dataclass(frozen=True)
class BleuAggregate(Aggregate):
    """BLEU or ΔBLEU from summed statistics: [hyp_len, ref_len, numerators (N), denominators (N)].

    Parameters
    ----------
    max_order : int
        N, 1 to 4.
    smoothing : {"none", "exp", "add-one"}
        "none": an order whose numerator is <= 0 counts as precision 0, which makes the score 0. "exp": the k-th such
        order has precision 1 / (2^k denominator), as sacrebleu's `exp`; a negative numerator is clamped to 0 first,
        and where no order matches at all the score is 0, unless ``without_match``. "add-one": one added to numerator
        and denominator of n >= 2.
    weight_scale : int
        Factor of the numerators and denominators (10 for weights in whole tenths).
    without_match : bool
        "exp" also smooths where no order matches, as sacrebleu did in 2018.

    Notes
    -----
    Sums without any token on either side (no segment, or only empty texts) have no score: NaN; sacrebleu says 0.
    Otherwise this is its BLEU to rounding, "add-one" being its `add-k` with k = 1.

    Examples
    --------
    >>> score = BleuAggregate(max_order=2)
    >>> score([[10, 12, 8, 4, 10, 8], [10, 12, 8, -1, 10, 8]]).round(4)
    array([0.5178, 0.    ])
    >>> score.clamped([[10, 12, 8, 4, 10, 8], [10, 12, 8, -1, 10, 8]])
    array([False,  True])
    """

    kind: ClassVar[str] = "bleu"
    max_order: int = 2
    smoothing: str = "none"
    weight_scale: int = 1
    without_match: bool = False

    def __post_init__(self) -> None:
        check_order(self.max_order)
        check_choice("smoothing", self.smoothing, SMOOTHINGS)

    @property
    def width(self) -> int:
        return 2 + 2 * self.max_order

    def __call__(self, sums: ArrayLike) -> Floats:
        sums = self._checked(sums)
        numerators, denominators = self.smoothed(sums)
        product = over_orders(numerators)
        positive = (numerators > 0).all(axis=-1) & (product > 0)  # tiny weights underflow
        # One logarithm of the product instead of N: aggregates run over millions of units in a study.
        numerator = np.where(positive, product, 1.0)
        denominator = np.where(positive, over_orders(denominators), 1.0)
        log_mean = np.log(numerator / denominator) / self.max_order
        hyp_len, ref_len = sums[..., 0], sums[..., 1]
        scores = np.where(positive, np.exp(log_mean + log_brevity_penalty(hyp_len, ref_len)), 0.0)
        return np.where((hyp_len == 0) & (ref_len == 0), np.nan, scores)

    def clamped(self, sums: ArrayLike) -> Bools:
        return np.asarray(self.clamped_orders(sums).any(axis=-1))

    def clamped_orders(self, sums: ArrayLike) -> Bools:
        """Return the orders (..., N) whose numerator is <= 0 before smoothing: their precision counts as 0."""
        clamped: Bools = self._checked(sums)[..., 2 : 2 + self.max_order] <= 0
        return clamped

    def precisions(self, sums: ArrayLike) -> Floats:
        """Return p_1..p_N (..., N), smoothed, in [0, 1]; 0 for an order that is clamped or has no n-grams."""
        numerators, denominators = self.smoothed(self._checked(sums))
        return np.maximum(numerators, 0) / np.where(denominators > 0, denominators, 1)

    def smoothed(self, sums: Floats) -> tuple[Floats, Floats]:
        """Return numerators and denominators (..., N) after smoothing."""
        numerators = sums[..., 2 : 2 + self.max_order]
        denominators = sums[..., 2 + self.max_order :]
        if self.smoothing == "add-one":
            added = np.where(np.arange(self.max_order) > 0, self.weight_scale, 0)
            # Without any match nothing is smoothed: p_1 = 0 makes the score 0.
            return np.maximum(numerators, 0) + added, denominators + added
        if self.smoothing == "exp":
            zero = (numerators <= 0) & (denominators > 0)
            halvings = np.where(zero, 0.5 ** np.cumsum(zero, axis=-1), 0.0) * self.weight_scale
            smooths = self.without_match | (numerators > 0).any(axis=-1, keepdims=True)
            numerators = np.where(zero & smooths, halvings, numerators)
        return numerators, denominators


@dataclass(frozen=True)
class MeanAggregate(Aggregate):
    """The mean of segment scores from [sum of scores, number of scored segments]; NaN if none is scored.

    Examples
    --------
    >>> MeanAggregate()([[1.5, 3.0], [0.0, 0.0]])
    array([0.5, nan])
    """

    kind: ClassVar[str] = "mean"

    @property
    def width(self) -> int:
        return 2

    def __call__(self, sums: ArrayLike) -> Floats:
        sums = self._checked(sums)
        count = sums[..., 1]
        return np.where(count > 0, sums[..., 0] / np.where(count > 0, count, 1), np.nan)


@dataclass(frozen=True)
class IBleuAggregate(Aggregate):
    """iBLEU from summed statistics of BLEU against the references, then of BLEU against the sources.

    Parameters
    ----------
    max_order, smoothing
        As in `BleuAggregate`.
    alpha : float
        In [0, 1]: alpha * BLEU(references) - (1 - alpha) * BLEU(sources).

    Notes
    -----
    Without any token in hypotheses and sources nothing was copied: that BLEU counts as 0. Without any in hypotheses and
    references there is no score.

    Examples
    --------
    >>> IBleuAggregate(max_order=1, alpha=0.75)([4, 4, 2, 4, 4, 4, 4, 4])
    array(0.125)
    """

    kind: ClassVar[str] = "ibleu"
    max_order: int = 2
    smoothing: str = "none"
    alpha: float = 0.9

    def __post_init__(self) -> None:
        BleuAggregate(self.max_order, self.smoothing)  # checks them

    @property
    def bleu(self) -> BleuAggregate:
        return BleuAggregate(self.max_order, self.smoothing)

    @property
    def width(self) -> int:
        return 2 * self.bleu.width

    def __call__(self, sums: ArrayLike) -> Floats:
        references, sources = np.split(self._checked(sums), 2, axis=-1)
        return np.asarray(self.alpha * self.bleu(references) - (1 - self.alpha) * np.nan_to_num(self.bleu(sources)))

    def clamped(self, sums: ArrayLike) -> Bools:
        return np.asarray(self.clamped_orders(sums).any(axis=-1))

    def clamped_orders(self, sums: ArrayLike) -> Bools:
        """Return those of the BLEU against the references."""
        return self.bleu.clamped_orders(self._checked(sums)[..., : self.bleu.width])


@dataclass(frozen=True)
class ChrfAggregate(Aggregate):
    """chrF from summed counts: [hypothesis, reference, match] of each order, D = 3 * orders.

    Parameters
    ----------
    orders : int
        Character and word orders together.
    beta : float
        How many times as much recall weighs as precision.
    eps_smoothing : bool
        The mean over all orders of each order's F, a tiny number for empty ones; otherwise the F of mean precision and
        recall over the orders that have n-grams on both sides.

    Examples
    --------
    >>> score = ChrfAggregate(orders=2)
    >>> score([[4, 5, 3, 3, 4, 1], [0, 0, 0, 0, 0, 0]]).round(4)
    array([0.4441,    nan])
    """

    kind: ClassVar[str] = "chrf"
    orders: int = 6
    beta: float = 2
    eps_smoothing: bool = False

    @property
    def width(self) -> int:
        return 3 * self.orders

    def __call__(self, sums: ArrayLike) -> Floats:
        sums = self._checked(sums)
        return np.where(sums.any(axis=-1), self.percent(sums) / 100, np.nan)

    def percent(self, sums: Floats) -> Floats:
        """Return F times 100, or 0 without n-grams: sacrebleu's score.

        The order of its operations is kept: which reference is best can depend on the last digit.
        """
        hypothesis, reference, match = np.moveaxis(sums.reshape(*sums.shape[:-1], self.orders, 3), -1, 0)
        empty = EPSILON if self.eps_smoothing else 0.0
        precision = np.where(hypothesis > 0, match / np.maximum(hypothesis, 1), empty)
        recall = np.where(reference > 0, match / np.maximum(reference, 1), empty)
        factor = self.beta**2
        if self.eps_smoothing:
            return np.asarray(100 * _in_turn(_f_score(precision, recall, factor, EPSILON)) / self.orders)
        used = (hypothesis > 0) & (reference > 0)
        effective = np.maximum(used.sum(axis=-1), 1)
        return 100 * _f_score(
            _in_turn(np.where(used, precision, 0.0)) / effective,
            _in_turn(np.where(used, recall, 0.0)) / effective,
            factor,
            0.0,
        )


@dataclass(frozen=True)
class TerAggregate(Aggregate):
    """TER from summed [edits, reference length]; 1 for edits against no words, NaN without any words.

    Examples
    --------
    >>> TerAggregate()([[3, 12], [2, 0], [0, 0]])
    array([0.25, 1.  ,  nan])
    """

    kind: ClassVar[str] = "ter"

    @property
    def width(self) -> int:
        return 2

    def __call__(self, sums: ArrayLike) -> Floats:
        edits, length = np.moveaxis(self._checked(sums), -1, 0)
        rate = edits / np.where(length > 0, length, 1.0)
        return np.where(length > 0, rate, np.where(edits > 0, 1.0, np.nan))


@dataclass(frozen=True)
class MeteorAggregate(Aggregate):
    """METEOR from summed statistics, in the order of the jar's own lines.

    The 23 statistics: words of hypothesis and reference; function words of both; for the matchers exact, stem, synonym
    and paraphrase, in turn, matched content words of both and matched function words of both; chunks; matched words of
    both. Before summing, the chunks of a segment in which all words match in one chunk are set to 0 (`without_whole`).

    Parameters
    ----------
    alpha, beta, gamma, delta : float
        Weight of recall in the mean, exponent and weight of fragmentation, weight of content words against function
        words. As tuned for English.
    matchers : tuple of 4 float
        Weights of the matchers.

    Notes
    -----
    Sums without any word on either side have no score: NaN; the jar says 0. Otherwise this is its score.

    References
    ----------
    Denkowski & Lavie, Meteor Universal: Language Specific Translation Evaluation for Any Target Language, WMT 2014, §2.

    Examples
    --------
    >>> MeteorAggregate()([3, 3, 1, 1, 2, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 3, 3]).tolist()
    1.0
    """

    kind: ClassVar[str] = "meteor"
    alpha: float = 0.85
    beta: float = 0.2
    gamma: float = 0.6
    delta: float = 0.75
    matchers: tuple[float, ...] = (1.0, 0.6, 0.8, 0.6)

    def __post_init__(self) -> None:
        object.__setattr__(self, "matchers", tuple(self.matchers))  # a list if it was read from JSON

    @property
    def width(self) -> int:
        return 23

    def __call__(self, sums: ArrayLike) -> Floats:
        sums = self.without_whole(sums)
        weighted = [self._weighted_matches(sums, side) for side in (0, 1)]
        lengths = [self.delta * (sums[..., i] - sums[..., i + 2]) + (1 - self.delta) * sums[..., i + 2] for i in (0, 1)]
        matched = (weighted[0] > 0) & (weighted[1] > 0)
        precision, recall = (
            np.where(matched, matches / np.where(matched, length, 1), 1.0)
            for matches, length in zip(weighted, lengths, strict=True)
        )
        mean = 1 / ((1 - self.alpha) / precision + self.alpha / recall)
        fragments = sums[..., 20] / np.where(matched, (sums[..., 21] + sums[..., 22]) / 2, 1.0)
        scores = np.maximum(mean * (1 - self.gamma * fragments**self.beta), 0.0)
        return np.where((sums[..., 0] == 0) & (sums[..., 1] == 0), np.nan, np.where(matched, scores, 0.0))

    def _weighted_matches(self, sums: Floats, side: int) -> Floats:
        # Summed in the jar's order, so that ties are the same.
        total = np.zeros(sums.shape[:-1])
        for weight, share in ((self.delta, 0), (1 - self.delta, 2)):
            for index, matcher in enumerate(self.matchers):
                total = total + sums[..., 4 + 4 * index + share + side] * matcher * weight
        return total

    def without_whole(self, statistics: ArrayLike) -> Floats:
        """Return statistics of segments with 0 chunks if all words match in one chunk."""
        counted = np.array(self._checked(statistics))
        whole = (counted[..., 21] == counted[..., 0]) & (counted[..., 22] == counted[..., 1]) & (counted[..., 20] == 1)
        counted[..., 20] = np.where(whole, 0.0, counted[..., 20])
        return counted

    def parameters(self) -> dict[str, Any]:
        return super().parameters() | {"matchers": list(self.matchers)}


#: By kind; packages with another kind add it here.
AGGREGATES: dict[str, Callable[..., Aggregate]] = {
    aggregate.kind: aggregate
    for aggregate in (BleuAggregate, IBleuAggregate, ChrfAggregate, TerAggregate, MeteorAggregate, MeanAggregate)
}


def aggregate_from(parameters: Mapping[str, Any]) -> Aggregate:
    """Rebuild an aggregate from what its `parameters` wrote.

    Examples
    --------
    >>> aggregate_from(BleuAggregate(max_order=4, weight_scale=10).parameters())
    BleuAggregate(max_order=4, smoothing='none', weight_scale=10, without_match=False)
    """
    check_choice("kind", parameters.get("kind"), AGGREGATES)
    return AGGREGATES[parameters["kind"]](**{name: value for name, value in parameters.items() if name != "kind"})


def over_orders(values: Floats) -> Floats:
    """Return the product along the last axis, which is short: slices are several times faster than `prod`."""
    product = values[..., 0].copy()
    for order in range(1, values.shape[-1]):
        product *= values[..., order]
    return product


def log_brevity_penalty(hyp_len: Floats, ref_len: Floats) -> Floats:
    """Return min(0, 1 - ref_len / hyp_len); -inf for an empty hypothesis and a non-empty reference.

    The prose under equation 2 of Galley et al. (2015) swaps the names of the two lengths; this is Papineni et al.'s.
    """
    empty = hyp_len == 0
    penalty = np.minimum(0.0, 1.0 - ref_len / np.where(empty, 1, hyp_len))
    return np.where(empty & (ref_len > 0), -np.inf, penalty)


def _f_score(precision: Floats, recall: Floats, factor: float, empty: float) -> Floats:
    below = factor * precision + recall
    return np.where(below > 0, (1 + factor) * precision * recall / np.where(below > 0, below, 1.0), empty)


def _in_turn(values: Floats) -> Floats:
    """Sum over the last axis from left to right; NumPy's sum has another order."""
    return np.asarray(sum(np.moveaxis(values, -1, 0)))
