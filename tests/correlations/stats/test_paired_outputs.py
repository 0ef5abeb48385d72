import numpy as np
import pytest

from correlations.stats.paired_outputs import PairedOutputs, paired_outputs
from correlations.stats.ranking import pairwise_accuracy, tie_calibrated_accuracy
from correlations.stats.segment_level import Grouping
from tests.correlations.stats.test_ranking import HUMAN, METRIC, accuracy_at, best_by_definition


def test_each_grouping_pairs_what_deutsch_et_al_2023_pair():
    """The numbers of mt-metrics-eval's own example, counted one pair at a time."""
    rng = np.random.default_rng(3)
    for grouping, scores, ratings in (
        ("system", METRIC, HUMAN),
        ("item", np.transpose(METRIC), np.transpose(HUMAN)),
        ("all", np.reshape(METRIC, (1, -1)), np.reshape(HUMAN, (1, -1))),
    ):
        x, y, _, outputs = paired_outputs(METRIC, HUMAN, grouping=grouping, rng=rng)
        assert outputs == 18
        assert pairwise_accuracy(x, y) == pytest.approx(accuracy_at(scores, ratings, 0))
        calibrated = tie_calibrated_accuracy(x, y)
        assert calibrated.accuracy == pytest.approx(max(value for _, value in best_by_definition(scores, ratings)))


def test_of_too_many_pairs_some_are_drawn_the_same_for_every_metric():
    """Within five standard errors of all pairs: a share of n independent pairs has one of 0.5 / sqrt(n) at most."""
    rng = np.random.default_rng(7)
    ratings = np.round(rng.normal(size=(4, 300)) * 3)
    noisy, opposite = ratings + rng.normal(size=ratings.shape), -ratings
    noisy[0, 1:], noisy[1, :100] = np.nan, np.nan  # of one output no pair can be drawn
    n, near = 60_000, pytest.approx

    def drawn(scores: np.ndarray, grouping: Grouping, most: int = n) -> PairedOutputs:
        return paired_outputs(scores, ratings, grouping=grouping, rng=np.random.default_rng(1), most_pairs=most)

    alike = [drawn(scores, "all") for scores in (ratings, opposite)]
    assert (alike[0].ratings == alike[1].ratings).all()
    assert (pairwise_accuracy(*alike[0][:2]), alike[0].outputs, alike[0].scores.shape) == (1.0, 1200, (n, 2))
    for grouping, outputs in (("all", 801), ("system", 801)):
        some, whole = drawn(noisy, grouping), drawn(noisy, grouping, most=10**6)
        assert (some.outputs, whole.outputs) == (outputs, outputs)
        for accuracy in (pairwise_accuracy, lambda *sides: tie_calibrated_accuracy(*sides).accuracy):
            assert accuracy(*some[:2]) == near(accuracy(*whole[:2]), abs=5 * 0.5 / n**0.5)
    assert np.bincount(some.groups).tolist() == [0, 20_000, 20_000, 20_000]
    pairs = np.isin(some.ratings[:20_000], ratings[1, 100:])  # of one system, which has scores from item 100 on
    assert pairs.all()
    sparse = np.full((4, 10_000), np.nan)  # so many columns have no pairs to speak of
    sparse[:, ::1000] = ratings[:, :10]
    packed = paired_outputs(sparse, sparse, grouping="system", rng=np.random.default_rng(1))
    assert (packed.scores == ratings[:, :10]).all()
    rng = np.random.default_rng(7)
    with pytest.raises(ValueError, match="accepted are all, item, system"):
        paired_outputs(noisy, ratings, grouping="rater", rng=rng)
    with pytest.raises(ValueError, match=r"\(systems, items\) is expected"):
        paired_outputs(noisy, ratings[0], grouping="all", rng=rng)
