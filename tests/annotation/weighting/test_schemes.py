import numpy as np
import pytest
from scipy.stats import zscore

from annotation.weighting.linear import linear_weights
from annotation.weighting.reliability import fit_rater_model, reliability_weights
from annotation.weighting.schemes import SCHEMES, bootstrap_weights, get_scheme
from annotation.weighting.table import RatingTable
from annotation.weighting.zscore import zscore_weights


@pytest.fixture(scope="module")
def simulated():
    """600 responses, 30 raters of known bias and noise, five raters each."""
    rng = np.random.default_rng(17)
    quality = rng.normal(50, 12, 600)
    bias = rng.normal(0, 8, 30)
    noise = np.repeat([3.0, 20.0], 15)
    rater = np.concatenate([rng.choice(30, 5, replace=False) for _ in range(600)])
    response = np.repeat(np.arange(600), 5)
    value = quality[response] + bias[rater] + noise[rater] * rng.normal(size=3000)
    return RatingTable(response, rater, value.clip(0, 100)), quality, bias, noise


def test_zscores_equal_scipys_per_rater():
    first, second = np.array([1, 2, 4, 5.0]), np.array([2, 2, 3, 5.0])
    weights = zscore_weights(np.column_stack([first, second]), 1, 5, clip=3).weights
    expected = (zscore(first, ddof=1) + zscore(second, ddof=1)) / 2 / 3
    np.testing.assert_allclose(weights, expected, atol=1e-14)


def test_zscores_are_clipped_and_the_clip_is_in_the_signature():
    result = zscore_weights([[1], [1], [1], [1], [1], [1], [1], [5]], 1, 5, clip=1.5)
    assert result.weights.max() == 1.0  # z = 2.47 before clipping
    assert "|clip:1.5|" in result.signature


def test_a_rater_without_spread_does_not_count():
    result = zscore_weights(RatingTable([0, 1, 0, 1, 2], [0, 0, 1, 1, 1], [0.1, 0.1, 0.2, 0.4, 0.6]), 0, 1)
    assert result.n.tolist() == [1, 1, 1]
    only_constant = zscore_weights([[3], [3]], 1, 5)
    assert np.isnan(only_constant.weights).all()
    assert all(reason.startswith("no usable rating") for reason in only_constant.reasons)


def test_reliability_recovers_bias_and_noise_of_simulated_raters(simulated):
    table, _, bias, noise = simulated
    model = fit_rater_model(table)
    assert model.converged
    assert np.corrcoef(model.bias, bias)[0, 1] > 0.95
    assert model.noise[noise == 3].max() < model.noise[noise == 20].min()


def test_reliability_is_closer_to_the_true_quality_than_the_mean(simulated):
    table, quality, _, _ = simulated
    truth = 2 * quality / 100 - 1

    def error(weights):
        return np.sqrt(np.mean((weights - truth - (weights - truth).mean()) ** 2))

    trusted = reliability_weights(table, 0, 100).weights
    plain = linear_weights(table, 0, 100).weights
    assert error(trusted) < 0.5 * error(plain)


def test_reliability_is_the_mean_when_raters_agree_fully():
    rows = [[2, 2, 2], [5, 5, 5]]
    result = reliability_weights(rows, 1, 5)
    assert result.weights.tolist() == linear_weights(rows, 1, 5).weights.tolist()
    assert np.isnan(result.standard_error).all()


def test_spread_of_a_panel_without_bias_is_the_pooled_one():
    # Left out in turn, raters of equal precision and no bias move a mean as the textbook jackknife says.
    rows = np.random.default_rng(3).integers(1, 6, (12, 5))
    known = reliability_weights(rows, 1, 5, prior_ratings=1e9)
    plain = linear_weights(rows, 1, 5)
    np.testing.assert_allclose(known.standard_error, plain.standard_error, rtol=1e-6)


@pytest.mark.parametrize("name", SCHEMES)
def test_intervals_of_three_ratings_cover_what_other_raters_would_give(name):
    draw = np.random.default_rng(8)
    quality, scheme = draw.uniform(1, 5, 60), get_scheme(name)
    results = [scheme.weights(table_of_three(quality, draw), 1, 5) for _ in range(30)]
    truth = np.mean([result.weights for result in results], axis=0)
    covered = np.mean([(result.low <= truth) & (truth <= result.high) for result in results])
    assert 0.93 < covered < 0.975


def table_of_three(quality, draw):
    raters = np.array([draw.permutation(20)[:3] for _ in quality])
    bias, noise = draw.normal(0, 0.4, 20), draw.uniform(0.4, 1.2, 20)
    values = quality[:, None] + bias[raters] + noise[raters] * draw.normal(size=raters.shape)
    response = np.repeat(np.arange(len(quality)), 3)
    return RatingTable(response, raters.ravel(), np.rint(values).clip(1, 5).ravel())


@pytest.mark.parametrize("name", SCHEMES)
def test_weights_of_every_scheme_are_within_their_interval_and_the_range(name, simulated):
    table, *_ = simulated
    result = get_scheme(name).weights(table, 0, 100)
    assert np.abs(result.weights).max() <= 1
    assert np.mean((result.low <= result.weights) & (result.weights <= result.high)) > 0.99
    assert result.signature.startswith(f"weights:{name}|scale:0..100|")


@pytest.mark.parametrize("name", ["linear", "median"])
def test_joint_replicates_share_their_raters_across_responses(name):
    # Two responses with equal ratings by the same raters must be equal in every replicate.
    rows = [[1, 2, 4, 5], [1, 2, 4, 5]]
    draws = bootstrap_weights(rows, 1, 5, scheme=name, n_replicates=50, rng=np.random.default_rng(0))
    assert draws.shape == (50, 2)
    assert np.array_equal(draws[:, 0], draws[:, 1])
    assert len(np.unique(draws[:, 0])) > 5


def test_a_replicate_without_any_of_a_responses_raters_is_nan():
    draws = bootstrap_weights(RatingTable([0, 1], [0, 1], [4, 2]), 1, 5, n_replicates=60, rng=np.random.default_rng(0))
    absent = np.isnan(draws)
    assert absent.any(axis=0).all()
    assert not absent.all(axis=1).any()  # two raters are drawn in each: never both absent
    assert set(draws[~absent[:, 0], 0]) == {0.5}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: get_scheme("mode"), "weighting scheme is 'mode'; accepted: linear, median, zscore, reliability"),
        (lambda: zscore_weights([[1, 2]], 1, 5, clip=0), "'clip' is 0"),
        (lambda: reliability_weights([[1, 2]], 1, 5, prior_ratings=0), "'prior_ratings' is 0"),
        (
            lambda: bootstrap_weights([[1]], 1, 5, n_replicates=0, rng=np.random.default_rng(0)),
            "n_replicates is 0",
        ),
    ],
)
def test_a_wrong_parameter_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# RankME-style magnitudes: values relative to a standard of 100; judged on the logarithm, the scale has no ends.
MAGNITUDES = np.log(np.array([[50.0, 30, 80], [100, 110, 95], [400, 250, 120]]) / 100)


def test_zscores_need_no_bounds_of_the_scale():
    result = zscore_weights(MAGNITUDES, np.nan, np.nan, clip=2)
    expected = zscore(MAGNITUDES, axis=0, ddof=1).mean(axis=1) / 2
    np.testing.assert_allclose(result.weights, expected, atol=1e-14)
    assert result.signature.startswith("weights:zscore|scale:none|clip:2|")
    draws = bootstrap_weights(
        MAGNITUDES, np.nan, np.nan, scheme="zscore", n_replicates=20, rng=np.random.default_rng(0)
    )
    assert draws.shape == (20, 3)


def test_zscores_of_logarithms_do_not_depend_on_the_raters_unit():
    # A rater who thinks in numbers ten times as large differs by a constant on the logarithm.
    shifted = MAGNITUDES + np.log([1, 10, 0.5])
    np.testing.assert_allclose(
        zscore_weights(shifted, np.nan, np.nan).weights, zscore_weights(MAGNITUDES, np.nan, np.nan).weights, atol=1e-12
    )


@pytest.mark.parametrize("name", ["linear", "median", "reliability"])
def test_schemes_that_need_bounds_refuse_scales_without(name):
    with pytest.raises(ValueError, match=f"the scheme '{name}' maps ends to -1 and \\+1; accepted: zscore"):
        get_scheme(name).weights(MAGNITUDES, np.nan, np.nan)
    with pytest.raises(ValueError, match=f"'{name}'"):
        bootstrap_weights(MAGNITUDES, np.nan, np.nan, scheme=name, n_replicates=2, rng=np.random.default_rng(0))


@pytest.mark.parametrize("name", SCHEMES)
def test_a_scale_with_one_bound_is_refused(name):
    with pytest.raises(ValueError, match=r"scale is \[0, nan\]; accepted: two finite numbers"):
        get_scheme(name).weights(MAGNITUDES, 0, np.nan)
