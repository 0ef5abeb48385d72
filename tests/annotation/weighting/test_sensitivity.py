"""Weights of a release under other schemes."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from annotation.weighting.agreement import icc
from annotation.weighting.schemes import get_scheme
from annotation.weighting.sensitivity import (
    Alternative,
    alternatives,
    movement,
    shrunken_means,
)
from annotation.weighting.standing import best_weights, is_best
from annotation.weighting.table import RatingTable


def some_ratings(seed=1):
    rng = np.random.default_rng(seed)
    quality = rng.normal(3, 1, size=80)
    response = np.repeat(np.arange(80), 5)
    rater = np.concatenate([rng.choice(12, size=5, replace=False) for _ in range(80)])
    value = np.clip(np.rint(quality[response] + rng.normal(0, 1, size=400)), 1, 5)
    return RatingTable(response, rater, value), np.arange(80) // 8


def test_alternatives_use_the_defaults_of_each_scheme():
    table, _ = some_ratings()
    weights = get_scheme("linear").weights(table, 1, 5).weights
    schemes = {scheme.name: scheme for scheme in alternatives(table, 1, 5, weights)}
    assert list(schemes) == ["linear", "median", "zscore", "reliability", "shrunken", "no_negatives", "ones"]
    for name in ("linear", "median", "zscore", "reliability"):
        np.testing.assert_array_equal(schemes[name].weights, get_scheme(name).weights(table, 1, 5).weights)
    assert schemes["zscore"].parameters == {"clip": 2.0}
    assert schemes["reliability"].parameters == {"prior_ratings": 5.0} == get_scheme("reliability").defaults
    assert (schemes["ones"].weights == 1).all()
    np.testing.assert_array_equal(np.isnan(schemes["no_negatives"].weights), weights < -1e-9)


def test_rank_correlations_equal_scipys():
    table, item = some_ratings()
    weights = get_scheme("linear").weights(table, 1, 5).weights
    for alternative in alternatives(table, 1, 5, weights)[:5]:
        moved = movement(weights, alternative, item)
        assert moved.rank_correlation == pytest.approx(spearmanr(weights, alternative.weights).statistic, abs=1e-12)
    ones = movement(weights, alternatives(table, 1, 5, weights)[-1], item)
    assert np.isnan(ones.rank_correlation)
    assert ones.rank_reason == "all weights are equal"


def test_a_release_does_not_move_under_its_own_scheme():
    table, item = some_ratings()
    weights = get_scheme("median").weights(table, 1, 5).weights
    moved = movement(weights, alternatives(table, 1, 5, weights)[1], item)
    assert (moved.max_change, moved.mean_change, moved.n_compared) == (0.0, 0.0, 80)
    assert not moved.reversed_sign.any()
    assert not moved.best_changed.any()
    assert not moved.lost_positive.any()


def test_a_hand_worked_comparison():
    """Item 0 changes its best and keeps a positive; item 1 loses its only positive; item 2 gains one."""
    weights = np.array([0.8, 0.2, 0.1, -0.4, 0.0, -0.2, np.nan])
    alternative = Alternative("x", {}, np.array([0.3, 0.5, -0.1, -0.4, 0.4, -0.2, 0.9]))
    moved = movement(weights, alternative, [0, 0, 1, 1, 2, 2, 3])
    assert (moved.n_compared, moved.n_gone, moved.n_new) == (6, 0, 1)
    assert moved.mean_change == pytest.approx((0.5 + 0.3 + 0.2 + 0.0 + 0.4 + 0.0) / 6)
    assert (moved.max_change, moved.largest) == (pytest.approx(0.5), 0)
    assert moved.reversed_sign.tolist() == [False, False, True, False, False, False, False]
    assert moved.to_or_from_zero.tolist() == [False, False, False, False, True, False, False]
    assert moved.best_changed.tolist() == [True, False, False, False]
    assert moved.lost_positive.tolist() == [False, True, False, False]
    assert moved.gained_positive.tolist() == [False, False, True, True]


def test_dropped_negatives_count_as_gone_not_moved():
    weights = np.array([0.5, -0.5, -0.2])
    [no_negatives] = [
        alternative for alternative in alternatives(None, np.nan, np.nan, weights) if alternative.name == "no_negatives"
    ]
    moved = movement(weights, no_negatives, [0, 0, 1])
    assert (moved.n_compared, moved.n_gone, moved.max_change) == (1, 2, 0.0)
    assert not moved.lost_positive.any()
    assert moved.rank_reason == "fewer than three references have both weights"


def test_imported_weights_are_compared_without_ratings():
    assert [alternative.name for alternative in alternatives(None, np.nan, np.nan, [0.5, 0.1])] == [
        "no_negatives",
        "ones",
    ]


def test_a_scheme_that_refuses_the_scale_has_a_reason():
    """Logarithms of magnitudes have no ends: only z-scores weigh them."""
    table = RatingTable([0, 0, 1, 1], [0, 1, 0, 1], [0.1, 0.4, -0.2, 0.0])
    schemes = {alternative.name: alternative for alternative in alternatives(table, np.nan, np.nan, [0.3, -0.3])}
    assert schemes["zscore"].reason == ""
    assert "accepted: zscore" in schemes["linear"].reason
    assert "accepted: zscore" in schemes["shrunken"].reason
    moved = movement(np.array([0.3, -0.3]), schemes["linear"], [0, 0])
    assert (moved.n_compared, moved.n_gone, moved.largest) == (0, 2, -1)
    assert np.isnan(moved.max_change)


def test_shrunken_means_shrink_by_the_reliability_of_means():
    """With k ratings each the factor is ICC(k), 1 - within / between mean squares: Kelley's regressed true score."""
    table, _ = some_ratings()
    means, r = shrunken_means(table)
    raw = np.bincount(table.response, table.value) / 5
    result = icc(table)
    assert r == result.icc_1
    np.testing.assert_allclose(means, raw.mean() + result.icc_k * (raw - raw.mean()), atol=1e-12)


def test_shrunken_means_need_two_ratings_of_something():
    means, r = shrunken_means(RatingTable([0, 1], [0, 1], [2, 4]))
    assert np.isnan(r)
    assert np.isnan(means).all()


def test_ties_up_to_rounding_are_all_best():
    weights = np.array([0.1 + 0.2, 0.3, 0.1, np.nan, np.nan])
    item = np.array([0, 0, 0, 0, 1])
    assert is_best(weights, item, 2).tolist() == [True, True, False, False, False]
    assert best_weights(weights, item, 2).tolist()[0] == pytest.approx(0.3)
    assert np.isnan(best_weights(weights, item, 2)[1])


def test_differing_shapes_are_named():
    with pytest.raises(ValueError, match=r"release_weights has shape \(1,\); accepted: \(2,\)"):
        alternatives(RatingTable([0, 1], [0, 0], [1, 2]), 1, 5, [0.5])
    with pytest.raises(ValueError, match="one entry per reference in each"):
        movement([0.5], Alternative("x", {}, np.array([0.5])), [0, 0])
