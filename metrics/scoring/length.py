"""Length of outputs in tokens or characters: the baseline that a metric should beat.

Characters are Unicode code points of the text without the space at its ends; tokens given as such are joined by spaces.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.arrays import Floats
from metrics.scoring.metric import MeanMetric, Preparation
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

    def __call__(self, segments: Segments, models: ModelStore) -> Floats:
        if self.unit == CHARACTERS:
            lengths = [len(as_string(text).strip()) for text in segments.row_texts]
        else:
            tokens = tokenize_texts(segments.row_texts, tokenize=self.tokenize, where=segments.row_name)
            lengths = list(map(len, tokens))
        return np.array(lengths, dtype=np.float64)[segments.rows]


@dataclass(frozen=True)
class Length(MeanMetric):
    """Mean length of outputs."""

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

    def segment_scores(self, prepared: Floats, weights: ArrayLike | None, reference_mask: ArrayLike | None) -> Floats:
        return prepared
