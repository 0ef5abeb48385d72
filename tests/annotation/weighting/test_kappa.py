from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t
from statsmodels.stats.inter_rater import cohens_kappa

from annotation.weighting.kappa import pairwise_weighted_kappa
from annotation.weighting.table import RatingTable

NAN = np.nan


def table_of(matrix):
    """From one row per rater, NaN where not rated."""
    rater, response = np.nonzero(~np.isnan(matrix))
    return RatingTable(response, rater, matrix[rater, response], n_responses=matrix.shape[1])


def pooled_kappa(matrix, weighting):
    """Observed and chance disagreement of every pair, the latter from scipy.stats import t
    from statsmodels' kappa, and the ratio of their sums.

        kappa = 1 - n O / T, with T summed over all n^2 combinations; those of different responses have T - O.
    """
    power = 2 if weighting == "quadratic" else 1
    observed, chance = [0.0], [0.0]
    for first, second in combinations(matrix, 2):
        shared = ~np.isnan(first) & ~np.isnan(second)
        n, ours, theirs = shared.sum(), first[shared], second[shared]
        if n < 2:
            continue
        apart = (np.abs(ours - theirs) ** power).sum()
        if len(np.unique([ours, theirs])) > 1:
            counts = np.zeros((5, 5))
            np.add.at(counts, (ours.astype(int) - 1, theirs.astype(int) - 1), 1)
            with np.errstate(all="ignore"):
                kappa = cohens_kappa(counts, wt=weighting).kappa
            chance.append((n * apart / (1 - kappa) if kappa < 1 else _all_ways(ours, theirs, power)) - apart)
            chance[-1] /= n - 1
        observed.append(apart)
    return 1 - sum(observed) / sum(chance) if sum(chance) > 1e-9 else NAN


def _all_ways(ours, theirs, power):
    return (np.abs(ours[:, None] - theirs) ** power).sum()


@given(
    st.lists(st.lists(st.sampled_from([1, 2, 3, 4, 5, NAN]), min_size=3, max_size=3), min_size=2, max_size=12),
    st.sampled_from(["quadratic", "linear"]),
)
def test_kappa_pools_the_disagreements_of_statsmodels_pairs(rows, weighting):
    matrix = np.array(rows, dtype=float).T
    result = pairwise_weighted_kappa(table_of(matrix), weighting=weighting)
    assert result.kappa == pytest.approx(pooled_kappa(matrix, weighting), abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("weighting", ["quadratic", "linear"])
def test_the_interval_is_that_of_the_jackknife_over_responses(weighting):
    rng = np.random.default_rng(2)
    latent = rng.integers(1, 6, 40)
    matrix = np.clip(latent + rng.integers(-1, 2, (3, 40)), 1, 5).astype(float)
    matrix[2, ::3] = NAN
    result = pairwise_weighted_kappa(table_of(matrix), weighting=weighting)
    z = np.arctanh([pooled_kappa(np.delete(matrix, response, axis=1), weighting) for response in range(40)])
    reach = t.ppf(0.975, 39) * np.sqrt(39 / 40 * ((z - z.mean()) ** 2).sum())
    middle = np.arctanh(pooled_kappa(matrix, weighting))
    assert [result.low, result.high] == pytest.approx(list(np.tanh([middle - reach, middle + reach])))


def test_few_shared_responses_do_not_draw_kappa_to_0():
    # Raters of equal severity: kappa is the correlation of two ratings, 1 / (1 + 0.5) before they are cut to points.
    draw = np.random.default_rng(5)
    responses, raters = 3000, 300
    rater = np.array([draw.choice(raters, 3, replace=False) for _ in range(responses)])
    value = draw.normal(0, 1, (responses, 1)) + draw.normal(0, np.sqrt(0.5), (responses, 3))
    result = pairwise_weighted_kappa(RatingTable(np.repeat(np.arange(responses), 3), rater.ravel(), value.ravel()))
    assert result.low < 2 / 3 < result.high
    assert result.kappa == pytest.approx(2 / 3, abs=0.05)


def test_a_raters_latest_rating_of_a_response_counts():
    table = RatingTable([0, 0, 1, 2, 0, 1, 2], [0, 0, 0, 0, 1, 1, 1], [5, 1, 3, 4, 1, 3, 4])
    result = pairwise_weighted_kappa(table)
    assert (result.kappa, result.n_repeats, result.n_responses) == (1.0, 1, 3)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], "no two raters rated the same response"),
        ([[1], [2]], "no two raters rated the same response"),
        ([[1, 2]], "no two raters share 2 responses"),
        ([[3, 3]] * 6, "every pair of raters gave the same single value: chance agreement is perfect too"),
        ([[0.1, 0.1]] * 6, "every pair of raters gave the same single value: chance agreement is perfect too"),
    ],
)
def test_undefined_kappa_is_nan_with_a_reason(rows, reason):
    result = pairwise_weighted_kappa(rows)
    assert np.isnan([result.kappa, result.low, result.high]).all()
    assert result.reason == reason


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([[1, 2], [2, 3], [4, 4]], "no interval below 10 shared responses"),
        ([[1, 1], [2, 2]] * 6, "no interval: raters agree fully, or less than Fisher's z can hold"),
        ([[1, 1]] * 10 + [[2, 3]], "no interval: without one of the responses all ratings are equal"),
    ],
)
def test_a_missing_interval_has_a_reason(rows, reason):
    result = pairwise_weighted_kappa(rows)
    assert np.isfinite(result.kappa)
    assert np.isnan([result.low, result.high]).all()
    assert result.reason == reason


def test_pairs_that_share_one_response_are_left_out_and_counted():
    result = pairwise_weighted_kappa([[1, 2, 3], [2, 2], [4, 5]])
    assert (result.n_pairs, result.n_pairs_left_out, result.n_responses) == (1, 2, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weighting": "cubic"}, "weighting is 'cubic'; accepted: quadratic, linear"),
        ({"confidence": 1}, "confidence is 1"),
    ],
)
def test_a_wrong_option_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        pairwise_weighted_kappa([[1, 2]], **options)
