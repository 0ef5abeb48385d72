"""Checks of a release's weights. A release never changes: what depends on it alone is cached by its hash."""

from annotation.references.weighing.selectors.attention import LISTS, Attention, attention, listed_responses, rows_of
from annotation.references.weighing.selectors.columns import Columns, release_columns
from annotation.references.weighing.selectors.guard import Circularity, circularity, outputs_among_references
from annotation.references.weighing.selectors.influence import Influences, influences
from annotation.references.weighing.selectors.sensitivity import Comparison, comparisons

__all__ = [
    "LISTS",
    "Attention",
    "Circularity",
    "Columns",
    "Comparison",
    "Influences",
    "attention",
    "circularity",
    "comparisons",
    "influences",
    "listed_responses",
    "outputs_among_references",
    "release_columns",
    "rows_of",
]
