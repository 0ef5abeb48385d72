"""One hypothesis under a metric, and what its score is made of. A metric may add what it knows to `explanation`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from metrics.scoring.arrays import Bools, Floats
from metrics.scoring.texts import Text

if TYPE_CHECKING:
    from metrics.scoring.metric import Workspace


EQUAL = 1e-9  # scores nearer to each other than this count as equal


@dataclass(frozen=True, eq=False)
class Column:
    """A number per reference, (R,); NaN where it has none."""

    label: str
    values: Floats
    digits: int = 3


@dataclass(frozen=True)
class Part:
    """A number that the score is made of, and the index of the reference that it comes from, if there is one."""

    label: str
    value: float
    reference: int | None = None
    digits: int = 3


@dataclass(frozen=True, eq=False)
class SegmentExplanation:
    """How a metric came to the score of one hypothesis.

    Attributes
    ----------
    score : float
        NaN where undefined.
    alone : (R,) float or None
        The score with each reference as the only one; None if that says nothing, see ``reason``.
    rule : {"best", "mean", "one", "parts", ""}
        How the score comes from those: the best of them, their mean, the only one, or none of these because parts of
        several references enter.
    chosen : int or None
        Index of the reference whose score alone is the score; if parts of several enter, TER and ROUGE-L name the
        closest.
    columns : sequence of Column
        What else is known of each reference.
    parts : sequence of Part
    formula : str
        The parts put together, in numbers.
    reason : str
        Why single references are not explained; empty if they are.
    """

    score: float
    alone: Floats | None = None
    rule: str = ""
    chosen: int | None = None
    columns: Sequence[Column] = ()
    parts: Sequence[Part] = ()
    formula: str = ""
    reason: str = ""


@dataclass(frozen=True, eq=False)
class SegmentCase:
    """One hypothesis under a metric, prepared once; ``counts`` (R,) says which references are in the subset."""

    metric: Any
    hypothesis: Text
    source: Text | None
    workspace: Workspace
    weights: Floats | None
    counts: Bools

    @property
    def prepared(self) -> Any:
        return self.workspace.prepared(self.metric)

    @property
    def score(self) -> float:
        return self._all[0]

    @property
    def sums(self) -> Floats:
        """Return the statistics (D,) of the score."""
        return self._all[1]

    @property
    def alone(self) -> Floats:
        """Return the scores (R,) with each reference as the only one; NaN for those that do not count."""
        return np.array([score for score, _ in self._each])

    @property
    def sums_alone(self) -> Floats:
        """Return the statistics (R, D) of `alone`."""
        return np.array([sums for _, sums in self._each])

    def only_counted(self, values: Floats) -> Floats:
        """Return the values (R,), NaN for references outside the subset."""
        return np.where(self.counts, values, np.nan)

    def explanation(
        self, columns: Sequence[Column] = (), parts: Sequence[Part] = (), formula: str = ""
    ) -> SegmentExplanation:
        """Explain the score by those against single references, and by what the metric knows."""
        rule, chosen = combined_by(self.score, self.alone, higher_is_better=self.metric.higher_is_better)
        return SegmentExplanation(self.score, self.alone, rule, chosen, columns, parts, formula)

    @cached_property
    def _all(self) -> tuple[float, Floats]:
        return self._statistics(self.counts)

    @cached_property
    def _each(self) -> list[tuple[float, Floats]]:
        return [self._statistics(self.counts & (np.arange(self.counts.size) == i)) for i in range(self.counts.size)]

    def _statistics(self, counts: Bools) -> tuple[float, Floats]:
        statistics = self.workspace.statistics(self.metric, weights=self.weights, reference_mask=counts)
        return float(statistics.sentence_scores[0, 0]), statistics.packed[0, 0]


def combined_by(score: float, alone: Floats, *, higher_is_better: bool = True) -> tuple[str, int | None]:
    """Return how a score comes from those against single references: a rule, and the index of the one that it is.

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
