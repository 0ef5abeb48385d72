import json

import numpy as np
import pytest

from metrics.scoring.aggregates import BleuAggregate, MeanAggregate, aggregate_from


def test_scores_over_leading_axes_are_the_scores_one_by_one() -> None:
    sums = np.random.default_rng(3).integers(-2, 9, size=(4, 3, 6)).astype(float)
    sums[..., :2] += 10
    sums[..., 4:] += 12
    for smoothing in ("none", "exp", "add-one"):
        aggregate = BleuAggregate(max_order=2, smoothing=smoothing)
        one_by_one = [[float(aggregate(unit)) for unit in row] for row in sums]
        np.testing.assert_array_equal(aggregate(sums), one_by_one)
        assert aggregate.clamped(sums).shape == (4, 3)


def test_sums_are_left_as_they_were() -> None:
    sums = np.array([10.0, 10, 4, 0, 10, 9])
    before = sums.copy()
    for smoothing in ("none", "exp", "add-one"):
        aggregate = BleuAggregate(smoothing=smoothing)
        aggregate(sums)
        aggregate.precisions(sums)
    np.testing.assert_array_equal(sums, before)


def test_a_unit_without_tokens_is_undefined_and_an_empty_hypothesis_scores_zero() -> None:
    scores = BleuAggregate(max_order=1)([[0, 0, 0, 0], [0, 5, 0, 0]])
    np.testing.assert_array_equal(scores, [np.nan, 0.0])


@pytest.mark.parametrize("aggregate", [BleuAggregate(max_order=3, smoothing="exp", weight_scale=10), MeanAggregate()])
def test_an_aggregate_comes_back_from_json(aggregate: BleuAggregate | MeanAggregate) -> None:
    assert aggregate_from(json.loads(json.dumps(aggregate.parameters()))) == aggregate


def test_sums_of_another_width_are_refused() -> None:
    with pytest.raises(ValueError, match=r"sums: found shape \(2, 4\); accepted: 6 statistics"):
        BleuAggregate(max_order=2)(np.ones((2, 4)))
