from dataclasses import replace

import numpy as np
import pytest

from correlations.stats.resampling import bootstrap_difference, study_bootstrap
from correlations.stats.sampled_units import sampled_unit_correlation
from correlations.stats.shared_segments import on_shared_segments
from correlations.stats.units import StudyMetric, UnitSampling
from tests.correlations.stats.test_sampled_units import coefficients_by_hand, observations_by_hand

PAIRS = [(0, 1), (0, 2), (1, 2)]


def test_rows_with_equal_segments_are_compared_unchanged(inputs):
    rows, row_pairs = on_shared_segments(inputs.metrics, [(1, 2)])

    assert rows == inputs.metrics
    assert row_pairs == [(1, 2)]


def test_a_row_is_narrowed_once_for_equal_segments(inputs):
    rows, row_pairs = on_shared_segments(inputs.metrics, [(0, 1), (0, 2), (1, 2)])
    n = len(inputs.metrics)

    assert row_pairs == [(n, 1), (n, 2), (1, 2)]
    np.testing.assert_array_equal(rows[n].valid, inputs.metrics[1].valid)
    assert rows[n].statistics is inputs.metrics[0].statistics


def test_coefficients_over_shared_segments_equal_scipys(inputs):
    valid = np.random.default_rng(3).random(inputs.human.shape[1]) < 0.6
    metrics = [inputs.metrics[1], replace(inputs.metrics[0], valid=valid)]
    rows, [row_indices] = on_shared_segments(metrics, [(0, 1)])
    design = {"seed": 5, "unit_size": 6, "n_assignments": 4, "remainder": "keep"}

    study = sampled_unit_correlation(rows, inputs.human, inputs.pairs, UnitSampling(**design))

    for row_index, metric in zip(row_indices, metrics, strict=True):
        shared = replace(metric, valid=inputs.metrics[1].valid & valid)
        by_hand = observations_by_hand(replace(inputs, metrics=[shared]), 0, **design)
        expected = coefficients_by_hand(by_hand, "both")
        np.testing.assert_allclose(
            study.rows[row_index].coefficients["spearman"].values, expected["spearman"], atol=1e-12
        )
        np.testing.assert_allclose(
            study.rows[row_index].coefficients["kendall"].values, expected["kendall"], atol=1e-12
        )
        assert study.rows[row_index].n_valid_segments == (inputs.metrics[1].valid & valid).sum()


def test_separately_computed_rows_use_the_resamples_of_the_study(inputs):
    """Rows of one study give the same replicates when computed separately, so their differences are paired."""
    rows, _ = on_shared_segments(inputs.metrics, [(0, 1), (0, 2)])
    sampling = UnitSampling(seed=2, unit_size=6, coefficients=["spearman"])

    separate = study_bootstrap(rows[len(inputs.metrics) :], inputs.human, inputs.pairs, sampling, n_replicates=9)
    together = study_bootstrap(rows, inputs.human, inputs.pairs, sampling, n_replicates=9)

    for first, second in zip(separate, together[len(inputs.metrics) :], strict=True):
        np.testing.assert_array_equal(first.replicates["spearman"], second.replicates["spearman"])


def test_without_shared_segments_coefficients_are_undefined(inputs):
    half = np.arange(inputs.human.shape[1]) < 20
    metrics = [replace(inputs.metrics[0], valid=half), replace(inputs.metrics[2], valid=~half)]
    rows, [row_indices] = on_shared_segments(metrics, [(0, 1)])

    sampling = UnitSampling(seed=1, unit_size=5, n_assignments=2)
    study = sampled_unit_correlation(rows, inputs.human, inputs.pairs, sampling)

    assert [study.rows[row_index].n_valid_segments for row_index in row_indices] == [0, 0]
    assert [study.rows[row_index].coefficients["spearman"].reason for row_index in row_indices] == [
        "0 units: at least 3 observations are needed"
    ] * 2


def test_leaving_out_hard_segments_gives_no_advantage():
    """Two metrics with equal noise; the second has no scores for the half in which ratings hardly differ."""
    apparent, p_values = [], []
    for trial in range(20):
        rng = np.random.default_rng(trial)
        clear = np.arange(300) < 150
        human = rng.normal(size=(3, 300)) * np.where(clear, 1.0, 0.1)
        scores = human + rng.normal(size=(2, *human.shape))
        metrics = [
            StudyMetric(name, metric_scores[..., None], lambda sums: sums[..., 0], valid)
            for name, metric_scores, valid in zip("ab", scores, (None, clear), strict=True)
        ]
        rows, [(first, second)] = on_shared_segments(metrics, [(0, 1)])
        sampling = UnitSampling(seed=trial, unit_size=5, n_assignments=20, coefficients=["spearman"])
        study = sampled_unit_correlation(rows, human, PAIRS, sampling)
        rhos = [row.coefficients["spearman"].mean for row in study.rows]
        resampled = [
            row.replicates["spearman"] for row in study_bootstrap(rows, human, PAIRS, sampling, n_replicates=60)
        ]
        apparent.append(rhos[1] - rhos[0])
        p_values.append(bootstrap_difference(rhos[first] - rhos[second], resampled[first], resampled[second]).p_value)
    assert np.mean(apparent) > 0.1  # the apparent difference over different segments
    assert np.sum(np.array(p_values) < 0.05) <= 4  # of 20 at 5%: more with probability 0.003
    assert np.median(p_values) == pytest.approx(0.5, abs=0.25)
