import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t
from statsmodels.api import OLS

from annotation.weighting.aggregation import median_variance
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
    result = linear_weights(rows, 1, 5)
    assert result.tenths.tolist() == [sum(row) - 15 for row in rows]
    assert result.weights.tolist() == [(sum(row) - 15) / 10 for row in rows]


@given(ratings_of_five, st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(rows, random):
    table = [(response, rater, value) for response, row in enumerate(rows) for rater, value in enumerate(row)]
    expected = linear_weights(rows, 1, 5)
    random.shuffle(table)
    shuffled = linear_weights(RatingTable(*zip(*table, strict=True)), 1, 5)
    assert shuffled.weights.tolist() == expected.weights.tolist()
    np.testing.assert_allclose(shuffled.standard_error, expected.standard_error, atol=1e-15)


def test_intervals_are_those_of_a_regression_on_the_responses():
    # statsmodels: one mean per response, one error variance for all, Student's t.
    rows = [[1, 2, 4], [4, 5], [2, 3, 2, 5]]
    result = linear_weights(rows, 1, 5)
    response = np.repeat(np.arange(3), [3, 2, 4])
    oracle = OLS(np.concatenate(rows) / 2 - 1.5, np.eye(3)[response]).fit()
    np.testing.assert_allclose(result.standard_error, oracle.bse)
    np.testing.assert_allclose(np.column_stack([result.low, result.high]), oracle.conf_int().clip(-1, 1))
    assert result.reasons.tolist() == [""] * 3


def test_raters_who_agree_on_every_response_give_no_interval():
    result = linear_weights([[2, 2], [5, 5]], 1, 5)
    assert np.isnan([result.low, result.high, result.standard_error]).all()
    assert set(result.reasons) == {"raters agree on every response: no standard error, no interval"}


def test_a_raters_second_rating_adds_no_independent_evidence():
    once = linear_weights([[1, 5]], 1, 5)
    twice = linear_weights(RatingTable([0, 0, 0, 0], [0, 1, 0, 1], [1, 5, 1, 5]), 1, 5)
    assert twice.n.tolist() == [4]
    assert twice.n_raters.tolist() == [2]
    assert twice.standard_error == pytest.approx(once.standard_error)


def test_what_cannot_be_known_is_nan_with_a_reason():
    result = linear_weights(RatingTable([0, 0, 1], [0, 1, 0], [3, 4, 2], n_responses=3), 1, 5)
    assert result.weights.tolist()[:2] == [0.25, -0.5]
    assert np.isnan(result.weights[2])
    assert np.isnan([result.low[1:], result.high[1:], result.standard_error[1:]]).all()
    assert result.low[0] <= 0.25 <= result.high[0]
    assert result.reasons.tolist() == ["", "one rater: no standard error, no interval", "no rating"]
    assert result.tenths is None


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
    weights = median_weights(rows, 1, 7).weights
    for row, weight in zip(rows, weights, strict=True):
        if row:
            assert weight == pytest.approx((np.median(row) - 1) / 3 - 1)
        else:
            assert np.isnan(weight)


@pytest.mark.parametrize(("k", "variance"), [(1, 1), (2, 0.5), (3, 0.4487), (4, 0.2982), (5, 0.2868), (7, 0.2104)])
def test_variance_of_a_normal_median_is_the_printed_one(k, variance):
    # Teichroew, Annals of Mathematical Statistics 1956, tables of variances and covariances of order statistics.
    assert median_variance(k) == pytest.approx(variance, abs=5e-5)


def test_the_interval_of_a_median_holds_half_a_step_beside_the_spread():
    result = median_weights([[1, 3, 4], [2, 2, 5]], 1, 5)
    spread = np.sqrt(np.mean([np.var([1, 3, 4], ddof=1), np.var([2, 2, 5], ddof=1)])) / 2
    half = np.hypot(t.ppf(0.975, 4) * spread * np.sqrt(median_variance(3)), 0.25)
    assert result.low.tolist() == pytest.approx(np.maximum(result.weights - half, -1))
