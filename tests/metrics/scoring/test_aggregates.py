import json

import numpy as np
import pytest

from metrics.scoring.aggregates import (
    AGGREGATES,
    Aggregate,
    BleuAggregate,
    ChrfAggregate,
    IBleuAggregate,
    MeanAggregate,
    MeteorAggregate,
    TerAggregate,
    aggregate_from,
)

EXAMPLES = [
    BleuAggregate(max_order=3, smoothing="exp", weight_scale=10),
    IBleuAggregate(max_order=3, smoothing="add-one", alpha=0.8),
    ChrfAggregate(orders=8, beta=1, eps_smoothing=True),
    TerAggregate(),
    MeteorAggregate(alpha=0.5, matchers=(1.0, 0.5, 0.5, 0.5)),
    MeanAggregate(),
]


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


def test_ibleu_is_smoothed_where_its_bleu_against_the_references_is() -> None:
    matched, not_matched = [9, 9, 4, 2, 9, 8], [9, 9, 4, 0, 9, 8]
    aggregate = IBleuAggregate(max_order=2, smoothing="exp")
    orders = aggregate.clamped_orders([[*matched, *not_matched], [*not_matched, *matched]])
    np.testing.assert_array_equal(orders, [[False, False], [False, True]])


@pytest.mark.parametrize("aggregate", EXAMPLES, ids=lambda aggregate: aggregate.kind)
def test_an_aggregate_comes_back_from_json(aggregate: Aggregate) -> None:
    assert aggregate_from(json.loads(json.dumps(aggregate.parameters()))) == aggregate


def test_there_is_an_example_of_each_kind() -> None:
    assert {type(aggregate) for aggregate in EXAMPLES} == set(AGGREGATES.values())


@pytest.mark.parametrize("aggregate", EXAMPLES, ids=lambda aggregate: aggregate.kind)
def test_no_sums_at_all_have_no_score_and_nothing_is_clamped_in_silence(aggregate: Aggregate) -> None:
    sums = np.zeros((2, 3, aggregate.width))
    assert np.isnan(aggregate(sums)).all()
    assert aggregate.clamped(sums).shape == (2, 3)


def test_sums_of_another_width_are_refused() -> None:
    with pytest.raises(ValueError, match=r"sums: found shape \(2, 4\); accepted: 6 statistics"):
        BleuAggregate(max_order=2)(np.ones((2, 4)))
