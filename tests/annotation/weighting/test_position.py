import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, friedmanchisquare, permutation_test, rankdata, ttest_1samp, ttest_rel, wilcoxon

from annotation.weighting.position import list_position_bias, pair_position_bias, preference_position_bias

NAN = np.nan


def long(matrix):
    """Return presentation, position and value columns of lists of one length."""
    presentation, position = np.indices(matrix.shape)
    return presentation.ravel(), position.ravel(), matrix.ravel()


def test_tests_of_pairs_equal_scipys():
    rng = np.random.default_rng(0)
    first, second = rng.integers(1, 6, (2, 60)).astype(float)
    first[3] = NAN
    result = pair_position_bias(first, second)
    known = np.arange(60) != 3
    oracle = ttest_rel(first[known], second[known])
    assert result.pvalue == pytest.approx(oracle.pvalue)
    assert (result.low, result.high) == pytest.approx(tuple(oracle.confidence_interval()))
    apart = (first - second)[known]
    assert result.rank_pvalue == pytest.approx(wilcoxon(apart[apart != 0]).pvalue)
    assert result.n == result.n_first + result.n_second + result.n_equal == 59


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ([], [], "fewer than two pairs were rated"),
        ([3, NAN], [2, 2], "fewer than two pairs were rated"),
        ([3, 4, 5], [2, 3, 4], "every pair differs by the same"),
        ([3, 4, 5], [3, 4, 5], "every pair differs by the same"),
    ],
)
def test_undefined_tests_of_pairs_have_a_reason(first, second, reason):
    result = pair_position_bias(first, second)
    assert result.reason == reason
    assert np.isnan([result.low, result.high, result.pvalue]).all()


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 5))
def test_tests_of_choices_equal_scipys_binomial_test(first, second, ties):
    result = preference_position_bias(first, second, ties=ties)
    if first + second == 0:
        assert result.reason == "no rater chose a side"
        return
    oracle = binomtest(first, first + second, 0.5)
    ends = oracle.proportion_ci(method="wilson")
    assert (result.pvalue, result.low, result.high) == (oracle.pvalue, ends.low, ends.high)
    assert (result.n, result.n_ties) == (first + second, ties)


@pytest.mark.parametrize("tied", [False, True])
def test_the_statistic_of_ranks_equals_friedmans(tied):
    rng = np.random.default_rng(2)
    matrix = rng.integers(1, 6, (12, 4)).astype(float) if tied else rng.normal(size=(12, 4))
    result = list_position_bias(*long(rankdata(matrix, axis=1)), method="asymptotic")
    oracle = friedmanchisquare(*matrix.T)
    assert result.statistic == pytest.approx(oracle.statistic)
    assert result.pvalue == pytest.approx(oracle.pvalue)
    assert result.df == 3


def test_the_permutation_p_value_equals_scipys():
    matrix = np.random.default_rng(5).normal(size=(6, 3))
    matrix[:, 0] += 0.6
    result = list_position_bias(*long(matrix), n_permutations=4999)

    def spread(*columns):
        # Lists of one length have a covariance proportional to I - 1/L: the form is proportional to this sum.
        centred = np.stack(columns, axis=-1)
        centred = centred - centred.mean(axis=-1, keepdims=True)
        return (centred.sum(axis=-2) ** 2).sum(axis=-1)

    exact = _permuted_within_rows(matrix, spread)
    assert result.pvalue == pytest.approx(exact, abs=0.02)
    assert result.method == "permutation"


def _permuted_within_rows(matrix, statistic):
    """Sample from the (3!)^n orders within rows with scipy.stats.permutation_test."""
    rng = np.random.default_rng(0)
    return permutation_test(
        tuple(matrix.T),
        lambda *columns, axis: statistic(*(np.moveaxis(column, axis, -1) for column in columns)),
        permutation_type="samples",
        vectorized=True,
        n_resamples=4999,
        alternative="greater",
        rng=rng,
        axis=0,
    ).pvalue


def test_a_bias_is_detected_in_lists_of_different_lengths():
    rng = np.random.default_rng(3)
    lengths = rng.integers(2, 9, 80)
    presentation = np.repeat(np.arange(80), lengths)
    position = np.concatenate([np.arange(length) for length in lengths])
    value = rng.normal(3, 1, len(position)) + rng.normal(0, 2, 80)[presentation]
    fair = list_position_bias(presentation, position, value)
    biased = list_position_bias(presentation, position, value - 0.3 * position)
    assert fair.pvalue > 0.05
    assert biased.pvalue < 0.01
    assert biased.n.tolist() == [int((lengths > at).sum()) for at in range(8)]
    asymptotic = list_position_bias(presentation, position, value, method="asymptotic")
    assert asymptotic.pvalue == pytest.approx(fair.pvalue, abs=0.05)
    assert asymptotic.statistic == fair.statistic


def test_p_values_without_a_bias_are_uniform():
    rng = np.random.default_rng(9)
    lengths = np.array([2, 3, 3, 5, 2, 4, 6, 3, 2, 4] * 3)
    presentation = np.repeat(np.arange(30), lengths)
    position = np.concatenate([rng.permutation(length) for length in lengths])
    pvalues = [
        list_position_bias(presentation, position, rng.integers(1, 6, len(position)), method="asymptotic").pvalue
        for _ in range(600)
    ]
    assert 0.02 < np.mean(np.array(pvalues) < 0.05) < 0.08


def test_deviations_are_from_the_mean_of_the_list_with_students_interval():
    matrix = np.array([[5.0, 3, 1], [4, 4, 1], [2, 3, 1]])
    result = list_position_bias(*long(matrix))
    first = matrix[:, 0] - matrix.mean(axis=1)
    oracle = ttest_1samp(first, 0).confidence_interval()
    assert result.deviation[0] == pytest.approx(first.mean())
    assert (result.low[0], result.high[0]) == (pytest.approx(oracle.low), pytest.approx(oracle.high))


def test_missing_ratings_and_lists_of_one_do_not_count():
    result = list_position_bias([0, 0, 0, 1, 2, 2], [1, 2, 3, 1, 1, 2], [5, NAN, 3, 4, 2, 2])
    assert result.positions.tolist() == [1, 2, 3]
    assert result.n.tolist() == [2, 1, 1]
    assert result.n_lists == 1  # the third list holds one value twice


@pytest.mark.parametrize("columns", [([], [], []), ([0, 1], [0, 0], [3, 4]), ([0, 0], [0, 1], [3, 3])])
def test_undefined_tests_of_lists_have_a_reason(columns):
    result = list_position_bias(*columns)
    assert (result.reason, result.df) == ("no list holds two different ratings", 0)
    assert np.isnan([result.statistic, result.pvalue]).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: list_position_bias([0, 0], [1, 1], [3, 4]), "position 1 appears twice in a presentation"),
        (lambda: list_position_bias([0], [0, 1], [3, 4]), r"presentation has shape \(1,\)"),
        (lambda: list_position_bias([0], [0], [3], method="exact"), "method is 'exact'"),
        (lambda: list_position_bias([0], [0], [3], n_permutations=0), "n_permutations is 0"),
        (lambda: pair_position_bias([1], [1, 2]), r"second has shape \(2,\)"),
        (lambda: preference_position_bias(-1, 2), "first_chosen is -1"),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()
