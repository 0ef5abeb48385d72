import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from annotation.dry_runs.simulation.answers import Ladder, answer, latent_quality, magnitude_ends, obey
from annotation.dry_runs.simulation.raters import PopulationTraits, SimulatedRater, population
from annotation.weighting.agreement import icc
from annotation.weighting.table import RatingTable

shares = st.floats(0, 1)
seeds = st.integers(0, 2**63 - 1)

# kind, low, high, step
SCALES = [
    ("points", 1, 5, 1),
    ("points", 1, 6, 1),
    ("slider", 0, 100, 1),
    ("slider", 0, 1, 0),
    ("slider", -1, 1, 0.25),
    ("magnitude", 10, 1000, 0),
    ("magnitude", 10, 1000, 5),
    ("preference", -3, 3, 1),
]
QUALITY = latent_quality(np.arange(400), seed=11)


def give(rater, quality, scale, other_quality=0.5, ties=False):
    kind, low, high, step = scale
    against = other_quality if kind == "preference" else None
    ladder = Ladder(low, high, step, logarithmic=kind == "magnitude", zero=kind != "preference" or ties)
    return answer(rater, quality, ladder, against=against)


def accepted(value, scale, ties=False):
    kind, low, high, step = scale
    if kind == "magnitude":
        return value > 0 and (step == 0 or value % step == 0)
    on_step = step == 0 or abs((value - low) / step - round((value - low) / step)) < 1e-9
    return low <= value <= high and on_step and (kind != "preference" or ties or value != 0)


@pytest.mark.parametrize("scale", SCALES)
@given(seeds, shares, shares, st.sampled_from([None, "random", "constant"]), st.booleans())
def test_every_answer_is_a_value_of_its_scale(scale, seed, quality, other_quality, spam, ties):
    rater = SimulatedRater(seed=seed, spam=spam, bias=0.3, noise=0.5, lapse=0.2)
    assert accepted(give(rater, quality, scale, other_quality, ties=ties), scale, ties)


@pytest.mark.parametrize("scale", SCALES)
@given(seeds, st.lists(shares, min_size=2, max_size=10), st.floats(-0.5, 0.5))
def test_without_noise_a_better_response_is_never_rated_lower(scale, seed, qualities, bias):
    rater = SimulatedRater(seed=seed, bias=bias, noise=0, lapse=0)
    answers = [give(rater, quality, scale) for quality in sorted(qualities)]
    assert answers == sorted(answers)


@pytest.mark.parametrize("scale", SCALES)
def test_without_noise_the_mean_rating_follows_quality(scale):
    raters = population(20, PopulationTraits(noise=0, spam_share=0, lapse=0), seed=3)
    mean = np.mean([[give(rater, quality, scale) for quality in QUALITY] for rater in raters], axis=0)
    assert (np.diff(mean[np.argsort(QUALITY)]) >= -1e-9).all()
    # Preferences against a response of medium quality take few values: ties lower the correlation.
    assert stats.spearmanr(mean, QUALITY).statistic > (0.85 if scale[0] == "preference" else 0.97)


@pytest.mark.parametrize("scale", SCALES)
def test_a_random_spammer_is_uncorrelated_with_quality(scale):
    spammers = [SimulatedRater(seed=seed, spam="random") for seed in range(30)]
    correlations = [
        stats.spearmanr([give(rater, quality, scale) for quality in QUALITY], QUALITY) for rater in spammers
    ]
    # The mean of 30 uniform p-values is outside 0.29..0.71 once in 10,000.
    assert 0.29 < np.mean([result.pvalue for result in correlations]) < 0.71
    # Standard error of one: 1 / sqrt(399) = 0.05; of the mean of 30: 0.009.
    assert abs(np.mean([result.statistic for result in correlations])) < 0.04


@pytest.mark.parametrize("scale", SCALES)
def test_a_constant_spammer_always_gives_the_same_answer_but_spammers_differ(scale):
    answers = [
        {give(SimulatedRater(seed=seed, spam="constant"), quality, scale) for quality in QUALITY[:20]}
        for seed in range(20)
    ]
    assert all(len(values) == 1 for values in answers)
    assert len(set.union(*answers)) > 1


@pytest.mark.parametrize(
    ("scale", "ties", "points"),
    [(SCALES[0], False, [1, 2, 3, 4, 5]), (SCALES[7], False, [-3, -2, -1, 1, 2, 3]), (SCALES[7], True, range(-3, 4))],
)
def test_a_random_spammer_chooses_every_point_equally_often(scale, ties, points):
    rater = SimulatedRater(seed=2, spam="random")
    counts = Counter(give(rater, 0.9, scale, ties=ties) for _ in range(4000))
    assert set(counts) == set(points)
    assert stats.chisquare(list(counts.values())).pvalue > 0.001


@pytest.mark.parametrize("scale", SCALES)
def test_the_same_seeds_give_the_same_answers(scale):
    def all_answers():
        return [
            give(rater, quality, scale)
            for rater in population(6, PopulationTraits(spam_share=0.4), seed=8)
            for quality in QUALITY
        ]

    assert all_answers() == all_answers()


def test_bias_and_noise_are_shares_of_the_scales_length():
    rater = SimulatedRater(seed=4, bias=0.1, noise=0.08, lapse=0)
    values = np.array([answer(rater, 0.4, Ladder(0, 100, 0)) for _ in range(5000)])
    assert values.mean() == pytest.approx(50, abs=4 * 8 / math.sqrt(5000))
    assert values.std() == pytest.approx(8, rel=0.05)


def test_a_magnitude_is_linear_in_its_logarithm():
    rater = SimulatedRater(seed=4, noise=0, lapse=0)
    low, high = magnitude_ends(100)
    values = [answer(rater, quality, Ladder(low, high, 0, logarithmic=True)) for quality in (0, 0.25, 0.5, 1)]
    assert values == pytest.approx([10, 10**1.5, 100, 1000])


def test_bias_does_not_affect_preferences_and_swapping_texts_negates_them():
    exact = SimulatedRater(seed=4, bias=0.4, noise=0, lapse=0)
    ladder = Ladder(-3, 3, zero=False)
    assert [answer(exact, a, ladder, against=b) for a, b in [(1, 0), (0.9, 0.3), (0, 1)]] == [3, 2, -3]
    for first, second in zip(QUALITY[:100], QUALITY[100:200], strict=True):
        ahead = answer(exact, first, ladder, against=second)
        assert ahead == -answer(exact, second, ladder, against=first)


def test_equal_texts_are_rated_equal_only_if_the_scale_has_zero():
    exact = SimulatedRater(seed=4, noise=0, lapse=0)
    assert answer(exact, 0.5, Ladder(-2, 2), against=0.5) == 0
    assert abs(answer(exact, 0.5, Ladder(-2, 2, zero=False), against=0.5)) == 1


def test_a_preference_has_the_noise_of_two_perceptions():
    rater = SimulatedRater(seed=6, noise=0.1, lapse=0)
    values = np.array([answer(rater, 0.5, Ladder(-1000, 1000), against=0.5) for _ in range(5000)])
    assert values.std() == pytest.approx(1000 * 0.1 * math.sqrt(2), rel=0.05)


def test_agreement_follows_from_the_variances_of_quality_bias_and_noise():
    # ICC(1) = between / (between + within), Shrout & Fleiss 1979, with Beta(2, 2)'s variance 1/20 between.
    raters = population(12, PopulationTraits(bias_sd=0.05, noise=0.1, spam_share=0, lapse=0), seed=5)
    expected = 0.05 / (0.05 + np.var([rater.bias for rater in raters]) + 0.1**2)
    value = [answer(rater, quality, Ladder(0, 1, 0)) for rater in raters for quality in QUALITY]
    table = RatingTable(np.tile(np.arange(400), 12), np.repeat(np.arange(12), 400), value)
    assert icc(table).icc_1 == pytest.approx(expected, abs=0.03)


def test_raters_who_look_obey_an_attention_check():
    honest, careless = SimulatedRater(seed=1, lapse=0), SimulatedRater(seed=1, lapse=0.3)
    assert {obey(honest, 4, Ladder(1, 5)) for _ in range(50)} == {4.0}
    # A careless rater still hits one of five points by chance.
    hits = sum(obey(careless, 4, Ladder(1, 5)) == 4 for _ in range(3000))
    assert stats.binomtest(hits, 3000, 0.7 + 0.3 / 5).pvalue > 0.001
    spammer = SimulatedRater(seed=1, spam="random")
    assert stats.binomtest(sum(obey(spammer, 4, Ladder(1, 5)) == 4 for _ in range(3000)), 3000, 0.2).pvalue > 0.001


def test_latent_quality_is_beta_distributed():
    assert stats.kstest(latent_quality(np.arange(20_000), seed=1), stats.beta(2, 2).cdf).pvalue > 0.001


@given(st.lists(st.integers(1, 2**62), min_size=1, max_size=8, unique=True), seeds)
def test_latent_quality_depends_on_the_response_alone(ids, seed):
    together = latent_quality(ids, seed)
    assert ((together > 0) & (together < 1)).all()
    assert together.tolist() == [latent_quality([response], seed)[0] for response in ids]


@given(st.lists(st.integers(1, 2**62), min_size=1, max_size=8), seeds)
def test_degraded_texts_are_worse_than_their_originals_and_anchors_are_good(ids, seed):
    assert (latent_quality(ids, seed, kind="degraded") < latent_quality(ids, seed)).all()
    assert (latent_quality(ids, seed, kind="anchor") >= 0.8).all()


def test_another_seed_gives_unrelated_qualities():
    qualities = latent_quality(np.arange(400), seed=12)
    assert stats.pearsonr(QUALITY, qualities).pvalue > 0.001


ANY = SimulatedRater(seed=1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: answer(ANY, 1.2, Ladder(1, 5)), "quality is 1.2; accepted: 0 to 1"),
        (lambda: answer(ANY, math.nan, Ladder(1, 5)), "quality is nan"),
        (lambda: Ladder(5, 1), r"scale is \[5, 1\]; accepted: two finite numbers, low < high"),
        (lambda: Ladder(1, 5, 9), "step is 9; accepted: 0 to 4"),
        (lambda: Ladder(0, 5, logarithmic=True), "low is 0; accepted for a logarithmic scale: a number above 0"),
        (lambda: answer(ANY, 0.5, Ladder(-1, 2), against=0.1), r"accepted for two responses: \[-s, \+s\]"),
        (lambda: answer(ANY, 0.5, Ladder(-2, 2), against=1.5), "against is 1.5; accepted: 0 to 1"),
        (lambda: latent_quality([1], 1, kind="gold"), "kind is 'gold'; accepted: work, degraded, anchor"),
        (lambda: latent_quality([1.5], 1), "accepted: integers"),
        (lambda: magnitude_ends(0), "standard_value is 0; accepted: a number above 0"),
    ],
)
def test_invalid_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
