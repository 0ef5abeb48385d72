"""All pairs of systems."""

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student_t

from annotation.ranking.holm import holm_adjusted
from metrics.scoring.aggregates import MeanAggregate
from metrics.scoring.comparisons import (
    best_first,
    compare_on_shared_segments,
    compare_systems,
    place_ranges,
)
from metrics.scoring.metric import mean_packed
from metrics.scoring.resampling import (
    block_sizes,
    bootstrap_replicates,
    draws_in_block,
    draws_per_block,
    paired_difference,
)


@pytest.fixture
def replicates() -> np.ndarray:
    """Four systems whose resampled scores move together; two of them are a hair apart."""
    rng = np.random.default_rng(3)
    return 0.05 * rng.normal(size=(400, 1)) + [[0.5, 0.3, 0.502, 0.1]] + 0.01 * rng.normal(size=(400, 4))


def test_each_pair_is_tested_as_it_is_alone_and_the_better_comes_first(replicates) -> None:
    scores = replicates.mean(axis=0)
    pairs = compare_systems(scores, replicates, n_segments=500)

    assert len(pairs) == 6
    for pair in pairs:
        columns = replicates[:, [pair.first, pair.second]].T
        expected = paired_difference(scores[pair.first], scores[pair.second], *columns, n_segments=500)
        assert pair.difference > 0
        assert (pair.p_value, pair.low, pair.high) == (expected.p_value, expected.low, expected.high)


def test_a_corrected_p_is_that_of_a_plain_loop_over_the_resamples(replicates) -> None:
    """Romano and Wolf (2016), algorithm 4.2: from the furthest apart to the closest."""
    scores = replicates.mean(axis=0)
    pairs = compare_systems(scores, replicates, n_segments=500)
    draws = np.array([replicates[:, pair.first] - replicates[:, pair.second] for pair in pairs])
    spread = draws.std(axis=1)
    ratios = np.array([pair.difference for pair in pairs]) / spread
    z = norm.isf(student_t.sf(ratios * np.sqrt(499 / 500), 499))
    by_chance = np.abs(draws - draws.mean(axis=1, keepdims=True)) / spread[:, None]

    p, left = 0.0, list(np.argsort(-z))
    while left:
        p = max(p, (1 + sum(by_chance[left, b].max() >= z[left[0]] for b in range(400))) / 401)
        alone = pairs[left.pop(0)]
        p = max(p, alone.p_value)
        assert alone.adjusted == p


def test_many_systems_can_be_told_apart() -> None:
    """Holm's correction of 190 pairs needs a p below any that 1,000 resamples can give."""
    rng = np.random.default_rng(4)
    scores = np.linspace(0, 1, 20)
    pairs = compare_systems(scores, scores + 0.01 * rng.normal(size=(1000, 20)), n_segments=500)

    assert all(pair.differs for pair in pairs if pair.difference > 0.1)
    assert max(holm_adjusted([1 / 1001] * len(pairs))) > 0.05


def test_equal_systems_are_rarely_told_apart() -> None:
    """Of 60 data sets of twelve equal systems, about 5% may show a difference; with no correction nearly all would."""
    rng, hits, uncorrected = np.random.default_rng(6), 0, 0
    for _ in range(60):
        scores = rng.normal(size=100) + rng.normal(size=(12, 100))
        draws = rng.multinomial(100, np.full(100, 0.01), size=300) @ scores.T / 100
        pairs = compare_systems(scores.mean(axis=1), draws, n_segments=100)
        hits += any(pair.differs for pair in pairs)
        uncorrected += any(pair.p_value <= 0.05 for pair in pairs)

    assert hits <= 8  # 1 in 200 runs of this test would see more at a true rate of 5%
    assert uncorrected > 40


def test_systems_that_cannot_be_told_apart_share_places(replicates) -> None:
    pairs = compare_systems(replicates.mean(axis=0), replicates, n_segments=500)

    assert {(pair.first, pair.second) for pair in pairs if not pair.differs} == {(2, 0)}
    assert place_ranges(4, pairs) == [(1, 2), (3, 3), (1, 2), (4, 4)]


def test_where_lower_is_better_the_lower_score_comes_first(replicates) -> None:
    pairs = compare_systems(replicates.mean(axis=0), replicates, n_segments=500, higher_is_better=False)

    assert pairs[0].first == 3
    assert all(pair.difference < 0 for pair in pairs)


def test_a_system_without_a_score_is_last_and_its_pairs_say_why(replicates) -> None:
    replicates[:, 1] = np.nan
    pairs = compare_systems([0.5, np.nan, 0.502, 0.1], replicates, n_segments=500)

    undefined = [pair for pair in pairs if 1 in (pair.first, pair.second)]
    assert all(pair.second == 1 and np.isnan(pair.adjusted) and pair.reason for pair in undefined)
    assert best_first([0.5, np.nan, 0.502, 0.1]) == [2, 0, 3, 1]
    assert place_ranges(4, pairs)[1] == (1, 4)


def test_systems_that_share_no_segment_are_not_compared_and_do_not_count_as_a_comparison(replicates) -> None:
    shared = np.full((4, 4), 9)
    shared[0, 3] = shared[3, 0] = 0
    pairs = compare_systems([0.5, 0.3, 0.502, 0.1], replicates, n_segments=100, shared=shared)
    apart = [pair for pair in pairs if pair.reason]
    assert [({pair.first, pair.second}, pair.reason) for pair in apart] == [({0, 3}, "no segment has a score of both")]
    assert np.isnan([apart[0].p_value, apart[0].adjusted, apart[0].difference]).all()
    assert not apart[0].differs
    assert not any(np.isnan(pair.adjusted) for pair in pairs if pair is not apart[0])


def test_replicates_of_other_systems_are_refused(replicates) -> None:
    with pytest.raises(ValueError, match=r"replicates: found shape \(400, 4\); accepted: \(B, 3\)"):
        compare_systems([1, 2, 3], replicates, n_segments=500)


# Systems that lack scores of different segments ----------------------------------------------------------------------


def with_gaps(share: float, n_segments: int = 1200) -> np.ndarray:
    """Three systems over more than one block of segments; some are easy for all."""
    rng = np.random.default_rng(7)
    scores = rng.normal(size=n_segments) + 0.5 * rng.normal(size=(3, n_segments)) + [[0.0], [0.05], [-0.05]]
    return np.where(rng.random(scores.shape) < share, np.nan, scores)


def test_without_a_gap_pairs_are_those_of_means_on_the_same_resamples() -> None:
    scores = with_gaps(0.0)
    packed = mean_packed(scores)[0]
    blocks = [packed[:, :1000], packed[:, 1000:]]
    expected = compare_systems(
        scores.mean(axis=1), bootstrap_replicates(blocks, 1200, MeanAggregate()), n_segments=1200
    )

    pairs = compare_on_shared_segments(scores)

    by_systems = {frozenset((pair.first, pair.second)): pair for pair in pairs}
    for pair in expected:
        shared_pair = by_systems[frozenset((pair.first, pair.second))]
        assert (shared_pair.first, shared_pair.p_value, shared_pair.adjusted, shared_pair.segments) == (
            pair.first,
            pair.p_value,
            pair.adjusted,
            1200,
        )
        assert (shared_pair.difference, shared_pair.low, shared_pair.high) == pytest.approx(
            (pair.difference, pair.low, pair.high), abs=1e-12
        )


def test_a_pair_is_compared_on_the_segments_of_both_by_a_plain_loop() -> None:
    scores = with_gaps(0.3)
    scores = scores[:, np.isfinite(scores).any(axis=0)]
    sizes = block_sizes(scores.shape[1])
    drawn = draws_per_block(sizes, 50, 3)
    counts = np.hstack([draws_in_block(drawn[:, n], int(size), n, 3) for n, size in enumerate(sizes)])

    for pair in compare_on_shared_segments(scores, replicates=50, seed=3):
        shared = [s for s in range(scores.shape[1]) if not np.isnan(scores[[pair.first, pair.second], s]).any()]
        differences = [scores[pair.first, s] - scores[pair.second, s] for s in shared]
        resampled = [np.average(differences, weights=row[shared]) for row in counts]
        assert pair.segments == len(shared)
        assert pair.difference == pytest.approx(np.mean(differences), abs=1e-12)
        beyond = sum(abs(d - np.mean(resampled)) >= abs(np.mean(differences)) for d in resampled)
        reversed_ = sum(d * np.mean(differences) <= 0 for d in resampled)
        deviate = norm.isf((max(beyond, 2 * reversed_) + 1) / 51 / 2) * np.sqrt((len(shared) - 1) / len(shared))
        assert pair.p_value == pytest.approx(2 * student_t.sf(deviate, len(shared) - 1), abs=1e-12)
        assert (pair.low, pair.high) == pytest.approx((sorted(resampled)[1], sorted(resampled)[-2]), abs=1e-12)


def test_a_system_without_scores_of_what_is_hard_gains_nothing_by_that() -> None:
    scores = with_gaps(0.0)
    scores[2, scores[0] < 0] = np.nan  # the worst one, scored where the first is good
    assert np.nanmean(scores[2]) > np.nanmean(scores[1])

    pairs = {frozenset((pair.first, pair.second)): pair for pair in compare_on_shared_segments(scores)}

    assert pairs[frozenset((1, 2))].first == 1


def test_segments_without_any_score_do_not_change_the_resamples() -> None:
    """A pair without gaps is compared on a run's own resamples, in which such segments do not count either."""
    scores = with_gaps(0.0)
    spread = np.full((len(scores), 2 * scores.shape[1]), np.nan)
    spread[:, ::2] = scores

    assert compare_on_shared_segments(spread, replicates=50) == compare_on_shared_segments(scores, replicates=50)
    with pytest.raises(ValueError, match="scores: found none"):
        compare_on_shared_segments(np.full((2, 3), np.nan))


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_equal_systems_stay_in_their_order_with_gaps_as_without(higher_is_better: bool) -> None:
    equal = np.full((2, 4), 0.5)
    (pair,) = compare_systems([0.5, 0.5], np.full((50, 2), 0.5), n_segments=4, higher_is_better=higher_is_better)
    (shared_pair,) = compare_on_shared_segments(equal, higher_is_better=higher_is_better, replicates=50)
    assert (pair.first, pair.second) == (shared_pair.first, shared_pair.second) == (0, 1)
    assert (pair.p_value, shared_pair.p_value) == (1, 1)


def test_lower_may_be_better_and_nothing_shared_is_undefined() -> None:
    pair, *_ = compare_on_shared_segments([[0.2, 0.4], [0.5, 0.6]], higher_is_better=False)
    assert (pair.first, pair.difference) == (0, pytest.approx(-0.25))

    (alone,) = compare_on_shared_segments([[0.2, np.nan], [np.nan, 0.6]])
    assert (alone.reason, alone.segments) == ("no segment has a score of both", 0)
    assert np.isnan([alone.difference, alone.p_value, alone.adjusted]).all()
    with pytest.raises(ValueError, match=r"scores: found shape \(3,\)"):
        compare_on_shared_segments([0.1, 0.2, 0.3])
