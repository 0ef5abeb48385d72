import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t, ttest_1samp
from statsmodels.stats.meta_analysis import combine_effects

from annotation.weighting.sequence import drift, sequence_positions


@pytest.fixture
def work():
    """Twelve raters of different length and level, whose ratings fall by 0.02 a screen."""
    rng = np.random.default_rng(1)
    rater = np.repeat(np.arange(12), rng.integers(10, 40, 12))
    position = sequence_positions(rater, np.arange(len(rater)))
    value = 3 + rng.normal(0, 1, 12)[rater] - 0.02 * position + rng.normal(0, 0.5, len(rater))
    return value, rater, position.astype(float)


def test_drift_is_the_random_effects_mean_of_raters_regressions(work):
    value, rater, position = work
    fits = [sm.OLS(value[rater == one], sm.add_constant(position[rater == one])).fit() for one in range(12)]
    noise = sum(fit.ssr for fit in fits) / sum(fit.df_resid for fit in fits)
    slopes = np.array([fit.params[1] for fit in fits])
    variance = noise * np.array([fit.normalized_cov_params[1, 1] for fit in fits])
    oracle = combine_effects(slopes, variance, method_re="iterated", atol=1e-12)
    result = drift(value, rater, position, confidence=0.9)
    assert result.slope == pytest.approx(oracle.mean_effect_re, rel=1e-6)
    share = oracle.weights_rel_re
    error = np.sqrt((share**2 * (slopes - result.slope) ** 2 / (1 - share)).sum())
    freedom = 1 / (share**2).sum() - 1
    assert result.standard_error == pytest.approx(error, rel=1e-6)
    assert result.pvalue == pytest.approx(2 * t.sf(abs(result.slope) / error, freedom), rel=1e-5)
    assert result.high - result.slope == pytest.approx(t.ppf(0.95, freedom) * error, rel=1e-5)


def test_the_error_of_raters_who_worked_alike_is_that_of_a_mean_of_slopes():
    rng = np.random.default_rng(2)
    value, rater, position = rng.normal(size=40), np.repeat(np.arange(4), 10), np.tile(np.arange(10.0), 4)
    slopes = [np.polyfit(position[:10], part, 1)[0] for part in np.split(value, 4)]
    oracle = ttest_1samp(slopes, 0)
    result = drift(value, rater, position)
    assert result.pvalue == pytest.approx(oracle.pvalue)
    assert (result.low, result.high) == pytest.approx(oracle.confidence_interval())


def test_different_levels_of_raters_are_not_drift():
    # The severe rater came last: ratings fall over all raters, but not within them.
    rng = np.random.default_rng(4)
    rater = np.repeat([0, 1, 2], 20)
    value = np.repeat([5.0, 3.0, 1.0], 20) + rng.normal(0, 0.2, 60)
    result = drift(value, rater, np.arange(60))
    assert abs(result.slope) < 0.02
    assert result.pvalue > 0.05


def test_the_test_of_drift_has_its_nominal_level():
    rng = np.random.default_rng(6)
    rater, position = np.repeat(np.arange(15), 20), np.tile(np.arange(20), 15)
    # Each rater drifts differently: ratings of one rater are correlated.
    rejections = [
        drift(rng.normal(0, 1, 300) + (rng.normal(0, 0.1, 15)[:, None] * np.arange(20)).ravel(), rater, position).pvalue
        < 0.05
        for _ in range(800)
    ]
    assert 0.02 < np.mean(rejections) < 0.08


@given(st.floats(-100, 100), st.floats(0.1, 50))
def test_the_slope_follows_the_units(shift, scale):
    rng = np.random.default_rng(0)
    value, rater, position = rng.normal(size=30), np.repeat([0, 1, 2], 10), np.tile(np.arange(10.0), 3)
    plain, rescaled = drift(value, rater, position), drift(value + shift, rater, position * scale)
    assert rescaled.slope * scale == pytest.approx(plain.slope, rel=1e-6)
    assert rescaled.pvalue == pytest.approx(plain.pvalue, rel=1e-6)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        (([], [], []), "no rater has ratings at two different positions"),
        (([1, 2], [0, 1], [0, 5]), "no rater has ratings at two different positions"),
        (([1, 2, np.nan], [0, 0, 1], [3, 3, 4]), "no rater has ratings at two different positions"),
        (([1, 2, 4], [0, 0, 0], [0, 1, 2]), "one rater: no interval, no p-value"),
        (([1, 2, 5, 6], [0, 0, 1, 1], [0, 1, 0, 1]), "every rater has exactly this slope"),
        (([3, 3, 3, 3], [0, 0, 1, 1], [0, 1, 0, 1]), "every rater has exactly this slope"),
    ],
)
def test_undefined_drift_is_nan_with_a_reason(columns, reason):
    result = drift(*columns)
    assert result.reason == reason
    assert np.isnan([result.low, result.high, result.pvalue]).all()


def test_positions_count_each_raters_screens():
    assert sequence_positions(["b", "a", "b", "b", "a"], [7, 1, 5, 5, 9]).tolist() == [1, 0, 0, 0, 1]
    assert sequence_positions([], []).tolist() == []


def test_columns_must_align():
    with pytest.raises(ValueError, match=r"position has shape \(1,\); accepted: \(2,\)"):
        drift([1, 2], [0, 0], [1])
