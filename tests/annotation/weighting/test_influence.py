"""Weights without each rater, compared with weights computed without that rater's ratings."""

import time

import numpy as np
import pytest

from annotation.weighting.aggregation import Contributions, weigh
from annotation.weighting.influence import leave_one_rater_out
from annotation.weighting.reliability import reliability_contributions
from annotation.weighting.schemes import get_scheme
from annotation.weighting.standing import is_best, signs
from annotation.weighting.table import RatingTable


def some_ratings(seed=1, *, n=400, responses=60, raters=9, points=5):
    """Return ratings in which responses have none, one or several raters, or a rater twice."""
    rng = np.random.default_rng(seed)
    response = rng.integers(responses - 3, size=n)
    rater = rng.integers(raters, size=n)
    response[response == 5], rater[response == 5] = 5, 2
    rater[response == 6] = 3
    value = rng.integers(1, points + 1, size=n)
    item = np.sort(rng.integers(20, size=responses))
    return RatingTable(response, rater, value, n_responses=responses, n_raters=raters), item


def weights_without(table, rater, scheme, everybody):
    """Compute weights without a rater; reliability keeps the raters' parameters of all ratings."""
    keep = table.rater != rater
    if scheme != "reliability":
        return get_scheme(scheme).weights(table.select(keep), 1, 5).weights
    parts = Contributions(table.select(keep), everybody.score[keep], everybody.precision[keep], everybody.unit)
    return weigh(parts.table, parts, "mean", signature="").weights


@pytest.mark.parametrize("scheme", ["linear", "median", "zscore", "reliability"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_influence_equals_weights_recomputed_without_the_rater(scheme, seed):
    table, item = some_ratings(seed)
    influence = leave_one_rater_out(table, 1, 5, item, scheme=scheme)
    full = get_scheme(scheme).weights(table, 1, 5).weights
    np.testing.assert_allclose(influence.weights, full, atol=1e-12)
    everybody = reliability_contributions(table, 1, 5)
    for rater in range(table.n_raters):
        without = weights_without(table, rater, scheme, everybody)
        is_rater = influence.pair_rater == rater
        rated = influence.pair_response[is_rater]
        np.testing.assert_allclose(influence.pair_weight[is_rater], without[rated], atol=1e-12)
        unrated = np.setdiff1d(np.arange(table.n_responses), rated)
        np.testing.assert_allclose(without[unrated], full[unrated], atol=1e-12)
        lost = np.isnan(without) & np.isfinite(full)
        assert influence.n_without[rater] == lost.sum()
        change = (full - without)[rated[~lost[rated]]]
        assert influence.mean_change[rater] == pytest.approx(np.abs(change).mean(), abs=1e-12)
        assert influence.max_change[rater] == pytest.approx(np.abs(change).max(), abs=1e-12)
        assert influence.pull[rater] == pytest.approx(change.mean(), abs=1e-12)
        turned = (signs(full) * signs(without) < 0).sum()
        zero = (((signs(full) == 0) != (signs(without) == 0)) & ~lost & np.isfinite(full)).sum()
        assert (influence.n_reversed[rater], influence.n_to_or_from_zero[rater]) == (turned, zero)
        before, after = is_best(full, item, 20), is_best(without, item, 20)
        items_changed = [
            code
            for code in range(20)
            if np.isfinite(without[item == code]).any() and not (before & after)[item == code].any()
        ]
        assert influence.n_best_changed[rater] == len(items_changed)
    assert influence.n_without.sum() >= 2  # the two responses that one rater rated are among them
    assert influence.n_reversed.sum() > 0
    assert influence.n_best_changed.sum() > 0


def test_the_size_of_blocks_does_not_matter(monkeypatch):
    table, item = some_ratings(4)
    unblocked = leave_one_rater_out(table, 1, 5, item).n_best_changed
    monkeypatch.setattr("annotation.weighting.influence.BLOCK_ROWS", 17)
    assert leave_one_rater_out(table, 1, 5, item).n_best_changed.tolist() == unblocked.tolist()


def test_a_rater_whose_ratings_do_not_count_has_no_influence():
    """Rater 1 gives 3 throughout, so has no z-scores; rater 2 rated nothing."""
    table = RatingTable([0, 1, 0, 1], [0, 0, 1, 1], [1, 5, 3, 3], n_raters=3)
    influence = leave_one_rater_out(table, 1, 5, [0, 0], scheme="zscore")
    assert influence.n_ratings.tolist() == [2, 0, 0]
    assert np.isnan(influence.max_change).all()  # without rater 0 nothing has a weight
    assert influence.n_without.tolist() == [2, 0, 0]


def test_a_hand_worked_example():
    """Ratings 5 and 1 of one response, 4 of another: without the 5 the mean of the first falls from 3 to 1."""
    influence = leave_one_rater_out(RatingTable([0, 0, 1], [0, 1, 1], [5, 1, 4]), 1, 5, [0, 0])
    assert influence.weights.tolist() == [0.0, 0.5]
    assert influence.pair_weight.tolist()[:2] == [-1.0, 1.0]
    assert np.isnan(influence.pair_weight[2])
    assert influence.pull.tolist() == [1.0, -1.0]
    assert influence.n_best_changed.tolist() == [0, 1]  # without rater 1 the first response is the only one
    assert influence.n_to_or_from_zero.tolist() == [1, 1]


def test_five_hundred_raters_and_a_hundred_thousand_ratings_take_seconds():
    rng = np.random.default_rng(5)
    response = np.repeat(np.arange(20_000), 5)
    rater = (np.tile(np.arange(5), 20_000) * 100 + rng.integers(100, size=100_000)).astype(np.int64)
    table = RatingTable(response, rater, rng.integers(1, 6, size=100_000))
    started = time.perf_counter()
    for scheme in ("linear", "median", "zscore", "reliability"):
        influence = leave_one_rater_out(table, 1, 5, np.arange(20_000) // 15, scheme=scheme)
        assert (influence.n_ratings > 0).all()
    assert time.perf_counter() - started < 30  # about 1.5 s; a busy machine may take longer


def test_invalid_arguments_are_named():
    with pytest.raises(ValueError, match=r"item has shape \(1,\); accepted: \(2,\), one code per response"):
        leave_one_rater_out([[1, 2], [3]], 1, 5, [0])
    with pytest.raises(ValueError, match="accepted: linear, median, zscore, reliability"):
        leave_one_rater_out([[1, 2]], 1, 5, [0], scheme="best")
