import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from annotation.weighting.kappa import pairwise_weighted_kappa
from annotation.weighting.table import RatingTable

NAN = np.nan


def table_of(matrix):
    """From one row per rater, NaN where not rated."""
    rater, response = np.nonzero(~np.isnan(matrix))
    return RatingTable(response, rater, matrix[rater, response], n_responses=matrix.shape[1])


def mean_of_pairs(matrix, weighting, min_shared):
    """Every pair's kappa by statsmodels, averaged by shared responses."""
    kappas, sizes = [], []
    for first in range(len(matrix)):
        for second in range(first + 1, len(matrix)):
            both = ~np.isnan(matrix[first]) & ~np.isnan(matrix[second])
            counts = np.zeros((5, 5))
            np.add.at(counts, tuple(matrix[[first, second]][:, both].astype(int) - 1), 1)
            if both.sum() >= min_shared and len(np.unique(matrix[[first, second]][:, both])) > 1:
                with np.errstate(all="ignore"):
                    kappas.append(cohens_kappa(counts, wt=weighting).kappa)
                sizes.append(both.sum())
    return (np.average(kappas, weights=sizes) if sizes else NAN), len(sizes)


@given(
    st.lists(st.lists(st.sampled_from([1, 2, 3, 4, 5, NAN]), min_size=3, max_size=3), min_size=2, max_size=12),
    st.sampled_from(["quadratic", "linear"]),
    st.integers(2, 4),
)
def test_the_mean_is_that_of_statsmodels_kappas_by_shared_responses(rows, weighting, min_shared):
    matrix = np.array(rows, dtype=float).T
    result = pairwise_weighted_kappa(table_of(matrix), weighting=weighting, min_shared=min_shared, n_bootstrap=0)
    expected, n_pairs = mean_of_pairs(matrix, weighting, min_shared)
    assert result.kappa == pytest.approx(expected, abs=1e-9, nan_ok=True)
    assert result.n_pairs == n_pairs


def test_the_interval_is_that_of_resampled_responses():
    rng = np.random.default_rng(2)
    latent = rng.integers(1, 6, 40)
    matrix = np.clip(latent + rng.integers(-1, 2, (3, 40)), 1, 5).astype(float)
    matrix[2, ::3] = NAN
    result = pairwise_weighted_kappa(table_of(matrix), n_bootstrap=2000)
    # The same bootstrap, plainly: whole responses drawn, every pair's kappa by statsmodels again.
    draws = []
    for _ in range(600):
        resample = matrix[:, rng.integers(0, 40, 40)]
        draws.append(mean_of_pairs(resample, "quadratic", 2)[0])
    assert [result.low, result.high] == pytest.approx(list(np.percentile(draws, [2.5, 97.5])), abs=0.03)
    assert result.low < result.kappa < result.high
    again = pairwise_weighted_kappa(table_of(matrix), n_bootstrap=2000)
    assert (again.low, again.high) == (result.low, result.high)


def test_linear_intervals_use_the_same_resamples():
    rng = np.random.default_rng(3)
    matrix = np.clip(rng.integers(1, 6, 30) + rng.integers(-1, 2, (4, 30)), 1, 5).astype(float)
    result = pairwise_weighted_kappa(table_of(matrix), weighting="linear", n_bootstrap=300)
    assert result.low < result.kappa < result.high
    assert result.kappa < pairwise_weighted_kappa(table_of(matrix), n_bootstrap=0).kappa  # near misses weigh less there


def test_a_raters_latest_rating_of_a_response_counts():
    table = RatingTable([0, 0, 1, 2, 0, 1, 2], [0, 0, 0, 0, 1, 1, 1], [5, 1, 3, 4, 1, 3, 4])
    result = pairwise_weighted_kappa(table, min_shared=2, n_bootstrap=0)
    assert (result.kappa, result.n_repeats, result.n_responses) == (1.0, 1, 3)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], "no two raters rated the same response"),
        ([[1], [2]], "no two raters rated the same response"),
        ([[1, 2], [2, 3]], "no two raters share 5 responses"),
        ([[3, 3]] * 6, "every pair of raters gave the same single value: chance agreement is perfect too"),
        ([[0.1, 0.1]] * 6, "every pair of raters gave the same single value: chance agreement is perfect too"),
    ],
)
def test_what_cannot_be_known_is_nan_with_a_reason(rows, reason):
    result = pairwise_weighted_kappa(rows)
    assert np.isnan([result.kappa, result.low, result.high]).all()
    assert result.reason == reason


def test_a_pair_without_spread_is_left_out_and_counted():
    rows = [[1, 1, 3], [1, 2, 3], [1, 5, 3], [1, 4, 3], [1, 3, 3]]
    constant = [[row[0], row[0], row[1]] for row in rows]
    result = pairwise_weighted_kappa(constant, n_bootstrap=0)
    assert (result.n_pairs, result.n_pairs_left_out) == (2, 1)
    assert result.kappa == 0  # a constant rater agrees with another as chance does


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weighting": "cubic"}, "weighting is 'cubic'; accepted: quadratic, linear"),
        ({"min_shared": 1}, "min_shared is 1"),
        ({"n_bootstrap": -1}, "n_bootstrap is -1"),
    ],
)
def test_a_wrong_option_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        pairwise_weighted_kappa([[1, 2]], **options)
