"""Mean ratings of systems: means against pandas, errors against statsmodels, tests against scipy."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import permutation_test, t, wilcoxon
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.sandwich_covariance import cov_cluster_2groups

from annotation.ranking.clustered import Clusters, two_way_variance
from annotation.ranking.means import mean_interval, paired_permutation_p, system_means
from annotation.ranking.standardised import standardised


@pytest.fixture(scope="module")
def ratings() -> pd.DataFrame:
    """Three systems, 40 items, each output rated by 2 to 4 of 9 raters; the third lacks some items."""
    rng = np.random.default_rng(2)
    severity, quality = rng.normal(0, 0.5, 9), rng.uniform(1.5, 4.5, 40)
    rows = [
        (system, item, rater, float(np.clip(np.rint(quality[item] + offset + severity[rater] + rng.normal()), 1, 5)))
        for system, offset in enumerate((0.6, 0.0, -0.1))
        for item in range(40)
        if system < 2 or item % 3
        for rater in rng.choice(9, rng.integers(2, 5), replace=False)
    ]
    return pd.DataFrame(rows, columns=["system", "item", "rater", "value"])


def means_of(frame: pd.DataFrame, **options):
    columns = (frame[name].to_numpy() for name in ("system", "item", "rater", "value"))
    return system_means(*columns, rng=np.random.default_rng(1), **options)


def test_a_mean_is_over_items_however_many_ratings_each_has(ratings) -> None:
    expected = ratings.groupby(["system", "item"])["value"].mean().groupby("system").mean()
    means = means_of(ratings, n_systems=4)

    assert means.mean[:3] == pytest.approx(expected.to_numpy())
    assert means.ratings.tolist() == [*ratings.groupby("system").size(), 0]
    assert means.items.tolist() == [40, 40, 26, 0]
    assert means.raters.tolist() == [9, 9, 9, 0]
    assert np.isnan([means.mean[3], means.low[3], means.high[3], means.differences.mean[0, 3]]).all()


def test_the_variance_of_a_mean_is_statsmodels_two_way_clustering(ratings) -> None:
    own = ratings[ratings["system"] == 0]
    weight = 1 / own.groupby("item")["value"].transform("size").to_numpy() / own["item"].nunique()
    fit = sm.WLS(own["value"].to_numpy(), np.ones(len(own)), weights=weight).fit()
    codes = own["item"].to_numpy(), own["rater"].to_numpy()
    both, of_items, of_raters = (
        float(np.squeeze(part)) for part in cov_cluster_2groups(fit, *codes, use_correction=False)
    )

    influence = weight * (own["value"].to_numpy() - np.average(own["value"], weights=weight))
    variance = two_way_variance(influence, Clusters.of(*codes), weight)
    shares = own.assign(weight=weight).groupby("rater")["weight"].sum()
    n = 1 / (shares**2).sum()

    assert variance.n_items == pytest.approx(40)
    assert variance.n_raters == pytest.approx(n)
    assert variance.items == pytest.approx(of_items * 40 / 39)
    cells = of_items + of_raters - both
    assert variance.raters == pytest.approx(of_raters * n / (n - 1) - cells)


def test_without_raters_the_interval_is_students(ratings) -> None:
    of_items = ratings[ratings["system"] == 0].groupby("item")["value"].mean()
    means = system_means(
        ratings["system"], ratings["item"], None, ratings["value"], rng=np.random.default_rng(1), n_systems=3
    )

    expected = t.interval(0.95, 39, of_items.mean(), of_items.sem())
    assert (means.low[0], means.high[0]) == pytest.approx(expected)
    assert means.raters.tolist() == [0, 0, 0]


def test_differences_are_those_of_shared_items(ratings) -> None:
    of_items = ratings.groupby(["system", "item"])["value"].mean().unstack("system")
    differences = means_of(ratings).differences
    p_values = []
    for i, j in ((0, 1), (0, 2), (1, 2)):
        both = of_items[[i, j]].dropna()
        apart = both[i] - both[j]
        expected = permutation_test(
            (both[i], both[j]), lambda a, b, axis: np.mean(a - b, axis=axis), permutation_type="samples",
            n_resamples=9999, rng=1,
        )  # fmt: skip
        assert differences.items[i, j] == len(both)
        assert differences.mean[i, j] == pytest.approx(apart.mean())
        assert differences.mean[j, i] == -differences.mean[i, j]
        assert differences.low[i, j] < apart.mean() < differences.high[i, j]
        assert differences.low[j, i] == -differences.high[i, j]
        assert differences.permutation_p_values[i, j] == pytest.approx(expected.pvalue, abs=0.02)
        assert differences.wilcoxon_p_values[i, j] == pytest.approx(wilcoxon(apart).pvalue)
        p_values.append(differences.p_values[i, j])
    adjusted = [differences.adjusted[pair] for pair in ((0, 1), (0, 2), (1, 2))]
    assert adjusted == pytest.approx(multipletests(p_values, method="holm")[1])
    assert differences.better[0].tolist() == [False, True, True]


def test_the_same_raters_on_both_systems_leave_severity_out_of_a_difference() -> None:
    """Two raters rate everything; the second is a point more severe. A difference of items is the same by both."""
    item, rater = (axis.ravel() for axis in np.indices((30, 2)))
    quality = np.random.default_rng(3).uniform(2, 4, 30)
    values = quality[item] - rater
    gain = np.random.default_rng(4).normal(0.5, 0.3, 30)
    both = np.concatenate([values + gain[item], values])
    means = system_means(np.repeat([0, 1], 60), np.tile(item, 2), np.tile(rater, 2), both, rng=np.random.default_rng(1))

    expected = t.interval(0.95, 29, gain.mean(), gain.std(ddof=1) / np.sqrt(30))
    assert (means.differences.low[0, 1], means.differences.high[0, 1]) == pytest.approx(expected)
    assert means.high[0] - means.low[0] > 5  # of a mean, two raters say little


def test_few_items_have_the_p_of_all_swaps() -> None:
    """Five items, all better by the same: 2 of 32 swaps give a difference as large."""
    p = paired_permutation_p([[2.0] * 5, [1.0] * 5], [(0, 1)], rng=np.random.default_rng(1))
    assert p == pytest.approx([2 / 32], abs=0.008)


def test_systems_without_a_common_item_are_not_compared() -> None:
    differences = system_means([0, 1], [0, 1], [0, 0], [2, 3], rng=np.random.default_rng(1)).differences

    assert differences.items[0, 1] == 0
    assert np.isnan([differences.mean[0, 1], differences.p_values[0, 1], differences.adjusted[0, 1]]).all()


def test_identical_outputs_differ_by_nothing() -> None:
    columns = [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 0, 1], [4, 2, 4, 2]
    differences = system_means(*columns, rng=np.random.default_rng(1)).differences

    assert differences.mean[0, 1] == 0
    assert (differences.p_values[0, 1], differences.wilcoxon_p_values[0, 1]) == (1, 1)
    assert np.isnan(differences.low[0, 1])  # nothing varies


def test_an_interval_stays_on_its_scale_and_is_longer_away_from_the_end() -> None:
    values = [5] * 18 + [3, 2]
    columns = np.zeros(20, int), np.arange(20), np.arange(20) % 7
    plain = system_means(*columns, values, rng=np.random.default_rng(1))
    bounded = system_means(*columns, values, rng=np.random.default_rng(1), ends=(1, 5))

    assert plain.high[0] > 5 > bounded.high[0]
    assert bounded.mean[0] - bounded.low[0] > bounded.high[0] - bounded.mean[0]
    assert np.isnan(system_means(*columns, [5] * 20, rng=np.random.default_rng(1), ends=(1, 5)).low[0])


@pytest.mark.parametrize("columns", [([0, 0], [0, 0], [0, 1], [2, 4]), ([0, 0], [0, 1], [0, 0], [2, 4])])
def test_one_item_or_one_rater_allows_no_interval(columns) -> None:
    means = system_means(*columns, rng=np.random.default_rng(1))

    assert means.mean[0] == 3
    assert np.isnan([means.low[0], means.high[0]]).all()


def test_the_variance_of_a_difference_leaves_raters_whole(ratings) -> None:
    """Single ratings are in the variance over items and in that over raters: of a difference, the raters' is kept."""
    own = ratings[ratings["system"] == 0]
    weight = np.full(len(own), 1 / len(own))
    influence = weight * (own["value"].to_numpy() - own["value"].mean())
    clusters = Clusters.of(own["item"].to_numpy(), own["rater"].to_numpy())
    mean, difference = (two_way_variance(influence, clusters, weight, whole_raters=whole) for whole in (False, True))
    of_raters = own.assign(influence=influence).groupby("rater")["influence"].sum()
    n = difference.n_raters

    assert difference.raters == pytest.approx((of_raters**2).sum() * n / (n - 1))
    assert difference.items + difference.raters == pytest.approx(mean.items + mean.raters)


def test_a_difference_that_is_the_same_on_every_item_has_no_interval_but_the_p_of_all_swaps() -> None:
    item, rater = (axis.ravel() for axis in np.indices((8, 3)))
    better = np.concatenate([np.full(24, 5.0), np.full(24, 2.0)])
    columns = np.repeat([0, 1], 24), np.tile(item, 2), np.tile(rater, 2), better
    differences = system_means(*columns, rng=np.random.default_rng(1)).differences

    assert differences.adjusted[0, 1] == differences.permutation_p_values[0, 1] == pytest.approx(2 / 256, abs=0.004)
    assert np.isnan([differences.low[0, 1], differences.family_low[0, 1]]).all()


def test_the_p_of_an_estimate_agrees_with_its_interval(ratings) -> None:
    """Where the interval just reaches 0, p is 5%; with one part of the variance, it is that of Student's t."""
    rng = np.random.default_rng(5)
    influence = rng.normal(size=60) / 60
    variance = two_way_variance(influence - influence.mean(), Clusters.of(np.arange(60), None), np.full(60, 1 / 60))

    assert variance.p_value(variance.half_width()) == pytest.approx(0.05)
    assert variance.p_value(0.1) == pytest.approx(2 * t.sf(0.1 / variance.standard_error, 59))
    shared = rng.normal(size=6)[np.arange(60) % 6] / 60
    both = two_way_variance(shared - shared.mean(), Clusters.of(np.arange(60), np.arange(60) % 6), np.full(60, 1 / 60))
    assert both.raters > 0
    assert both.p_value(both.half_width()) == pytest.approx(0.05)
    assert both.p_value(0.0) == pytest.approx(1)


def test_standardised_ratings_are_those_of_pandas(ratings) -> None:
    grouped = ratings.groupby("rater")["value"]
    expected = (ratings["value"] - grouped.transform("mean")) / grouped.transform("std")

    assert standardised(ratings["rater"], ratings["value"]) == pytest.approx(expected.to_numpy())


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (([0], [0, 1], [0, 1], [2, 3]), {}, "system has shape"),
        (([0, -1], [0, 1], [0, 1], [2, 3]), {}, "system holds -1; accepted: codes from 0"),
        (([0, 2], [0, 1], [0, 1], [2, 3]), {"n_systems": 2}, "system holds 2; accepted: 0 to 1"),
        (([0, 0], [0, 1], [0, 1], [2, np.nan]), {}, r"rating\[1\] is nan"),
        (([0, 0], [0, 1], [0, 1], [2, 9]), {"ends": (1, 5)}, r"rating\[1\] is 9; accepted: 1 to 5"),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns, options, message) -> None:
    with pytest.raises(ValueError, match=message):
        system_means(*columns, rng=np.random.default_rng(1), **options)


def test_an_end_of_the_scale_has_no_odds() -> None:
    variance = two_way_variance(np.array([0.1, -0.1]), Clusters.of([0, 1], None), np.full(2, 0.5))

    assert np.isnan(mean_interval(5.0, variance, (1.0, 5.0))).all()
