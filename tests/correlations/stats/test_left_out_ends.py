"""How sure the agreement of a rater who is left out is.

The expected ends were computed in R with survey 4.1-1 (Lumley), which has the delete-a-group jackknife as replicate
weights of type JK1: ``svrepdesign(variables, repweights = 20/19 or 0 for item % 20, weights = 1, scale = 19/20,
rscales = 1, mse = TRUE)``, ``withReplicates`` of mean weighted correlations (``cov.wt``), and ``qt(0.975, 19)`` errors
to both sides. EVER (Zardetto), the package of Kott's jackknife, has the same formula in ``kottby.user``.
"""

import numpy as np
import pytest
from scipy.stats import t

from correlations.stats.left_out_ends import LeftOutEnds, left_out_ends

OUTPUT = np.arange(120)
ITEM = OUTPUT // 2  # two outputs of each
QUALITY = OUTPUT * 37 % 101
RATINGS = np.stack([QUALITY + OUTPUT * step % 83 for step in (29, 47, 71)]).astype(np.float64)
SCORE = (QUALITY + OUTPUT * 13 % 61).astype(np.float64)
IN_R = [
    (0.69275662348, 0.79791463769),
    (0.71446375758, 0.80504980156),
    (-0.02390573429, 0.05274803226),
]  # rater, metric, difference


def ends(found: LeftOutEnds) -> np.ndarray:
    return np.array([found.rater, found.metric, found.difference])


def test_the_ends_are_those_of_another_package() -> None:
    (found,) = left_out_ends(RATINGS, SCORE[None], ITEM, coefficient="pearson")
    assert ends(found) == pytest.approx(np.array(IN_R), abs=1e-10)


def test_only_items_with_scores_and_several_raters_are_counted_and_dealt() -> None:
    """Ten times as many items of which every tenth is scored would all fall into two groups of twenty."""
    wide = OUTPUT.size * 10
    ratings, scores = np.full((4, wide), np.nan), np.full((2, wide), np.nan)
    ratings[:3] = np.random.default_rng(3).normal(size=(3, wide))
    ratings[:3, ::10], scores[0, ::10] = RATINGS, SCORE
    scores[1, : 19 * 20 : 10] = SCORE[: 19 * 2]  # 19 items
    scores[1, -1], ratings[:, -1] = 50, [np.nan, np.nan, np.nan, 50]  # and one that a single rater rated
    every_tenth, few = left_out_ends(ratings, scores, np.arange(wide) // 20 * 10, coefficient="pearson")
    assert ends(every_tenth) == pytest.approx(np.array(IN_R), abs=1e-10)
    assert np.isnan(ends(few)).all()


def test_few_items_are_dealt_to_half_as_many_groups() -> None:
    """By Kott's formula, group by group, from numpy.corrcoef: 31 items are 15 groups, t has 14 degrees of freedom."""
    n, groups = 31, 15
    ratings, score, item = RATINGS[:, : 2 * n], SCORE[: 2 * n], ITEM[: 2 * n]

    def means(kept: np.ndarray) -> np.ndarray:
        others = [np.delete(ratings, rater, axis=0).mean(axis=0)[kept] for rater in range(3)]
        of_rater, of_metric = (
            np.mean([np.corrcoef(each[kept], other)[0, 1] for each, other in zip(both, others, strict=True)])
            for both in (ratings, [score] * 3)
        )
        return np.array([of_rater, of_metric, of_metric - of_rater])

    whole = means(item >= 0)
    squares = sum((means(item % groups != group) - whole) ** 2 for group in range(groups))
    reach = t.ppf(0.975, groups - 1) * np.sqrt((groups - 1) / groups * squares)

    (found,) = left_out_ends(ratings, score[None], item, coefficient="pearson")

    assert ends(found) == pytest.approx(np.stack([whole - reach, whole + reach], axis=1), abs=1e-10)


def test_constant_scores_and_raters_who_rated_too_little_have_none() -> None:
    (constant,) = left_out_ends(RATINGS, np.ones((1, OUTPUT.size)), ITEM, coefficient="pearson")
    (few,) = left_out_ends(RATINGS, SCORE[None], ITEM, coefficient="pearson", enough=OUTPUT.size + 1)
    assert np.isnan([ends(constant), ends(few)]).all()
