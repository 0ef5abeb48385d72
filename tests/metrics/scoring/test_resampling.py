"""The bootstrap over segments, held to sacrebleu's on the same resamples, and to SciPy's laws of draws."""

import math

import numpy as np
import pytest
import sacrebleu
from sacrebleu import significance
from scipy import stats

from metrics.scoring.aggregates import BleuAggregate, MeanAggregate
from metrics.scoring.metric import Workspace, mean_packed
from metrics.scoring.registry import get_metric
from metrics.scoring.resampling import (
    BLOCK,
    block_sizes,
    bootstrap_replicates,
    draws_in_block,
    draws_per_block,
    paired_difference,
    percentile_interval,
    resampled_sums,
)
from metrics.scoring.segments import Segments
from tests.metrics.scoring.corpora import dstc7_sample


def blocks_of(packed: np.ndarray) -> list[np.ndarray]:
    return [packed[:, start : start + BLOCK] for start in range(0, packed.shape[1], BLOCK)]


def mean_statistics_of(n_systems: int, n_segments: int, seed: int = 3) -> np.ndarray:
    packed, _ = mean_packed(np.random.default_rng(seed).random((n_systems, n_segments)))
    return packed


def upper_tail(difference: float, resampled: np.ndarray) -> float:
    """One side alone of the differences moved to where no difference is."""
    return (1 + (resampled - resampled.mean() > abs(difference)).sum()) / (resampled.size + 1)


def both_tails(difference: float, resampled: np.ndarray) -> float:
    moved = resampled - resampled.mean()
    return (1 + (moved >= abs(difference)).sum() + (moved <= -abs(difference)).sum()) / (resampled.size + 1)


def end_at_zero(difference: float, resampled: np.ndarray) -> float:
    """Return the level at which the percentile interval of a difference ends at 0."""
    return (1 + 2 * (resampled * np.sign(difference) <= 0).sum()) / (resampled.size + 1)


@pytest.fixture(scope="module")
def scored():
    """A system of the demo, and the same with every third word left out."""
    sample = dstc7_sample()
    texts = sample.outputs["TeamD"]
    worse = [" ".join(word for position, word in enumerate(text.split()) if position % 3) or "." for text in texts]
    references = sample.weighted
    metric = get_metric("bleu", max_order=2, tokenize="whitespace")
    return [texts, worse], references, Workspace(Segments([texts, worse], references)).statistics(metric)


def test_intervals_are_sacrebleus_on_the_same_resamples(scored) -> None:
    systems, references, statistics = scored
    n_segments, seed, n = len(references), 7, 400
    bleu = sacrebleu.BLEU(
        max_ngram_order=2, tokenize="none", smooth_method="none", references=list(zip(*references, strict=True))
    )
    baseline_sums = bleu._extract_corpus_statistics(systems[0], None)
    baseline = {"BLEU": (baseline_sums, bleu._aggregate_and_compute(baseline_sums))}
    _, results = significance._paired_bs_test(
        baseline, "worse", systems[1], None, {"BLEU": bleu}, n_samples=n, seed=seed
    )
    expected = results["BLEU"]
    indices = np.random.default_rng(seed).choice(n_segments, size=(n, n_segments), replace=True)
    counts = np.stack([np.bincount(row, minlength=n_segments) for row in indices])

    replicates = statistics.aggregate(resampled_sums(statistics.packed, counts))

    scores = statistics.system_scores()
    interval = percentile_interval(replicates[:, 1])
    compared = paired_difference(*scores, *replicates.T)
    assert scores[1] == pytest.approx(expected.score / 100, abs=1e-9)
    assert interval.mean == pytest.approx(expected.mean / 100, abs=1e-6)  # sacrebleu sums in single precision
    assert (interval.high - interval.low) / 2 == pytest.approx(expected.ci / 100, abs=1e-6)
    resampled = replicates[:, 0] - replicates[:, 1]
    assert upper_tail(compared.difference, np.abs(resampled)) == pytest.approx(expected.p_value, abs=1e-12)
    tails = both_tails(compared.difference, resampled), end_at_zero(compared.difference, resampled)
    assert compared.p_value == pytest.approx(max(tails), abs=1e-12)
    assert compared.low < compared.difference < compared.high


def test_the_p_value_has_both_tails_where_sacrebleus_has_one(scored) -> None:
    """A few outputs say nothing at the same length, which is better on no resample."""
    systems, references, _ = scored
    n_segments, seed, n = len(references), 11, 300
    worse = [*systems[0][:-12], *(" ".join("?!" for _ in text.split()) for text in systems[0][-12:])]
    metric = get_metric("bleu", max_order=2, tokenize="whitespace")
    statistics = Workspace(Segments([systems[0], worse], references)).statistics(metric)
    bleu = sacrebleu.BLEU(
        max_ngram_order=2, tokenize="none", smooth_method="none", references=list(zip(*references, strict=True))
    )
    baseline_sums = bleu._extract_corpus_statistics(systems[0], None)
    baseline = {"BLEU": (baseline_sums, bleu._aggregate_and_compute(baseline_sums))}
    _, results = significance._paired_bs_test(baseline, "other", worse, None, {"BLEU": bleu}, n_samples=n, seed=seed)
    indices = np.random.default_rng(seed).choice(n_segments, size=(n, n_segments), replace=True)
    counts = np.stack([np.bincount(row, minlength=n_segments) for row in indices])

    replicates = statistics.aggregate(resampled_sums(statistics.packed, counts))

    compared = paired_difference(*statistics.system_scores(), *replicates.T)
    resampled = replicates[:, 0] - replicates[:, 1]
    assert (resampled >= 0).all()  # so that sacrebleu's absolute differences are the differences
    assert results["BLEU"].p_value == pytest.approx(upper_tail(compared.difference, resampled), abs=1e-12)
    assert compared.p_value == pytest.approx(both_tails(compared.difference, resampled), abs=1e-12)
    assert compared.p_value > results["BLEU"].p_value > 1.5 / (n + 1)


def test_few_matches_prove_nothing() -> None:
    """Of eleven segments two have a match: a resample holds neither in 1 of 9, so that p cannot be below that.

    (9 / 11) ** 11 = 0.11. The centred differences alone never reach the observed one.
    """
    matches = np.zeros((2, 11))
    matches[0, [3, 7]] = 1.0
    packed, _ = mean_packed(matches)
    replicates = bootstrap_replicates([packed], 11, MeanAggregate(), replicates=2000, seed=1)
    saturated = np.minimum(replicates, 2 / 11)  # as BLEU over few n-grams, which more copies of a match hardly raise

    compared = paired_difference(2 / 11, 0.0, *saturated.T, n_segments=11)

    assert both_tails(2 / 11, saturated[:, 0]) < 0.05
    assert compared.p_value > 2 * (9 / 11) ** 11
    assert compared.low == 0


def test_few_segments_take_students_t() -> None:
    """A p of 5% at the normal deviate 1.96 is that of the paired t-test at t = 1.96 sqrt((n - 1) / n)."""
    draws = np.random.default_rng(3).normal(0.2, 0.1, size=(4000, 1)) * [1, 0]
    many, few = (paired_difference(0.2, 0.0, *draws.T, n_segments=n).p_value for n in (None, 12))

    deviate = stats.norm.isf(many / 2)
    assert few == pytest.approx(2 * stats.t.sf(deviate * np.sqrt(11 / 12), df=11))
    assert few > many


def test_systems_that_do_not_differ_are_told_apart_as_rarely_as_the_level_says() -> None:
    """200 pairs of systems whose segments' scores have one distribution; sacrebleu's p is below 0.05 more often."""
    rng = np.random.default_rng(2026)
    p_values, sacrebleu_p_values = [], []
    for seed in range(200):
        packed, _ = mean_packed(rng.normal(size=(2, 200)))
        replicates = bootstrap_replicates([packed], 200, MeanAggregate(), replicates=200, seed=seed)
        first, second = packed[..., 0].mean(axis=1)
        p_values.append(paired_difference(first, second, *replicates.T).p_value)
        differences = np.abs(replicates[:, 0] - replicates[:, 1])
        sacrebleu_p_values.append(upper_tail(first - second, differences))

    assert 0.01 <= np.mean(np.array(p_values) < 0.05) <= 0.09
    assert np.mean(np.array(sacrebleu_p_values) < 0.05) > np.mean(np.array(p_values) < 0.05)
    assert stats.kstest(p_values, "uniform").pvalue > 0.001


def test_the_p_value_does_not_depend_on_which_system_comes_first() -> None:
    replicates = np.random.default_rng(8).normal([0.3, 0.2], 0.1, size=(300, 2))

    forward, backward = paired_difference(0.3, 0.2, *replicates.T), paired_difference(0.2, 0.3, *replicates.T[::-1])

    assert forward.p_value == backward.p_value
    assert forward.difference == -backward.difference


def test_systems_alike_on_every_resample_have_p_1() -> None:
    assert paired_difference(0.5, 0.5, [0.4, 0.6], [0.4, 0.6]).p_value == 1
    assert paired_difference(0.5, 0.4, [0.4, 0.6], [0.4, 0.6]).p_value == 1


def test_each_resample_has_as_many_segments_as_there_are() -> None:
    sizes = block_sizes(2300)
    drawn = draws_per_block(sizes, 50, seed=1)
    counts = np.hstack([draws_in_block(drawn[:, number], size, number, 1) for number, size in enumerate(sizes)])

    assert counts.shape == (50, 2300)
    assert (counts.sum(axis=1) == 2300).all()
    assert (counts >= 0).all()


def test_draws_are_those_of_a_bootstrap() -> None:
    """How often a segment is drawn is binomial (SciPy's), within a block and over blocks."""
    n = BLOCK + 500
    sizes = block_sizes(n)
    drawn = draws_per_block(sizes, 2000, seed=5)
    counts = np.hstack([draws_in_block(drawn[:, number], size, number, 5) for number, size in enumerate(sizes)])
    times = np.arange(6)

    for segment in (0, BLOCK - 1, BLOCK, n - 1):
        observed = np.bincount(np.minimum(counts[:, segment], 5).astype(int), minlength=6)
        expected = np.append(stats.binom.pmf(times[:-1], n, 1 / n), stats.binom.sf(4, n, 1 / n)) * 2000
        assert stats.chisquare(observed, expected).pvalue > 1e-4
    # Draws of two segments push each other aside a little: covariance -1/n, whatever their blocks.
    assert np.cov(counts[:, 0], counts[:, BLOCK])[0, 1] == pytest.approx(-1 / n, abs=0.08)


def test_the_mean_has_the_spread_that_theory_gives() -> None:
    packed = mean_statistics_of(1, 2500)
    replicates = bootstrap_replicates(blocks_of(packed), 2500, MeanAggregate(), replicates=2000)

    scores = packed[0, :, 0]
    assert replicates.mean() == pytest.approx(scores.mean(), abs=4 * scores.std() / math.sqrt(2500 * 2000))
    assert replicates.std() == pytest.approx(scores.std() / math.sqrt(2500), rel=0.06)


def test_systems_together_are_systems_alone() -> None:
    packed = mean_statistics_of(3, 1200)

    together = bootstrap_replicates(blocks_of(packed), 1200, MeanAggregate(), replicates=20)

    for system in range(3):
        alone = bootstrap_replicates(blocks_of(packed[[system]]), 1200, MeanAggregate(), replicates=20)
        np.testing.assert_allclose(together[:, system], alone[:, 0], rtol=1e-13)


def test_the_seed_settles_the_replicates() -> None:
    packed = mean_statistics_of(2, 1500)

    def drawn(seed: int) -> np.ndarray:
        return bootstrap_replicates(blocks_of(packed), 1500, MeanAggregate(), replicates=10, seed=seed)

    np.testing.assert_array_equal(drawn(4), drawn(4))
    assert not np.array_equal(drawn(4), drawn(5))


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([], "blocks: found 0; accepted: 2"),
        ([1000], "blocks: found 1; accepted: 2"),
        ([999, 201], r"blocks\[0\]: found 999 segments; accepted: 1000 each, 1200 in all"),
        ([1000, 200, 1], r"blocks\[2\]: found 1 segments"),
    ],
)
def test_other_blocks_than_the_segments_make_are_refused(sizes: list[int], message: str) -> None:
    blocks = [np.zeros((1, size, 2)) for size in sizes]

    with pytest.raises(ValueError, match=message):
        bootstrap_replicates(blocks, 1200, MeanAggregate(), replicates=2)


@pytest.mark.parametrize(("name", "value"), [("n_segments", 0), ("replicates", 0), ("seed", -1)])
def test_numbers_out_of_range_are_named(name: str, value: int) -> None:
    options = {"n_segments": 1, "replicates": 1, "seed": 0, name: value}

    with pytest.raises(ValueError, match=f"{name}: found {value}"):
        bootstrap_replicates([np.zeros((1, 1, 2))], options.pop("n_segments"), MeanAggregate(), **options)


def test_one_segment_is_its_own_resample() -> None:
    packed = np.array([[[3.0, 3.0, 2.0, 3.0]]])

    replicates = bootstrap_replicates([packed], 1, BleuAggregate(max_order=1), replicates=4)

    assert replicates[:, 0].tolist() == [pytest.approx(2 / 3)] * 4


def test_a_resample_without_a_score_leaves_no_interval_but_a_reason() -> None:
    interval = percentile_interval([0.1, np.nan, 0.3])

    assert math.isnan(interval.low)
    assert interval.reason == "1 of 3 resamples have no score"
    assert paired_difference(0.1, 0.2, [0.1, np.nan], [0.2, 0.2]).reason == "1 of 2 resamples have no score"
    assert paired_difference(math.nan, 0.2, [0.1], [0.2]).reason == "a system has no score"
    assert percentile_interval([]).reason == "no resample"


def test_replicates_of_different_runs_are_refused() -> None:
    with pytest.raises(ValueError, match=r"second_replicates: found shape \(3,\)"):
        paired_difference(0.1, 0.2, [0.1, 0.2], [0.1, 0.2, 0.3])
