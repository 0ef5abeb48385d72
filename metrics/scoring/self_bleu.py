"""Self-BLEU: how much a system's outputs repeat each other.

    self-BLEU = mean over outputs h_i of BLEU(h_i, all other outputs of the system as references)

Zhu, Lu, Zheng, Guo, Zhang, Wang, Yu, Texygen: A Benchmarking Platform for Text Generation Models, SIGIR 2018.

BLEU of one output: clipped precisions of n = 1..N, averaged geometrically, times the brevity penalty for the closest
length (of equally close ones the shorter). ``smoothing="epsilon"`` is that of Texygen's code (NLTK's method 1): an
order without a match counts 0.1 matches. "add-one" is BLEU+1. An output that shares no word with any other scores 0.

Range [0, 1]; lower is more diverse. Undefined (NaN) for an output without a token, and where there is no other output.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.aggregates import log_brevity_penalty
from metrics.scoring.metric import Floats, Ints, Metric, PooledStatistics
from metrics.scoring.parameters import choice, flag, whole
from metrics.scoring.text_ngrams import (
    NumberedNgrams,
    TextNgrams,
    TextPreparation,
    by_system,
    pooled_statistics,
    row_tallies,
)
from metrics.scoring.texts import TOKENIZERS, check_choice

SMOOTHINGS = ("epsilon", "add-one", "none")

# Chen and Cherry, A Systematic Comparison of Smoothing Techniques for Sentence-Level BLEU, WMT 2014: NLTK's default.
EPSILON = 0.1


@dataclass(frozen=True)
class SelfBleu(Metric):
    """Self-BLEU; see the module for formula and source."""

    name: ClassVar[str] = "self_bleu"
    label: ClassVar[str] = "Self-BLEU"
    summary: ClassVar[str] = "How much a system's outputs repeat each other: lower is more diverse, not better."
    group: ClassVar[str] = "text"
    needs_references: ClassVar[bool] = False
    judges_quality: ClassVar[bool] = False
    pools: ClassVar[bool] = True
    higher_is_better: ClassVar[bool] = False

    max_order: int = whole(4, low=1, high=5, label="Longest n-gram", key="order")
    tokenize: str = choice("none", TOKENIZERS, label="Tokeniser", key="tok")
    lowercase: bool = flag(False, label="Lowercase first", key="lc")
    smoothing: str = choice("epsilon", SMOOTHINGS, label="Smoothing of an order without a match", key="smooth")

    def preparation(self) -> TextPreparation:
        return TextPreparation(self.tokenize, self.lowercase, self.max_order)

    def statistics(
        self,
        prepared: TextNgrams,
        *,
        weights: ArrayLike | None = None,
        reference_mask: ArrayLike | None = None,
        state: Any = None,
    ) -> PooledStatistics:
        """An output is compared with all others of its system; no reference and no weight is read."""
        orders = prepared.orders[: self.max_order]

        def scores(own: Ints) -> Floats:
            return scores_against_others(orders, prepared.length, own, smoothing=self.smoothing)

        def pool(own: Ints) -> float:
            found = scores(own)
            found = found[~np.isnan(found)]
            return float(found.mean()) if found.size else float("nan")

        return pooled_statistics(np.stack([scores(own) for own in prepared.rows]), by_system(prepared, pool))


def scores_against_others(
    orders: tuple[NumberedNgrams, ...], length: Ints, rows: Ints, *, smoothing: str = "epsilon"
) -> Floats:
    """BLEU of each output against all others, in time that grows with the number of n-grams, not with its square.

    The largest count of an n-gram among the others is the largest of all, or the second largest for the one output that
    alone holds the largest: no pair of outputs is looked at.

    Parameters
    ----------
    orders : tuple of N NumberedNgrams
    length : (H,) int
        Tokens of each row.
    rows : (S,) int
        The outputs; one that is named twice is two equal outputs.
    smoothing : {"epsilon", "add-one", "none"}

    Returns
    -------
    (S,) float
        In [0, 1]; NaN for an empty output, and for all where there are fewer than two.
    """
    check_choice("smoothing", smoothing, SMOOTHINGS)
    own = length[rows]
    if rows.size < 2:
        return np.full(rows.size, np.nan)
    log_sum = np.zeros(rows.size)
    positive = np.ones(rows.size, dtype=bool)
    for order, ngrams in enumerate(orders, start=1):
        numerator = _clipped_by_others(ngrams, rows)
        denominator = np.maximum(own - order + 1, 0).astype(np.float64)
        if order == 1 or smoothing == "none":
            positive &= numerator > 0
        elif smoothing == "add-one":
            numerator, denominator = numerator + 1, denominator + 1
        else:
            numerator = np.where(numerator > 0, numerator, EPSILON)
        # An output too short for the order has no n-gram of it: NLTK divides by 1 then.
        log_sum += np.log(np.where(positive, numerator, 1.0) / np.maximum(denominator, 1.0))
    brevity = log_brevity_penalty(own.astype(np.float64), _closest_other(own).astype(np.float64))
    scores = np.where(positive, np.exp(log_sum / len(orders) + brevity), 0.0)
    return np.where(own > 0, scores, np.nan)


def _clipped_by_others(ngrams: NumberedNgrams, rows: Ints) -> Floats:
    """(S,) n-grams of each output, each counted up to its largest count in any other output."""
    gram, place, count = row_tallies(ngrams, rows)
    if not gram.size:
        return np.zeros(rows.size)
    begins = np.concatenate(([True], gram[1:] != gram[:-1]))
    first, group = np.flatnonzero(begins), np.cumsum(begins) - 1
    largest = np.maximum.reduceat(count, first)[group]
    holds = count == largest
    alone = holds & (np.add.reduceat(holds.astype(np.int64), first)[group] == 1)
    second = np.maximum.reduceat(np.where(holds, 0, count), first)[group]
    clipped = np.minimum(count, np.where(alone, second, largest))
    return np.bincount(place, weights=clipped, minlength=rows.size).astype(np.float64)


def _closest_other(length: Ints) -> Ints:
    """(S,) the closest length among the other outputs, of equally close ones the shorter; S >= 2.

    Examples
    --------
    >>> _closest_other(np.array([3, 5, 3, 7])).tolist()
    [3, 3, 3, 5]
    """
    known, own, counts = np.unique(length, return_inverse=True, return_counts=True)
    far = 2 * int(known[-1]) + 1
    padded = np.concatenate(([-far], known, [known[-1] + far]))
    shorter, longer = padded[own], padded[own + 2]
    closest = np.where(length - shorter <= longer - length, shorter, longer)
    return np.where(counts[own] > 1, length, closest)
