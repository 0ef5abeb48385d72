"""Expected values: scipy.stats, which computes each sample on its own."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from correlations.stats import concordance
from correlations.stats.coefficients.kendall import KENDALL
from correlations.stats.coefficients.pearson import PEARSON
from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.coefficients.somers_d import SOMERS_D
from correlations.stats.coefficients.spearman import SPEARMAN


def scipy_somers_d(metric, rating):
    """Compute Somers' d of the rating given the metric: the first argument is the independent variable."""
    return (stats.somersd(metric, rating).statistic,)


SCIPY = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall": stats.kendalltau,
    "somers_d": scipy_somers_d,
}
# scipy's Somers' d builds an n x n table: hundreds of observations take seconds.
SIZES = [(key, n) for key in COEFFICIENTS for n in ((2, 3, 33) if key == "somers_d" else (2, 3, 64, 127, 264))]
every_coefficient = pytest.mark.parametrize("key", COEFFICIENTS)


def scipy_rows(function, x, y, mirrored=False):
    results = []
    for a, b in zip(x, y, strict=True):
        if mirrored:
            a, b = np.concatenate([a, -a]), np.concatenate([b, -b])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # for constant input scipy warns and returns NaN
            results.append(function(a, b)[0])
    return results


def samples(n, levels, batch=5):
    """Return correlated samples, rounded to ``levels`` so that many values tie, including zeros."""
    rng = np.random.default_rng([n, levels])
    x = rng.normal(size=(batch, n))
    y = 0.5 * x + rng.normal(size=(batch, n))
    return (x, y) if not levels else (np.round(levels * x) / levels, np.round(levels * y) / levels)


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("levels", [0, 1, 20])
@pytest.mark.parametrize(("key", "n"), SIZES)
def test_batches_equal_scipy_with_ties_and_mirror_images(key, n, levels, mirrored):
    x, y = samples(n, levels)
    expected = scipy_rows(SCIPY[key], x, y, mirrored)
    np.testing.assert_allclose(COEFFICIENTS[key].batch(x, y, mirrored=mirrored), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("tied_side", ["x", "y"])
@every_coefficient
def test_ties_on_one_side_only_equal_scipy(key, tied_side, mirrored):
    x, y = samples(90, 0)
    x, y = (np.round(4 * x), y) if tied_side == "x" else (x, np.round(4 * y))
    expected = scipy_rows(SCIPY[key], x, y, mirrored)
    np.testing.assert_allclose(COEFFICIENTS[key].batch(x, y, mirrored=mirrored), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("levels", [0, 3])
def test_long_samples_counted_by_merging_equal_scipy(levels, mirrored):
    x, y = samples(concordance.BITSET_LIMIT + 77, levels, batch=2)
    expected = scipy_rows(stats.kendalltau, x, y, mirrored)
    np.testing.assert_allclose(KENDALL.batch(x, y, mirrored=mirrored), expected, rtol=0, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=9), st.booleans())
def test_small_samples_full_of_ties_and_zeros_equal_scipy(pairs, mirrored):
    x, y = np.array(pairs, dtype=float).T[:, None]
    for key, entry in COEFFICIENTS.items():
        expected = scipy_rows(SCIPY[key], x, y, mirrored)
        np.testing.assert_allclose(entry.batch(x, y, mirrored=mirrored), expected, rtol=0, atol=1e-12, err_msg=key)


def test_somers_d_predicts_the_rating_from_the_metric():
    """Four of six pairs are untied in the metric, all in the rating: the coefficient is not symmetric."""
    metric, rating = [1.0, 1.0, 2.0, 2.0], [1.0, 2.0, 3.0, 4.0]
    assert SOMERS_D.batch(metric, rating) == stats.somersd(metric, rating).statistic == 1
    assert SOMERS_D.batch(rating, metric) == stats.somersd(rating, metric).statistic == pytest.approx(4 / 6)


def test_pearson_equals_scipy_at_any_scale():
    x, y = samples(50, 0)
    expected = [stats.pearsonr(a, b)[0] for a, b in zip(x, y, strict=True)]
    np.testing.assert_allclose(PEARSON.batch(1e-170 * x, 1e170 * y), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("r", "n"), [(0.3, 40), (-0.95, 6), (1.0, 5)])
def test_the_p_value_of_pearson_equals_scipys(r, n):
    """Compare with scipy.stats.pearsonr of a sample constructed to have this coefficient."""
    noise = np.random.default_rng(n).normal(size=(2, n))
    noise -= noise.mean(axis=1, keepdims=True)
    noise[1] -= noise[0] * (noise[0] @ noise[1]) / (noise[0] @ noise[0])
    x, rest = noise / np.linalg.norm(noise, axis=1, keepdims=True)
    expected = stats.pearsonr(x, r * x + np.sqrt(1 - r * r) * rest)
    assert PEARSON.pvalue(float(expected.statistic), n) == pytest.approx(expected.pvalue, rel=1e-9, abs=1e-30)


@every_coefficient
def test_constant_missing_and_short_samples_are_nan_without_affecting_others(key):
    coefficient = COEFFICIENTS[key].batch
    x = [[0.1, 0.1, 0.1], [1.0, np.nan, 2.0], [1.0, 2.0, 4.0]]
    assert coefficient(x, [1.0, 3.0, 4.0])[:2].tolist() == pytest.approx([np.nan, np.nan], nan_ok=True)
    assert coefficient(x, [1.0, 3.0, 9.0])[2] > 0.9
    assert np.isnan(coefficient([1.0], [2.0]))


def test_leading_shapes_broadcast():
    x, y = samples(12, 0, batch=6)
    shaped = SPEARMAN.batch(x.reshape(2, 3, 12), y[:3])
    assert shaped.shape == (2, 3)
    assert shaped[1, 2] == pytest.approx(stats.spearmanr(x[5], y[2])[0], abs=1e-12)


def test_unpaired_samples_are_refused_with_both_lengths():
    with pytest.raises(ValueError, match=r"x has 3 observations .* and y has 4"):
        SPEARMAN.batch([1, 2, 3], [1, 2, 3, 4])
    with pytest.raises(ValueError, match=r"\(2, 5\) and y \(3, 5\) do not broadcast"):
        SPEARMAN.batch(np.zeros((2, 5)), np.zeros((3, 5)))
