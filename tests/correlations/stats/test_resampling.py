import numpy as np
import pytest
from scipy import stats

from correlations.stats import resampling
from correlations.stats.resampling import (
    BootstrapShards,
    RaterRatings,
    bootstrap_difference,
    bootstrap_sizes,
    joined_bootstrap,
    study_bootstrap,
)
from correlations.stats.sampled_units import sampled_unit_correlation
from correlations.stats.units import StudyMetric, UnitSampling

PAIRS = [(0, 1), (0, 2), (1, 2)]


def correlated_study(rng, n_segments=300):
    """Return three systems of equal quality, whose metric and human scores share half of their variance."""
    quality = rng.normal(size=(3, n_segments))
    human, scores = quality + rng.normal(size=(2, *quality.shape))
    return human, [StudyMetric("m", scores[..., None], lambda sums: sums[..., 0])]


def test_intervals_have_their_nominal_coverage_and_width():
    """Differences of sums of bivariate normals with correlation 1/2: rho = 6/pi asin(1/4) at every unit size.

    The estimate's true spread comes from independent data sets. Without removing the spread over assignments
    the standard error would be more than twice too large.
    """
    truth = 6 / np.pi * np.arcsin(0.25)
    estimates, errors, covered = [], [], 0
    for trial in range(60):
        human, metrics = correlated_study(np.random.default_rng(trial))
        sampling = UnitSampling(unit_size=10, seed=trial, coefficients=["spearman"], n_assignments=60)
        (row,) = study_bootstrap(metrics, human, PAIRS, sampling, n_replicates=150)
        study = sampled_unit_correlation(metrics, human, PAIRS, sampling)
        estimates.append(study["m"].coefficients["spearman"].mean)
        errors.append(row.summaries["spearman"].standard_error)
        covered += row.summaries["spearman"].interval.low <= truth <= row.summaries["spearman"].interval.high
        assert list(row.summaries) == ["spearman"]
    assert covered >= 52  # 57 expected; 52 is three standard deviations below
    assert np.mean(errors) == pytest.approx(np.std(estimates, ddof=1), rel=0.3)


def test_intervals_hardly_depend_on_the_assignments_per_replicate():
    human, metrics = correlated_study(np.random.default_rng(1))
    pairs, sampling = [(0, 1), (0, 2)], UnitSampling(unit_size=20, seed=1)
    single, four, many = (
        study_bootstrap(metrics, human, pairs, sampling, n_replicates=400, assignments_per_replicate=count)[0]
        .summaries["spearman"]
        .standard_error
        for count in (1, 4, 16)
    )
    assert four == pytest.approx(many, rel=0.25)
    assert single > 1.5 * many


def test_unrated_and_invalid_segments_drop_out_of_replicates(inputs):
    sampling = UnitSampling(seed=1, unit_size=6)
    rows = study_bootstrap(inputs.metrics, inputs.human, inputs.pairs, sampling, n_replicates=30)
    for row in rows:
        assert row.summaries["spearman"].n_defined == 30
        assert -1 <= row.summaries["kendall"].interval.low < row.summaries["kendall"].interval.high <= 1


def single_ratings(rng, n_raters=12):
    """Return ratings of every output by 3 of the raters, who differ in severity."""
    cells = np.array([(s, i) for s in range(3) for i in range(300)])
    rater = np.concatenate([rng.permutation(n_raters)[:3] for _ in cells])
    system, segment = np.repeat(cells, 3, axis=0).T
    value = 3 + system * 0.5 + rng.normal(size=rater.size) + 2 * rng.normal(size=n_raters)[rater]
    return RaterRatings(rater, system, segment, value)


def test_means_are_those_of_the_drawn_raters_and_nan_without_any():
    ratings = RaterRatings(np.array([7, 7, 9]), np.array([0, 0, 0]), np.array([0, 1, 1]), np.array([2.0, 4.0, 1.0]))
    mean_pairs = {tuple(means[0].tolist()) for means in ratings.replicates(np.random.default_rng(1), 40, (1, 2))}
    assert {value for value in mean_pairs if not np.isnan(value).any()} == {(2.0, 4.0), (2.0, 2.5)}
    assert any(np.isnan(first) and second == 1.0 for first, second in mean_pairs)


def test_resampling_raters_widens_the_interval():
    rng = np.random.default_rng(2)
    ratings = single_ratings(rng)
    cell = ratings.system * 300 + ratings.segment
    human = (np.bincount(cell, ratings.value) / np.bincount(cell)).reshape(3, 300)
    scores = human + 3 * rng.normal(size=human.shape)
    metric = StudyMetric("m", scores[..., None], lambda sums: sums[..., 0])
    sampling = UnitSampling(unit_size=20, seed=5)
    (items,) = study_bootstrap([metric], human, PAIRS, sampling, n_replicates=200)
    (items_and_raters,) = study_bootstrap([metric], human, PAIRS, sampling, n_replicates=200, raters=ratings)
    assert items_and_raters.summaries["spearman"].standard_error > items.summaries["spearman"].standard_error


def test_bad_options_are_named(inputs):
    arguments = (inputs.metrics, inputs.human, inputs.pairs)
    outside = RaterRatings(np.array([1]), np.array([4]), np.array([0]), np.array([3.0]))
    with pytest.raises(ValueError, match=r"raters.system\[0\] is 4: numbered 0 to 3"):
        study_bootstrap(*arguments, UnitSampling(seed=1), raters=outside)
    with pytest.raises(ValueError, match="orientation is 'random'"):
        study_bootstrap(*arguments, UnitSampling(seed=1, orientation="random"))
    with pytest.raises(ValueError, match="n_replicates is 1 "):
        study_bootstrap(*arguments, UnitSampling(seed=1), n_replicates=1)


def test_a_difference_is_tested_by_its_spread_over_items_alone():
    # Replicates with a known spread, and assignments that add independent noise.
    rng = np.random.default_rng(3)
    shared = rng.normal(scale=0.2, size=(2000, 1))  # effects of the drawn items on both rows cancel
    row_noise = rng.normal(scale=0.03, size=(2, 2000, 1))
    noise = rng.normal(scale=0.05, size=(2, 2000, 4))
    first, second = 0.6 + shared + row_noise[0] + noise[0], 0.5 + shared + row_noise[1] + noise[1]
    result = bootstrap_difference(0.1, first, second)
    error = 0.03 * np.sqrt(2)
    assert result.standard_error == pytest.approx(error, rel=0.1)
    assert result.interval.low == pytest.approx(0.1 - stats.norm.ppf(0.975) * result.standard_error)
    assert result.p_value == pytest.approx(2 * stats.norm.sf(0.1 / result.standard_error))


def test_the_test_of_a_difference_keeps_its_level():
    # Two metrics of equal quality over the same items: p below .1 in about a tenth of the studies.
    below = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        quality = rng.normal(size=(3, 120)) + np.array([[0.0], [0.2], [0.4]])
        metrics = [
            StudyMetric(name, (quality + rng.normal(scale=2, size=quality.shape))[..., None], lambda sums: sums[..., 0])
            for name in ("a", "b")
        ]
        sampling = UnitSampling(unit_size=12, seed=seed, n_assignments=50, coefficients=["spearman"])
        study = sampled_unit_correlation(metrics, quality, PAIRS, sampling)
        rows = study_bootstrap(metrics, quality, PAIRS, sampling, n_replicates=100)
        difference = study.rows[0].coefficients["spearman"].mean - study.rows[1].coefficients["spearman"].mean
        replicates = [row.replicates["spearman"] for row in rows]
        below += bootstrap_difference(difference, *replicates).p_value < 0.1
    assert below <= 9  # binomial(40, .1): P(X > 9) = .005


@pytest.mark.parametrize(
    ("difference", "second", "reason"),
    [
        (np.nan, [[0.1, 0.2], [0.3, 0.4]], "a coefficient is undefined"),
        (0.1, [[0.0, 0.0], [0.0, 0.0]], "the difference does not vary over replicates"),
        (0.1, [[np.nan, 0.0], [0.0, np.nan]], "defined in 0 of 2 replicates: at least half are needed"),
    ],
)
def test_undefined_tests_of_differences_have_a_reason(difference, second, reason):
    result = bootstrap_difference(difference, [[0.0, 0.0], [0.0, 0.0]], second)
    assert np.isnan(result.p_value)
    assert result.reason == reason


def test_replicates_of_different_studies_are_refused():
    with pytest.raises(ValueError, match=r"shapes \(2, 1\) and \(3, 1\)"):
        bootstrap_difference(0.1, [[0.1], [0.2]], [[0.1], [0.2], [0.3]])


def test_shards_are_the_same_in_any_order_and_each_has_random_numbers_of_its_own(monkeypatch):
    """The n-th shard draws from the n-th three children of the seed, as NumPy spawns them."""
    monkeypatch.setattr(resampling, "SHARD", 8)
    human, metrics = correlated_study(np.random.default_rng(4))
    sampling = UnitSampling(unit_size=20, seed=11)
    design = metrics, human, [(0, 1)], sampling
    whole = study_bootstrap(*design, n_replicates=20)
    assert bootstrap_sizes(20) == [8, 8, 4]
    shards = {number: BootstrapShards(*design).draw(number, size) for number, size in ((2, 4), (0, 8), (1, 8))}
    joined = joined_bootstrap(
        [metric.name for metric in metrics], sampling.coefficients, [shards[number] for number in range(3)]
    )
    for row, other in zip(whole, joined, strict=True):
        assert np.array_equal(row.replicates["spearman"], other.replicates["spearman"])
        assert np.unique(row.replicates["spearman"][:, 0]).size > 15
    third = BootstrapShards(*design)
    third._children = [np.random.Generator(np.random.PCG64(child)) for child in np.random.SeedSequence(11).spawn(9)]
    assert np.array_equal(third.draw(2, 4), shards[2])
