"""What a segment's score is made of, where there is nothing to make it of."""

from __future__ import annotations

import math

import pytest

from metrics.scoring.explain.segment import explain_segment
from metrics.scoring.registry import get_metric
from tests.metrics.scoring.cast import WITH_REFERENCES_ALONE


@pytest.mark.parametrize("name", WITH_REFERENCES_ALONE)
@pytest.mark.parametrize("references", [[], ["a b"]])
def test_without_a_reference_in_the_subset_there_is_no_score_and_nothing_to_choose(
    name: str, references: list[str]
) -> None:
    explanation = explain_segment(
        get_metric(name),
        "a b",
        references,
        weights=[1.0] * len(references),
        counts=[False] * len(references),
        source="c",
    )
    assert math.isnan(explanation.score)
    assert explanation.chosen is None
    assert explanation.parts == ()
