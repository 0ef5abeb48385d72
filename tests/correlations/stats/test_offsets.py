"""The test that a judge lies equally far from the ratings of every system."""

import math

import numpy as np
import pytest
from scipy import stats

from correlations.stats.offsets import same_offset_p

NAN = math.nan


def farthest(*systems, axis=-1):
    """Return the statistic as the docstring says it, of complete offsets."""
    offsets = np.stack(systems)
    return ((offsets - offsets.mean(axis=0)).mean(axis=-1) ** 2 * offsets.shape[-1]).max(axis=0)


def test_p_is_that_of_the_permutation_test_of_scipy():
    """``permutation_type="samples"`` shuffles each item's offsets among systems, as this test does."""
    rng = np.random.default_rng(4)
    offsets = rng.normal(size=(3, 25)) + rng.normal(size=25)
    offsets[1] += 0.35

    expected = stats.permutation_test(
        list(offsets), farthest, permutation_type="samples", vectorized=True, n_resamples=4999, alternative="greater"
    )

    assert same_offset_p(offsets, rng=rng, n_shuffles=4999) == pytest.approx(expected.pvalue, abs=0.02)


def test_two_systems_are_tested_exactly_as_by_flipping_signs():
    """Of 2^8 signs of the differences the share whose mean lies as far from 0; scipy enumerates them."""
    first = np.array([0.4, 0.1, 0.9, -0.2, 0.5, 0.3, 0.8, 0.6])
    exact = stats.permutation_test(
        (first,), lambda x, axis=-1: np.abs(x.mean(axis=axis)), permutation_type="samples", alternative="greater"
    )
    p = same_offset_p([first, np.zeros(8)], rng=np.random.default_rng(1), n_shuffles=9999)
    assert p == pytest.approx(exact.pvalue, abs=0.01)


def test_missing_offsets_keep_their_places_and_lonely_ones_do_not_count():
    rng = np.random.default_rng(2)
    offsets = rng.normal(size=(4, 60))
    offsets[2] += 1.5
    offsets[rng.random(offsets.shape) < 0.3] = NAN
    lonely = np.full((4, 5), NAN)
    lonely[3] = 40.0

    assert same_offset_p(offsets, rng=rng) < 0.01
    with_lonely = np.concatenate([offsets, lonely], axis=1)
    first, second = (same_offset_p(each, rng=np.random.default_rng(3)) for each in (offsets, with_lonely))
    assert second == pytest.approx(first, abs=0.01)
    assert same_offset_p(np.ones((3, 10)), rng=rng) == 1


def test_nothing_to_compare_and_wrong_arguments():
    rng = np.random.default_rng(0)
    assert math.isnan(same_offset_p([[1.0, NAN], [NAN, 2.0]], rng=rng))
    assert math.isnan(same_offset_p(np.empty((1, 4)), rng=rng))
    with pytest.raises(ValueError, match=r"shape \(3,\): two axes"):
        same_offset_p([1.0, 2.0, 3.0], rng=rng)
    with pytest.raises(ValueError, match="n_shuffles is 0"):
        same_offset_p([[1.0], [2.0]], rng=rng, n_shuffles=0)
