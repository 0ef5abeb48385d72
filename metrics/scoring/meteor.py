"""METEOR 1.5: words aligned to a reference's by form, stem, synonym and paraphrase, then counted and put in order.

With P and R the shares of the hypothesis's and the reference's words that are matched, weighted by matcher (exact 1,
stem 0.6, synonym 0.8, paraphrase 0.6) and by kind of word (content delta, function 1 - delta), m the matched words
(mean of both sides), and c the fewest chunks of adjacent matched words in the same order in both texts:

    F = P R / (alpha P + (1 - alpha) R)      METEOR = F * (1 - gamma * (c / m)^beta)

with alpha 0.85, beta 0.2, gamma 0.6, delta 0.75 for English. If all words match in one chunk, c counts as 0.

The authors' program aligns, called as by pycocoevalcap and nlg-eval (``-l en -norm``): it tokenises and lowercases by
itself. Formula and sums are computed here, equal to the program's: a subset of references or segments does not need it
again. A segment has no score (NaN) without a reference in the subset or without a word on either side (the program says
0). Two texts of a thousand words take the program ten seconds or more; `MeteorJar.timeout` ends it.

Michael Denkowski, Alon Lavie, Meteor Universal: Language Specific Translation Evaluation for Any Target Language,
Workshop on Statistical Machine Translation 2014, §2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.aggregates import MeteorAggregate
from metrics.scoring.arrays import Floats, Ints
from metrics.scoring.meteor_jar import MeteorJar, what_is_missing
from metrics.scoring.metric import Metric, MetricStatistics, Preparation
from metrics.scoring.models.store import ModelStore
from metrics.scoring.pairs import Pairs
from metrics.scoring.parameters import choice
from metrics.scoring.segments import Segments
from metrics.scoring.texts import as_string


@dataclass(frozen=True, eq=False)
class Alignments:
    """METEOR's alignment of each pair.

    Attributes
    ----------
    rows : (T, S) int
    pairs : Pairs
    statistics : (P, 23) float
        Whole numbers; see `MeteorAggregate`.
    """

    rows: Ints
    pairs: Pairs
    statistics: Floats


@dataclass(frozen=True)
class MeteorPreparation(Preparation):
    language: str

    def __call__(self, segments: Segments, models: ModelStore) -> Alignments:
        hypotheses, references = map(as_string, segments.row_texts), map(as_string, segments.reference_texts)
        with MeteorJar() as jar:
            statistics = align_pairs(jar, segments.pairs, list(hypotheses), list(references))
        return Alignments(segments.rows, segments.pairs, statistics)


def align_pairs(jar: MeteorJar, pairs: Pairs, hypotheses: list[str], references: list[str]) -> Floats:
    """Return the statistics (P, 23) of each pair; equal pairs of texts are aligned once."""
    texts = list(pairs.items(hypotheses, references))
    number = {pair: index for index, pair in enumerate(dict.fromkeys(texts))}
    return jar.statistics(number)[[number[pair] for pair in texts]]


@dataclass(frozen=True)
class Meteor(Metric):
    """METEOR 1.5."""

    name: ClassVar[str] = "meteor"
    label: ClassVar[str] = "METEOR"
    summary: ClassVar[str] = (
        "How many words match a reference in form, stem or sense, and how well they keep its order."
    )
    ignores_case: ClassVar[bool] = True
    slow: ClassVar[str] = "METEOR's program is started for it, which takes a second or two."

    language: str = choice("en", ("en",), label="Language", key="lang")

    @classmethod
    def unavailable(cls) -> str:
        return what_is_missing()

    def preparation(self) -> MeteorPreparation:
        return MeteorPreparation(self.language)

    def statistics(
        self,
        prepared: Alignments,
        *,
        weights: ArrayLike | None = None,
        reference_mask: ArrayLike | None = None,
        state: Any = None,
    ) -> MetricStatistics:
        """Return statistics (T, S, 23); ``weights`` is not read."""
        aggregate, pairs, rows = MeteorAggregate(), prepared.pairs, prepared.rows
        scores = aggregate(prepared.statistics)
        # The program scores an empty pair 0, and may choose it.
        by_program = np.nan_to_num(scores)
        best = pairs.arg_best(by_program, reference_mask)
        valid = ~np.isnan(pairs.best(scores, reference_mask))
        packed = np.zeros((pairs.n_rows, aggregate.width))
        packed[valid] = aggregate.without_whole(prepared.statistics[best[valid]])
        best_scores = np.full(pairs.n_rows, np.nan)
        best_scores[valid] = by_program[best[valid]]
        return MetricStatistics(packed[rows], valid[rows], best_scores[rows], aggregate)
