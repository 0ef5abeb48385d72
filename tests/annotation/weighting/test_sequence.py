import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

from annotation.weighting.sequence import drift, sequence_positions


@pytest.fixture
def work():
    """Twelve raters of different length and level, whose ratings fall by 0.02 a screen."""
    rng = np.random.default_rng(1)
    rater = np.repeat(np.arange(12), rng.integers(10, 40, 12))
    place = sequence_positions(rater, np.arange(len(rater)))
    value = 3 + rng.normal(0, 1, 12)[rater] - 0.02 * place + rng.normal(0, 0.5, len(rater))
    return value, rater, place.astype(float)


def test_drift_is_the_clustered_regression_of_statsmodels(work):
    value, rater, place = work
    result = drift(value, rater, place, confidence=0.9)
    dummies = np.eye(12)[rater]
    # The slope of a regression with one intercept per rater ...
    full = sm.OLS(value, np.column_stack([place, dummies])).fit()
    assert result.slope == pytest.approx(full.params[0])
    # ... and, as the intercepts are nested in the clusters, the error of the same regression after they are taken out.
    within = [column - (dummies @ (dummies.T @ column / dummies.sum(axis=0))) for column in (value, place)]
    oracle = sm.OLS(within[0], within[1]).fit(cov_type="cluster", cov_kwds={"groups": rater}, use_t=True)
    assert result.standard_error == pytest.approx(oracle.bse[0])
    assert result.pvalue == pytest.approx(oracle.pvalues[0])
    assert [result.low, result.high] == pytest.approx(list(oracle.conf_int(0.1)[0]))


def test_raters_of_different_level_are_no_drift():
    # The severe rater came late: over all ratings they fall, within raters they do not.
    rng = np.random.default_rng(4)
    rater = np.repeat([0, 1, 2], 20)
    value = np.repeat([5.0, 3.0, 1.0], 20) + rng.normal(0, 0.2, 60)
    result = drift(value, rater, np.arange(60))
    assert abs(result.slope) < 0.02
    assert result.pvalue > 0.05


def test_drift_that_is_not_there_is_found_about_as_rarely_as_stated():
    rng = np.random.default_rng(6)
    rater, place = np.repeat(np.arange(15), 20), np.tile(np.arange(20), 15)
    # Raters wander each in their own way: ratings of one rater belong together.
    found = [
        drift(rng.normal(0, 1, 300) + (rng.normal(0, 0.1, 15)[:, None] * np.arange(20)).ravel(), rater, place).pvalue
        < 0.05
        for _ in range(800)
    ]
    assert 0.02 < np.mean(found) < 0.08


@given(st.floats(-100, 100), st.floats(0.1, 50))
def test_the_slope_follows_the_units(shift, scale):
    rng = np.random.default_rng(0)
    value, rater, place = rng.normal(size=30), np.repeat([0, 1, 2], 10), np.tile(np.arange(10.0), 3)
    plain, other = drift(value, rater, place), drift(value + shift, rater, place * scale)
    assert other.slope * scale == pytest.approx(plain.slope, rel=1e-6)
    assert other.pvalue == pytest.approx(plain.pvalue, rel=1e-6)


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
def test_what_cannot_be_known_is_nan_with_a_reason(columns, reason):
    result = drift(*columns)
    assert result.reason == reason
    assert np.isnan([result.low, result.high, result.pvalue]).all()


def test_places_count_each_raters_own_screens():
    assert sequence_positions(["b", "a", "b", "b", "a"], [7, 1, 5, 5, 9]).tolist() == [1, 0, 0, 0, 1]
    assert sequence_positions([], []).tolist() == []


def test_columns_must_align():
    with pytest.raises(ValueError, match=r"position has shape \(1,\); accepted: \(2,\)"):
        drift([1, 2], [0, 0], [1])
