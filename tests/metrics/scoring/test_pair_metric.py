from dataclasses import dataclass
from math import nan
from typing import ClassVar

import numpy as np

from metrics.scoring.metric import Workspace
from metrics.scoring.pair_metric import PairMetric
from metrics.scoring.segments import Segments


@dataclass(frozen=True)
class Gap(PairMetric):
    """Difference of lengths in characters; none against a reference that is not known."""

    name: ClassVar[str] = "gap"
    label: ClassVar[str] = "Gap"
    summary: ClassVar[str] = "How much longer or shorter than the reference a hypothesis is."
    higher_is_better: ClassVar[bool] = False

    def compare(self, hypothesis: str, reference: str) -> float:
        return nan if reference == "?" else float(abs(len(hypothesis) - len(reference)))


@dataclass(frozen=True)
class Closeness(Gap):
    name: ClassVar[str] = "closeness"
    higher_is_better: ClassVar[bool] = True


SEGMENTS = Segments([["abc", "a", "a", "a"], ["ab", "a", "b", "c"]], [["abcd", "ab"], ["?", "abc"], ["?"], []])


def test_the_best_reference_is_the_largest_or_the_smallest_as_the_metric_says() -> None:
    gap = Workspace(SEGMENTS).statistics(Gap())
    closeness = Workspace(SEGMENTS).statistics(Closeness())
    np.testing.assert_array_equal(gap.sentence_scores[:, :2], [[1, 2], [0, 2]])
    np.testing.assert_array_equal(closeness.sentence_scores[:, :2], [[1, 2], [2, 2]])
    np.testing.assert_array_equal(gap.system_scores(), [1.5, 1.0])


def test_a_segment_without_a_value_is_not_counted() -> None:
    statistics = Workspace(SEGMENTS).statistics(Gap(), reference_mask=[True, False, True, False, True])
    np.testing.assert_array_equal(statistics.sentence_scores, [[1, nan, nan, nan], [2, nan, nan, nan]])
    np.testing.assert_array_equal(statistics.valid, ~np.isnan(statistics.sentence_scores))


def test_tokens_reach_it_as_one_text() -> None:
    tokens = Segments([[["a", "b"]]], [[["abc"]]])
    assert Workspace(tokens).statistics(Gap()).system_scores() == 0
