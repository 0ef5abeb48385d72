"""Values pooled over data sets, differences of two studies and average ranks, against statsmodels, scipy and tables."""

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.meta_analysis import combine_effects
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from correlations.stats.intervals import NOWHERE, Interval, fisher_z_interval
from correlations.stats.pooled import average_ranks, correlation_difference, pooled_correlation

# Demšar 2006, table 5(a): q at 0.05 of the two-tailed Nemenyi test for 2 to 10 classifiers.
PRINTED = (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164)


def test_with_fishers_intervals_it_is_statsmodels_fixed_effect() -> None:
    values, counts = np.array([0.31, 0.52, 0.18, 0.44]), np.array([103, 53, 220, 75])
    intervals = [fisher_z_interval(r, n) for r, n in zip(values, counts, strict=True)]

    pooled = pooled_correlation(values, counts, intervals)

    expected = combine_effects(np.arctanh(values), 1 / (counts - 3), use_t=False)
    low, high = expected.conf_int()[0]
    assert pooled.value == pytest.approx(math.tanh(expected.mean_effect_fe))
    assert pooled.interval == pytest.approx((math.tanh(low), math.tanh(high)))
    assert pooled.heterogeneity == pytest.approx(max(0.0, expected.i2))
    assert pooled.pvalue == pytest.approx(stats.chi2.sf(expected.q, 3))


def test_wider_intervals_of_their_own_widen_the_pooled_one_by_the_weights_alone() -> None:
    values, counts = [0.3, 0.5], [103, 53]
    z = np.arctanh(values)
    errors, weights = np.array([0.2, 0.3]), np.array([100.0, 50.0])
    ends = np.tanh([z - 1.959964 * errors, z + 1.959964 * errors]).T

    pooled = pooled_correlation(values, counts, ends)

    mean = sum(w * each for w, each in zip(weights, z, strict=True)) / 150
    error = math.sqrt(sum((w / 150 * each) ** 2 for w, each in zip(weights, errors, strict=True)))
    assert pooled.value == pytest.approx(math.tanh(mean))
    assert np.arctanh(pooled.interval) == pytest.approx([mean - 1.959964 * error, mean + 1.959964 * error], rel=1e-5)


def test_what_cannot_be_pooled_says_why() -> None:
    missing = pooled_correlation([0.3, math.nan], [10, 10], [[0, 0.5], [0, 0.5]])
    few = pooled_correlation([0.3, 0.4], [10, 3], [[0, 0.5], [0, 0.5]])
    bare = pooled_correlation([0.3, 0.4], [10, 10], [[0, 0.5], [math.nan, math.nan]])
    assert (missing.reason, few.reason) == ("the coefficient is undefined in a study", few.interval_reason)
    assert bare.reason is None
    assert bare.interval_reason == "a study has no interval over items"
    assert math.isnan(bare.interval.low)
    for coefficients, observations, intervals in (
        ([], [], np.zeros((0, 2))),
        ([0.3], [10, 10], [[0, 1]]),
        ([1.3], [10], [[0, 1]]),
    ):
        with pytest.raises(ValueError, match="coefficient"):
            pooled_correlation(coefficients, observations, intervals)


def test_the_difference_has_newcombes_interval_as_statsmodels_computes_it_for_proportions() -> None:
    # Zou's method with the Wilson intervals of two proportions is Newcombe's (1998) hybrid score interval.
    (a, n), (b, m) = (56, 70), (48, 80)
    wilson = [Interval(*proportion_confint(k, of, method="wilson")) for k, of in ((a, n), (b, m))]

    difference = correlation_difference(a / n, wilson[0], b / m, wilson[1])

    expected = confint_proportions_2indep(a, n, b, m, method="newcomb", compare="diff")
    assert difference.value == pytest.approx(a / n - b / m)
    assert difference.interval == pytest.approx(expected, abs=1e-6)
    assert difference.is_significant
    swapped = correlation_difference(b / m, wilson[1], a / n, wilson[0])
    assert swapped.interval == pytest.approx((-difference.interval.high, -difference.interval.low))
    assert not correlation_difference(0.3, NOWHERE, 0.2, wilson[0]).is_significant


def test_average_ranks_and_the_friedman_test_equal_scipys() -> None:
    rng = np.random.default_rng(3)
    values = np.round(rng.normal(size=(6, 4)) + np.array([0.4, 0.2, 0, 0]), 1)  # rounded: some ties

    result = average_ranks(values)

    assert result.means == pytest.approx(np.mean([stats.rankdata(-row) for row in values], axis=0))
    assert result.pvalue == pytest.approx(stats.friedmanchisquare(*values.T).pvalue)
    assert result.leads.tolist() == [sum(row[m] == max(row) for row in values) for m in range(4)]


@pytest.mark.parametrize(("n_metrics", "q"), list(enumerate(PRINTED, start=2)))
def test_the_critical_difference_has_the_printed_q(n_metrics: int, q: float) -> None:
    result = average_ranks(np.arange(5 * n_metrics, dtype=float).reshape(5, n_metrics))

    assert result.critical == pytest.approx(q * math.sqrt(n_metrics * (n_metrics + 1) / 30), abs=1e-3)


def test_ranks_need_two_metrics_two_data_sets_and_no_gap() -> None:
    assert average_ranks([[0.3, 0.2]]).reason == "one data set alone gives no average"
    assert average_ranks([[0.3], [0.2]]).reason == "one metric alone has no rank"
    assert math.isnan(average_ranks([[0.3, 0.3], [0.2, 0.2]]).pvalue)
    with pytest.raises(ValueError, match=r"coefficients\[1, 0\] is undefined"):
        average_ranks([[0.3, 0.2], [math.nan, 0.1]])
    with pytest.raises(ValueError, match="is expected"):
        average_ranks([0.3, 0.2])
