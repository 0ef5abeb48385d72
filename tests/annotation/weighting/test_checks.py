import time

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy.stats import binomtest, mannwhitneyu, ttest_1samp
from statsmodels.stats.inter_rater import cohens_kappa

from annotation.weighting.checks import CheckLog, check_accuracy, self_consistency
from annotation.weighting.degraded import degraded_test
from annotation.weighting.quality import rater_quality
from annotation.weighting.table import RatingTable

NAN = np.nan


def test_accuracy_is_the_share_within_the_inclusive_expected_range():
    checks = CheckLog(
        [0, 0, 0, 0, 1, 2],
        kind=["gold"] * 5 + ["attention"],
        value=[4, 5, 3, 0.1 + 0.2, NAN, 1],
        low=[4, 4, 4, 0.1, 1, 1],
        high=[5, 5, 5, 0.3, 2, 1],
    )
    gold = check_accuracy(checks, "gold", 3)
    assert gold.n.tolist() == [4, 0, 0]
    assert gold.share[0] == 0.75
    oracle = binomtest(3, 4).proportion_ci(method="wilson")
    assert (gold.low[0], gold.high[0]) == (pytest.approx(oracle.low), pytest.approx(oracle.high))
    assert gold.n_unjudged.tolist() == [0, 1, 0]
    assert gold.reason.tolist() == ["", "no answer to a gold check", "no answer to a gold check"]
    assert check_accuracy(checks, "attention", 3).share[2] == 1


def test_a_range_may_have_one_bound_and_checks_without_bounds_do_not_count():
    checks = CheckLog([0, 0, 0], kind=["anchor"] * 3, value=[5, 3, 1], low=[4, 4, NAN])
    result = check_accuracy(checks, "anchor", 1)
    assert (result.n[0], result.share[0]) == (2, 0.5)


def test_unjudged_attention_checks_fail_but_unjudged_golds_do_not():
    checks = CheckLog([0, 0], kind=["attention", "gold"], value=[NAN, NAN], low=[3, 3], high=[3, 3])
    assert check_accuracy(checks, "attention", 1).share.tolist() == [0.0]
    assert np.isnan(check_accuracy(checks, "gold", 1).share[0])


def statsmodels_kappa(first, second):
    counts = np.zeros((5, 5))
    np.add.at(counts, (first - 1, second - 1), 1)
    with np.errstate(all="ignore"):  # its test statistic, unused here, may divide by zero
        return cohens_kappa(counts, wt="quadratic").kappa


pairs = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=30)


@given(pairs)
@example([(1, 1), (3, 1), (1, 1)])  # without the second no chance disagreement is left, up to rounding
def test_self_consistency_is_statsmodels_quadratic_kappa_with_its_jackknife(answers):
    first, second = np.array(answers).T
    assume(len(set(first) | set(second)) > 1)
    result = self_consistency(CheckLog([0] * len(first), kind=["repeat"] * len(first), value=second, first=first), 1)
    assert result.kappa[0] == pytest.approx(statsmodels_kappa(first, second), abs=1e-12)
    without = [statsmodels_kappa(np.delete(first, index), np.delete(second, index)) for index in range(len(first))]
    error = np.std(without) * np.sqrt(len(first) - 1)
    assert result.kappa_error[0] == pytest.approx(error, abs=1e-9, nan_ok=True)
    assert result.exact[0] == np.mean(first == second)
    assert result.within[0] == np.mean(np.abs(first - second) <= 1)
    apart = np.abs(first - second)
    assert result.difference[0] == pytest.approx(apart.mean())
    if np.ptp(apart) > 0:
        oracle = ttest_1samp(apart, 0).confidence_interval()
        assert result.difference_high[0] == pytest.approx(oracle.high)
        assert result.difference_low[0] == pytest.approx(max(oracle.low, 0))


def test_the_error_of_many_repeats_is_fleiss_cohen_and_everitts():
    rng = np.random.default_rng(1)
    first = rng.integers(1, 6, 2000)
    second = np.clip(first + rng.integers(-1, 2, 2000), 1, 5)
    counts = np.zeros((5, 5))
    np.add.at(counts, (first - 1, second - 1), 1)
    result = self_consistency(CheckLog([0] * 2000, kind=["repeat"] * 2000, value=second, first=first), 1)
    assert result.kappa_error[0] == pytest.approx(cohens_kappa(counts, wt="quadratic").std_kappa, rel=0.01)


@pytest.mark.parametrize("n", [5, 8, 15])
def test_the_interval_of_kappa_has_its_nominal_coverage(n):
    rng = np.random.default_rng(7)
    k = 2000
    latent = rng.normal(size=(k, n))
    first, second = (np.clip(np.round(3 + latent + rng.normal(0, 0.6, (k, n))), 1, 5) for _ in range(2))
    # The kappa of 400,000 repeats is taken as the true one.
    many = rng.normal(size=400_000)
    x, y = (np.clip(np.round(3 + many + rng.normal(0, 0.6, many.size)), 1, 5) for _ in range(2))
    truth = 1 - np.mean((x - y) ** 2) / (x.var() + y.var() + (x.mean() - y.mean()) ** 2)
    rater = np.repeat(np.arange(k), n)
    result = self_consistency(
        CheckLog(rater, kind=np.full(k * n, "repeat"), value=second.ravel(), first=first.ravel()), k
    )
    has = ~np.isnan(result.kappa_low)
    assert has.mean() > 0.95
    assert 0.93 < np.mean((result.kappa_low <= truth)[has] & (truth <= result.kappa_high)[has]) < 0.98


def test_differences_are_measured_in_points_of_the_scale():
    checks = CheckLog([0] * 3, kind=["repeat"] * 3, value=[50, 62, 90], first=[55, 50, 90], point=10)
    result = self_consistency(checks, 1)
    assert result.within.tolist() == [pytest.approx(2 / 3)]
    assert result.difference.tolist() == [pytest.approx((0.5 + 1.2) / 3)]


def test_kappa_of_several_criteria_estimates_chance_within_each():
    # The rater gives a single value on each criterion: chance agreement is perfect, although the values differ.
    checks = CheckLog(
        [0] * 4, kind=["repeat"] * 4, value=[5, 5, 1, 1], first=[5, 5, 1, 1], criterion=["a", "a", "b", "b"]
    )
    result = self_consistency(checks, 1)
    assert np.isnan(result.kappa[0])
    assert result.kappa_reason[0] == "all answers equal: chance agreement is perfect too"


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ([NAN, 3], [2, NAN], "no repeat judged both times"),
        ([1, 2, 3], [1, 2, 4], "no interval below 5 repeats"),
        ([3, 3, 3, 3, 3], [3, 3, 3, 3, 4], "no interval: without one of the repeats all answers are equal"),
        ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5], "no interval: the repeats do not vary in how far they agree"),
    ],
)
def test_undefined_self_consistency_has_a_reason(first, second, reason):
    result = self_consistency(CheckLog([0] * len(first), kind=["repeat"] * len(first), value=second, first=first), 1)
    assert result.kappa_reason[0] == reason
    assert np.isnan([result.kappa_low[0], result.kappa_high[0]]).all()


samples = st.lists(st.integers(1, 7), min_size=1, max_size=12)


@given(samples, samples, st.booleans())
def test_the_degraded_test_is_scipys_mann_whitney_test(degraded, others, tied):
    rng = np.random.default_rng(len(degraded) * 31 + len(others))
    degraded_values, other_values = np.array(degraded, dtype=float), np.array(others, dtype=float)
    if not tied:
        degraded_values, other_values = (
            degraded_values + rng.uniform(0, 0.4, degraded_values.size),
            other_values + rng.uniform(0, 0.4, other_values.size),
        )
    # A second rater in the table must make no difference to the first.
    checks = CheckLog(
        [1] * degraded_values.size + [0], kind=["degraded"] * (degraded_values.size + 1), value=[*degraded_values, 2]
    )
    rater = np.repeat([1, 0], [other_values.size, 3])
    result = degraded_test(checks, rater, [*other_values, 1, 2, 3], 2)
    oracle = mannwhitneyu(degraded_values, other_values, alternative="less")
    assert result.u[1] == oracle.statistic
    assert result.pvalue[1] == pytest.approx(oracle.pvalue, abs=1e-10)
    assert result.auc[1] == pytest.approx(1 - oracle.statistic / (degraded_values.size * other_values.size))
    assert result.auc_low[1] <= result.auc[1] <= result.auc_high[1]
    assert bool(result.exact[1]) == (
        len({*degraded_values, *other_values}) == degraded_values.size + other_values.size
        and min(degraded_values.size, other_values.size) <= 8
    )


def test_degraded_texts_are_compared_within_a_criterion():
    # Degraded fluency 2, 3 against fluency 4, 5; degraded sense 9 against sense 8, 10: pairs 4 + 2, lower in 4 + 1.
    checks = CheckLog([0] * 3, kind=["degraded"] * 3, value=[2, 3, 9], criterion=["fluency", "fluency", "sense"])
    result = degraded_test(
        checks, [0] * 5, [4, 5, 8, 10, 1], 1, criterion=["fluency", "fluency", "sense", "sense", "other"]
    )
    assert (result.u[0], result.auc[0]) == (1.0, pytest.approx(5 / 6))
    assert (result.n_degraded[0], result.n_others[0], bool(result.exact[0])) == (3, 4, False)


def test_a_rater_who_gives_one_value_does_not_tell_degraded_texts_apart():
    result = degraded_test(CheckLog([0] * 4, kind=["degraded"] * 4, value=[3] * 4), [0] * 6, [3] * 6, 1)
    assert (result.pvalue[0], result.auc[0]) == (1.0, 0.5)


def test_a_degraded_test_names_the_missing_kind_of_text():
    checks = CheckLog([0, 1], kind=["degraded"] * 2, value=[1, NAN])
    result = degraded_test(checks, [1, 1], [2, 3], 3)
    assert np.isnan(result.pvalue).all()
    assert result.reason.tolist() == [
        "no undegraded text judged on the same criterion",
        "no degraded text judged",
        "no degraded text judged",
    ]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"kind": ["silver"]}, r"kind\[0\] is 'silver'; accepted: gold, attention, repeat, degraded, anchor"),
        ({"kind": ["gold", "gold"]}, r"kind has shape \(2,\); accepted: \(1,\)"),
        ({"kind": ["gold"], "low": [5], "high": [4]}, r"low\[0\] is 5; accepted: at most high, 4"),
        ({"kind": ["gold"], "low": [np.inf]}, r"low\[0\] is inf"),
        ({"kind": ["gold"], "point": 0}, r"point\[0\] is 0.0; accepted: a number above 0"),
    ],
)
def test_a_malformed_check_log_is_refused_by_column_and_entry(columns, message):
    with pytest.raises(ValueError, match=message):
        CheckLog(["ann"], value=[1], **columns)


def test_raters_must_be_codes_of_the_table():
    named = CheckLog(["ann"], kind=["gold"], value=[1])
    with pytest.raises(ValueError, match="rater holds <U3 values; accepted: integer codes, 0 to 0"):
        check_accuracy(named, "gold", 1)
    with pytest.raises(ValueError, match=r"rater\[0\] is 3; accepted: 0 to 1"):
        check_accuracy(CheckLog([3], kind=["gold"], value=[1]), "gold", 2)
    with pytest.raises(ValueError, match="kind is 'repeat'; accepted: gold, attention, anchor"):
        check_accuracy(CheckLog([0], kind=["gold"], value=[1]), "repeat", 1)


@pytest.fixture(scope="module")
def large():
    """1,000 raters with 100 ratings on two criteria and 30 answers to checks each."""
    rng = np.random.default_rng(0)
    k, n, m = 1000, 100, 10
    table = RatingTable(rng.integers(0, 20_000, k * n), np.repeat(np.arange(k), n), rng.integers(1, 6, k * n))
    checks = CheckLog(
        np.tile(np.repeat(np.arange(k), m), 5),
        kind=np.repeat(["gold", "attention", "anchor", "repeat", "degraded"], k * m),
        value=rng.integers(1, 6, 5 * k * m),
        criterion=rng.integers(0, 2, 5 * k * m),
        low=np.full(5 * k * m, 3.0),
        high=np.full(5 * k * m, 4.0),
        first=rng.integers(1, 6, 5 * k * m),
    )
    return table, checks, rng.exponential(8, k * n), rng.integers(0, 2, k * n)


def test_a_thousand_raters_take_well_under_a_second(large):
    table, checks, seconds, criterion = large
    began = time.process_time()
    quality = rater_quality(table, checks=checks, seconds=seconds, criterion=criterion)
    assert time.process_time() - began < 1
    assert quality.gold.share.shape == quality.degraded.auc.shape == quality.summary.entropy_low.shape == (1000,)


def test_measures_of_a_rater_do_not_depend_on_other_raters(large):
    table, checks, _, criterion = large
    quality = rater_quality(table, checks=checks, criterion=criterion)
    is_rater, is_raters_check = table.rater == 417, checks.rater == 417
    alone = degraded_test(
        checks.select(is_raters_check).recoded(np.zeros(is_raters_check.sum(), dtype=int)),
        np.zeros(is_rater.sum(), dtype=int),
        table.value[is_rater],
        1,
        criterion=criterion[is_rater],
    )
    assert quality.degraded.u[417] == alone.u[0]
    assert quality.degraded.pvalue[417] == pytest.approx(alone.pvalue[0])


def test_raters_without_checks_have_reasons_instead_of_measures():
    quality = rater_quality(RatingTable([0, 1], [0, 0], [1, 2]))
    for part in (quality.gold, quality.attention, quality.anchor, quality.repeats):
        assert part.n.tolist() == [0]
        assert part.reason[0].startswith("no ")
    assert quality.degraded.reason.tolist() == ["no degraded text judged"]
