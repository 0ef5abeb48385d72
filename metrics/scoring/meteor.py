"""METEOR 1.5: words aligned to a reference's by form, stem, synonym and paraphrase, then counted and put in order.

With P and R the shares of the hypothesis's and the reference's words that are matched, weighted by matcher (exact 1,
stem 0.6, synonym 0.8, paraphrase 0.6) and by kind of word (content delta, function 1 - delta), m the matched words
(mean of both sides), and c the fewest chunks of matched words that stand together in the same order in both texts
(Denkowski & Lavie 2014, §2):

    F = P R / (alpha P + (1 - alpha) R)      METEOR = F * (1 - gamma * (c / m)^beta)

with alpha 0.85, beta 0.2, gamma 0.6, delta 0.75 for English. Where all words match in one chunk, c counts as 0.

The alignment is by the authors' own program, METEOR 1.5, which pycocoevalcap brings and Java runs, called as
pycocoevalcap and nlg-eval call it (``-l en -norm``): METEOR tokenises and lowercases by itself, so neither is a
parameter here. English is the one language whose paraphrases come with it. Formula and sums are computed here, equal to
the program's, so that a choice of references or segments does not need it again: each hypothesis is aligned to each
reference once; for a subset the reference with the best score is taken, the first of equal ones; a system's score comes
from the sums of its segments' statistics, and is not the mean of their scores.

Range 0 to 1; 1 is reached by a text against itself. Undefined (NaN, the segment does not count): no reference in the
subset, or neither the hypothesis nor any reference of the subset has a word, where the program says 0. One empty side
gives 0.

The program's search grows with the square of a text's length: two texts of a thousand words take it ten seconds or
more. `MeteorJar.timeout` ends a hopeless one.

Michael Denkowski, Alon Lavie, Meteor Universal: Language Specific Translation Evaluation for Any Target Language,
Workshop on Statistical Machine Translation 2014.
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

LANGUAGES = ("en",)


@dataclass(frozen=True, eq=False)
class Alignments:
    """What METEOR's program says of each pair.

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
        hypotheses, references = (list(map(as_string, own)) for own in (segments.row_texts, segments.reference_texts))
        with MeteorJar() as jar:
            statistics = align_pairs(jar, segments.pairs, hypotheses, references)
        return Alignments(segments.rows, segments.pairs, statistics)


def align_pairs(jar: MeteorJar, pairs: Pairs, hypotheses: list[str], references: list[str]) -> Floats:
    """(P, 23) statistics of each pair; equal pairs of texts are asked about once."""
    texts = list(pairs.items(hypotheses, references))
    place = {pair: index for index, pair in enumerate(dict.fromkeys(texts))}
    return jar.statistics(place)[[place[pair] for pair in texts]]


@dataclass(frozen=True)
class Meteor(Metric):
    """METEOR 1.5 as its authors' program computes it; see the module for formula, sources and what is undefined."""

    name: ClassVar[str] = "meteor"
    label: ClassVar[str] = "METEOR"
    summary: ClassVar[str] = (
        "How many words match a reference in form, stem or sense, and how well they keep its order."
    )
    slow: ClassVar[str] = "METEOR's program is started for it, which takes a second or two."

    language: str = choice("en", LANGUAGES, label="Language", key="lang")

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
        """Statistics (T, S, 23); ``weights`` is not read."""
        aggregate, pairs, rows = MeteorAggregate(), prepared.pairs, prepared.rows
        scores = aggregate(prepared.statistics)
        # The program gives nothing against nothing 0, and would choose such a pair where it comes first.
        by_program = np.nan_to_num(scores)
        best = pairs.arg_best(by_program, reference_mask)
        valid = ~np.isnan(pairs.best(scores, reference_mask))
        packed = np.zeros((pairs.n_rows, aggregate.width))
        packed[valid] = aggregate.without_whole(prepared.statistics[best[valid]])
        best_scores = np.full(pairs.n_rows, np.nan)
        best_scores[valid] = by_program[best[valid]]
        return MetricStatistics(packed[rows], valid[rows], best_scores[rows], aggregate)
