"""All measures of all raters, in one call."""

from dataclasses import dataclass

import numpy.typing as npt

from annotation.weighting.checks import CheckAccuracy, CheckLog, SelfConsistency, check_accuracy, self_consistency
from annotation.weighting.degraded import DegradedTest, degraded_test
from annotation.weighting.raters import RaterSummary, summarise_raters
from annotation.weighting.table import RatingTable


@dataclass(frozen=True, eq=False)
class RaterQuality:
    """Measures of K raters, each with the interval that its number of observations allows; arrays of shape (K,).

    Attributes
    ----------
    summary : values, times, and agreement with the other raters.
    gold, attention, anchor : share of answers inside the expected range.
    repeats : agreement of second answers with first.
    degraded : whether degraded texts are rated lower.
    """

    summary: RaterSummary
    gold: CheckAccuracy
    attention: CheckAccuracy
    anchor: CheckAccuracy
    repeats: SelfConsistency
    degraded: DegradedTest


def rater_quality(
    table: RatingTable,
    *,
    checks: CheckLog | None = None,
    seconds: npt.ArrayLike | None = None,
    criterion: npt.ArrayLike | None = None,
    screen: npt.ArrayLike | None = None,
    points: npt.ArrayLike | None = None,
    confidence: float = 0.95,
) -> RaterQuality:
    """Compute all measures of all raters.

    Parameters
    ----------
    table : RatingTable
        Ordinary ratings; answers to checks are in ``checks`` alone.
    checks : CheckLog, optional
        Its raters are the table's codes, 0..K-1. Without it every check has n = 0 and a reason.
    seconds, criterion, screen, points
        As in ``summarise_raters``; ``criterion`` names criteria as ``checks`` does.
    confidence : float
        In (0, 1).

    Raises
    ------
    ValueError
        As in ``summarise_raters``, ``check_accuracy``, ``self_consistency`` and ``degraded_test``.

    Examples
    --------
    >>> table = RatingTable([0, 1, 0, 1], [0, 0, 1, 1], [4, 2, 5, 3])
    >>> checks = CheckLog([0, 1], kind=["gold", "gold"], value=[4, 1], low=[4, 4], high=[5, 5])
    >>> quality = rater_quality(table, checks=checks)
    >>> quality.gold.share.tolist(), quality.summary.mean.tolist()
    ([1.0, 0.0], [3.0, 4.0])
    """
    answers = CheckLog([], kind=[], value=[]) if checks is None else checks
    n = table.n_raters
    return RaterQuality(
        summary=summarise_raters(
            table, seconds=seconds, criterion=criterion, screen=screen, points=points, confidence=confidence
        ),
        gold=check_accuracy(answers, "gold", n, confidence=confidence),
        attention=check_accuracy(answers, "attention", n, confidence=confidence),
        anchor=check_accuracy(answers, "anchor", n, confidence=confidence),
        repeats=self_consistency(answers, n, confidence=confidence),
        degraded=degraded_test(answers, table.rater, table.value, n, criterion=criterion, confidence=confidence),
    )
