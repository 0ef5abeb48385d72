"""Draws of items, raters of outputs and raters of references, against the study's own bootstrap and loops."""

import numpy as np
import pytest
from scipy import stats

from correlations.stats.resampling import RaterRatings, study_bootstrap
from correlations.stats.sources import Sources, share_ahead, source_bootstrap
from correlations.stats.units import StudyMetric, UnitSampling

SAMPLING = UnitSampling(seed=3, unit_size=6)


def raters_of(human: np.ndarray) -> RaterRatings:
    """Return three ratings of each rated output."""
    rng = np.random.default_rng(8)
    system, segment = np.repeat(np.argwhere(~np.isnan(human)), 3, axis=0).T
    rater = np.concatenate([rng.permutation(9)[:3] for _ in range(len(system) // 3)])
    return RaterRatings(rater, system, segment, human[system, segment] + rng.normal(size=rater.size))


@pytest.mark.parametrize("with_raters", [False, True])
def test_items_and_raters_of_outputs_are_those_of_the_studys_own_bootstrap(inputs, with_raters):
    raters = raters_of(inputs.human) if with_raters else None
    usual = study_bootstrap(inputs.metrics, inputs.human, inputs.pairs, SAMPLING, raters=raters, n_replicates=20)
    drawn = source_bootstrap(
        inputs.metrics, inputs.human, inputs.pairs, SAMPLING, Sources(True, raters), n_replicates=20
    )
    for ours, own in zip(drawn, usual, strict=True):
        for key in ("spearman", "kendall"):
            assert np.array_equal(ours.replicates[key], own.replicates[key], equal_nan=True)


@pytest.mark.parametrize("items", [False, True])
def test_weights_that_do_not_change_change_nothing(inputs, items):
    raters = raters_of(inputs.human)
    same = Sources(items, raters, lambda _, n: {1: [inputs.metrics[1]] * n, 3: [inputs.metrics[3]] * n})
    usual, drawn = (
        source_bootstrap(inputs.metrics, inputs.human, inputs.pairs, SAMPLING, sources, n_replicates=20)
        for sources in (Sources(items, raters), same)
    )
    for ours, own in zip(drawn, usual, strict=True):
        assert np.array_equal(ours.replicates["spearman"], own.replicates["spearman"], equal_nan=True)


def test_a_draw_of_raters_of_references_is_the_study_under_its_weights(inputs):
    """With one unit for each pair nothing depends on the assignment: scipy's coefficient of the totals."""
    sampling = UnitSampling(seed=3, unit_size=1000, orientation="fixed", coefficients=["spearman", "kendall"])
    written = []

    def redraw(rng, size):
        rows = []
        for _ in range(size):
            statistics = inputs.metrics[1].statistics * rng.uniform(0.5, 1.5, inputs.metrics[1].statistics.shape)
            valid = inputs.metrics[1].valid & (rng.random(inputs.human.shape) < 0.8)
            written.append((statistics, valid))
            rows.append(StudyMetric("weighted", statistics, inputs.metrics[1].aggregate, valid))
        return {1: rows}

    drawn = source_bootstrap(
        inputs.metrics, inputs.human, inputs.pairs, sampling, Sources(False, redraw=redraw), n_replicates=5
    )[1]

    for replicate, (statistics, valid) in enumerate(written):
        usable = valid & ~np.isnan(inputs.human)
        metric, human = [], []
        for a, b in inputs.pairs:
            both = usable[a] & usable[b]
            totals = statistics[:, both].sum(axis=1)
            scores = np.maximum(totals[:, 0], 0) / totals[:, 1]
            metric.append(scores[a] - scores[b])
            human.append((inputs.human[a, both] - inputs.human[b, both]).mean())
        expected = stats.spearmanr(metric, human).statistic, stats.kendalltau(metric, human).statistic
        for key, value in zip(("spearman", "kendall"), expected, strict=True):
            assert drawn.replicates[key][replicate] == pytest.approx([value] * 4, abs=1e-12)


def test_each_source_draws_the_same_beside_others(inputs):
    """Then the spread of several sources is no accident of other random numbers."""
    drawn = []

    def redraw(rng, size):
        drawn.extend(rng.random(size))
        return {1: [inputs.metrics[1]] * size}

    for sources in (Sources(False, redraw=redraw), Sources(True, raters_of(inputs.human), redraw)):
        source_bootstrap(inputs.metrics, inputs.human, inputs.pairs, SAMPLING, sources, n_replicates=4)
    assert drawn[:4] == drawn[4:]


def test_only_defined_draws_count_as_ahead():
    first, second = np.array([[0.9], [0.1], [np.nan], [0.6]]), np.array([[0.5], [0.5], [0.5], [0.5]])
    assert share_ahead(first, second) == 0.5


def test_it_refuses_to_draw_nothing(inputs):
    with pytest.raises(ValueError, match="draw nothing"):
        source_bootstrap(inputs.metrics, inputs.human, inputs.pairs, SAMPLING, Sources(False))
