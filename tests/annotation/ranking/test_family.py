"""Families of differences: p-values against statsmodels, intervals against Student's t, and that they agree."""

import numpy as np
import pytest
from scipy.stats import t
from statsmodels.stats.multitest import multipletests

from annotation.ranking import bradley_terry, bradley_terry_certainty, system_means
from annotation.ranking.clustered import UNKNOWN, TwoWayVariance
from annotation.ranking.family import family

VARIANCE = TwoWayVariance(0.04, 21.0, 0.0, np.inf)


def found(estimates):
    return family(estimates, [VARIANCE] * len(estimates), [VARIANCE.p_value(each) for each in estimates])


def test_intervals_are_students_corrected_after_bonferroni_but_for_the_end_that_holms_step_finds() -> None:
    """Of three, p is 0.001, 0.024 and 0.4: the second is found at 0.05 / 2, where Bonferroni's interval holds 0."""
    estimates = np.array([0.77, -0.489, 0.17])
    p_values = 2 * t.sf(np.abs(estimates) / 0.2, 20)
    assert 0.05 / 3 < p_values[1] < 0.05 / 2
    together = found(estimates)
    third, half = (0.2 * t.isf(alpha / 2, 20) for alpha in (0.05 / 3, 0.05 / 2))

    assert together.adjusted == pytest.approx(multipletests(p_values, method="holm")[1])
    assert together.family_low == pytest.approx(estimates - third)
    assert together.family_high == pytest.approx(estimates + np.array([third, half, third]))


def test_an_interval_holds_zero_if_and_only_if_its_p_is_above_the_level() -> None:
    rng = np.random.default_rng(1)
    certain = 0
    for _ in range(300):
        together = found(rng.normal(0.3, 0.4, rng.integers(1, 8)))
        holds_zero = (together.family_low <= 0) & (together.family_high >= 0)
        assert (holds_zero == (together.adjusted > 0.05)).all()
        certain += int((~holds_zero).sum())
    assert certain > 100


def test_systems_by_means_and_by_strengths_have_marks_that_agree_with_their_intervals() -> None:
    rng = np.random.default_rng(2)
    system, item, rater = (axis.ravel() for axis in np.indices((5, 20, 4)))
    taste = rng.normal(0, 0.3, (5, 4))
    value = system / 3 + taste[system, rater] + rng.normal(0, 0.5, system.size)
    means = system_means(system, item, rater, value, rng=rng).differences
    first, second = rng.integers(0, 2, 400), rng.integers(2, 5, 400)
    outcome = np.sign(second - first + rng.logistic(scale=2, size=400)).astype(int)
    fit = bradley_terry(first, second, outcome, n_systems=5)
    strengths = bradley_terry_certainty(fit, first, second, outcome, item=np.arange(400) % 50, rater=np.arange(400) % 7)

    pairs = np.triu_indices(5, 1)
    for certainty in (means, strengths):
        low, high = certainty.family_low[pairs], certainty.family_high[pairs]
        is_certain = certainty.adjusted[pairs] <= 0.05
        assert (((low <= 0) & (high >= 0)) == ~is_certain).all()
        assert 0 < is_certain.sum() < len(is_certain)
        assert (certainty.family_low.T[pairs] == -high).all()


def test_what_is_not_compared_is_not_counted() -> None:
    together = family([0.5, np.nan], [VARIANCE, UNKNOWN], [VARIANCE.p_value(0.5), np.nan])

    assert together.adjusted[0] == pytest.approx(VARIANCE.p_value(0.5))
    assert together.family_low[0] == pytest.approx(0.5 - VARIANCE.half_width())
    assert np.isnan([together.adjusted[1], together.family_low[1], together.family_high[1]]).all()
