"""Expected values: scipy.stats, which computes each sample on its own."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from correlations.stats import concordance
from correlations.stats.coefficients import kendall_tau_b_batch, pearson_batch, spearman_batch

BATCH_AND_SCIPY = [(spearman_batch, stats.spearmanr), (kendall_tau_b_batch, stats.kendalltau)]


def scipy_rows(function, x, y, mirrored=False):
    results = []
    for a, b in zip(x, y, strict=True):
        if mirrored:
            a, b = np.concatenate([a, -a]), np.concatenate([b, -b])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scipy warns of constant input, and answers NaN
            results.append(function(a, b)[0])
    return results


def samples(n, levels, batch=5):
    """Correlated samples; with ``levels``, rounded so that many values tie, zeros among them."""
    rng = np.random.default_rng([n, levels])
    x = rng.normal(size=(batch, n))
    y = 0.5 * x + rng.normal(size=(batch, n))
    return (x, y) if not levels else (np.round(levels * x) / levels, np.round(levels * y) / levels)


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("levels", [0, 1, 20])
@pytest.mark.parametrize("n", [2, 3, 64, 127, 264])
def test_batches_equal_scipy_sample_by_sample_ties_and_mirror_images_included(n, levels, mirrored):
    x, y = samples(n, levels)
    for batch, scipy_function in BATCH_AND_SCIPY:
        expected = scipy_rows(scipy_function, x, y, mirrored)
        np.testing.assert_allclose(batch(x, y, mirrored=mirrored), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("tied_side", ["x", "y"])
def test_ties_on_one_side_only_equal_scipy(tied_side, mirrored):
    x, y = samples(90, 0)
    x, y = (np.round(4 * x), y) if tied_side == "x" else (x, np.round(4 * y))
    for batch, scipy_function in BATCH_AND_SCIPY:
        expected = scipy_rows(scipy_function, x, y, mirrored)
        np.testing.assert_allclose(batch(x, y, mirrored=mirrored), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("levels", [0, 3])
def test_long_samples_counted_by_merging_equal_scipy(levels, mirrored):
    x, y = samples(concordance.BITSET_LIMIT + 77, levels, batch=2)
    expected = scipy_rows(stats.kendalltau, x, y, mirrored)
    np.testing.assert_allclose(kendall_tau_b_batch(x, y, mirrored=mirrored), expected, rtol=0, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=9), st.booleans())
def test_small_samples_full_of_ties_and_zeros_equal_scipy(pairs, mirrored):
    x, y = np.array(pairs, dtype=float).T[:, None]
    for batch, scipy_function in BATCH_AND_SCIPY:
        expected = scipy_rows(scipy_function, x, y, mirrored)
        np.testing.assert_allclose(batch(x, y, mirrored=mirrored), expected, rtol=0, atol=1e-12)


def test_pearson_equals_scipy_at_any_scale():
    x, y = samples(50, 0)
    expected = [stats.pearsonr(a, b)[0] for a, b in zip(x, y, strict=True)]
    np.testing.assert_allclose(pearson_batch(1e-170 * x, 1e170 * y), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("coefficient", [pearson_batch, spearman_batch, kendall_tau_b_batch])
def test_constant_missing_and_too_short_samples_are_nan_and_leave_their_neighbours_alone(coefficient):
    x = [[0.1, 0.1, 0.1], [1.0, np.nan, 2.0], [1.0, 2.0, 4.0]]
    assert coefficient(x, [1.0, 3.0, 4.0])[:2].tolist() == pytest.approx([np.nan, np.nan], nan_ok=True)
    assert coefficient(x, [1.0, 3.0, 9.0])[2] > 0.9
    assert np.isnan(coefficient([1.0], [2.0]))


def test_leading_shapes_broadcast():
    x, y = samples(12, 0, batch=6)
    shaped = spearman_batch(x.reshape(2, 3, 12), y[:3])
    assert shaped.shape == (2, 3)
    assert shaped[1, 2] == pytest.approx(stats.spearmanr(x[5], y[2])[0], abs=1e-12)


def test_unpaired_samples_are_refused_with_both_lengths():
    with pytest.raises(ValueError, match=r"x has 3 observations .* and y has 4"):
        spearman_batch([1, 2, 3], [1, 2, 3, 4])
    with pytest.raises(ValueError, match=r"\(2, 5\) and y \(3, 5\) do not broadcast"):
        spearman_batch(np.zeros((2, 5)), np.zeros((3, 5)))
