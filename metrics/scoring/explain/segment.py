"""What one segment's score is made of, for any metric: the score against each reference alone, and the metric's parts.

BLEU's family is told n-gram by n-gram instead, in `metrics.scoring.explain.ngrams`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.scoring.am_fm import AmFm
from metrics.scoring.bleu import sentence_bleu
from metrics.scoring.chrf import Chrf
from metrics.scoring.ibleu import IBleu
from metrics.scoring.metric import Metric, Workspace
from metrics.scoring.models.store import ModelStore
from metrics.scoring.rouge_l import RougeL
from metrics.scoring.segments import Segments
from metrics.scoring.ter import Ter
from metrics.scoring.texts import Text, tokenize_texts

Floats = NDArray[np.float64]

EQUAL = 1e-9  # two scores nearer than this are one
MOST_CELLS = 4_000_000  # of the table that a longest common subsequence is read from


@dataclass(frozen=True, eq=False)
class Column:
    """A number per reference, (R,); NaN where it has none."""

    label: str
    values: Floats
    digits: int = 3


@dataclass(frozen=True)
class Part:
    """One number that the score is made of, and the place of the reference it comes from, if it is one's."""

    label: str
    value: float
    reference: int | None = None
    digits: int = 3


@dataclass(frozen=True, eq=False)
class SegmentAccount:
    """How a metric came to the score of one hypothesis.

    Attributes
    ----------
    score : float
        NaN where undefined.
    alone : (R,) float or None
        The score with each reference as the only one; None where that says nothing, see ``reason``.
    rule : {"best", "mean", "one", "parts", ""}
        How the score comes from those: the best of them, their mean, the only one, or none of these because parts of
        several references enter.
    chosen : int or None
        Place of the reference whose score alone is the score; where parts of several enter, TER and ROUGE-L name the
        closest.
    columns : tuple of Column
        What else is known of each reference.
    parts : tuple of Part
    formula : str
        The parts put together, in numbers.
    reason : str
        Why there is nothing to say of single references; empty otherwise.
    """

    score: float
    alone: Floats | None = None
    rule: str = ""
    chosen: int | None = None
    columns: tuple[Column, ...] = ()
    parts: tuple[Part, ...] = ()
    formula: str = ""
    reason: str = ""


@dataclass(frozen=True, eq=False)
class _Case:
    """One hypothesis under a metric, prepared once; ``counts`` (R,) says which references are in the subset."""

    metric: Any
    hypothesis: Text
    source: Text | None
    workspace: Workspace
    weights: Floats | None
    counts: NDArray[np.bool_]

    def statistics(self, counts: NDArray[np.bool_]) -> tuple[float, Floats]:
        """Score and sums (D,) with these references."""
        found = self.workspace.statistics(self.metric, weights=self.weights, reference_mask=counts)
        return float(found.sentence_scores[0, 0]), found.packed[0, 0]

    def each(self) -> tuple[Floats, Floats]:
        """(R,) scores and (R, D) sums with each reference as the only one; NaN for those that do not count."""
        found = []
        for place in range(self.counts.size):
            alone = np.zeros_like(self.counts)
            alone[place] = self.counts[place]
            found.append(self.statistics(alone))
        return np.array([score for score, _ in found]), np.array([sums for _, sums in found])


def explain_segment(
    metric: Metric,
    hypothesis: Text,
    references: Sequence[Text],
    *,
    weights: ArrayLike | None = None,
    counts: ArrayLike | None = None,
    source: Text | None = None,
    models: ModelStore | None = None,
) -> SegmentAccount:
    """The account of one hypothesis.

    Parameters
    ----------
    metric : Metric
    hypothesis : text
    references : sequence of R >= 0 texts
    weights : (R,) float, optional
        Read where the metric needs them.
    counts : (R,) bool, optional
        References of the subset; all by default.
    source : text, optional
        What is answered or rephrased.
    models : ModelStore, optional

    Raises
    ------
    ValueError
        The metric cannot be computed here, or a model of it is not in the store.

    Examples
    --------
    >>> from metrics.scoring.ter import Ter
    >>> told = explain_segment(Ter(), "the cat sat", ["the cat sat down", "a dog"])
    >>> told.alone.round(2).tolist(), told.columns[0].label, told.columns[0].values.tolist()
    ([0.25, 1.5], 'Edits', [1.0, 3.0])
    """
    if reason := metric.unavailable():
        raise ValueError(f"{metric.name}: cannot be computed here. {reason}")
    segments = Segments([[hypothesis]], [references], None if source is None else [source])
    kept = np.ones(len(references), dtype=np.bool_) if counts is None else np.asarray(counts, dtype=np.bool_)
    given = None if weights is None or not metric.needs_weights else np.asarray(weights, dtype=np.float64)
    case = _Case(metric, hypothesis, source, Workspace(segments, [metric], models), given, kept)
    if metric.pools:
        return SegmentAccount(
            case.statistics(kept)[0],
            reason="The number of this text alone. A system's score is over all its outputs as one pool.",
        )
    if not metric.needs_references:
        return SegmentAccount(case.statistics(kept)[0], reason=f"{metric.label} reads no references.")
    if metric.corpus_state(case.workspace.prepared(metric), weights=given, reference_mask=kept) is not None:
        return SegmentAccount(
            math.nan,
            reason=f"{metric.label} weighs what is shared by how rare it is in the references of all segments, so it "
            "has no score against one reference alone.",
        )
    family = next((tell for kind, tell in FAMILIES if isinstance(metric, kind)), _any)
    return family(case)


def _any(case: _Case) -> SegmentAccount:
    score, _ = case.statistics(case.counts)
    alone, _ = case.each()
    rule, chosen = combined_by(score, alone, higher_is_better=case.metric.higher_is_better)
    return SegmentAccount(score, alone, rule, chosen)


def combined_by(score: float, alone: Floats, *, higher_is_better: bool = True) -> tuple[str, int | None]:
    """How a score comes from those against single references: a rule, and the place of the one that it is.

    Examples
    --------
    >>> combined_by(0.5, np.array([0.25, 0.5, np.nan]))
    ('best', 1)
    >>> combined_by(0.375, np.array([0.25, 0.5, np.nan]))
    ('mean', None)
    >>> combined_by(0.6, np.array([0.25, 0.5]))
    ('parts', None)
    """
    defined = np.flatnonzero(~np.isnan(alone))
    if math.isnan(score) or not defined.size:
        return "", None
    best = int(defined[np.argmax(alone[defined]) if higher_is_better else np.argmin(alone[defined])])
    if abs(float(alone[best]) - score) < EQUAL:
        return ("one" if defined.size == 1 else "best"), best
    if abs(float(alone[defined].mean()) - score) < EQUAL:
        return "mean", None
    return "parts", None


def _chrf(case: _Case) -> SegmentAccount:
    score, _ = case.statistics(case.counts)
    alone, sums = case.each()
    rule, chosen = combined_by(score, alone)
    if not len(sums):
        return SegmentAccount(score, alone, rule, chosen)
    hypothesis, reference, match = np.moveaxis(sums.reshape(len(sums), -1, 3), -1, 0)
    both = (hypothesis > 0) & (reference > 0)  # orders that have n-grams on both sides

    def mean(of: Floats) -> Floats:
        share = np.where(both, match / np.maximum(of, 1), 0.0)
        found: Floats = np.where(both.any(axis=1), share.sum(axis=1) / np.maximum(both.sum(axis=1), 1), np.nan)
        return found

    columns = (Column("Precision", mean(hypothesis)), Column("Recall", mean(reference)))
    return SegmentAccount(score, alone, rule, chosen, columns)


def _ter(case: _Case) -> SegmentAccount:
    score, sums = case.statistics(case.counts)
    alone, each = case.each()
    if not len(each):
        return SegmentAccount(score)
    edits = np.where(case.counts, each[:, 0], np.nan)
    lengths = np.where(case.counts, each[:, 1], np.nan)
    rule, chosen = combined_by(score, alone, higher_is_better=False)
    columns = (Column("Edits", edits, 0), Column("Words", lengths, 0))
    if not case.counts.any():
        return SegmentAccount(score, alone, rule, chosen, columns)
    closest = int(np.nanargmin(edits))
    parts = (Part("Edits to the closest", float(sums[0]), closest, 0), Part("Mean words", float(sums[1]), None, 2))
    formula = f"{sums[0]:g} / {sums[1]:.4g}" if sums[1] else ""
    return SegmentAccount(score, alone, rule, chosen if rule != "parts" else closest, columns, parts, formula)


def _rouge_l(case: _Case) -> SegmentAccount:
    metric = case.metric
    score, _ = case.statistics(case.counts)
    alone, _ = case.each()
    rule, chosen = combined_by(score, alone)
    prepared = case.workspace.prepared(metric)
    precision, recall = (np.where(case.counts, one, np.nan) for one in (prepared.precision, prepared.recall))
    columns = (Column("Precision", precision), Column("Recall", recall))
    parts: tuple[Part, ...] = ()
    if metric.variant == "coco" and not np.isnan(precision).all():
        best = int(np.nanargmax(precision)), int(np.nanargmax(recall))
        parts = (
            Part("Best precision", float(precision[best[0]]), best[0]),
            Part("Best recall", float(recall[best[1]]), best[1]),
        )
    if chosen is None and not np.isnan(alone).all():
        chosen = int(np.nanargmax(alone))
    return SegmentAccount(score, alone, rule, chosen, columns, parts)


def _am_fm(case: _Case) -> SegmentAccount:
    metric: AmFm = case.metric
    score, _ = case.statistics(case.counts)
    prepared = case.workspace.prepared(metric)
    am = np.where(case.counts, prepared.cosines(metric.am_model, metric.k), np.nan)
    fm = np.where(case.counts, prepared.ratios(metric.fm_model, metric.order), np.nan)
    alone, _ = case.each()
    rule, chosen = combined_by(score, alone)
    columns = (Column("AM", am), Column("FM", fm))
    parts: tuple[Part, ...] = ()
    formula = ""
    if metric.references == "max" and not np.isnan(am).all():
        own = (int(np.nanargmax(am)), int(np.nanargmax(fm))) if metric.combine == "parts" else (chosen, chosen)
        if own[0] is not None and own[1] is not None:
            best = float(am[own[0]]), float(fm[own[1]])
            parts = (Part("AM, adequacy", best[0], own[0]), Part("FM, fluency", best[1], own[1]))
            formula = f"{metric.balance:g} × {best[0]:.3f} + {1 - metric.balance:g} × {best[1]:.3f}"
    return SegmentAccount(score, alone, rule, chosen, columns, parts, formula)


def _ibleu(case: _Case) -> SegmentAccount:
    metric: IBleu = case.metric
    score, _ = case.statistics(case.counts)
    alone, _ = case.each()
    rule, chosen = combined_by(score, alone)
    texts = [text for text, counts in zip(case.workspace.segments.references[0], case.counts, strict=True) if counts]
    if not texts or math.isnan(score):
        return SegmentAccount(score, alone, rule, chosen)
    options: dict[str, Any] = {
        "max_order": metric.max_order,
        "tokenize": metric.tokenize,
        "lowercase": metric.lowercase,
    }
    good = sentence_bleu(case.hypothesis, texts, **options)
    copied = sentence_bleu(case.hypothesis, [case.source or ""], **options)
    copied = 0.0 if math.isnan(copied) else copied
    parts = (Part("BLEU+1, references", good), Part("BLEU+1, source", copied))
    formula = f"{metric.alpha:g} × {good:.3f} − {1 - metric.alpha:g} × {copied:.3f}"
    return SegmentAccount(score, alone, rule, chosen, (), parts, formula)


FAMILIES: tuple[tuple[type[Metric], Callable[[_Case], SegmentAccount]], ...] = (
    (Chrf, _chrf),
    (Ter, _ter),
    (RougeL, _rouge_l),
    (AmFm, _am_fm),
    (IBleu, _ibleu),
)


# --- The subsequence that two texts share -----------------------------------------------------------------------------


@dataclass(frozen=True)
class SharedTokens:
    """Tokens of hypothesis and reference, and the places of the shared ones; none where the texts are too long."""

    hypothesis: list[str]
    reference: list[str]
    in_hypothesis: frozenset[int]
    in_reference: frozenset[int]


def shared_tokens(hypothesis: Text, reference: Text, *, tokenize: str, lowercase: bool) -> SharedTokens:
    """Tokens of two texts, and those of their longest common subsequence.

    Examples
    --------
    >>> found = shared_tokens("police kill the gunman", "police killed the gunman", tokenize="none", lowercase=False)
    >>> [word for word, place in zip(found.hypothesis, range(4)) if place in found.in_hypothesis]
    ['police', 'the', 'gunman']
    """
    own, other = (list(map(str, text)) for text in tokenize_texts([hypothesis, reference], tokenize=tokenize))
    read = str.lower if lowercase else str
    pairs = common_subsequence(list(map(read, own)), list(map(read, other)))
    return SharedTokens(own, other, frozenset(one for one, _ in pairs), frozenset(one for _, one in pairs))


def common_subsequence(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Places (in left, in right) of a longest common subsequence; none where a table of both is too large.

    References
    ----------
    Wagner, Fischer, The String-to-String Correction Problem, Journal of the ACM 21(1), 1974, algorithm X and Z.

    Examples
    --------
    >>> common_subsequence("abcbdab", "bdcaba")
    [(1, 0), (4, 1), (5, 3), (6, 4)]
    """
    if len(left) * len(right) > MOST_CELLS:
        return []
    # lengths[i, j]: of the subsequence that left[i:] and right[j:] share
    lengths = np.zeros((len(left) + 1, len(right) + 1), dtype=np.int32)
    numbers: dict[str, int] = {}
    codes = np.array([numbers.setdefault(token, len(numbers)) for token in right], dtype=np.int64)
    for place in range(len(left) - 1, -1, -1):
        below = lengths[place + 1]
        with_match = np.maximum(below[:-1], np.where(codes == numbers.get(left[place], -1), below[1:] + 1, 0))
        # The best from a place on is the best of all that follow it.
        lengths[place, :-1] = np.maximum.accumulate(with_match[::-1])[::-1]
    found, row, column = [], 0, 0
    while lengths[row, column]:
        if left[row] == right[column]:
            found.append((row, column))
            row, column = row + 1, column + 1
        elif lengths[row + 1, column] >= lengths[row, column + 1]:
            row += 1
        else:
            column += 1
    return found
