"""Intervals of correlations over systems; benchmarks/coverage/ranges.py simulates how often they hold the truth."""

import math

import numpy as np
import pytest
from scipy import stats

from correlations.stats import system_intervals as intervals
from correlations.stats.resampling import RaterRatings


def test_the_bias_corrected_interval_equals_scipys_bca_where_nothing_accelerates() -> None:
    """Of a symmetric sample's mean scipy's acceleration is 0, and BCa is BC (Efron and Tibshirani 1993, eq. 14.10)."""
    half = np.random.default_rng(2).normal(size=20)
    sample = np.concatenate([half, -half]) + 3
    found = stats.bootstrap((sample,), np.mean, n_resamples=999, method="BCa", rng=np.random.default_rng(5))
    found_by_us = intervals.over_systems(float(sample.mean()), found.bootstrap_distribution, 10**12, alone=False)
    assert found_by_us == pytest.approx(found.confidence_interval, abs=1e-9)


def test_few_systems_widen_the_interval_as_much_as_draws_of_them_vary_too_little() -> None:
    """The normal quantile times sqrt(5 / 4) for five systems; alone, for six, Student's t with 5 degrees of freedom."""
    draws = stats.norm.ppf(np.linspace(0.0005, 0.9995, 1000)) / 10
    low, high = intervals.over_systems(0.0, draws, 5, alone=False)
    assert (low, high) == pytest.approx((-0.196 * math.sqrt(1.25), 0.196 * math.sqrt(1.25)), abs=2e-3)
    assert intervals.over_systems(0.0, draws, 6, alone=True).high == pytest.approx(0.2571, abs=6e-3)  # t(5)
    assert math.isnan(intervals.over_systems(0.0, draws, 5, alone=True).high)


def test_the_bias_of_draws_counts_as_error_over_items() -> None:
    draws = np.array([0.5, 0.7, 0.9, np.nan])
    assert intervals.over_items(0.7, draws[:3]) == pytest.approx((0.7 - 1.96 * 0.4 / math.sqrt(6), 1.0), abs=1e-4)
    wider = intervals.over_items(0.3, draws)  # three of four are defined
    assert wider.low == pytest.approx(0.3 - 1.96 * math.sqrt((0.04 + 0.16 + 0.36) / 3), abs=1e-4)


def test_what_is_undefined_or_does_not_vary_has_no_interval() -> None:
    mostly = np.array([0.1, np.nan, np.nan, np.nan])
    for found in (
        intervals.over_items(0.1, mostly),
        intervals.over_systems(math.nan, np.arange(5) / 5, 5, alone=True),
        intervals.over_items(1.0, np.array([1.0, 1.0 - 1e-15])),
        intervals.over_systems(0.1, mostly, 5, alone=False),
        intervals.over_raters(0.1, np.ones(5) * math.nan, 2.0),
    ):
        assert np.isnan(found).all()


def test_raters_who_share_outputs_reach_as_far_as_their_draws_vary_too_little() -> None:
    """Half of the outputs rated by two and half by three: 1/k averages 5/12, (k - 1)/k² 17/72; t(4) is 2.776."""
    raters = [(0, 0, 0), (1, 0, 0), (2, 0, 1), (3, 0, 1), (4, 0, 1)]
    rater, system, segment = np.array([*raters, (0, 0, 0)]).T  # the last is a repeat
    reach = intervals.reach_over_raters(RaterRatings(rater, system, segment, np.zeros(6)))
    assert reach == pytest.approx(2.776445 * math.sqrt(5 / 12 / (17 / 72)), abs=1e-5)
    alone = RaterRatings(np.arange(3), np.zeros(3, int), np.arange(3), np.zeros(3))
    assert intervals.reach_over_raters(alone) == pytest.approx(4.302653 * math.sqrt(3 / 2), abs=1e-5)
    one = RaterRatings(np.zeros(3, int), np.zeros(3, int), np.arange(3), np.zeros(3))
    assert math.isnan(intervals.reach_over_raters(one))
    assert np.isnan(intervals.over_raters(0.5, np.linspace(0, 1, 9), math.nan)).all()
