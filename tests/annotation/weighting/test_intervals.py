import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binomtest, norm, pearsonr, quantile_test, ttest_1samp

from annotation.weighting.intervals import (
    auc_interval,
    correlation_interval,
    mean_interval,
    median_interval,
    wilson_interval,
)


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.sampled_from([0.8, 0.95]))
def test_wilson_intervals_equal_scipys(counts, confidence):
    low, high = wilson_interval(*counts, confidence=confidence)
    oracle = binomtest(*counts).proportion_ci(confidence, method="wilson")
    assert (low, high) == (pytest.approx(oracle.low, abs=1e-12), pytest.approx(oracle.high, abs=1e-12))


def test_the_interval_of_a_mean_equals_scipys():
    values = np.array([1.0, 2, 4, 5, 5, 3])
    low, high = mean_interval(values.mean(), values.std(ddof=1), len(values), confidence=0.9)
    oracle = ttest_1samp(values, 0).confidence_interval(0.9)
    assert (low, high) == (pytest.approx(oracle.low), pytest.approx(oracle.high))


def test_the_interval_of_a_correlation_equals_scipys():
    rng = np.random.default_rng(3)
    x = rng.normal(size=25)
    result = pearsonr(x, x + rng.normal(size=25))
    low, high = correlation_interval(result.statistic, 25)
    oracle = result.confidence_interval()
    assert (low, high) == (pytest.approx(oracle.low), pytest.approx(oracle.high))


@pytest.mark.parametrize("n", [1, 2, 5, 6, 7, 12, 40])
def test_the_interval_of_a_median_equals_that_of_scipys_quantile_test(n):
    values = np.random.default_rng(n).exponential(size=n)
    low, high = median_interval(np.sort(values), [0], [n])
    oracle = quantile_test(values, q=np.median(values), p=0.5).confidence_interval()
    if n < 6:  # the smallest and the largest of five hold the median with 93.75%
        assert np.isnan([low[0], high[0], oracle.low, oracle.high]).all()
    else:
        assert (low[0], high[0]) == (oracle.low, oracle.high)


@given(st.floats(0.01, 0.99), st.integers(2, 30), st.integers(2, 80))
def test_the_interval_of_an_auc_solves_newcombes_equation(auc, m, n):
    # Newcombe 2006, method 5, solved with scipy's root finder.
    low, high = auc_interval(auc, m, n)
    weight = (m + n) / 2 - 1

    def gap(theta):
        variance = (
            theta * (1 - theta) * (1 + weight * (1 - theta) / (2 - theta) + weight * theta / (1 + theta)) / (m * n)
        )
        return (theta - auc) ** 2 - norm.ppf(0.975) ** 2 * variance

    assert low == pytest.approx(brentq(gap, 1e-9, auc), abs=1e-6)
    assert high == pytest.approx(brentq(gap, auc, 1 - 1e-9), abs=1e-6)


def test_the_variance_of_an_auc_equals_hanley_and_mcneils():
    # Hanley & McNeil 1982: area 0.893, 51 abnormal and 58 normal images, standard error 0.032. Newcombe's sample sizes
    # differ from theirs in the third digit only; the half-width of a narrow interval is the quantile times that error.
    low, high = auc_interval(0.893, 51, 58, confidence=0.1)
    assert (high - low) / 2 / norm.ppf(0.55) == pytest.approx(0.032, abs=5e-4)


def test_the_interval_of_an_auc_has_its_nominal_coverage():
    rng = np.random.default_rng(5)
    truth = norm.cdf(1 / np.sqrt(2))
    first, second = rng.normal(1, 1, (4000, 5, 1)), rng.normal(0, 1, (4000, 1, 30))
    low, high = auc_interval((first > second).mean(axis=(1, 2)), 5, 30)
    assert 0.93 < np.mean((low <= truth) & (truth <= high)) < 0.99


def test_undefined_estimates_have_no_interval():
    for low, high in [
        wilson_interval(0, 0),
        mean_interval(3.0, np.nan, 1),
        mean_interval(3.0, 0.0, 9),
        correlation_interval(np.nan, 9),
        correlation_interval(0.5, 3),
        correlation_interval(1.0, 9),
        auc_interval(np.nan, 0, 0),
    ]:
        assert np.isnan([low, high]).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wilson_interval(3, 2), "0 <= successes <= n"),
        (lambda: wilson_interval(1, 2, confidence=1), "confidence is 1"),
        (lambda: correlation_interval(1.5, 9), r"r lies outside \[-1, 1\]"),
        (lambda: median_interval(np.zeros(1), [0], [1], confidence=0), "confidence is 0"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
