"""Weights without each rater, against weighing again with that rater's ratings removed."""

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
    """Some responses nobody rated, some that one rater rated, some that a rater rated several times."""
    rng = np.random.default_rng(seed)
    response = rng.integers(responses - 3, size=n)
    rater = rng.integers(raters, size=n)
    response[response == 5], rater[response == 5] = 5, 2
    rater[response == 6] = 3
    value = rng.integers(1, points + 1, size=n)
    item = np.sort(rng.integers(20, size=responses))
    return RatingTable(response, rater, value, n_responses=responses, n_raters=raters), item


def weights_without(table, rater, scheme, everybody):
    """What weighing again gives; for reliability with the raters' parameters as all ratings give them."""
    keep = table.rater != rater
    if scheme != "reliability":
        return get_scheme(scheme).weights(table.select(keep), 1, 5, n_bootstrap=0).weights
    parts = Contributions(table.select(keep), everybody.score[keep], everybody.precision[keep], everybody.unit)
    return weigh(parts.table, parts, "mean", signature="", n_bootstrap=0, rng=None).weights


@pytest.mark.parametrize("scheme", ["linear", "median", "zscore", "reliability"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_figure_is_what_weighing_again_without_the_rater_gives(scheme, seed):
    table, item = some_ratings(seed)
    found = leave_one_rater_out(table, 1, 5, item, scheme=scheme)
    full = get_scheme(scheme).weights(table, 1, 5, n_bootstrap=0).weights
    np.testing.assert_allclose(found.weights, full, atol=1e-12)
    everybody = reliability_contributions(table, 1, 5)
    for rater in range(table.n_raters):
        again = weights_without(table, rater, scheme, everybody)
        mine = found.pair_rater == rater
        rated = found.pair_response[mine]
        np.testing.assert_allclose(found.pair_weight[mine], again[rated], atol=1e-12)
        elsewhere = np.setdiff1d(np.arange(table.n_responses), rated)
        np.testing.assert_allclose(again[elsewhere], full[elsewhere], atol=1e-12)
        gone = np.isnan(again) & np.isfinite(full)
        assert found.n_without[rater] == gone.sum()
        change = (full - again)[rated[~gone[rated]]]
        assert found.mean_change[rater] == pytest.approx(np.abs(change).mean(), abs=1e-12)
        assert found.max_change[rater] == pytest.approx(np.abs(change).max(), abs=1e-12)
        assert found.pull[rater] == pytest.approx(change.mean(), abs=1e-12)
        turned = (signs(full) * signs(again) < 0).sum()
        zero = (((signs(full) == 0) != (signs(again) == 0)) & ~gone & np.isfinite(full)).sum()
        assert (found.n_reversed[rater], found.n_to_or_from_zero[rater]) == (turned, zero)
        before, after = is_best(full, item, 20), is_best(again, item, 20)
        changed = [
            one
            for one in range(20)
            if np.isfinite(again[item == one]).any() and not (before & after)[item == one].any()
        ]
        assert found.n_best_changed[rater] == len(changed)
    assert found.n_without.sum() >= 2  # the two responses that one rater rated are among them
    assert found.n_reversed.sum() > 0
    assert found.n_best_changed.sum() > 0


def test_blocks_of_raters_change_nothing(monkeypatch):
    table, item = some_ratings(4)
    whole = leave_one_rater_out(table, 1, 5, item).n_best_changed
    monkeypatch.setattr("annotation.weighting.influence.BLOCK_ROWS", 17)
    assert leave_one_rater_out(table, 1, 5, item).n_best_changed.tolist() == whole.tolist()


def test_a_rater_whose_ratings_do_not_count_has_no_influence():
    """Rater 1 gives 3 throughout, so has no z-scores; rater 2 rated nothing."""
    table = RatingTable([0, 1, 0, 1], [0, 0, 1, 1], [1, 5, 3, 3], n_raters=3)
    found = leave_one_rater_out(table, 1, 5, [0, 0], scheme="zscore")
    assert found.n_ratings.tolist() == [2, 0, 0]
    assert np.isnan(found.max_change).all()  # without rater 0 nothing has a weight
    assert found.n_without.tolist() == [2, 0, 0]


def test_a_hand_worked_example():
    """Ratings 5 and 1 of one response, 4 of another: without the 5 the mean of the first falls from 3 to 1."""
    found = leave_one_rater_out(RatingTable([0, 0, 1], [0, 1, 1], [5, 1, 4]), 1, 5, [0, 0])
    assert found.weights.tolist() == [0.0, 0.5]
    assert found.pair_weight.tolist()[:2] == [-1.0, 1.0]
    assert np.isnan(found.pair_weight[2])
    assert found.pull.tolist() == [1.0, -1.0]
    assert found.n_best_changed.tolist() == [0, 1]  # without rater 1 the first response is the only one
    assert found.n_to_or_from_zero.tolist() == [1, 1]


def test_five_hundred_raters_and_a_hundred_thousand_ratings_take_seconds():
    rng = np.random.default_rng(5)
    response = np.repeat(np.arange(20_000), 5)
    rater = (np.tile(np.arange(5), 20_000) * 100 + rng.integers(100, size=100_000)).astype(np.int64)
    table = RatingTable(response, rater, rng.integers(1, 6, size=100_000))
    started = time.perf_counter()
    for scheme in ("linear", "median", "zscore", "reliability"):
        found = leave_one_rater_out(table, 1, 5, np.arange(20_000) // 15, scheme=scheme)
        assert (found.n_ratings > 0).all()
    assert time.perf_counter() - started < 30  # about 1.5 s; a busy machine may take longer


def test_it_names_what_is_wrong():
    with pytest.raises(ValueError, match=r"item has shape \(1,\); accepted: \(2,\), one code per response"):
        leave_one_rater_out([[1, 2], [3]], 1, 5, [0])
    with pytest.raises(ValueError, match="accepted: linear, median, zscore, reliability"):
        leave_one_rater_out([[1, 2]], 1, 5, [0], scheme="best")
