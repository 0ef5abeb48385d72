"""Cross-validated choice of a value, against a loop over folds written from the definition."""

import math

import numpy as np
import pytest
from scipy import stats

from correlations.stats.choosing import cross_validated_choice, random_folds
from tests.correlations.stats.test_parameters import mean_value


def over_systems(scores: np.ndarray, human: np.ndarray, items: np.ndarray) -> float:
    return float(stats.pearsonr(scores[:, items].mean(axis=1), human[:, items].mean(axis=1)).statistic)


def test_every_fold_is_judged_by_the_value_that_is_best_on_the_others() -> None:
    rng = np.random.default_rng(4)
    human = rng.normal(size=(5, 60)) + np.arange(5)[:, None] * 0.4
    scores = [human + noise * rng.normal(size=human.shape) for noise in (3.0, 2.5, 2.0)]
    outputs = np.ones(human.shape, dtype=bool)
    outputs[:, 50:] = False

    found = cross_validated_choice(
        [mean_value(each) for each in scores], human, outputs, 0, coefficient="pearson", n_folds=5, n_repeats=3, seed=9
    )

    draws = np.random.default_rng(9)
    chosen, training, inside, outside, fixed = [], [], [], [], []
    for _ in range(3):
        folds = random_folds(outputs.any(axis=0), 5, draws)
        for held_out in range(5):
            rest = np.flatnonzero((folds >= 0) & (folds != held_out))
            best = max(range(3), key=lambda v: over_systems(scores[v], human, rest))
            here = np.flatnonzero(folds == held_out)
            chosen.append(best)
            training.append(over_systems(scores[best], human, rest))
            outside.append(over_systems(scores[best], human, here))
            fixed.append(over_systems(scores[0], human, here))
            inside += [
                over_systems(scores[best], human, np.flatnonzero(folds == other))
                for other in range(5)
                if other != held_out
            ]
    assert found is not None
    assert found.judged == 15
    assert found.shares.tolist() == pytest.approx(np.bincount(chosen, minlength=3) / 15)
    expected = [np.mean(each) for each in (training, inside, outside, fixed)]
    assert [found.on_training, found.inside, found.outside, found.fixed] == pytest.approx(expected)
    gains = np.subtract(outside, fixed)
    assert (found.gain, *found.gain_range) == pytest.approx((gains.mean(), *np.quantile(gains, (0.025, 0.975))))


def test_of_noise_the_best_is_good_where_it_was_chosen_and_worthless_elsewhere() -> None:
    rng = np.random.default_rng(5)
    human = rng.normal(size=(6, 300))
    values = [mean_value(rng.normal(size=human.shape)) for _ in range(30)]

    found = cross_validated_choice(
        values, human, np.ones(human.shape, dtype=bool), 0, coefficient="pearson", n_folds=2, n_repeats=30, seed=1
    )

    assert found is not None
    assert found.inside == pytest.approx(found.on_training)  # of two folds, the other one is all that it was chosen on
    assert found.inside > 0.7
    assert abs(found.outside) < 0.35
    assert found.shares.sum() == pytest.approx(1)


def test_folds_without_a_coefficient_do_not_count_and_wrong_arguments_are_refused() -> None:
    human = np.tile(np.arange(3.0)[:, None], (1, 30))
    values = [mean_value(np.ones(human.shape))]
    everything = np.ones(human.shape, dtype=bool)
    assert cross_validated_choice(values, human, everything, 0, coefficient="pearson", seed=1) is None
    for changes in ({"coefficient": "nonsense"}, {"n_repeats": 0}, {"n_folds": 1}):
        arguments = {"coefficient": "pearson", "seed": 1} | changes
        with pytest.raises(ValueError, match=r"accepted|needed"):
            cross_validated_choice(values, human, everything, 0, **arguments)  # type: ignore[arg-type]
    assert not math.isnan(over_systems(human + np.eye(3, 30), human, np.arange(30)))
