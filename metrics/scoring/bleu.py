"""BLEU: clipped n-gram precision of a whole corpus, times a penalty for brevity.

    p_n  = sum_i sum_g min(#g(h_i), max_j #g(r_ij)) / sum_i sum_g #g(h_i)        over the n-grams g of each h_i
    BLEU = BP * (p_1 * ... * p_N)^(1/N),    BP = exp(min(0, 1 - ref_len / hyp_len))

#g counts n-gram g in a text; ref_len is the sum of the closest reference lengths, ties to the shorter. A segment's
score is BLEU+1, see sBLEU. `reference_delta_bleu` is the formula in plain Python; the rest is faster.

Papineni, Roukos, Ward, Zhu, BLEU: a Method for Automatic Evaluation of Machine Translation, ACL 2002; Galley et al.,
ΔBLEU, ACL 2015, equations 1 and 2.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.aggregates import SMOOTHINGS, log_brevity_penalty
from metrics.scoring.arrays import Bools, Floats
from metrics.scoring.metric import MetricStatistics
from metrics.scoring.ngrams import NgramMetric, build_match_table, reference_counts
from metrics.scoring.parameters import choice
from metrics.scoring.redrawn import redrawn_bleu
from metrics.scoring.statistics import SegmentStatistics, SummedStatistics, bleu_statistics
from metrics.scoring.texts import Text, check_flag
from metrics.scoring.thresholds import threshold_sweep


def reference_delta_bleu(
    hypotheses: Sequence[Sequence[str]],
    references: Sequence[Sequence[Sequence[str]]],
    weights: Sequence[Sequence[float]],
    max_order: int = 2,
) -> float:
    """Return corpus ΔBLEU of tokenised texts, or BLEU if all weights are 1: the formula, to read and to test against.

    Equations 1 and 2 and section 3 of Galley et al. (2015); each segment needs a weight above 0, the corpus a token.

    Examples
    --------
    >>> round(reference_delta_bleu([["a", "b", "c"]], [[["a", "b", "d"], ["c"]]], [[1.0, -0.5]]), 4)
    0.5
    """

    def counts(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
        return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))

    hyp_len, ref_len, product = sum(map(len, hypotheses)), 0, 1.0
    for h, refs in zip(hypotheses, references, strict=True):
        ref_len += min((abs(len(r) - len(h)), len(r)) for r in refs)[1]  # the closest length, ties to the shorter
    for n in range(1, max_order + 1):
        above = below = 0.0  # p_n, as section 3 defines it; as section 2 does if every weight is 1
        for h, refs, ws in zip(hypotheses, references, weights, strict=True):
            for gram, count in counts(h, n).items():
                matches = [
                    w * min(count, counts(r, n)[gram]) for r, w in zip(refs, ws, strict=True) if counts(r, n)[gram]
                ]
                above += max(matches, default=0.0)
                below += max(ws) * count
        product *= max(above, 0.0) / below if below else 0.0
    brevity_penalty = math.exp(min(0.0, 1 - ref_len / hyp_len)) if hyp_len else 0.0  # equation 2
    return float(brevity_penalty * product ** (1 / max_order))  # equation 1, with the mean's 1/N


@dataclass(frozen=True)
class BleuScore:
    """A corpus score and its parts.

    Attributes
    ----------
    score : float
        In [0, 1]; NaN with a ``reason``.
    precisions : tuple of N floats
        In [0, 1], after smoothing; 0 if clamped and not smoothed.
    brevity_penalty : float
        In [0, 1]; NaN if the score is.
    hyp_len, ref_len : int
        Tokens of the hypotheses and of the closest references.
    numerators, denominators : tuple of N floats
        Sums over the corpus before smoothing.
    clamped : tuple of N bools
        Orders whose numerator is <= 0, which has no logarithm: their precision counts as 0.
    signature : str
    reason : str
        Why the score is NaN; empty otherwise.
    """

    score: float
    precisions: tuple[float, ...]
    brevity_penalty: float
    hyp_len: int
    ref_len: int
    numerators: tuple[float, ...]
    denominators: tuple[float, ...]
    clamped: tuple[bool, ...]
    signature: str
    reason: str = ""


@dataclass(frozen=True)
class Bleu(NgramMetric):
    """Corpus BLEU."""

    name: ClassVar[str] = "bleu"
    label: ClassVar[str] = "BLEU"
    summary: ClassVar[str] = "Clipped n-gram precision of the whole corpus, times the brevity penalty."
    #: sacrebleu's defaults (Post, A Call for Clarity in Reporting BLEU Scores, WMT 2018).
    published: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {"max_order": 4, "tokenize": "13a", "lowercase": False, "smoothing": "exp"}
    )
    usual: ClassVar[Mapping[str, Any]] = published

    smoothing: str = choice("none", SMOOTHINGS, label="Smoothing of an order without a match", key="smooth")

    def statistics(
        self,
        prepared: Any,
        *,
        weights: ArrayLike | None = None,
        reference_mask: ArrayLike | None = None,
        state: Any = None,
    ) -> MetricStatistics:
        """Return statistics (T, S, 2 + 2 N); ``weights`` is not read."""
        table = self.preparation().checked(prepared)
        return SummedStatistics(bleu_statistics(table, reference_mask, max_order=self.max_order), self.smoothing)

    def redrawn(self, prepared: Any, *, weights: Floats, reference_masks: Bools) -> Sequence[MetricStatistics]:
        table = self.preparation().checked(prepared)
        segments = redrawn_bleu(table, reference_masks, max_order=self.max_order)
        return [SummedStatistics(each, self.smoothing) for each in segments]

    def threshold_sweep(
        self, prepared: Any, *, weights: ArrayLike, thresholds: Sequence[float]
    ) -> list[MetricStatistics]:
        sweep = threshold_sweep(self.preparation().checked(prepared), weights, thresholds, self.max_order)
        return [SummedStatistics(level, self.smoothing) for level in sweep.bleu()]


def corpus_bleu(
    hypotheses: Sequence[Text],
    references: Sequence[Sequence[Text]],
    *,
    max_order: int = 2,
    tokenize: str = "none",
    lowercase: bool = False,
    smoothing: str = "none",
) -> BleuScore:
    """Return BLEU: clipped n-gram precisions of a whole corpus, averaged geometrically, times the brevity penalty.

    Parameters
    ----------
    hypotheses : sequence of S texts
        Token sequences, or strings (see ``tokenize``).
    references : S sequences; the i-th holds R_i >= 1 texts
    max_order : int, 1 to 4
        N. The geometric mean has exponent 1/N each.
    tokenize : {"none", "whitespace", "13a", "char", "intl", "zh"}
        "none" takes token sequences, or strings with whitespace between tokens.
    lowercase : bool
    smoothing : {"none", "exp", "add-one"}
        Of an order without a match; see `metrics.scoring.aggregates.BleuAggregate`.

    Returns
    -------
    BleuScore
        ``score`` in [0, 1]. An order without a match makes it 0 (flagged in ``clamped``) unless smoothed; texts without
        any token on either side make it NaN, with a reason. Of equally close references the shorter counts.

    Raises
    ------
    ValueError
        Which input, at which index, and what would be right.

    References
    ----------
    Papineni, Roukos, Ward, Zhu, BLEU: a Method for Automatic Evaluation of Machine Translation, ACL 2002.
    Galley et al., ΔBLEU, ACL 2015, equations 1 and 2 (equation 1 is printed without the exponent 1/N).

    Examples
    --------
    >>> result = corpus_bleu(["the cat sat"], [["the cat sat down", "a cat"]], tokenize="whitespace")
    >>> round(result.score, 4), result.precisions, result.hyp_len, result.ref_len
    (1.0, (1.0, 1.0), 3, 2)
    >>> result.signature
    'bleu|order:2|tok:whitespace|lc:no|smooth:none|refs:all|nrefs:2|version:0.1.0'
    """
    metric = Bleu(max_order, tokenize, lowercase, smoothing)
    table = build_match_table([hypotheses], references, max_order=max_order, tokenize=tokenize, lowercase=lowercase)
    missing = np.flatnonzero(table.references_per_segment() == 0)
    if missing.size:
        raise ValueError(f"references[{missing[0]}]: found no reference; accepted: one or more")
    segments = bleu_statistics(table, max_order=max_order)[0]
    signature = metric.signature(references=f"all|nrefs:{reference_counts(table)}")
    return BleuScore(**score_details(segments, smoothing), signature=signature)


def score_details(segments: SegmentStatistics, smoothing: str, *, without_match: bool = False) -> dict[str, Any]:
    """Return the fields of `BleuScore` from the statistics (S, ...) of one system."""
    sums = segments.packed.sum(axis=0)
    aggregate = segments.aggregate(smoothing, without_match=without_match)
    order, scale = aggregate.max_order, segments.weight_scale
    score = float(aggregate(sums))
    reason = ""
    if math.isnan(score):
        reason = "no token in any counted hypothesis or reference" if segments.valid.any() else "no segment counts"
    return {
        "score": score,
        "precisions": tuple(aggregate.precisions(sums).tolist()),
        "brevity_penalty": math.nan if reason else float(np.exp(log_brevity_penalty(sums[0], sums[1]))),
        "hyp_len": int(sums[0]),
        "ref_len": int(sums[1]),
        "numerators": tuple((sums[2 : 2 + order] / scale).tolist()),
        "denominators": tuple((sums[2 + order :] / scale).tolist()),
        "clamped": tuple(aggregate.clamped_orders(sums).tolist()),
        "reason": reason,
    }


def sentence_bleu(
    hypothesis: Text,
    references: Sequence[Text],
    *,
    max_order: int = 2,
    tokenize: str = "none",
    lowercase: bool = False,
    smooth_brevity: bool = False,
) -> float:
    """Return BLEU+1 of one sentence: one is added to numerator and denominator of every order above the first.

    Parameters
    ----------
    hypothesis : text
    references : sequence of R >= 1 texts
    max_order, tokenize, lowercase
        As in `corpus_bleu`.
    smooth_brevity : bool
        Also add one to the reference length in the brevity penalty.

    Returns
    -------
    float
        In [0, 1]. A one-word hypothesis has no bigram, so its p_2 is (0 + 1) / (0 + 1) = 1; a hypothesis that shares no
        word with any reference, or is empty, scores 0; NaN if the closest reference is empty, too.

    Raises
    ------
    ValueError
        No reference, or a text of the wrong kind.

    Notes
    -----
    Equals sacrebleu's sentence BLEU with `smooth_method="add-k"`, k = 1, for any hypothesis with a token, with
    `effective_order` on or off: once one is added, no order is empty.

    References
    ----------
    Nakov, Guzmán, Vogel, Optimizing for Sentence-Level BLEU+1 Yields Short Translations, COLING 2012.

    Examples
    --------
    >>> sentence_bleu(["yes"], [["yes"]])
    1.0
    >>> round(sentence_bleu("a b c d", ["a b x d"]), 4)
    0.6124
    >>> round(sentence_bleu("a b c d", ["a b x d"], smooth_brevity=True), 4)
    0.4769
    """
    check_flag("smooth_brevity", smooth_brevity)
    table = build_match_table([[hypothesis]], [references], max_order=max_order, tokenize=tokenize, lowercase=lowercase)
    if table.n_references == 0:
        raise ValueError("references: found no reference; accepted: one or more")
    return float(bleu_statistics(table).sentence_scores(smooth_brevity=smooth_brevity).item())
