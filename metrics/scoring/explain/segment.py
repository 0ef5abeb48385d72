"""Explain one segment's score under any metric: the score against each reference alone, and the metric's parts.

BLEU's family is explained n-gram by n-gram instead, in `metrics.scoring.explain.ngrams`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.explain.case import SegmentCase, SegmentExplanation
from metrics.scoring.metric import Metric, Workspace
from metrics.scoring.models.store import ModelStore
from metrics.scoring.segments import Segments
from metrics.scoring.texts import Text, tokenize_texts

MOST_CELLS = 4_000_000  # of the table that a longest common subsequence is read from


def explain_segment(
    metric: Metric,
    hypothesis: Text,
    references: Sequence[Text],
    *,
    weights: ArrayLike | None = None,
    counts: ArrayLike | None = None,
    source: Text | None = None,
    models: ModelStore | None = None,
) -> SegmentExplanation:
    """Explain the score of one hypothesis.

    Parameters
    ----------
    metric : Metric
    hypothesis : text
    references : sequence of R >= 0 texts
    weights : (R,) float, optional
        Read if the metric needs them.
    counts : (R,) bool, optional
        References of the subset; all by default.
    source : text, optional
        What the hypothesis answers or rephrases.
    models : ModelStore, optional

    Raises
    ------
    ValueError
        The metric cannot be computed on this machine, or its model is not in the store.

    Examples
    --------
    >>> from metrics.scoring.ter import Ter
    >>> explanation = explain_segment(Ter(), "the cat sat", ["the cat sat down", "a dog"])
    >>> edits = explanation.columns[0]
    >>> explanation.alone.round(2).tolist(), edits.label, edits.values.tolist()
    ([0.25, 1.5], 'Edits', [1.0, 3.0])
    """
    if reason := metric.unavailable():
        raise ValueError(f"{metric.name}: cannot be computed here. {reason}")
    segments = Segments([[hypothesis]], [references], None if source is None else [source])
    mask = np.ones(len(references), dtype=np.bool_) if counts is None else np.asarray(counts, dtype=np.bool_)
    read = None if weights is None or not metric.needs_weights else np.asarray(weights, dtype=np.float64)
    case = SegmentCase(metric, hypothesis, source, Workspace(segments, [metric], models), read, mask)
    if metric.pools:
        return SegmentExplanation(
            case.score,
            reason="The number of this text alone. A system's score is over all its outputs as one pool.",
        )
    if not metric.needs_references:
        return SegmentExplanation(case.score, reason=f"{metric.label} reads no references.")
    if metric.corpus_state(case.prepared, weights=read, reference_mask=mask) is not None:
        return SegmentExplanation(
            math.nan,
            reason=f"{metric.label} weighs what is shared by how rare it is in the references of all segments, so it "
            "has no score against one reference alone.",
        )
    return metric.explanation(case)


# --- The subsequence that two texts share -----------------------------------------------------------------------------


@dataclass(frozen=True)
class SharedTokens:
    """Tokens of hypothesis and reference, and the indices of the shared ones; none if the texts are too long."""

    hypothesis: list[str]
    reference: list[str]
    in_hypothesis: frozenset[int]
    in_reference: frozenset[int]


def shared_tokens(hypothesis: Text, reference: Text, *, tokenize: str, lowercase: bool) -> SharedTokens:
    """Return the tokens of two texts, and which are in their longest common subsequence.

    Examples
    --------
    >>> shared = shared_tokens("police kill the gunman", "police killed the gunman", tokenize="none", lowercase=False)
    >>> [shared.hypothesis[index] for index in sorted(shared.in_hypothesis)]
    ['police', 'the', 'gunman']
    """
    left, right = (list(map(str, text)) for text in tokenize_texts([hypothesis, reference], tokenize=tokenize))
    read = str.lower if lowercase else str
    pairs = common_subsequence(list(map(read, left)), list(map(read, right)))
    return SharedTokens(left, right, frozenset(i for i, _ in pairs), frozenset(j for _, j in pairs))


def common_subsequence(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Return the indices (in left, in right) of a longest common subsequence; none if a table of both is too large.

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
    for i in range(len(left) - 1, -1, -1):
        below = lengths[i + 1]
        with_match = np.maximum(below[:-1], np.where(codes == numbers.get(left[i], -1), below[1:] + 1, 0))
        # The best from a token on is the best of all that follow it.
        lengths[i, :-1] = np.maximum.accumulate(with_match[::-1])[::-1]
    shared, row, column = [], 0, 0
    while lengths[row, column]:
        if left[row] == right[column]:
            shared.append((row, column))
            row, column = row + 1, column + 1
        elif lengths[row + 1, column] >= lengths[row, column + 1]:
            row += 1
        else:
            column += 1
    return shared
