"""TER: word edits, shifts of word sequences included, per word of the reference; by sacrebleu's edit counts.

    TER = edits to the closest reference / mean length of the references

An edit inserts, deletes or replaces a word, or moves a run of words; a corpus score is the sum of edits over the sum of
lengths. If all references are empty, a hypothesis with words scores 1, as in sacrebleu; NaN without words on either
side or without a reference in the subset.

Snover, Dorr, Schwartz, Micciulla, Makhoul, A Study of Translation Edit Rate with Targeted Human Annotation, AMTA 2006,
section 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.aggregates import TerAggregate
from metrics.scoring.arrays import Floats
from metrics.scoring.explain.case import Column, Part, SegmentCase, SegmentExplanation
from metrics.scoring.metric import Metric, MetricStatistics, Preparation
from metrics.scoring.models.store import ModelStore
from metrics.scoring.parameters import flag
from metrics.scoring.sacrebleu_parts import ter_edits, ter_tokenizer
from metrics.scoring.segments import Segments
from metrics.scoring.texts import Text, as_string

# Words of the hypothesis times words of the reference: above, no shift is tried, since 500 by 500 can take sacrebleu 20
# seconds, and 10,000 by 10,000 more memory than there is.
LONGEST_SEARCH = 250_000


def count_edits(hypothesis: Sequence[str], reference: Sequence[str]) -> int:
    """Count the edits that turn the words of a hypothesis into those of a reference.

    Parameters
    ----------
    hypothesis, reference : sequence of words

    Returns
    -------
    int
        sacrebleu's count; the plain word edit distance if the product of the lengths is above `LONGEST_SEARCH`.

    References
    ----------
    Snover et al., A Study of Translation Edit Rate with Targeted Human Annotation, AMTA 2006, section 3.1.

    Examples
    --------
    >>> count_edits("this week the saudis denied".split(), "the saudis denied this week".split())
    1
    """
    # Without a common word nothing can be shifted; equal texts need no search.
    if set(hypothesis).isdisjoint(reference):
        return max(len(hypothesis), len(reference))
    if list(hypothesis) == list(reference):
        return 0
    if len(hypothesis) * len(reference) > LONGEST_SEARCH:
        return word_edit_distance(hypothesis, reference)
    return ter_edits(hypothesis, reference)


def word_edit_distance(left: Sequence[str], right: Sequence[str]) -> int:
    """Return the fewest insertions, deletions and replacements of words from one text to the other (Levenshtein 1966).

    Examples
    --------
    >>> word_edit_distance("a b c d".split(), "b c x d e".split())
    3
    """
    numbers: dict[str, int] = {}
    codes = np.array([numbers.setdefault(word, len(numbers)) for word in right], dtype=np.int64)
    steps = np.arange(len(right) + 1)
    costs = steps
    for word in left:
        changed = np.empty_like(costs)
        changed[0] = costs[0] + 1
        changed[1:] = np.minimum(costs[:-1] + (codes != numbers.get(word, -1)), costs[1:] + 1)
        # An insertion costs 1 more than its left neighbour: a running minimum, once each cost is lowered by its index.
        costs = np.minimum.accumulate(changed - steps) + steps
    return int(costs[-1])


@dataclass(frozen=True, eq=False)
class TerEdits:
    """Edits of every pair of hypothesis row and reference.

    Attributes
    ----------
    segments : Segments
    edits : (P,) float
    length : (P,) float
        Words of the pair's reference.
    """

    segments: Segments
    edits: Floats
    length: Floats


@dataclass(frozen=True)
class TerPreparation(Preparation):
    """Edits of all pairs, by sacrebleu."""

    normalized: bool
    no_punct: bool
    asian_support: bool
    case_sensitive: bool

    def __call__(self, segments: Segments, models: ModelStore) -> TerEdits:
        tokenizer = ter_tokenizer(
            normalized=self.normalized,
            no_punct=self.no_punct,
            asian_support=self.asian_support,
            case_sensitive=self.case_sensitive,
        )

        def tokenized(text: Text) -> str:
            return tokenizer(as_string(text).rstrip())

        hypotheses = [tokenized(text).split() for text in segments.row_texts]
        # sacrebleu tokenises references twice, which matters if punctuation is split off.
        references = [tokenized(tokenized(text)).split() for text in segments.reference_texts]
        pairs = segments.pairs
        edits = np.array([count_edits(*words) for words in pairs.items(hypotheses, references)], dtype=np.float64)
        lengths = np.array(list(map(len, references)), dtype=np.float64)
        return TerEdits(segments, edits, lengths[pairs.reference])


@dataclass(frozen=True)
class Ter(Metric):
    """Translation edit rate."""

    name: ClassVar[str] = "ter"
    label: ClassVar[str] = "TER"
    summary: ClassVar[str] = "How many word edits lead from an output to its closest reference, per reference word."
    together: ClassVar[str] = "edits to the closest, over the mean length of all"
    higher_is_better: ClassVar[bool] = False
    high: ClassVar[float] = float("inf")
    ignores_case: ClassVar[bool] = True
    usual: ClassVar[Mapping[str, Any]] = {"case_sensitive": False}

    normalized: bool = flag(False, label="Normalise and split off punctuation", key="norm")
    no_punct: bool = flag(False, label="Remove punctuation", key="nopunct")
    asian_support: bool = flag(
        False, label="Split Asian text into characters", key="asian", hint="With one of the two above."
    )
    case_sensitive: bool = flag(False, label="Heed case", key="case")

    def preparation(self) -> TerPreparation:
        return TerPreparation(self.normalized, self.no_punct, self.asian_support, self.case_sensitive)

    def statistics(
        self,
        prepared: TerEdits,
        *,
        weights: ArrayLike | None = None,
        reference_mask: ArrayLike | None = None,
        state: Any = None,
    ) -> MetricStatistics:
        """Return statistics (T, S, 2): edits to the closest reference, mean reference length."""
        pairs = prepared.segments.pairs
        packed = np.stack(
            [pairs.least(prepared.edits, reference_mask), pairs.mean(prepared.length, reference_mask)], axis=-1
        )
        valid = ~np.isnan(packed[:, 0])
        packed[~valid] = 0.0
        scores = TerAggregate()(packed)
        rows = prepared.segments.rows
        return MetricStatistics(packed[rows], valid[rows], scores[rows], TerAggregate())

    def explanation(self, case: SegmentCase) -> SegmentExplanation:
        if not case.counts.size:
            return SegmentExplanation(case.score)
        edits, lengths = (case.only_counted(values) for values in case.sums_alone.T)
        columns = (Column("Edits", edits, 0), Column("Words", lengths, 0))
        if not case.counts.any():
            return case.explanation(columns)
        closest, (fewest, length) = int(np.nanargmin(edits)), case.sums.tolist()
        parts = (Part("Edits to the closest", fewest, closest, 0), Part("Mean words", length, None, 2))
        explanation = case.explanation(columns, parts, f"{fewest:g} / {length:.4g}" if length else "")
        return replace(explanation, chosen=closest) if explanation.rule == "parts" else explanation
