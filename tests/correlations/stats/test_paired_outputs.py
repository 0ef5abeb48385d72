import numpy as np
import pytest

from correlations.stats.paired_outputs import paired_outputs
from correlations.stats.ranking import pairwise_accuracy, tie_calibrated_accuracy
from tests.correlations.stats.test_ranking import HUMAN, METRIC, accuracy_at, best_by_definition


def test_each_grouping_pairs_what_deutsch_et_al_2023_pair():
    """The numbers of mt-metrics-eval's own example, counted one pair at a time."""
    rng = np.random.default_rng(3)
    for grouping, scores, ratings in (
        ("system", METRIC, HUMAN),
        ("item", np.transpose(METRIC), np.transpose(HUMAN)),
        ("all", np.reshape(METRIC, (1, -1)), np.reshape(HUMAN, (1, -1))),
    ):
        x, y, outputs = paired_outputs(METRIC, HUMAN, grouping=grouping, rng=rng)
        assert outputs == 18
        assert pairwise_accuracy(x, y) == pytest.approx(accuracy_at(scores, ratings, 0))
        calibrated = tie_calibrated_accuracy(x, y)
        assert calibrated.accuracy == pytest.approx(max(value for _, value in best_by_definition(scores, ratings)))


def test_of_too_many_pairs_some_are_drawn_the_same_for_every_metric():
    rng = np.random.default_rng(7)
    ratings = rng.normal(size=(4, 300))
    noisy, opposite = ratings + rng.normal(size=ratings.shape), -ratings
    drawn = [
        paired_outputs(scores, ratings, grouping="all", rng=np.random.default_rng(1), most_pairs=20_000)
        for scores in (ratings, noisy, opposite)
    ]
    assert {each.outputs for each in drawn} == {200}  # 200 x 199 / 2 = 19,900
    assert all((each.ratings == drawn[0].ratings).all() for each in drawn)
    accuracies = [pairwise_accuracy(each.scores, each.ratings) for each in drawn]
    whole = pairwise_accuracy(noisy.reshape(1, -1), ratings.reshape(1, -1))
    assert accuracies == [1.0, pytest.approx(whole, abs=0.05), 0.0]
    within = paired_outputs(noisy, ratings, grouping="system", rng=np.random.default_rng(1), most_pairs=4 * 4950)
    assert within.scores.shape == (4, 100)
    with pytest.raises(ValueError, match="accepted are all, item, system"):
        paired_outputs(noisy, ratings, grouping="rater", rng=rng)
    with pytest.raises(ValueError, match=r"\(systems, items\) is expected"):
        paired_outputs(noisy, ratings[0], grouping="all", rng=rng)
