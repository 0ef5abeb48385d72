"""How sure the agreement of a rater who is left out is: a jackknife over items, written as a loop."""

import numpy as np
import pytest
from scipy import stats

from correlations.stats.left_out_ends import left_out_ends

ITEMS = np.arange(120) // 2  # two outputs of each


def drawn(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    quality = rng.normal(size=ITEMS.size)
    return quality + rng.normal(size=(3, ITEMS.size)), quality + rng.normal(scale=0.5, size=ITEMS.size)


def means(ratings: np.ndarray, score: np.ndarray) -> np.ndarray:
    """Return the mean Pearson's r with the mean of the others: of a rater, of the score, and their difference."""
    others = [np.delete(ratings, rater, axis=0).mean(axis=0) for rater in range(len(ratings))]
    rater = np.mean([stats.pearsonr(own, other)[0] for own, other in zip(ratings, others, strict=True)])
    metric = np.mean([stats.pearsonr(score, other)[0] for other in others])
    return np.array([rater, metric, metric - rater])


def test_the_ends_are_those_of_a_loop_that_leaves_out_a_twentieth_of_the_items() -> None:
    """Kott (2001), equation 2."""
    ratings, score = drawn(np.random.default_rng(4))
    without = [means(ratings[:, group != ITEMS % 20], score[group != ITEMS % 20]) for group in range(20)]
    error = np.sqrt(19 / 20 * ((np.array(without) - np.mean(without, axis=0)) ** 2).sum(axis=0))
    reach = stats.t.ppf(0.975, 19) * error

    (found,) = left_out_ends(ratings, score[None], ITEMS, coefficient="pearson")

    expected = np.stack([means(ratings, score) - reach, means(ratings, score) + reach], axis=1)
    assert np.array([found.rater, found.metric, found.difference]) == pytest.approx(expected)


def test_few_items_and_constant_scores_have_none() -> None:
    ratings, score = drawn(np.random.default_rng(4))
    (few,) = left_out_ends(ratings, score[None], ITEMS % 39, coefficient="pearson")
    (constant,) = left_out_ends(ratings, np.ones((1, ITEMS.size)), ITEMS, coefficient="pearson")
    assert np.isnan([few.rater, few.difference, constant.metric]).all()
