"""distinct-n: the share of distinct n-grams in a system's whole output.

    distinct-n = distinct n-grams / n-grams        (``over="n-grams"``)
    distinct-n = distinct n-grams / tokens         (``over="tokens"``, as printed in the paper)

NaN without n-grams. The score falls with the number of outputs: compare systems on the same segments.

Li, Galley, Brockett, Gao, Dolan, A Diversity-Promoting Objective Function for Neural Conversation Models, NAACL 2016,
section 5: "the number of distinct unigrams and bigrams", "scaled by total number of generated tokens".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.arrays import Floats, Ints
from metrics.scoring.metric import PooledStatistics
from metrics.scoring.parameters import choice
from metrics.scoring.text_ngrams import SpectrumMetric, TextNgrams, row_tallies, spectrum_statistics

NGRAMS, TOKENS = "n-grams", "tokens"


@dataclass(frozen=True)
class Distinct(SpectrumMetric):
    """distinct-n."""

    name: ClassVar[str] = "distinct"
    label: ClassVar[str] = "distinct-n"
    summary: ClassVar[str] = "How many of a system's n-grams are different ones: diversity, not quality."

    over: str = choice(
        NGRAMS,
        (NGRAMS, TOKENS),
        label="Divided by the number of",
        key="over",
        hint="tokens: as the paper prints it, never quite 1 for n above 1; n-grams: 1 where none comes twice.",
    )

    def statistics(
        self,
        prepared: TextNgrams,
        *,
        weights: ArrayLike | None = None,
        reference_mask: ArrayLike | None = None,
        state: Any = None,
    ) -> PooledStatistics:
        below = np.maximum(prepared.length - (self.order - 1 if self.over == NGRAMS else 0), 0)
        _, row, _ = row_tallies(prepared.orders[self.order - 1], np.arange(below.size))
        rows = _ratio(np.bincount(row, minlength=below.size), below)

        def score(count: Ints, n_ngrams: Ints, n_tokens: int) -> float:
            total = (count * n_ngrams).sum() if self.over == NGRAMS else n_tokens
            return float(_ratio(n_ngrams.sum(), np.array(total)))

        return spectrum_statistics(prepared, self.order, rows, score, state)


def _ratio(different: Ints, total: Ints) -> Floats:
    return np.where(total > 0, different / np.maximum(total, 1), np.nan)
