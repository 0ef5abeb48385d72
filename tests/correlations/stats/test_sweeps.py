from dataclasses import replace

import pytest

from correlations.stats.sampled_units import sampled_unit_correlation
from correlations.stats.sweeps import reference_sweep, unit_size_sweep
from correlations.stats.units import UnitSampling


def test_a_reference_sweep_equals_separate_studies(inputs):
    thresholds = {
        -1.0: [replace(inputs.metrics[0], name="BLEU"), replace(inputs.metrics[2], name="sBLEU")],
        0.5: [replace(inputs.metrics[1], name="BLEU"), replace(inputs.metrics[2], name="sBLEU")],
    }
    sampling = UnitSampling(seed=2, unit_size=7, n_assignments=5)
    sweep = reference_sweep(thresholds, inputs.human, inputs.pairs, sampling)
    assert sweep.points == (-1.0, 0.5)
    for index, metrics in enumerate(thresholds.values()):
        study = sampled_unit_correlation(metrics, inputs.human, inputs.pairs, sampling)
        for name in ("BLEU", "sBLEU"):
            assert sweep.series[name][index].name == name
            assert (
                sweep.series[name][index].coefficients["spearman"].values.tolist()
                == study[name].coefficients["spearman"].values.tolist()
            )


def test_a_unit_size_sweep_equals_separate_studies_with_sentence_scores_at_one(inputs):
    reports = []
    at_one = [replace(inputs.metrics[2], name="weighted")]
    sweep = unit_size_sweep(
        [inputs.metrics[1]],
        inputs.human,
        inputs.pairs,
        UnitSampling(seed=2, n_assignments=40),
        unit_sizes=(1, 5, 20),
        metrics_at_one=at_one,
        progress=lambda done, total: reports.append((done, total)),
    )
    alone = sampled_unit_correlation(at_one, inputs.human, inputs.pairs, UnitSampling(seed=2, unit_size=1))
    assert sweep.series["weighted"][0].coefficients["spearman"].mean == alone.rows[0].coefficients["spearman"].mean
    sampling = UnitSampling(seed=2, unit_size=5, n_assignments=10)
    fives = sampled_unit_correlation([inputs.metrics[1]], inputs.human, inputs.pairs, sampling)
    assert sweep.series["weighted"][1].coefficients["spearman"].mean == fives.rows[0].coefficients["spearman"].mean
    assert (reports[0], reports[-1]) == ((1, 51), (51, 51))


def test_points_must_agree_on_their_metrics(inputs):
    data, sampling = (inputs.human, inputs.pairs), UnitSampling(seed=1)
    with pytest.raises(ValueError, match=r"at point 1 are \['weighted'\], at the first point \['precision'\]"):
        reference_sweep({0: inputs.metrics[:1], 1: inputs.metrics[1:2]}, *data, sampling)
    with pytest.raises(ValueError, match="no points"):
        reference_sweep({}, *data, sampling)
    with pytest.raises(ValueError, match=r"unit_sizes are \[2, 2\]"):
        unit_size_sweep(inputs.metrics, *data, sampling, unit_sizes=(2, 2))
