"""Curves along a parameter, against scipy and plain loops."""

import math

import numpy as np
import pytest
from scipy import stats

from correlations.stats.parameters import (
    ParameterValue,
    best_index,
    bootstrap_weights,
    curves,
    held_out_halves,
    segment_level,
    system_level,
    usable_segments,
)
from metrics.scoring.aggregates import BleuAggregate, MeanAggregate
from metrics.scoring.metric import mean_statistics

SYSTEMS = ["A", "B", "C", "D", "E"]


def mean_value(scores: np.ndarray) -> ParameterValue:
    return ParameterValue(mean_statistics(scores).packed, MeanAggregate(), scores)


@pytest.fixture
def world():
    rng = np.random.default_rng(11)
    human = rng.integers(1, 6, size=(5, 60)).astype(float) + np.arange(5)[:, None] * 0.3
    human[rng.random(human.shape) < 0.2] = np.nan
    quality = np.nan_to_num(human, nan=3.0)
    values = [mean_value(quality + noise * rng.normal(size=human.shape)) for noise in (0.5, 2.0, 8.0)]
    return values, human


def test_coefficients_over_systems_are_scipys_of_the_means(world) -> None:
    values, human = world
    segments = np.arange(60) % 3 > 0

    found, scores = system_level(values[1], human, SYSTEMS, segments)

    x = [np.mean([values[1].scores[t, i] for i in range(60) if segments[i]]) for t in range(5)]
    y = [np.mean([human[t, i] for i in range(60) if segments[i] and not math.isnan(human[t, i])]) for t in range(5)]
    assert scores == pytest.approx(x, abs=1e-12)
    expected = stats.pearsonr(x, y)
    assert (found.values["pearson"], found.pvalues["pearson"]) == pytest.approx(tuple(expected), abs=1e-9)
    assert found.values["spearman"] == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert found.values["kendall"] == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)


def test_coefficients_over_segments_are_scipys_of_the_rated_outputs(world) -> None:
    values, human = world
    segments = np.arange(60) < 45

    found = segment_level(values[0], human, segments)

    kept = [(t, i) for t in range(5) for i in range(45) if not math.isnan(human[t, i])]
    x, y = [values[0].scores[place] for place in kept], [human[place] for place in kept]
    assert found.n == len(kept)
    assert (found.values["pearson"], found.pvalues["pearson"]) == pytest.approx(tuple(stats.pearsonr(x, y)), abs=1e-12)
    assert found.values["spearman"] == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert found.values["kendall"] == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)


def test_a_replicate_is_the_coefficient_over_segments_repeated(world) -> None:
    values, human = world
    weights = bootstrap_weights(np.arange(60) < 50, 4, seed=3)
    assert weights.sum(axis=1).tolist() == [50.0] * 4
    assert weights[:, 50:].sum() == 0

    found = curves(values, human, weights)

    for b in range(4):
        drawn = np.repeat(np.arange(60), weights[b].astype(int))
        for v, value in enumerate(values):
            again, ratings = value.scores[:, drawn], human[:, drawn]
            x, y = again.mean(axis=1), np.nanmean(ratings, axis=1)
            assert found.system["pearson"][b, v] == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)
            assert found.system["spearman"][b, v] == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)
            assert found.system["kendall"][b, v] == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-9)
            kept = np.isfinite(ratings)
            expected = stats.pearsonr(again[kept], ratings[kept]).statistic
            assert found.segment[b, v] == pytest.approx(expected, abs=1e-9)


def test_sums_of_statistics_are_scored_once_they_are_summed() -> None:
    rng = np.random.default_rng(1)
    statistics = np.concatenate(
        [rng.integers(5, 9, size=(4, 30, 2)), rng.integers(1, 4, size=(4, 30, 2)), rng.integers(4, 7, size=(4, 30, 2))],
        axis=2,
    ).astype(float)
    bleu = BleuAggregate(max_order=2)
    human = rng.normal(size=(4, 30))

    found = curves([ParameterValue(statistics, bleu, bleu(statistics))], human, np.ones((1, 30)))

    x, y = [float(bleu(statistics[t].sum(axis=0))) for t in range(4)], human.mean(axis=1)
    assert found.system["pearson"][0, 0] == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)


def test_halves_choose_without_the_segments_that_judge() -> None:
    """Pure noise: the best of many values looks good where it was chosen, and is worth nothing elsewhere."""
    rng = np.random.default_rng(5)
    human = rng.normal(size=(6, 400))
    values = [mean_value(rng.normal(size=human.shape)) for _ in range(30)]

    found = held_out_halves(values, human, np.ones(400, dtype=bool), 0, coefficient="pearson", n_halves=60, seed=2)

    assert found.n_halves == 60
    assert found.chosen_on > 0.7
    assert abs(found.judged_on) < 0.4
    assert found.shares.sum() == pytest.approx(1)


def test_a_value_that_follows_the_ratings_is_chosen_and_holds(world) -> None:
    values, human = world

    found = held_out_halves(values, human, np.ones(60, dtype=bool), 2, coefficient="pearson", n_halves=40, seed=2)

    assert found.shares.argmax() == 0
    assert found.judged_on > found.fixed


def test_a_segment_that_any_value_lacks_counts_for_none(world) -> None:
    values, _ = world
    scores = values[0].scores.copy()
    scores[3, 7] = np.nan

    usable = usable_segments([mean_value(scores), *values[1:]])

    assert np.flatnonzero(~usable).tolist() == [7]


def test_undefined_says_why() -> None:
    nothing = np.full((3, 4), np.nan)
    whole = np.ones(4, dtype=bool)
    rated = np.arange(12.0).reshape(3, 4)
    assert system_level(mean_value(nothing), rated, ["A", "B", "C"], whole)[0].reason == "no score of A"
    one_unrated = np.where(np.arange(3)[:, None] == 1, np.nan, rated)
    assert system_level(mean_value(rated), one_unrated, ["A", "B", "C"], whole)[0].reason == "no rating of B"
    assert segment_level(mean_value(nothing), rated, whole).reason == "0 rated outputs: at least 3 are needed"
    assert segment_level(mean_value(np.ones((3, 4))), rated, whole).reason == "the metric scores are constant"
    found = curves([mean_value(np.ones((3, 4)))], rated, np.ones((1, 4)))
    assert np.isnan([found.segment[0, 0], *(each[0, 0] for each in found.system.values())]).all()
    assert best_index([math.nan, math.nan]) is None
    assert best_index([math.nan, 0.3, 0.3]) == 1
    with pytest.raises(ValueError, match="coefficient is 'r'"):
        held_out_halves([mean_value(rated)], rated, whole, 0, coefficient="r", n_halves=1, seed=1)
