import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from annotation.dry_runs.simulation.raters import PopulationTraits, SimulatedRater, population

TRAITS = ["seed", "bias", "noise", "spam", "dropout", "median_seconds", "screen_sd", "lapse", "habit"]


def traits(rater):
    return {name: getattr(rater, name) for name in TRAITS}


@given(st.integers(0, 2**63 - 1), st.integers(1, 30), st.floats(0, 1))
def test_a_population_is_reproducible_and_has_the_exact_share_of_spammers(seed, n, share):
    raters = population(n, PopulationTraits(spam_share=share), seed=seed)
    assert [traits(rater) for rater in raters] == [
        traits(r) for r in population(n, PopulationTraits(spam_share=share), seed=seed)
    ]
    assert sum(rater.is_spammer for rater in raters) == math.floor(n * share + 0.5)


def test_a_larger_share_adds_spammers_without_changing_other_raters():
    few, many = (population(40, PopulationTraits(spam_share=share), seed=9) for share in (0.1, 0.3))
    added = [index for index in range(40) if few[index].spam != many[index].spam]
    assert len(added) == 8
    assert all(few[index].spam is None for index in added)
    assert all(traits(few[index]) == traits(many[index]) for index in range(40) if index not in added)
    assert all(few[index].bias == many[index].bias for index in added)


def test_changing_a_trait_changes_no_other_trait():
    calm, noisy = (
        population(10, PopulationTraits(noise=0.1), seed=4),
        population(10, PopulationTraits(noise=0.3), seed=4),
    )
    assert [{**traits(rater), "noise": 0.3} for rater in calm] == [traits(rater) for rater in noisy]


def test_biases_and_speeds_have_the_requested_distributions():
    raters = population(2000, PopulationTraits(bias_sd=0.2, median_seconds=30, speed_sd=0.5, spam_share=0), seed=2)
    assert stats.kstest([rater.bias / 0.2 for rater in raters], "norm").pvalue > 0.001
    speeds = [math.log(rater.median_seconds / 30) / 0.5 for rater in raters]
    assert stats.kstest(speeds, "norm").pvalue > 0.001


def test_spammers_of_both_kinds_are_quick():
    honest = population(50, PopulationTraits(spam_share=0), seed=3)
    raters = population(50, PopulationTraits(spam_share=0.2), seed=3)
    spammers = [index for index, rater in enumerate(raters) if rater.is_spammer]
    assert sorted(raters[index].spam for index in spammers) == ["constant"] * 5 + ["random"] * 5
    for index in spammers:
        assert raters[index].median_seconds == pytest.approx(0.4 * honest[index].median_seconds)


def test_times_are_log_normal_around_the_raters_median():
    rater = SimulatedRater(seed=1, median_seconds=12.0, screen_sd=0.6)
    assert stats.kstest([rater.seconds() for _ in range(3000)], stats.lognorm(0.6, scale=12).cdf).pvalue > 0.001


@pytest.mark.parametrize("share", [0.0, 0.07, 1.0])
def test_raters_leave_and_lapse_as_often_as_they_should(share):
    rater = SimulatedRater(seed=8, dropout=share, lapse=share)
    n_left, n_looked = (sum(f() for _ in range(4000)) for f in (rater.leaves, rater.looks))
    assert stats.binomtest(n_left, 4000, share).pvalue > 0.001
    assert stats.binomtest(4000 - n_looked, 4000, share).pvalue > 0.001


def test_a_spammer_never_looks():
    rater = SimulatedRater(seed=8, spam="constant", lapse=0.0)
    assert not any(rater.looks() for _ in range(50))


def test_raters_of_one_population_are_unrelated():
    first, second = population(2, PopulationTraits(spam_share=0), seed=5)
    a, b = (np.array([rater.seconds() for _ in range(1000)]) for rater in (first, second))
    assert stats.pearsonr(np.log(a), np.log(b)).pvalue > 0.001


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SimulatedRater(seed=-1), "seed is -1; accepted: 0 or more"),
        (lambda: SimulatedRater(seed=1, bias=math.inf), "bias is inf"),
        (lambda: SimulatedRater(seed=1, noise=-0.1), "noise is -0.1; accepted: 0 or more"),
        (lambda: SimulatedRater(seed=1, screen_sd=math.nan), "screen_sd is nan"),
        (lambda: SimulatedRater(seed=1, spam="lazy"), "spam is 'lazy'; accepted: None, random, constant"),
        (lambda: SimulatedRater(seed=1, dropout=1.1), "dropout is 1.1; accepted: 0 to 1"),
        (lambda: SimulatedRater(seed=1, lapse=-0.1), "lapse is -0.1"),
        (lambda: SimulatedRater(seed=1, median_seconds=0), "median_seconds is 0"),
        (lambda: population(0, PopulationTraits(), seed=1), "n is 0; accepted: 1 or more"),
        (lambda: population(3, PopulationTraits(bias_sd=-1), seed=1), "bias_sd is -1"),
        (lambda: population(3, PopulationTraits(speed_sd=math.inf), seed=1), "speed_sd is inf"),
        (lambda: population(3, PopulationTraits(spam_share=2), seed=1), "spam_share is 2; accepted: 0 to 1"),
    ],
)
def test_traits_outside_their_range_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
