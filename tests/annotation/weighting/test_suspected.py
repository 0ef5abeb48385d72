"""Rules for a campaign without rules: robust thresholds, checked against SciPy."""

import numpy as np
import pytest
from scipy.stats import median_abs_deviation

from annotation.weighting.exclusion.suspected import robust_threshold, rules_for

NONE = [np.nan]


def thresholds(**measures: object) -> dict[str, float]:
    given = {"seconds": NONE, "agreement": NONE, "entropy": NONE} | measures
    records = [rule.to_dict() for rule in rules_for(**given)]
    names = {"median_seconds_below": "seconds", "agreement_below": "correlation", "entropy_below": "bits"}
    return {record["rule"]: record[names[record["rule"]]] for record in records}


def test_the_threshold_is_the_median_less_three_robust_standard_deviations() -> None:
    values = np.random.default_rng(3).normal(size=40)
    expected = np.median(values) - 3 * median_abs_deviation(values, scale="normal")
    assert robust_threshold([*values, np.nan], least_deviation=0.1) == pytest.approx(expected, abs=1e-4)
    assert robust_threshold([2.0, 2.0], least_deviation=0.5) == 0.5


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        ([8, 8, 8, 8], 1.79),  # 8 exp(-1.5)
        ([0.17, 7, 8, 9], 1.67),  # robust: one very fast rater hardly moves it
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


def test_entropy_and_checks() -> None:
    assert thresholds(entropy=[2.0, 2.1, 0.0])["entropy_below"] == 0.5
    assert thresholds(entropy=[0.0, 0.0]) == {}
    checks = rules_for(seconds=NONE, agreement=NONE, entropy=NONE, has_gold=True, has_attention=True)
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
