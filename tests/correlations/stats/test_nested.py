"""Resampling over items and systems, against nlpstats' definitions with scipy's coefficients, draw by draw."""

import math

import numpy as np
import pytest
from scipy import stats

from correlations.stats.nested import nested_bootstrap, system_permutation_test

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


@pytest.fixture(scope="module")
def world():
    """Two metrics and ratings of 6 systems on 40 items; the first agrees better with the raters."""
    rng = np.random.default_rng(2021)
    quality = np.linspace(0, 1, 6)[:, None] + rng.normal(size=(6, 40))
    good, bad = quality + 0.3 * rng.normal(size=(6, 40)), 10 * rng.normal(size=(6, 40))
    human = quality + 0.3 * rng.normal(size=(6, 40))
    human[0, :5] = np.nan
    return good, bad, human


@pytest.mark.parametrize("coefficient", SCIPY)
def test_each_replicate_equals_scipys_coefficient_of_the_drawn_systems_means(world, coefficient):
    metric, _, human = world
    found = nested_bootstrap(
        metric, human, rng=np.random.default_rng(5), coefficient=coefficient, over="both", n_replicates=20
    )
    rng = np.random.default_rng(5)
    drawn_items, drawn = rng.integers(0, 40, (20, 40)), rng.integers(0, 6, (20, 6))
    for value, items, systems in zip(found, drawn_items, drawn, strict=True):
        both = np.where(np.isnan(human), np.nan, metric)
        means = [np.nanmean(side[:, items], axis=1)[systems] for side in (both, human)]
        assert value == pytest.approx(SCIPY[coefficient](*means).statistic, abs=1e-12)


def test_drawing_systems_alone_or_items_alone_leaves_the_others_as_they_are(world):
    metric, _, human = world
    both = np.where(np.isnan(human), np.nan, metric)
    whole = stats.pearsonr(np.nanmean(both, axis=1), np.nanmean(human, axis=1)).statistic
    spread = {
        over: nested_bootstrap(metric, human, rng=np.random.default_rng(1), over=over, n_replicates=400)
        for over in ("items", "systems", "both")
    }
    assert abs(np.nanmedian(spread["items"]) - whole) < 0.1
    assert np.nanstd(spread["both"]) > np.nanstd(spread["items"])
    alone = nested_bootstrap(metric, human, rng=np.random.default_rng(3), over="systems", n_replicates=10)
    drawn = np.random.default_rng(3).integers(0, 6, (10, 6))
    expected = [
        stats.pearsonr(np.nanmean(both, axis=1)[systems], np.nanmean(human, axis=1)[systems]).statistic
        for systems in drawn
    ]
    assert alone.tolist() == pytest.approx(expected)


@pytest.mark.parametrize("over", ["items", "systems"])
def test_the_p_equals_a_loop_over_the_same_swaps(world, over):
    good, bad, human = world
    human = np.nan_to_num(human)
    found = system_permutation_test(good, bad, human, rng=np.random.default_rng(7), over=over, n_permutations=99)
    a, b = ((side - side.mean()) / side.std() for side in (good, bad))

    def difference(first, second):
        target = human.mean(axis=1)
        return stats.pearsonr(first.mean(axis=1), target)[0] - stats.pearsonr(second.mean(axis=1), target)[0]

    observed = difference(a, b)
    kept = np.random.default_rng(7).random((99, 40 if over == "items" else 6)) < 0.5
    as_extreme = 0
    for each in kept:
        mask = each[None] if over == "items" else each[:, None]
        as_extreme += abs(difference(np.where(mask, a, b), np.where(mask, b, a))) >= abs(observed) - 1e-12
    assert found.statistic == pytest.approx(observed)
    assert found.pvalue == (as_extreme + 1) / 100


def test_swapping_single_outputs_finds_the_better_metric_and_no_difference_of_one_with_itself(world):
    good, bad, human = world
    rng = np.random.default_rng(1)
    assert system_permutation_test(good, bad, human, rng=rng, n_permutations=499).pvalue < 0.05
    assert system_permutation_test(good, 3 * good + 2, human, rng=rng, n_permutations=49).pvalue == 1.0


def test_of_two_metrics_that_are_equally_good_one_in_twenty_is_called_different():
    rng, rejected = np.random.default_rng(11), 0
    for _ in range(400):
        quality = 0.3 * rng.normal(size=(8, 1)) + rng.normal(size=(8, 60))
        first, second, human = (quality + rng.normal(size=quality.shape) for _ in range(3))
        rejected += system_permutation_test(first, second, human, rng=rng, n_permutations=99).pvalue <= 0.05
    assert 0.02 <= rejected / 400 <= 0.08


def test_what_is_undefined_has_a_reason_and_what_is_wrong_is_refused(world):
    good, bad, human = world
    rng = np.random.default_rng(1)
    unrated = human.copy()
    unrated[2] = np.nan
    assert system_permutation_test(good, bad, unrated, rng=rng).reason == (
        "a system has no output with both scores and a rating"
    )
    constant = system_permutation_test(np.ones_like(good), bad, human, rng=rng)
    assert math.isnan(constant.pvalue)
    assert constant.reason == "a coefficient is undefined: constant scores or ratings"
    with pytest.raises(ValueError, match="over is 'raters': accepted are items, systems, both"):
        nested_bootstrap(good, human, rng=rng, over="raters")
    with pytest.raises(ValueError, match="n_replicates is 0"):
        nested_bootstrap(good, human, rng=rng, n_replicates=0)
    with pytest.raises(ValueError, match=r"both are \(systems, items\)"):
        nested_bootstrap(good[0], human[0], rng=rng)
    with pytest.raises(ValueError, match="infinite"):
        nested_bootstrap(np.full_like(good, np.inf), human, rng=rng)
