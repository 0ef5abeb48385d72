"""What every metric of the registry offers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.scoring import VERSION
from metrics.scoring.aggregates import Aggregate
from metrics.scoring.ngrams import MatchTable
from metrics.scoring.texts import TOKENIZERS, check_choice, check_flag, check_order

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class MetricStatistics:
    """Statistics to sum over any set of segments, and the aggregate that turns sums into scores.

    Attributes
    ----------
    packed : (T, S, D) float
        Zero where the segment does not count.
    valid : (T, S) bool
        Whether the segment counts.
    sentence_scores : (T, S) float
        A score in [0, 1] for each segment alone; NaN where it does not count.
    aggregate : Aggregate
        Sums (..., D) to scores (...).
    """

    packed: Floats
    valid: Bools
    sentence_scores: Floats
    aggregate: Aggregate

    def system_scores(self) -> Floats:
        """(T,) the metric over all segments."""
        return self.aggregate(self.packed.sum(axis=-2))


class Metric(Protocol):
    """A metric with its parameters settled; immutable, equal to another with the same parameters."""

    name: ClassVar[str]
    label: ClassVar[str]
    needs_references: ClassVar[bool]
    needs_weights: ClassVar[bool]
    higher_is_better: ClassVar[bool]

    @property
    def max_order(self) -> int: ...

    @property
    def tokenize(self) -> str: ...

    @property
    def lowercase(self) -> bool: ...

    def parameters(self) -> dict[str, Any]:
        """What `get_metric(name, **parameters)` takes to build this metric again."""

    def signature(self, *, weights: str = "none", references: str = "all") -> str:
        """One line that lets somebody else compute the same score; names the weights and the subset used."""

    def statistics(
        self, table: MatchTable, *, weights: ArrayLike | None = None, reference_mask: ArrayLike | None = None
    ) -> MetricStatistics: ...


def check_common(metric: Metric) -> None:
    check_order(metric.max_order)
    check_choice("tokenize", metric.tokenize, TOKENIZERS)
    check_flag("lowercase", metric.lowercase)


def check_table(metric: Metric, table: MatchTable) -> None:
    """The table must hold what the metric's signature says."""
    for parameter in ("tokenize", "lowercase"):
        found, wanted = getattr(table, parameter), getattr(metric, parameter)
        if found != wanted:
            raise ValueError(f"table: found {parameter}={found!r}; accepted by this metric: {wanted!r}")
    if table.max_order < metric.max_order:
        raise ValueError(f"table: found max_order={table.max_order}; accepted: {metric.max_order} or more")


def yes_no(value: bool) -> str:
    return "yes" if value else "no"


def signature_line(name: str, fields: Iterable[tuple[str, object]]) -> str:
    """sacrebleu's form: ``name|key:value|...|version:x.y.z``.

    Examples
    --------
    >>> signature_line("bleu", [("order", 2), ("tok", "13a")])
    'bleu|order:2|tok:13a|version:0.1.0'
    """
    return "|".join([name, *(f"{key}:{value}" for key, value in fields), f"version:{VERSION}"])


def reference_counts(table: MatchTable) -> str:
    """References per segment for a signature: the number, or the range where it varies."""
    counts = table.references_per_segment()
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low}-{high}"
