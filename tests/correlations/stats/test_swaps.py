"""Swaps of many metrics at once, against the enumeration of all of them, and against one pair at a time."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from correlations.stats.nested import output_permutation_tests, system_permutation_test, system_permutation_tests


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(12)
    human = np.linspace(0, 1, 4)[:, None] + rng.normal(size=(4, 7))
    metrics = np.stack([human + noise * rng.normal(size=human.shape) for noise in (0.3, 1.0, 3.0)])
    metrics[1, 0, 2] = np.nan
    return metrics, human


def exact(metrics, human, pair, masks, level):
    """Enumerate swaps: the definition of Deutsch, Dror and Roth (2021, section 5), with scipy's coefficient."""
    counted = np.isfinite(metrics).all(axis=0)
    a, b = (
        np.where(counted, stats.zscore(np.where(counted, metrics[m], np.nan), axis=None, nan_policy="omit"), np.nan)
        for m in pair
    )
    target = np.where(counted, human, np.nan)

    def coefficient(scores):
        if level == "system":
            return stats.pearsonr(np.nanmean(scores, axis=1), np.nanmean(target, axis=1)).statistic
        return stats.pearsonr(scores[counted], target[counted]).statistic

    def difference(first, second):
        return coefficient(first) - coefficient(second)

    observed = difference(a, b)
    swapped = [difference(np.where(mask, a, b), np.where(mask, b, a)) for mask in masks]
    return observed, np.mean(np.abs(swapped) >= abs(observed) - 1e-9)


@pytest.mark.parametrize(("over", "shape"), [("items", (1, 7)), ("systems", (4, 1))])
def test_over_systems_the_p_comes_close_to_the_enumeration_of_all_swaps(world, over, shape):
    metrics, human = world
    masks = [np.array(each).reshape(shape) for each in product((True, False), repeat=max(shape))]
    tests = system_permutation_tests(
        metrics, human, [(0, 1), (0, 2), (1, 2), (2, 0)], rng=np.random.default_rng(1), over=over
    )
    for pair, test in zip([(0, 1), (0, 2), (1, 2), (2, 0)], tests, strict=True):
        observed, p = exact(metrics, human, pair, masks, "system")
        assert test.statistic == pytest.approx(observed)
        assert test.pvalue == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 9999) + 1e-4)


def test_over_outputs_the_p_comes_close_to_the_enumeration_of_all_swaps_of_items(world):
    metrics, human = world
    masks = [np.array(each)[None] for each in product((True, False), repeat=7)]
    tests = output_permutation_tests(metrics, human, [(0, 1), (0, 2)], rng=np.random.default_rng(1))
    for pair, test in zip([(0, 1), (0, 2)], tests, strict=True):
        observed, p = exact(metrics, human, pair, masks, "output")
        assert test.statistic == pytest.approx(observed)
        assert test.pvalue == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 9999) + 1e-4)


@pytest.mark.parametrize("over", ["items", "systems", "both"])
def test_many_pairs_at_once_equal_one_at_a_time_on_the_same_swaps(world, over):
    metrics, human = np.nan_to_num(world[0]), world[1]
    pairs = [(0, 1), (0, 2), (1, 2), (2, 1)]
    together = system_permutation_tests(
        metrics, human, pairs, rng=np.random.default_rng(2), over=over, coefficient="kendall", n_permutations=199
    )
    for (a, b), test in zip(pairs, together, strict=True):
        alone = system_permutation_test(
            metrics[a],
            metrics[b],
            human,
            rng=np.random.default_rng(2),
            over=over,
            coefficient="kendall",
            n_permutations=199,
        )
        assert test == alone


def test_what_is_undefined_has_a_reason_and_wrong_shapes_are_refused(world):
    metrics, human = world
    rng = np.random.default_rng(1)
    constant = np.stack([metrics[0], np.ones_like(human)])
    (test,) = output_permutation_tests(constant, human, [(0, 1)], rng=rng, n_permutations=9)
    assert test.reason == "a coefficient is undefined: constant scores or ratings"
    (test,) = output_permutation_tests(metrics[:2], np.full_like(human, np.nan), [(0, 1)], rng=rng, n_permutations=9)
    assert test.reason == "fewer than 3 outputs have both scores and a rating"
    with pytest.raises(ValueError, match=r"shapes are \(4, 7\) and \(4, 7\)"):
        output_permutation_tests(human, human, [(0, 1)], rng=rng)
    with pytest.raises(ValueError, match="infinite"):
        system_permutation_tests(metrics[:2] * np.inf, human, [(0, 1)], rng=rng)
