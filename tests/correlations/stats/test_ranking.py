import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from correlations.stats.ranking import (
    cross_validated_tie_accuracy,
    pairwise_accuracy,
    soft_pairwise_accuracy,
    tie_calibrated_accuracy,
)

NAN = math.nan
# The matrices and the expected values of `test_regression_example` in mt_metrics_eval/tau_optimization_test.py
# (google-research/mt-metrics-eval, commit 0b82d96), with None as NaN.
METRIC = [[0, 5, 2, 3, 2], [NAN, 2, 1, 5, 3], [9, 1, 5, 3, 8], [9, 3, 4, 4, 1], [NAN] * 5]
HUMAN = [[1, 5, 2, 1, 1], [4, 2, 2, 1, 4], [5, 9, 2, 8, 7], [7, 6, NAN, 3, 2], [NAN] * 5]

scores = st.integers(0, 5).map(float) | st.just(NAN)
outputs = st.tuples(st.integers(1, 4), st.integers(2, 5)).flatmap(
    lambda shape: st.tuples(arrays(np.float64, shape, elements=scores), arrays(np.float64, shape, elements=scores))
)


def accuracy_at(metric, human, epsilon):
    """Deutsch, Foster and Freitag (2023), one item and one pair at a time: the definition, without a sort."""
    shares = []
    for scores, ratings in zip(metric, human, strict=True):
        right = []
        for (m1, h1), (m2, h2) in itertools.combinations(zip(scores, ratings, strict=True), 2):
            if any(map(math.isnan, (m1, m2, h1, h2))):
                continue
            tied = abs(m1 - m2) <= epsilon
            right.append(h1 == h2 if tied else (m1 - m2) * (h1 - h2) > 0)
        if right:
            shares.append(sum(right) / len(right))
    return sum(shares) / len(shares) if shares else NAN


def best_by_definition(metric, human):
    differences = {0.0}
    for scores, ratings in zip(metric, human, strict=True):
        known = [m for m, h in zip(scores, ratings, strict=True) if not math.isnan(m + h)]
        differences |= {abs(a - b) for a, b in itertools.combinations(known, 2)}
    return [(epsilon, accuracy_at(metric, human, epsilon)) for epsilon in sorted(differences)]


def test_pairwise_accuracy_and_its_calibration_equal_mt_metrics_eval():
    assert pairwise_accuracy(METRIC, HUMAN) == pytest.approx(0.4666666666666667, abs=1e-12)
    result = tie_calibrated_accuracy(METRIC, HUMAN)
    assert (result.accuracy, result.epsilon) == (pytest.approx(0.4916666666666668, abs=1e-12), 1.0)


@pytest.mark.parametrize(("human", "accuracy", "epsilon"), [([1, 2, 3, 4], 1.0, 0.0), ([1, 1, 1, 4], 4 / 6, 4.0)])
def test_calibration_finds_the_thresholds_of_mt_metrics_eval_s_worked_examples(human, accuracy, epsilon):
    """`test_zero_threshold_is_best` and `test_nonzero_threshold_is_best` of the same file."""
    result = tie_calibrated_accuracy([[0, 2, 6, 8]], [human])
    assert (result.accuracy, result.epsilon) == (pytest.approx(accuracy), epsilon)


def test_each_fold_has_the_threshold_that_is_best_for_the_others():
    rng = np.random.default_rng(8)
    human = rng.integers(1, 4, size=(23, 4)).astype(float)
    metric = human + rng.normal(0, 1, human.shape)
    metric[rng.random(human.shape) < 0.1] = NAN
    metric[7] = NAN  # an item without a pair falls into no fold

    found = cross_validated_tie_accuracy(metric, human, rng=np.random.default_rng(3), n_folds=5)

    items = np.array([item for item in range(23) if not math.isnan(accuracy_at(metric[[item]], human[[item]], 0))])
    folds = dict(zip(np.random.default_rng(3).permutation(items).tolist(), np.arange(items.size) % 5, strict=True))
    shares = []
    for held_out in range(5):
        rest = [item for item in items if folds[item] != held_out]
        candidates = best_by_definition(metric[rest], human[rest])
        best = max(accuracy for _, accuracy in candidates)
        epsilon = min(epsilon for epsilon, accuracy in candidates if accuracy >= best - 1e-12)
        shares += [accuracy_at(metric[[i]], human[[i]], epsilon) for i in items if folds[i] == held_out]
    assert found == pytest.approx(np.mean(shares))
    assert found <= tie_calibrated_accuracy(metric, human).accuracy
    assert math.isnan(cross_validated_tie_accuracy(metric[:1], human[:1], rng=rng))
    # Pairs one by one, held out with those of their row, are the row.
    first, second = np.triu_indices(4, 1)
    pairs = [np.nan_to_num(side)[:, [first, second]].transpose(0, 2, 1).reshape(-1, 2) for side in (metric, human)]
    by_row = cross_validated_tie_accuracy(
        *pairs, rng=np.random.default_rng(3), n_folds=5, groups=np.repeat(np.arange(23), 6)
    )
    rows = np.nan_to_num(metric), np.nan_to_num(human)
    assert by_row == cross_validated_tie_accuracy(*rows, rng=np.random.default_rng(3), n_folds=5)
    with pytest.raises(ValueError, match="n_folds is 1"):
        cross_validated_tie_accuracy(metric, human, rng=rng, n_folds=1)


@settings(max_examples=60)
@given(outputs)
def test_calibration_is_the_smallest_of_the_best_thresholds(sides):
    metric, human = sides
    along = best_by_definition(metric, human)
    result = tie_calibrated_accuracy(metric, human)
    if math.isnan(along[0][1]):
        assert math.isnan(result.accuracy)
        assert math.isnan(result.epsilon)
        assert "no two outputs" in result.reason
        return
    best = max(accuracy for _, accuracy in along)
    assert result.accuracy == pytest.approx(best, abs=1e-12)
    assert result.epsilon == next(epsilon for epsilon, accuracy in along if accuracy > best - 1e-9)
    assert pairwise_accuracy(metric, human) == pytest.approx(along[0][1], abs=1e-12)


def test_items_count_alike_whatever_their_number_of_pairs():
    metric, human = [[1, 2, 3, 4], [1, 2, NAN, NAN]], [[1, 2, 3, 4], [2, 1, NAN, NAN]]
    assert pairwise_accuracy(metric, human) == 0.5


def test_counts_stay_exact_where_whole_numbers_of_64_bits_would_overflow():
    rng = np.random.default_rng(3)
    metric, human = rng.integers(0, 4, (60, 61)).astype(float), rng.integers(0, 4, (60, 61)).astype(float)
    for item in range(60):
        metric[item, item + 2 :] = NAN  # 1, 3, 6, ... pairs: their least common multiple has 26 digits
    along = [(epsilon, accuracy_at(metric.tolist(), human.tolist(), epsilon)) for epsilon in range(4)]
    result = tie_calibrated_accuracy(metric, human)
    assert result.accuracy == pytest.approx(max(accuracy for _, accuracy in along), abs=1e-12)
    assert result.epsilon == max(along, key=lambda entry: entry[1])[0]


def test_without_a_pair_nothing_is_defined():
    assert math.isnan(pairwise_accuracy([[1, NAN]], [[NAN, 2]]))
    assert math.isnan(soft_pairwise_accuracy([[1, NAN], [NAN, 1]], [[1, 2], [3, 4]], rng=np.random.default_rng(1)))
    assert math.isnan(soft_pairwise_accuracy([[1, 2]], [[1, 2]], rng=np.random.default_rng(1)))


def soft_accuracy_by_exchanges(metric, human):
    """Thompson et al. (2024), with every exchange of two systems' outputs in place of random ones."""
    differences = []
    for i, j in itertools.combinations(range(len(metric)), 2):
        p_values = []
        for side in (human, metric):
            apart = [a - b for a, b in zip(side[i], side[j], strict=True)]
            exchanges = list(itertools.product((1, -1), repeat=len(apart)))
            sums = [sum(sign * d for sign, d in zip(signs, apart, strict=True)) for signs in exchanges]
            p_values.append(sum(total >= sum(apart) - 1e-9 for total in sums) / len(sums))
        differences.append(abs(p_values[0] - p_values[1]))
    return 1 - sum(differences) / len(differences)


def test_soft_pairwise_accuracy_is_the_exact_one_up_to_chance():
    rng = np.random.default_rng(8)
    human = rng.integers(1, 6, (4, 10)).astype(float)
    metric = human + rng.normal(0, 2, human.shape)
    drawn = soft_pairwise_accuracy(metric, human, rng=rng, n_resamples=20_000)
    assert drawn == pytest.approx(soft_accuracy_by_exchanges(metric, human), abs=0.01)


def test_random_scores_reach_the_chance_levels_that_the_heads_of_the_table_name():
    """A p of random scores is uniform, so that 1 - |p - u| has the mean 1/2 for p = 0 or 1, and 3/4 for p = 1/2."""
    rng = np.random.default_rng(7)
    sure = np.stack([np.arange(200) % 7 + 9.0, np.arange(200) % 7])
    unsure = np.stack([np.zeros(200), rng.permutation(np.repeat([1.0, -1.0], 100)) * rng.uniform(1, 2, 200)])
    unsure[1] -= unsure[1].mean()
    tied = np.tile([1.0, 1.0, 2.0, 3.0], (200, 1))  # 1 pair of 6
    random = rng.normal(size=(100, 2, 200))

    def soft(ratings):
        return np.mean([soft_pairwise_accuracy(each, ratings, rng=rng, n_resamples=200) for each in random])

    assert soft(sure) == pytest.approx(0.5, abs=0.08)  # three standard errors of 100 draws
    assert soft(unsure) == pytest.approx(0.75, abs=0.05)
    assert pairwise_accuracy(rng.normal(size=tied.shape), tied) == pytest.approx(5 / 12, abs=0.05)
    assert pairwise_accuracy(np.zeros_like(tied), tied) == pytest.approx(1 / 6)


def test_soft_pairwise_accuracy_compares_a_pair_on_the_items_that_both_have():
    human = np.array([[3, 4, 5, 4, 2, 5.0], [2, 4, 4, 3, 3, 1], [1, 2, 2, 3, 1, 1]])
    metric = human[:, ::-1] / 5
    extra = np.concatenate([human, [[5.0, NAN], [NAN, 5.0], [NAN, NAN]]], axis=1)
    longer = np.concatenate([metric, [[1.0, NAN], [NAN, 0.0], [NAN, NAN]]], axis=1)
    plain = soft_pairwise_accuracy(metric, human, rng=np.random.default_rng(1), n_resamples=20_000)
    assert soft_pairwise_accuracy(longer, extra, rng=np.random.default_rng(1), n_resamples=20_000) == pytest.approx(
        plain, abs=0.015
    )


def test_the_ratings_themselves_are_certain_of_the_same_and_their_opposite_is_not():
    human = np.random.default_rng(2).normal(size=(5, 30)) + np.arange(5.0)[:, None]
    same, opposite = (
        soft_pairwise_accuracy(metric, human, rng=np.random.default_rng(1)) for metric in (3 * human + 7, -human)
    )
    assert same == 1.0
    assert opposite < 0.05


@pytest.mark.parametrize(
    ("metric", "human", "message"),
    [
        ([1, 2], [1, 2], r"metric has shape \(2,\)"),
        ([[1, 2]], [[1, 2, 3]], r"shape \(1, 2\) and human \(1, 3\)"),
        ([[1, 2]], [[1, math.inf]], r"human\[0, 1\] is inf"),
    ],
)
def test_impossible_input_is_refused(metric, human, message):
    for function in (pairwise_accuracy, tie_calibrated_accuracy):
        with pytest.raises(ValueError, match=message):
            function(metric, human)
    with pytest.raises(ValueError, match=message):
        soft_pairwise_accuracy(metric, human, rng=np.random.default_rng(1))


def test_at_least_one_resample_is_needed():
    with pytest.raises(ValueError, match="n_resamples is 0"):
        soft_pairwise_accuracy([[1, 2]], [[1, 2]], rng=np.random.default_rng(1), n_resamples=0)
