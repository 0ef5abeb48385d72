"""Ent-n: Shannon entropy of the n-grams of a system's whole output.

    Ent-n = - sum over n-grams g of  F(g) / N  log(F(g) / N),    N = sum of F

with F(g) how often g occurs in the output. NaN without n-grams. It grows with the amount of text: compare systems on
the same segments.

Zhang, Galley, Gao, Gan, Li, Brockett, Dolan, Generating Informative and Diverse Conversational Responses via
Adversarial Information Maximization, NeurIPS 2018, metric Ent-n (n = 4; their code takes the natural logarithm).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.arrays import Floats, Ints
from metrics.scoring.metric import PooledStatistics
from metrics.scoring.parameters import choice, whole
from metrics.scoring.text_ngrams import SpectrumMetric, TextNgrams, row_tallies, spectrum_statistics

BASES = {"e": 1.0, "2": math.log(2)}


@dataclass(frozen=True)
class Entropy(SpectrumMetric):
    """Ent-n."""

    name: ClassVar[str] = "entropy"
    label: ClassVar[str] = "Ent-n"
    summary: ClassVar[str] = "How evenly a system uses many different n-grams: diversity, not quality."
    high: ClassVar[float] = math.inf

    order: int = whole(4, low=1, high=4, label="Words of an n-gram", key="order")
    base: str = choice("e", tuple(BASES), label="Base of the logarithm", key="base")

    def statistics(
        self,
        prepared: TextNgrams,
        *,
        weights: ArrayLike | None = None,
        reference_mask: ArrayLike | None = None,
        state: Any = None,
    ) -> PooledStatistics:
        n_rows = prepared.length.size
        _, row, counts = row_tallies(prepared.orders[self.order - 1], np.arange(n_rows))
        rows = entropies(counts, row, n_rows) / BASES[self.base]

        def score(count: Ints, n_ngrams: Ints, n_tokens: int) -> float:
            return entropies(count, np.zeros_like(count), 1, times=n_ngrams).item() / BASES[self.base]

        return spectrum_statistics(prepared, self.order, rows, score, state)


def entropies(counts: Ints, group: Ints, n_groups: int, *, times: Ints | int = 1) -> Floats:
    """Return the entropy of the counts of each group.

    Parameters
    ----------
    counts : (M,) int
        How often each thing occurs, at least 1.
    group : (M,) int
        The group of each thing.
    times : (M,) int, optional
        How many things have this count; one by default.

    Returns
    -------
    (n_groups,) float
        In nats, in [0, log N]; NaN for a group without counts.

    Examples
    --------
    >>> entropies(np.array([1, 1, 3]), np.array([0, 0, 2]), 3).round(4)
    array([0.6931,    nan, 0.    ])
    """
    total = np.bincount(group, weights=counts * times, minlength=n_groups)
    # -sum c/N log(c/N) = log N - sum c log c / N; rounding can make it slightly negative.
    logs = np.bincount(group, weights=counts * times * np.log(counts), minlength=n_groups)
    divisor = np.where(total > 0, total, 1.0)
    return np.where(total > 0, np.maximum(np.log(divisor) - logs / divisor, 0.0), np.nan)
