"""Rules for a campaign without rules: robust thresholds, checked against SciPy."""

import numpy as np
import pytest
from scipy.stats import median_abs_deviation

from annotation.weighting.exclusion.others import agreement_of_others
from annotation.weighting.exclusion.suspected import Measures, robust_threshold, rules_for
from annotation.weighting.table import RatingTable
from benchmarks.coverage.rater import pairs_stand_out, stand_out

NONE = [np.nan]


def records(*, n: int = 40, **measures: object) -> dict[str, dict[str, object]]:
    given = {"seconds": NONE, "agreement": NONE, "entropy": NONE} | measures
    of = {name: Measures(values, np.full(len(values), n)) for name, values in given.items()}
    return {rule.name: rule.to_dict() for rule in rules_for(**of)}


def thresholds(**measures: object) -> dict[str, float]:
    names = {"median_seconds_below": "seconds", "agreement_below": "correlation", "entropy_below": "bits"}
    return {rule: record[names[rule]] for rule, record in records(**measures).items()}


def test_the_threshold_is_the_median_less_three_robust_standard_deviations() -> None:
    values = np.random.default_rng(3).normal(size=40)
    expected = np.median(values) - 3 * median_abs_deviation(values, scale="normal")
    assert robust_threshold([*values, np.nan], least_deviation=0.1) == pytest.approx(expected, abs=1e-4)
    assert robust_threshold([2.0, 2.0], least_deviation=0.5) == 0.5


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        ([8, 8, 8, 8], 1.79),  # 8 exp(-1.5)
        ([0.17, 7, 8, 9], 1.79),  # 8 exp(-1.5): the others' median, which one very fast rater does not move
        ([1.15, 2.5, 4, 6], 1.33),  # a third of the others' median
        ([1.2, 1.3, 1.1], 0.5),  # short texts: a third of the median would be 0.4
        ([3, 3, 3], 1.0),
        ([0.1, 0.1], 0.5),  # everyone answers faster than anyone can read
    ],
)
def test_times_far_below_the_others_or_too_short_to_read_stand_out(seconds: list[float], expected: float) -> None:
    assert thresholds(seconds=seconds)["median_seconds_below"] == pytest.approx(expected, abs=0.01)


def test_agreement_stands_out_below_the_others_and_below_the_bound() -> None:
    assert thresholds(agreement=[0.8, 0.7, 0.75, -0.16])["agreement_below"] == 0.2
    noisy = thresholds(agreement=[0.15, 0.05, 0.1, 0.2])["agreement_below"]
    assert noisy < 0.05  # where everyone agrees little, no one is suspected for it
    assert -1 < thresholds(agreement=[1.0, -1.0, -0.9])["agreement_below"] < 0
    assert thresholds(agreement=[0.1, 0.1]) == {}  # of two who do not agree, neither stands out


def test_rules_wait_for_fewer_answers_where_raters_have_few() -> None:
    measures = {"seconds": [8, 8, 8], "agreement": [0.8, 0.7, -0.1], "entropy": [2.0, 2.1, 0.0]}
    after = {n: [record["after"] for record in records(n=n, **measures).values()] for n in (100, 24, 12)}
    assert after == {100: [10, 20, 10], 24: [10, 12, 10], 12: [6, 10, 10]}


def test_one_answer_throughout_is_no_mark_where_the_others_nearly_do_the_same() -> None:
    """If nine in ten prefer one system, 0.9^n falls below 1% at 44 answers."""
    bits = Measures([0.469, 0.469, 0.0], [44] * 3)
    nothing = Measures(NONE, [0])
    (rule,) = rules_for(seconds=nothing, agreement=nothing, entropy=bits, points=2)
    assert rule.to_dict()["after"] == 44


def test_entropy_and_checks() -> None:
    assert thresholds(entropy=[2.0, 2.1, 0.0])["entropy_below"] == 0.5
    assert thresholds(entropy=[0.0, 0.0]) == {}
    nothing = Measures(NONE, [0])
    checks = rules_for(seconds=nothing, agreement=nothing, entropy=nothing, has_gold=True, has_attention=True)
    assert [(rule.name, rule.does()) for rule in checks] == [
        ("gold_accuracy_below", "flag"),
        ("attention_accuracy_below", "flag"),
    ]


def test_honest_raters_are_seldom_suspected() -> None:
    """Simulated: 200 campaigns of 20 raters whose times and correlations vary as among crowd workers."""
    generator = np.random.default_rng(11)
    seconds = np.exp(generator.normal(np.log(9), 0.45, size=(200, 20)))
    agreement = np.tanh(generator.normal(0.6, 0.15, size=(200, 20)))
    limits = [thresholds(seconds=a, agreement=b) for a, b in zip(seconds, agreement, strict=True)]
    fast = np.mean([(a < limit["median_seconds_below"]).mean() for a, limit in zip(seconds, limits, strict=True)])
    apart = np.mean([(b < limit["agreement_below"]).mean() for b, limit in zip(agreement, limits, strict=True)])
    assert (fast, apart) == (pytest.approx(0, abs=0.002), pytest.approx(0, abs=0.005))


@pytest.mark.parametrize(("raters", "n"), [(3, 20), (4, 12), (6, 60)])
def test_a_small_campaign_marks_the_careless_and_seldom_the_careful(raters: int, n: int) -> None:
    """Simulated as the table in docs/methods.md is: at random in 0.2 s an item, and one answer throughout."""
    for kind, least in (("fast", 1.0), ("same", 0.85), ("slow", 0.3)):
        marks = np.array(
            [stand_out(np.random.default_rng(seed), n_raters=raters, n=n, last=kind) for seed in range(60)]
        )
        assert marks[:, -1].mean() >= least, kind
        assert marks[:, :-1].mean() <= 0.05, kind
    careful = [stand_out(np.random.default_rng(seed), n_raters=raters, n=n) for seed in range(60)]
    assert np.mean(careful) <= 0.05


def test_the_others_agreement_is_without_the_rater_left_out() -> None:
    """Against ``numpy.corrcoef``: of four raters of the same responses, each of the three left with the two others."""
    value = np.random.default_rng(5).integers(1, 6, size=(4, 12)).astype(float)
    table = RatingTable(np.tile(np.arange(12), 4), np.repeat(np.arange(4), 12), value.ravel())
    left = [rater for rater in range(4) if rater != 2]
    expected = [
        np.corrcoef(value[rater], value[[other for other in left if other != rater]].mean(axis=0))[0, 1]
        for rater in left
    ]
    assert agreement_of_others(table).correlation[2] == pytest.approx(np.median(expected))


@pytest.mark.parametrize(("noise", "least"), [(1.0, 0.85), (1.75, 0.75)])
def test_a_quick_careless_rater_of_pairs_stands_out_among_three_careful_ones(noise: float, least: float) -> None:
    """Simulated: 115 pairs at random in 1.15 s, beside raters who take 2.5, 4 and 6 s and answer fewer."""
    found = np.array([pairs_stand_out(np.random.default_rng(seed), noise=noise) for seed in range(40)])
    assert found[:, -1].mean() >= least
    assert found[:, :-1].mean() <= 0.05
