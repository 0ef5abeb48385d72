"""Length of outputs: the baseline that a metric should beat, and what it should not merely repeat.

    length = mean over segments of the tokens (or characters) of the output

Tokens are those of the tokeniser; characters are Unicode code points of the text without the space at its ends, before
any tokeniser (tokens given as such are joined by spaces).

Range [0, inf); an empty output has length 0. Longer is not better: which direction goes with quality differs between
data sets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.scoring.metric import Metric, MetricStatistics, Preparation, mean_statistics
from metrics.scoring.models.store import ModelStore
from metrics.scoring.parameters import choice
from metrics.scoring.segments import Segments
from metrics.scoring.texts import TOKENIZERS, as_string, tokenize_texts

TOKENS, CHARACTERS = "tokens", "characters"


@dataclass(frozen=True)
class LengthPreparation(Preparation):
    """Lengths (T, S)."""

    unit: str
    tokenize: str

    def __call__(self, segments: Segments, models: ModelStore) -> NDArray[np.float64]:
        if self.unit == CHARACTERS:
            lengths = [len(as_string(text).strip()) for text in segments.row_texts]
        else:
            tokens = tokenize_texts(segments.row_texts, tokenize=self.tokenize, where=segments.row_name)
            lengths = list(map(len, tokens))
        return np.array(lengths, dtype=np.float64)[segments.rows]


@dataclass(frozen=True)
class Length(Metric):
    """Mean length of outputs; see the module for what is counted."""

    name: ClassVar[str] = "length"
    label: ClassVar[str] = "Length"
    summary: ClassVar[str] = "How long the outputs are: a baseline, not a measure of quality."
    group: ClassVar[str] = "text"
    needs_references: ClassVar[bool] = False
    judges_quality: ClassVar[bool] = False
    high: ClassVar[float] = math.inf

    unit: str = choice(TOKENS, (TOKENS, CHARACTERS), label="Counted in", key="unit")
    tokenize: str = choice("none", TOKENIZERS, label="Tokeniser", key="tok", hint="Of tokens; characters have none.")

    def preparation(self) -> LengthPreparation:
        return LengthPreparation(self.unit, self.tokenize)

    def statistics(
        self,
        prepared: NDArray[np.float64],
        *,
        weights: ArrayLike | None = None,
        reference_mask: ArrayLike | None = None,
        state: Any = None,
    ) -> MetricStatistics:
        """The mean over segments; no reference and no weight is read."""
        return mean_statistics(prepared)
