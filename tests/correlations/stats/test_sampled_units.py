import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.resampling import RaterRatings, study_bootstrap
from correlations.stats.sampled_units import sampled_unit_correlation, unit_observations
from correlations.stats.units import StudyMetric, UnitSampling, exact_scale


def observations_by_hand(inputs, row, *, seed, unit_size, remainder, n_assignments):
    """Compute a study with loops: a list of (metric difference, exact rating difference) per assignment."""
    metric = inputs.metrics[row]
    valid = np.ones(inputs.human.shape, bool) & (True if metric.valid is None else metric.valid)
    pools = [np.flatnonzero(~np.isnan(inputs.human[[a, b]]).any(axis=0)) for a, b in inputs.pairs]
    draws = (
        np.random.default_rng(seed)
        .spawn(2)[0]
        .integers(0, 2**64, size=(n_assignments, sum(map(len, pools))), dtype=np.uint64)
    )
    assignments = []
    for keys in draws:
        observations, start = [], 0
        for (a, b), pool in zip(inputs.pairs, pools, strict=True):
            order = pool[np.argsort(keys[start : start + len(pool)])]
            start += len(pool)
            order = [segment for segment in order if valid[a, segment] and valid[b, segment]]
            for first in range(0, len(order), unit_size):
                unit = order[first : first + unit_size]
                if len(unit) < unit_size and remainder == "drop":
                    continue
                m = [float(metric.aggregate(metric.statistics[s][unit].sum(axis=0))) for s in (a, b)]
                fifths = [sum(round(5 * inputs.human[s, segment]) for segment in unit) for s in (a, b)]
                observations.append((m[0] - m[1], Fraction(fifths[0] - fifths[1], 5 * len(unit))))
        assignments.append(observations)
    return assignments


def coefficients_by_hand(assignments, orientation):
    """Compute scipy's coefficients of each assignment by key; Somers' d is of the rating given the metric."""
    values_by_key = {key: [] for key in COEFFICIENTS}
    for observations in assignments:
        if orientation == "both":
            observations = observations + [(-m, -q) for m, q in observations]
        m, q = [m for m, _ in observations], [q for _, q in observations]
        ranks = [sorted(set(q)).index(value) for value in q]  # exact fractions: ties are exact
        values_by_key["pearson"].append(stats.pearsonr(m, [float(value) for value in q])[0])
        values_by_key["spearman"].append(stats.spearmanr(m, ranks)[0])
        values_by_key["kendall"].append(stats.kendalltau(m, ranks)[0])
        is_small = len(m) <= 60  # scipy's n x n table takes seconds for hundreds of observations
        values_by_key["somers_d"].append(stats.somersd(m, ranks).statistic if is_small else None)
    return values_by_key


@pytest.mark.parametrize("orientation", ["both", "fixed"])
@pytest.mark.parametrize("remainder", ["keep", "drop"])
@pytest.mark.parametrize("unit_size", [1, 3, 10])
def test_every_row_equals_the_study_computed_with_loops(inputs, unit_size, remainder, orientation):
    n_assignments = 1 if unit_size == 1 else 6
    study = sampled_unit_correlation(
        inputs.metrics,
        inputs.human,
        inputs.pairs,
        UnitSampling(
            seed=4,
            unit_size=unit_size,
            n_assignments=n_assignments,
            remainder=remainder,
            orientation=orientation,
            coefficients=list(COEFFICIENTS),
        ),
    )
    for row, result in enumerate(study.rows):
        assignments = observations_by_hand(
            inputs, row, seed=4, unit_size=unit_size, remainder=remainder, n_assignments=n_assignments
        )
        expected = coefficients_by_hand(assignments, orientation)
        for key, values in expected.items():
            if None not in values:
                np.testing.assert_allclose(result.coefficients[key].values, values, rtol=0, atol=1e-12, err_msg=key)
        assert result.coefficients["spearman"].mean == pytest.approx(np.mean(expected["spearman"]), abs=1e-12)
        copies = 2 if orientation == "both" else 1
        assert result.n_observations == round(
            copies * np.mean([len(unit_observations) for unit_observations in assignments])
        )


def test_paper_scale_has_22_units_a_pair_and_528_observations_or_21_without_the_remainder():
    rng = np.random.default_rng(2)
    human = rng.integers(1, 6, size=(7, 2114)).astype(float)
    metric = StudyMetric("m", rng.random((7, 2114, 1)), lambda sums: sums[..., 0])
    pairs = [(a, b) for a in range(7) for b in range(a + 1, 7)][:12]
    with_remainder, without_remainder = (
        sampled_unit_correlation([metric], human, pairs, UnitSampling(seed=1, n_assignments=2, remainder=remainder))
        for remainder in ("keep", "drop")
    )
    assert (with_remainder.units_per_pair, with_remainder.rows[0].n_observations) == ((22,) * 12, 528)
    assert (without_remainder.units_per_pair, without_remainder.rows[0].n_observations) == ((21,) * 12, 504)


def test_unrated_segments_change_nothing(inputs):
    """A study of 53 segments among 300 that are not rated is the study of the 53, intervals too."""
    n_systems, n = inputs.human.shape
    places = np.sort(np.random.default_rng(1).permutation(300)[:n])
    human = np.full((n_systems, 300), np.nan)
    human[:, places] = inputs.human
    wide = []
    for metric in inputs.metrics:
        statistics = np.random.default_rng(2).normal(size=(n_systems, 300, metric.statistics.shape[2]))
        statistics[:, places] = metric.statistics
        valid = np.ones((n_systems, 300), dtype=bool)
        valid[:, places] = True if metric.valid is None else metric.valid
        wide.append(replace(metric, statistics=statistics, valid=valid))
    cells = np.argwhere(~np.isnan(inputs.human))
    raters = RaterRatings(np.arange(len(cells)) % 7, cells[:, 0], cells[:, 1], inputs.human[tuple(cells.T)])
    moved = replace(raters, segment=places[raters.segment])
    sampling = UnitSampling(seed=3, unit_size=6, n_assignments=4, coefficients=["spearman"])

    among, alone = (
        sampled_unit_correlation(metrics, ratings, inputs.pairs, sampling)
        for metrics, ratings in ((wide, human), (inputs.metrics, inputs.human))
    )

    assert (among.segments_per_pair, among.units_per_pair) == (alone.segments_per_pair, alone.units_per_pair)
    for ratings in (None, raters):
        moved_ratings = None if ratings is None else moved
        first = study_bootstrap(wide, human, inputs.pairs, sampling, raters=moved_ratings, n_replicates=6)
        second = study_bootstrap(inputs.metrics, inputs.human, inputs.pairs, sampling, raters=ratings, n_replicates=6)
        for one, other in zip(first, second, strict=True):
            np.testing.assert_array_equal(one.replicates["spearman"], other.replicates["spearman"])
    for one, other in zip(among.rows, alone.rows, strict=True):
        np.testing.assert_array_equal(one.coefficients["spearman"].values, other.coefficients["spearman"].values)
        assert one.n_valid_segments == other.n_valid_segments


def test_additional_coefficients_do_not_change_the_others(inputs):
    options = {"seed": 3, "unit_size": 8, "n_assignments": 5}
    usual = sampled_unit_correlation(inputs.metrics, inputs.human, inputs.pairs, UnitSampling(**options))
    sampling = UnitSampling(coefficients=["somers_d", "pearson", "kendall", "spearman"], **options)
    every = sampled_unit_correlation(inputs.metrics, inputs.human, inputs.pairs, sampling)
    for few, many in zip(usual.rows, every.rows, strict=True):
        for key, summary in few.coefficients.items():
            assert summary.values.tolist() == many.coefficients[key].values.tolist()
            assert summary.paper_interval == many.coefficients[key].paper_interval
        assert np.isnan(many.coefficients["somers_d"].paper_interval).all()


def test_all_metrics_use_the_same_assignments(inputs):
    twice = [inputs.metrics[1], replace(inputs.metrics[1], name="again")]
    sampling = UnitSampling(seed=3, unit_size=8, n_assignments=5)
    together = sampled_unit_correlation(twice, inputs.human, inputs.pairs, sampling)
    alone = sampled_unit_correlation(twice[1:], inputs.human, inputs.pairs, sampling)
    assert (
        together.rows[0].coefficients["kendall"].values.tolist()
        == together.rows[1].coefficients["kendall"].values.tolist()
    )
    assert (
        together.rows[1].coefficients["kendall"].values.tolist()
        == alone.rows[0].coefficients["kendall"].values.tolist()
    )


def test_results_do_not_depend_on_the_chunk_size(inputs, monkeypatch):
    sampling = UnitSampling(seed=3, unit_size=8, n_assignments=7, orientation="random")
    at_once = sampled_unit_correlation(inputs.metrics, inputs.human, inputs.pairs, sampling)
    monkeypatch.setattr("correlations.stats.units._CHUNK_BYTES", 1)
    one_by_one = sampled_unit_correlation(inputs.metrics, inputs.human, inputs.pairs, sampling)
    for first, second in zip(at_once.rows, one_by_one.rows, strict=True):
        assert first.coefficients["spearman"].values.tolist() == second.coefficients["spearman"].values.tolist()


def test_with_mirror_images_the_order_of_a_pair_does_not_matter(inputs):
    sampling = UnitSampling(seed=3, unit_size=8, n_assignments=4)
    as_given = sampled_unit_correlation(inputs.metrics, inputs.human, inputs.pairs, sampling)
    swapped = sampled_unit_correlation(inputs.metrics, inputs.human, [(b, a) for a, b in inputs.pairs], sampling)
    for first, second in zip(as_given.rows, swapped.rows, strict=True):
        assert first.coefficients["spearman"].values.tolist() == pytest.approx(
            second.coefficients["spearman"].values.tolist(), abs=1e-12
        )


def test_clamped_numerators_are_counted_by_unit_and_system(inputs):
    """A unit holds all segments: each pair gives two cells, and a system's cell is clamped or not."""
    metric = inputs.metrics[1]
    human = np.nan_to_num(inputs.human, nan=3.0)
    totals = metric.statistics[:, metric.valid, 0].sum(axis=1)
    negative = totals < 0
    study = sampled_unit_correlation(
        inputs.metrics, human, inputs.pairs, UnitSampling(seed=1, unit_size=53, n_assignments=3)
    )
    expected = sum(int(negative[a]) + int(negative[b]) for a, b in inputs.pairs)
    clamped = study["weighted"].clamped
    assert 0 < expected < 8  # otherwise the test shows nothing
    assert (clamped.mean, clamped.share) == (expected, expected / 8)
    assert clamped.per_system.tolist() == negative.astype(float).tolist()
    assert study["precision"].clamped is None


def test_undefined_units_of_a_row_are_left_out_and_counted(inputs):
    none_valid = replace(inputs.metrics[0], valid=np.zeros(53, dtype=bool), name="none")
    first_half = np.arange(53) < 26
    statistics = np.where(first_half[None, :, None], 0.0, inputs.metrics[0].statistics)
    silent = StudyMetric("silent", statistics, inputs.metrics[0].aggregate)
    sampling = UnitSampling(seed=1, unit_size=1, coefficients=["spearman"])
    study = sampled_unit_correlation([none_valid, silent], np.nan_to_num(inputs.human), inputs.pairs, sampling)
    nothing, half = study.rows
    assert math.isnan(nothing.coefficients["spearman"].mean)
    assert (nothing.n_valid_segments, nothing.units_per_pair, nothing.undefined_units) == (0, (0, 0, 0, 0), {})
    assert nothing.coefficients["spearman"].reason == "0 units: at least 3 observations are needed"
    assert half.undefined_units == {"metric undefined on the unit": 4 * 26}
    assert half.n_observations == 2 * 4 * 27
    assert list(half.coefficients) == ["spearman"]


@pytest.mark.parametrize("orientation", ["both", "fixed", "random"])
def test_without_short_units_too_large_units_leave_no_observations(inputs, orientation):
    sampling = UnitSampling(seed=1, unit_size=60, n_assignments=2, remainder="drop", orientation=orientation)
    study = sampled_unit_correlation(inputs.metrics, inputs.human, inputs.pairs, sampling)
    assert {row.coefficients["spearman"].reason for row in study.rows} == {
        "0 units: at least 3 observations are needed"
    }


def test_too_few_units_and_constant_input_are_nan_with_the_reason(inputs):
    metric = inputs.metrics[0]
    large = UnitSampling(seed=1, unit_size=60, n_assignments=2)
    few = sampled_unit_correlation([metric], inputs.human, [(0, 1), (1, 2)], large)
    assert few.rows[0].coefficients["spearman"].reason == "2 units: at least 3 observations are needed"
    sampling = UnitSampling(seed=1, unit_size=5, n_assignments=2)
    level = sampled_unit_correlation([metric], np.full((4, 53), 3.0), inputs.pairs, sampling)
    assert level.rows[0].coefficients["kendall"].reason == "the human rating differences are constant"
    assert all(math.isnan(end) for end in level.rows[0].coefficients["kendall"].paper_interval)
    flat = StudyMetric("flat", np.ones((4, 53, 1)), lambda sums: sums[..., 0] * 0)
    study = sampled_unit_correlation([flat], inputs.human, inputs.pairs, sampling)
    assert study["flat"].coefficients["spearman"].reason == "the metric's differences are constant"


def test_unit_observations_are_the_first_assignment_of_the_study(inputs):
    rows = unit_observations(inputs.metrics, inputs.human, inputs.pairs, UnitSampling(seed=4, unit_size=10))
    for row, first in enumerate(rows):
        by_hand = observations_by_hand(inputs, row, seed=4, unit_size=10, remainder="keep", n_assignments=1)[0]
        assert first.metric.tolist() == pytest.approx([m for m, _ in by_hand], abs=1e-12)
        assert first.human.tolist() == pytest.approx([float(q) for _, q in by_hand], abs=1e-12)
    assert np.bincount(rows[0].pair).tolist() == [5, 5, 6, 6]  # 44, 43, 53 and 52 shared segments


def test_progress_is_reported_and_its_exceptions_end_the_study(inputs, monkeypatch):
    monkeypatch.setattr("correlations.stats.units._CHUNK_BYTES", 1)
    reports = []

    def stop_after_two(done, total):
        reports.append((done, total))
        if done == 2:
            raise InterruptedError("cancelled")

    sampling = UnitSampling(seed=1, n_assignments=9)
    with pytest.raises(InterruptedError, match="cancelled"):
        sampled_unit_correlation(inputs.metrics, inputs.human, inputs.pairs, sampling, progress=stop_after_two)
    assert reports == [(1, 9), (2, 9)]


def test_exact_scale_is_the_common_denominator_of_the_ratings():
    assert exact_scale(np.array([3.2, 1.0, np.nan, 4.6])) == 5
    assert exact_scale(np.array([1 / 3, 2.5])) == 6
    assert exact_scale(np.random.default_rng(1).normal(size=20)) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pairs": [(0, 4)]}, r"pairs\[0\] is \(0, 4\): systems are numbered 0 to 3"),
        ({"pairs": [(1, 1)]}, "compares system 1 with itself"),
        ({"pairs": [(0, 1), (1, 0)]}, r"pairs\[1\] is \(1, 0\), which is listed before"),
        ({"unit_size": 0}, "unit_size is 0"),
        ({"n_assignments": 0}, "n_assignments is 0"),
        ({"remainder": "pad"}, "remainder is 'pad'"),
        ({"orientation": "left"}, "orientation is 'left'"),
        ({"coefficients": ["gamma"]}, "accepted are pearson, spearman, kendall, somers_d"),
        ({"metrics": []}, "metrics is empty"),
        ({"human": np.full((4, 53), np.inf)}, "system 0, segment 0 is infinite"),
    ],
)
def test_bad_input_is_named(inputs, change, message):
    arguments = {"metrics": inputs.metrics, "human": inputs.human, "pairs": inputs.pairs}
    options = {name: value for name, value in change.items() if name not in arguments}
    with pytest.raises(ValueError, match=message):
        sampled_unit_correlation(
            **(arguments | (change if not options else {})), sampling=UnitSampling(seed=1, **options)
        )


def test_bad_statistics_are_named_if_their_segments_are_valid(inputs):
    statistics = inputs.metrics[1].statistics.copy()
    invalid = int(np.flatnonzero(~inputs.metrics[1].valid)[0])
    statistics[2, invalid, 1] = np.nan
    fine = replace(inputs.metrics[1], statistics=statistics)
    sampling = UnitSampling(seed=1, unit_size=9, n_assignments=1)
    sampled_unit_correlation([fine], inputs.human, inputs.pairs, sampling)
    with pytest.raises(ValueError, match=f"'weighted' hold nan at system 2, segment {invalid}, column 1"):
        sampled_unit_correlation([replace(fine, valid=None)], inputs.human, inputs.pairs, sampling)
    with pytest.raises(ValueError, match=r"'weighted' have shape \(3, 53, 2\)"):
        sampled_unit_correlation([replace(fine, statistics=statistics[:3])], inputs.human, inputs.pairs, sampling)
    with pytest.raises(ValueError, match="'weighted', and so is an earlier one"):
        sampled_unit_correlation([fine, fine], inputs.human, inputs.pairs, sampling)
    unrated = inputs.human.copy()
    unrated[1] = np.nan
    with pytest.raises(ValueError, match="share no segment"):
        sampled_unit_correlation([fine], unrated, inputs.pairs, sampling)


def test_sums_of_large_whole_numbers_are_exact():
    """2^24 + 1 is the first whole number that single precision cannot hold; each unit sums twelve near 2^22."""
    statistics = np.random.default_rng(1).integers(2**22, 2**22 + 9, size=(2, 60, 1)).astype(float)
    metric = StudyMetric("m", statistics, lambda sums: sums[..., 0])
    (first,) = unit_observations([metric], np.ones((2, 60)), [(0, 1)], UnitSampling(seed=1, unit_size=12))
    expected = statistics[0].sum() - statistics[1].sum()
    assert first.metric.sum() == expected
    assert (first.metric == np.round(first.metric)).all()
    assert (first.metric % 2 == 1).any()
