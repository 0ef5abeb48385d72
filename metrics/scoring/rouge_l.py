"""ROUGE-L: the longest common subsequence of tokens, as F measure (Lin 2004, §3.1, equations 2 to 4).

With L its length, n and m the tokens of hypothesis and reference:

    P = L / n      R = L / m      F = (1 + beta^2) P R / (R + beta^2 P)

Over several references, ``variant="coco"`` takes the best P and the best R, perhaps of two references, then F
(pycocoevalcap and nlg-eval, hence most tables); "best_f" takes the best F (Lin 2004, §2.1; the rouge-score package). A
segment has no score (NaN) without a reference in the subset, or if neither side has a token.

Chin-Yew Lin, ROUGE: A Package for Automatic Evaluation of Summaries, Text Summarization Branches Out, ACL 2004.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.arrays import Floats, Ints
from metrics.scoring.explain.case import Column, Part, SegmentCase, SegmentExplanation
from metrics.scoring.lcs import pair_lcs
from metrics.scoring.metric import MeanMetric, Preparation
from metrics.scoring.models.store import ModelStore
from metrics.scoring.pairs import Pairs
from metrics.scoring.parameters import choice, flag, real
from metrics.scoring.segments import Segments
from metrics.scoring.texts import TOKENIZERS
from metrics.scoring.token_ids import NumberedSegments, number_segments

VARIANTS = ("coco", "best_f")


@dataclass(frozen=True, eq=False)
class SharedSubsequences:
    """Precision and recall of each pair.

    Attributes
    ----------
    rows : (T, S) int
    pairs : Pairs
    precision, recall : (P,) float
        L / n and L / m, in [0, 1]; 0 if only one of the texts has tokens, NaN if neither has.
    """

    rows: Ints
    pairs: Pairs
    precision: Floats
    recall: Floats


@dataclass(frozen=True)
class SubsequencePreparation(Preparation):
    tokenize: str
    lowercase: bool

    def __call__(self, segments: Segments, models: ModelStore) -> SharedSubsequences:
        return shared_subsequences(number_segments(segments, tokenize=self.tokenize, lowercase=self.lowercase))


def shared_subsequences(numbered: NumberedSegments) -> SharedSubsequences:
    """Return precision and recall of the longest common subsequence of every pair."""
    pairs, lcs, empty = numbered.pairs, pair_lcs(numbered), numbered.empty_pairs()

    def share(lengths: Ints) -> Floats:
        return np.where(empty, np.nan, lcs / np.maximum(lengths, 1))

    return SharedSubsequences(
        numbered.rows,
        pairs,
        share(numbered.hypotheses.lengths[pairs.row]),
        share(numbered.references.lengths[pairs.reference]),
    )


def f_measure(precision: ArrayLike, recall: ArrayLike, beta: float) -> Floats:
    """Return (1 + beta^2) P R / (R + beta^2 P), elementwise: 0 if either is 0, NaN if either is NaN.

    Examples
    --------
    >>> f_measure([0.5, 0.0, 1.0], [0.25, 0.0, 1.0], beta=1.0).round(4).tolist()
    [0.3333, 0.0, 1.0]
    """
    precision, recall = np.asarray(precision, dtype=np.float64), np.asarray(recall, dtype=np.float64)
    none = (precision == 0) | (recall == 0)
    below = np.where(none, 1.0, recall + beta**2 * precision)
    return np.where(none, 0.0, (1 + beta**2) * precision * recall / below)  # Lin (2004), equation 4


@dataclass(frozen=True)
class RougeL(MeanMetric):
    """ROUGE-L.

    Examples
    --------
    >>> from metrics.scoring.metric import Workspace
    >>> segments = Segments([["police kill the gunman"]], [["police killed the gunman", "police kill them all"]])
    >>> for variant in VARIANTS:
    ...     metric = RougeL(variant=variant)
    ...     print(variant, Workspace(segments).statistics(metric).system_scores())
    coco [0.75]
    best_f [0.75]
    """

    name: ClassVar[str] = "rouge_l"
    label: ClassVar[str] = "ROUGE-L"
    summary: ClassVar[str] = "How long a word sequence, gaps allowed, an output shares with its references."
    together: ClassVar[str] = "the best precision and the best recall, here of different references"

    variant: str = choice(
        "coco",
        VARIANTS,
        label="Over several references",
        key="var",
        hint="coco: best precision and best recall, each for itself; best_f: the best F measure.",
    )
    beta: float = real(1.2, low=0, high=100, label="Weight of recall", key="beta", hint="1 weighs both alike.")
    tokenize: str = choice("none", TOKENIZERS, label="Tokeniser", key="tok")
    lowercase: bool = flag(False, label="Lowercase first", key="lc")

    def preparation(self) -> SubsequencePreparation:
        return SubsequencePreparation(self.tokenize, self.lowercase)

    def segment_scores(
        self, prepared: SharedSubsequences, weights: ArrayLike | None, reference_mask: ArrayLike | None
    ) -> Floats:
        pairs, precision, recall = prepared.pairs, prepared.precision, prepared.recall
        if self.variant == "coco":
            best = f_measure(pairs.best(precision, reference_mask), pairs.best(recall, reference_mask), self.beta)
        else:
            best = pairs.best(f_measure(precision, recall, self.beta), reference_mask)
        return best[prepared.rows]

    def explanation(self, case: SegmentCase) -> SegmentExplanation:
        precision, recall = case.only_counted(case.prepared.precision), case.only_counted(case.prepared.recall)
        parts: tuple[Part, ...] = ()
        if self.variant == "coco" and not np.isnan(precision).all():
            best_p, best_r = int(np.nanargmax(precision)), int(np.nanargmax(recall))
            parts = (
                Part("Best precision", float(precision[best_p]), best_p),
                Part("Best recall", float(recall[best_r]), best_r),
            )
        explanation = case.explanation((Column("Precision", precision), Column("Recall", recall)), parts)
        if explanation.chosen is None and not np.isnan(case.alone).all():
            return replace(explanation, chosen=int(np.nanargmax(case.alone)))
        return explanation
