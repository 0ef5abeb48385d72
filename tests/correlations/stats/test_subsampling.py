"""Curves by subsampling: the whole study at the end, and a simulated world whose answer is known."""

from dataclasses import replace

import numpy as np
import pytest

from correlations.stats.sampled_units import sampled_unit_correlation
from correlations.stats.shared_segments import on_shared_segments
from correlations.stats.subsampling import enough_for, measured, needed, rank_within, subsampling_curve
from correlations.stats.units import StudyMetric, UnitSampling

PAIRS = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]


def test_what_is_measured_is_the_study_and_the_difference_on_shared_items(inputs):
    sampling = UnitSampling(seed=3, unit_size=6, n_assignments=5)
    study = sampled_unit_correlation(inputs.metrics, inputs.human, inputs.pairs, sampling)
    narrowed, [(a, b)] = on_shared_segments(inputs.metrics, [(0, 3)])
    shared = sampled_unit_correlation(narrowed, inputs.human, inputs.pairs, sampling)

    own = measured(inputs.metrics, inputs.human, inputs.pairs, sampling, [(0, 3)])

    assert own.values.tolist() == [row.coefficients["spearman"].mean for row in study.rows]
    assert own.segments.tolist() == [row.n_valid_segments for row in study.rows]
    values = [shared.rows[each].coefficients["spearman"].mean for each in (a, b)]
    assert own.differences.tolist() == [values[0] - values[1]]


def test_with_everything_kept_each_draw_has_the_studys_own_value(inputs):
    sampling = UnitSampling(seed=3, unit_size=6, n_assignments=40)
    own = measured(inputs.metrics, inputs.human, inputs.pairs, sampling, [(0, 1)])
    whole = inputs.metrics, inputs.human

    def subset(k, rng):
        return inputs.metrics, np.where(rng.random(inputs.human.shape) < k / 4, inputs.human, np.nan)

    few = replace(sampling, n_assignments=4)
    curve = subsampling_curve([2, 4], subset, whole, own, inputs.pairs, few, n_draws=3)

    for draw in range(3):
        assert curve.values[1, draw].tolist() == own.values.tolist()
        assert curve.differences[1, draw].tolist() == own.differences.tolist()
    assert (curve.values[0] != own.values).all()
    again = subsampling_curve([2, 3, 4], subset, whole, own, inputs.pairs, few, n_draws=3)
    assert np.array_equal(again.values[0], curve.values[0])


def test_the_number_that_is_needed_is_found_where_it_is_known():
    """Four references an item, one of which tells the quality of an output; without it the score tells the opposite.

    With n of four kept, a score over many items is quality * (n / 4 - (1 - n / 4)): wrong for n = 1, nothing for
    n = 2, right from n = 3 on. A rival metric of rho about 0.4 is behind from there on.
    """
    rng = np.random.default_rng(2)
    quality = 0.15 * np.arange(4)[:, None] + rng.normal(size=(4, 1600))
    human = quality + 0.3 * rng.normal(size=quality.shape)
    rival = StudyMetric("rival", (quality + 3 * rng.normal(size=quality.shape))[..., None], lambda sums: sums[..., 0])

    def with_kept(telling):
        return StudyMetric("telling", np.where(telling, quality, -quality)[..., None], lambda sums: sums[..., 0])

    def subset(n, rng):
        first_of_four = rank_within(np.repeat(np.arange(1600), 4), rng.random(6400))[::4]
        return [with_kept(first_of_four < n), rival], human

    sampling = UnitSampling(seed=1, unit_size=20, n_assignments=5)
    whole = [with_kept(np.ones(1600, dtype=bool)), rival], human
    own = measured(*whole, PAIRS, sampling, [(0, 1)])

    curve = subsampling_curve([1, 2, 3, 4], subset, whole, own, PAIRS, sampling, n_draws=20)

    assert needed(curve.points, curve.ahead()[:, 0]) == 3
    means = curve.values[:, :, 0].mean(axis=1)
    assert means[0] < -0.2 < -0.1 < means[1] < 0.1 < 0.5 < means[2]


def test_enough_is_where_a_normal_difference_holds_in_95_of_100_draws():
    """Simulated: variances of items and raters add up, and the raters' falls with the number of ratings."""
    rng = np.random.default_rng(6)
    ratings, items = enough_for(0.03, 0.05, 0.06)
    of_raters = np.sqrt((0.05**2 - 0.03**2) / ratings)
    assert (rng.normal(0.06, np.hypot(0.03, of_raters), 200_000) > 0).mean() == pytest.approx(0.95, abs=0.003)
    assert (rng.normal(0.06, 0.05 / np.sqrt(items), 200_000) > 0).mean() == pytest.approx(0.95, abs=0.003)
    assert enough_for(0.05, 0.06, 0.0) == (None, None)


def test_a_generator_cannot_give_each_draw_the_same_assignments(inputs):
    sampling = UnitSampling(seed=np.random.default_rng(1), unit_size=6, n_assignments=2)
    whole = inputs.metrics, inputs.human
    own = measured(*whole, inputs.pairs, replace(sampling, seed=1), [])
    with pytest.raises(ValueError, match="a number is expected"):
        subsampling_curve([1], lambda k, rng: whole, whole, own, inputs.pairs, sampling, n_draws=1)
