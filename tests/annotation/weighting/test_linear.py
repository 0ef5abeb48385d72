import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.weighting.linear import linear_weights, median_weights
from annotation.weighting.table import RatingTable

ratings_of_five = st.lists(st.lists(st.integers(1, 5), min_size=5, max_size=5), min_size=1, max_size=8)


def test_means_of_the_paper_give_the_weights_it_prints():
    # Galley et al. 2015, section 4.1 and Table 1: means 4.2 and 1.4 of five raters are printed as 0.6 and -0.8.
    result = linear_weights([[5, 4, 4, 4, 4], [1, 1, 1, 2, 2]], 1, 5)
    assert result.weights.tolist() == [0.6, -0.8]
    assert result.mean.tolist() == [4.2, 1.4]
    assert result.tenths.tolist() == [6, -8]


@given(ratings_of_five)
def test_five_ratings_on_five_points_are_exact_tenths(rows):
    result = linear_weights(rows, 1, 5, n_bootstrap=0)
    assert result.tenths.tolist() == [sum(row) - 15 for row in rows]
    assert result.weights.tolist() == [(sum(row) - 15) / 10 for row in rows]


@given(ratings_of_five, st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(rows, random):
    table = [(response, rater, value) for response, row in enumerate(rows) for rater, value in enumerate(row)]
    expected = linear_weights(rows, 1, 5, n_bootstrap=0)
    random.shuffle(table)
    shuffled = linear_weights(RatingTable(*zip(*table, strict=True)), 1, 5, n_bootstrap=0)
    assert shuffled.weights.tolist() == expected.weights.tolist()
    np.testing.assert_allclose(shuffled.standard_error, expected.standard_error, atol=1e-15)


def test_standard_error_is_the_textbook_one_when_every_rater_rates_once():
    values = np.array([1.0, 2, 4, 5, 5])
    error = linear_weights([values], 1, 5).standard_error[0]
    # s / sqrt(n) of the mean, times the slope 2 / (high - low) of the weight.
    assert error == pytest.approx(values.std(ddof=1) / np.sqrt(5) / 2, rel=1e-12)


def test_a_raters_second_rating_adds_no_independent_evidence():
    once = linear_weights([[1, 5]], 1, 5)
    twice = linear_weights(RatingTable([0, 0, 0, 0], [0, 1, 0, 1], [1, 5, 1, 5]), 1, 5)
    assert twice.n.tolist() == [4]
    assert twice.n_raters.tolist() == [2]
    assert twice.standard_error == pytest.approx(once.standard_error)


def test_interval_of_three_raters_is_the_enumerated_bootstrap():
    # All 27 equally likely resamples of (1, 1, 5), by hand: mean 5 has probability 1/27 = 3.7%, mean 1 has 8/27,
    # so the 2.5% and 97.5% quantiles are the ends of the scale.
    result = linear_weights([[1, 1, 5]], 1, 5, n_bootstrap=20_000)
    assert (result.low[0], result.high[0]) == (-1.0, 1.0)


def test_what_cannot_be_known_is_nan_with_a_reason():
    result = linear_weights(RatingTable([0, 0, 1], [0, 1, 0], [3, 4, 2], n_responses=3), 1, 5)
    assert result.weights.tolist()[:2] == [0.25, -0.5]
    assert np.isnan(result.weights[2])
    assert np.isnan([result.low[1:], result.high[1:], result.standard_error[1:]]).all()
    assert result.low[0] <= 0.25 <= result.high[0]
    assert result.reasons.tolist() == ["", "one rater: no standard error, no interval", "no rating"]
    assert result.tenths is None


def test_same_ratings_give_the_same_interval_and_a_generator_changes_it():
    rows = np.random.default_rng(4).integers(0, 101, size=(1, 9))
    first, again = linear_weights(rows, 0, 100), linear_weights(rows, 0, 100)
    other = linear_weights(rows, 0, 100, rng=np.random.default_rng(1))
    assert first.low[0] == again.low[0] != other.low[0]


def test_no_ratings_at_all_is_an_empty_result():
    result = linear_weights([], 1, 5)
    assert result.weights.shape == result.low.shape == result.reasons.shape == (0,)


@pytest.mark.parametrize(
    ("ratings", "low", "high", "message"),
    [
        ([[3, 6]], 1, 5, r"rating 1 \(response 0, rater 1\) is 6; accepted: 1 to 5 \(1 outside in all\)"),
        ([[3]], 5, 1, r"scale is \[5, 1\]"),
        ([[3], [float("nan")]], 1, 5, r"value\[1\] is nan"),
        ([3, 4], 1, 5, r"ratings\[0\] is 3; accepted: a RatingTable, or one sequence of ratings per response"),
    ],
)
def test_bad_input_is_refused_by_name(ratings, low, high, message):
    with pytest.raises(ValueError, match=message):
        linear_weights(ratings, low, high)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([0, -1], [0, 0], [3, 3]), r"response\[1\] is -1"),
        (([0, 0], [0], [3, 3]), r"rater has shape \(1,\); accepted: \(2,\)"),
        (([0.5], [0], [3]), "response holds float64 values"),
    ],
)
def test_a_malformed_table_is_refused_by_column_and_row(columns, message):
    with pytest.raises(ValueError, match=message):
        RatingTable(*columns)


@given(st.lists(st.lists(st.integers(1, 7), max_size=6), min_size=1, max_size=6))
def test_median_equals_numpys(rows):
    weights = median_weights(rows, 1, 7, n_bootstrap=0).weights
    for row, weight in zip(rows, weights, strict=True):
        if row:
            assert weight == pytest.approx((np.median(row) - 1) / 3 - 1)
        else:
            assert np.isnan(weight)


def test_median_interval_is_that_of_numpys_medians_of_resamples():
    rows = np.array([[1, 2, 2, 3, 4, 4, 5]], dtype=float)
    result = median_weights(rows, 1, 5, n_bootstrap=4000, rng=np.random.default_rng(2))
    picks = np.random.default_rng(3).choice(rows[0], size=(4000, 7))
    medians = (np.median(picks, axis=1) - 1) / 2 - 1
    assert (result.low[0], result.high[0]) == tuple(np.percentile(medians, [2.5, 97.5]))
    assert result.standard_error[0] == pytest.approx(medians.std(ddof=1), rel=0.05)
