import numpy as np
import pytest
from scipy.stats import norm, ttest_1samp

from annotation.ranking.forecast import Separation, pooled_spread


def test_the_half_width_now_is_that_of_scipys_paired_t_test():
    differences = np.random.default_rng(1).normal(0.3, 1, 25)
    variance = differences.var(ddof=1) / 25
    apart = Separation.of(differences.mean(), variance, variance / 3, 25)
    interval = ttest_1samp(differences, 0).confidence_interval(0.99)
    assert apart.half_width(alpha=0.01) == pytest.approx((interval.high - interval.low) / 2)


def test_the_pooled_spread_is_the_mean_square_within():
    rng = np.random.default_rng(2)
    values = rng.normal(0, 1, (2, 10, 4)) * np.array([1, 3])[:, None, None]
    spread = pooled_spread(values.ravel(), np.repeat(np.arange(20), 4), np.repeat([0, 1], 10))
    assert spread[[0, 10]] == pytest.approx(values.var(axis=2, ddof=1).mean(axis=1))
    assert np.isnan(pooled_spread([1, 2], [0, 1], [0, 0])).all()


@pytest.mark.parametrize(("k", "more"), [(2, 2), (3, 9)])
def test_half_widths_and_chances_are_what_simulated_further_ratings_give(k, more):
    """Two systems on 40 items with k ratings each, then ``more``: the forecast from the first, the truth from all."""
    rng, n, forecast, chances, later = np.random.default_rng(3), 40, [], [], []
    for _ in range(1500):
        # Any difference is as likely as any other, as the forecast takes it; those far off are certain anyway.
        items = rng.uniform(-1.5, 1.5) + rng.normal(0, 0.5, n)
        ratings = rng.normal(0, 1, (2, n, k + more)) + np.stack([items, np.zeros(n)])[:, :, None]
        now, then = (ratings[:, :, :j].mean(axis=2) for j in (k, k + more))
        spread = pooled_spread(ratings[:, :, :k].ravel(), np.repeat(np.arange(2 * n), k), np.repeat([0, 1], n))
        differences = now[0] - now[1]
        noise = spread.sum() / n**2
        apart = Separation.of(differences.mean(), differences.var(ddof=1) / n, noise / k, n)
        left = noise / (k + more)
        forecast.append(apart.half_width(noise=left))
        chances.append(apart.chance(noise=left))
        later.append(then[0] - then[1])
    truth = ttest_1samp(later, 0, axis=1)
    half_widths, certain = truth.confidence_interval().high - np.mean(later, axis=1), truth.pvalue <= 0.05
    assert np.mean(forecast) == pytest.approx(np.mean(half_widths), rel=0.02)
    chances = np.array(chances)
    open_ones = (chances > 0.05) & (chances < 0.95)
    assert open_ones.sum() > 100
    assert chances[open_ones].mean() == pytest.approx(certain[open_ones].mean(), abs=0.06)


def test_the_fewest_ratings_with_the_chance_are_needed():
    apart = Separation.of(0.48, 0.06, 0.04, 40)
    needed, chance = apart.ratings_needed([0.001] * 40, planned=0.04)
    assert chance >= 0.8 > apart.chance(noise=0.04 - 0.001 * (needed - 1))
    assert apart.ratings_needed([], planned=0.0) == (0, apart.chance(noise=0.0))


def test_no_number_of_ratings_replaces_items():
    """Ratings leave the variance of items: then the chance is that of the normal below, and items are forecast."""
    apart = Separation.of(0.4, 0.06, 0.01, 1000)
    needed, best = apart.ratings_needed([0.001] * 10, planned=0.01)
    ahead = (0.4 - apart.half_width(noise=0.0)) / 0.1
    assert needed is None
    assert best == pytest.approx(norm.cdf(ahead), abs=0.02)
    items, chance = apart.items_needed(planned=0.01)
    assert chance >= 0.8 > apart.chance(items=1 + (items - 2) / 1000)
    assert Separation.of(0.01, 0.06, 0.01, 40).items_needed(planned=0.01)[0] is None
