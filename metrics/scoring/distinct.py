"""distinct-n: how many of the n-grams of a system's whole output are different ones.

    distinct-n = different n-grams / n-grams        (``over="n-grams"``)
    distinct-n = different n-grams / tokens         (``over="tokens"``, as printed in the paper)

Li, Galley, Brockett, Gao, Dolan, A Diversity-Promoting Objective Function for Neural Conversation Models, NAACL 2016,
section 5: "the number of distinct unigrams and bigrams", "scaled by total number of generated tokens". For n = 1 both
forms are the same.

Range [0, 1]. A segment's score is that of its output alone. Undefined (NaN) where there is no n-gram to count. The
score of a system falls with the number of its outputs, because words come again: compare systems on the same segments
only.
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
    """distinct-n; see the module for formula and source."""

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
        """A system's score is of the pool of its outputs; no reference and no weight is read."""
        taken_off = self.order - 1 if self.over == NGRAMS else 0
        below = np.maximum(prepared.length - taken_off, 0)
        _, row, _ = row_tallies(prepared.orders[self.order - 1], np.arange(below.size))
        rows = _ratio(np.bincount(row, minlength=below.size), below)

        def score(count: Ints, n_ngrams: Ints, n_tokens: int) -> float:
            total = (count * n_ngrams).sum() if self.over == NGRAMS else n_tokens
            return float(_ratio(n_ngrams.sum(), np.array(total)))

        return spectrum_statistics(prepared, self.order, rows, score, state)


def _ratio(different: Ints, total: Ints) -> Floats:
    return np.where(total > 0, different / np.maximum(total, 1), np.nan)
