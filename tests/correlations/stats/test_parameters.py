"""Curves along a parameter, compared with scipy and loops."""

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
    usable_outputs,
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


def test_coefficients_over_systems_equal_scipys_of_the_means(world) -> None:
    values, human = world
    outputs = usable_outputs(values, human) & (np.arange(60) % 3 > 0)

    level, scores = system_level(values[1], human, SYSTEMS, outputs)

    rated = [[i for i in range(60) if i % 3 and not math.isnan(human[t, i])] for t in range(5)]
    x = [np.mean(values[1].scores[t, rated[t]]) for t in range(5)]  # a score over the rated outputs, and no others
    y = [np.mean(human[t, rated[t]]) for t in range(5)]
    assert scores == pytest.approx(x, abs=1e-12)
    expected = stats.pearsonr(x, y)
    assert (level.values["pearson"], level.pvalues["pearson"]) == pytest.approx(tuple(expected), abs=1e-9)
    assert level.values["spearman"] == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert level.values["kendall"] == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)


def test_coefficients_over_segments_equal_scipys_of_the_rated_outputs(world) -> None:
    values, human = world
    outputs = np.ones(human.shape, dtype=bool) & (np.arange(60) < 45)

    level = segment_level(values[0], human, outputs)

    rated_cells = [(t, i) for t in range(5) for i in range(45) if not math.isnan(human[t, i])]
    x, y = [values[0].scores[cell] for cell in rated_cells], [human[cell] for cell in rated_cells]
    assert level.n == len(rated_cells)
    assert (level.values["pearson"], level.pvalues["pearson"]) == pytest.approx(tuple(stats.pearsonr(x, y)), abs=1e-12)
    assert level.values["spearman"] == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert level.values["kendall"] == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)


def test_replicates_equal_coefficients_over_repeated_segments(world) -> None:
    values, human = world
    outputs = usable_outputs(values, human) & (np.arange(60) < 50)
    weights = bootstrap_weights(outputs, 4, seed=3)
    assert weights.sum(axis=1).tolist() == [50.0] * 4
    assert weights[:, 50:].sum() == 0

    replicates = curves(values, human, outputs, weights)

    for b in range(4):
        drawn = np.repeat(np.arange(60), weights[b].astype(int))
        for v, value in enumerate(values):
            drawn_scores, ratings = value.scores[:, drawn], human[:, drawn]
            x, y = np.nanmean(np.where(np.isnan(ratings), np.nan, drawn_scores), axis=1), np.nanmean(ratings, axis=1)
            assert replicates.system["pearson"][b, v] == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)
            assert replicates.system["spearman"][b, v] == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)
            assert replicates.system["kendall"][b, v] == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-9)
            is_rated = np.isfinite(ratings)
            expected = stats.pearsonr(drawn_scores[is_rated], ratings[is_rated]).statistic
            assert replicates.segment[b, v] == pytest.approx(expected, abs=1e-9)


def test_statistics_are_summed_before_scoring() -> None:
    rng = np.random.default_rng(1)
    statistics = np.concatenate(
        [rng.integers(5, 9, size=(4, 30, 2)), rng.integers(1, 4, size=(4, 30, 2)), rng.integers(4, 7, size=(4, 30, 2))],
        axis=2,
    ).astype(float)
    bleu = BleuAggregate(max_order=2)
    human = rng.normal(size=(4, 30))

    value = ParameterValue(statistics, bleu, bleu(statistics))
    replicates = curves([value], human, np.ones((4, 30), dtype=bool), np.ones((1, 30)))

    x, y = [float(bleu(statistics[t].sum(axis=0))) for t in range(4)], human.mean(axis=1)
    assert replicates.system["pearson"][0, 0] == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)


def test_held_out_halves_choose_without_the_judging_segments() -> None:
    """With pure noise, the best of many values is good on the half it was chosen on, and worthless on the other."""
    rng = np.random.default_rng(5)
    human = rng.normal(size=(6, 400))
    values = [mean_value(rng.normal(size=human.shape)) for _ in range(30)]

    halves = held_out_halves(
        values, human, np.ones(human.shape, dtype=bool), 0, coefficient="pearson", n_halves=60, seed=2
    )

    assert halves.n_halves == 60
    assert halves.chosen_on > 0.7
    assert abs(halves.judged_on) < 0.4
    assert halves.shares.sum() == pytest.approx(1)


def test_a_value_that_follows_the_ratings_is_chosen_and_confirmed(world) -> None:
    values, human = world

    halves = held_out_halves(
        values, human, usable_outputs(values, human), 2, coefficient="pearson", n_halves=40, seed=2
    )

    assert halves.shares.argmax() == 0
    assert halves.judged_on > halves.fixed


def test_outputs_without_a_rating_or_without_a_score_at_any_value_do_not_count(world) -> None:
    values, human = world
    scores = values[0].scores.copy()
    scores[3, 7] = np.nan
    rated = np.nan_to_num(human, nan=2.0)
    rated[1, 5] = np.nan

    usable = usable_outputs([mean_value(scores), *values[1:]], rated)

    assert np.argwhere(~usable).tolist() == [[1, 5], [3, 7]]


def test_undefined_coefficients_have_a_reason() -> None:
    undefined_scores = np.full((3, 4), np.nan)
    all_outputs = np.ones((3, 4), dtype=bool)
    rated = np.arange(12.0).reshape(3, 4)
    assert system_level(mean_value(undefined_scores), rated, ["A", "B", "C"], all_outputs)[0].reason == "no score of A"
    one_unrated = np.where(np.arange(3)[:, None] == 1, np.nan, rated)
    assert system_level(mean_value(rated), one_unrated, ["A", "B", "C"], all_outputs)[0].reason == "no rating of B"
    assert (
        segment_level(mean_value(undefined_scores), rated, all_outputs).reason
        == "0 rated outputs: at least 3 are needed"
    )
    assert segment_level(mean_value(np.ones((3, 4))), rated, all_outputs).reason == "the metric scores are constant"
    replicates = curves([mean_value(np.ones((3, 4)))], rated, all_outputs, np.ones((1, 4)))
    assert np.isnan(
        [replicates.segment[0, 0], *(coefficients[0, 0] for coefficients in replicates.system.values())]
    ).all()
    assert best_index([math.nan, math.nan]) is None
    assert best_index([math.nan, 0.3, 0.3]) == 1
    with pytest.raises(ValueError, match="coefficient is 'r'"):
        held_out_halves([mean_value(rated)], rated, all_outputs, 0, coefficient="r", n_halves=1, seed=1)
