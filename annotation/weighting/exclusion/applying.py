"""Rules applied in order, to a finished log or to raters at work."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.weighting.exclusion.log import RatingLog
from annotation.weighting.exclusion.rule import Action, Evidence, ExclusionRule, Ruling, Standing, Struck
from annotation.weighting.groups import BoolArray


@dataclass(frozen=True, eq=False)
class Exclusion:
    """Which of n ratings stay, how many ratings each rule excluded, and its raters, in the order of the rules.

    A rating that several rules exclude is counted for the first of them. After a rater is excluded, no later rule
    applies. ``flagged`` names all raters whom a rule flagged, in order, whether or not excluded later.
    """

    keep: BoolArray
    counts: tuple[int, ...]
    struck: tuple[tuple[Struck, ...], ...]
    flagged: tuple[str | int, ...]


@dataclass(frozen=True)
class RaterVerdict:
    """A rule's result for a rater at work; ``rule`` is its index in the list of rules."""

    rater: str | int
    action: Action
    rule: int
    evidence: Evidence


def apply_rules(rules: Sequence[ExclusionRule], log: RatingLog) -> Exclusion:
    """Apply rules in order, without changing the log.

    Raises
    ------
    ValueError
        A rule needs a column, or answers to checks, that the log does not have.

    Examples
    --------
    >>> from annotation.weighting.exclusion.listed import ExcludeRaters, MinSecondsPerRating
    >>> log = RatingLog(["ann", "ann", "bob", "eve"], seconds=[9.0, 0.5, 8.0, 7.0])
    >>> outcome = apply_rules([MinSecondsPerRating(1.0), ExcludeRaters(("eve",))], log)
    >>> outcome.keep.tolist(), outcome.counts
    ([True, False, True, False], (1, 1))
    >>> [[entry.rater for entry in struck] for struck in outcome.struck]
    [[], ['eve']]
    """
    keep = np.ones(len(log), dtype=np.bool_)
    counts, struck = [], []
    flagged: set[str | int] = set()
    for rule, ruling in _rulings(rules, log):
        counts.append(int((keep & ruling.ratings).sum()))
        keep = keep & ~ruling.ratings
        struck.append(ruling.struck)
        if rule.does() == "flag":
            flagged.update(entry.rater for entry in ruling.struck)
    return Exclusion(keep, tuple(counts), tuple(struck), tuple(sorted(flagged, key=_sortable)))


def judge_raters(rules: Sequence[ExclusionRule], log: RatingLog) -> list[RaterVerdict]:
    """Return whom the rules would exclude or flag now, and why, while a campaign runs.

    Rules that cannot judge a rater at work are skipped, such as ``min_ratings_per_rater``: all raters start with none.

    Returns
    -------
    list of RaterVerdict
        In the order of the rules, then of the raters. A rater is excluded at most once, and may be flagged before that.

    Raises
    ------
    ValueError
        As in :func:`apply_rules`.

    Examples
    --------
    >>> from annotation.weighting.exclusion.measured import MedianSecondsBelow
    >>> log = RatingLog(["ann"] * 3 + ["bob"] * 3, seconds=[9, 8, 9, 1, 1, 2])
    >>> [verdict] = judge_raters([MedianSecondsBelow("flag", seconds=3, after=3)], log)
    >>> verdict.rater, verdict.action, verdict.evidence.estimate, verdict.evidence.n
    ('bob', 'flag', 1.0, 3)
    """
    live = [(index, rule) for index, rule in enumerate(rules) if rule.live]
    rulings = _rulings([rule for _, rule in live], log)
    return [
        RaterVerdict(entry.rater, rule.does(), index, entry.evidence)
        for (index, rule), (_, ruling) in zip(live, rulings, strict=True)
        for entry in ruling.struck
    ]


def _rulings(rules: Sequence[ExclusionRule], log: RatingLog) -> Iterator[tuple[ExclusionRule, Ruling]]:
    """Yield each rule with its ruling on what the rules before it left."""
    standing = Standing(np.ones(len(log), dtype=np.bool_), np.zeros(len(log.raters), dtype=np.bool_))
    for rule in rules:
        ruling = rule.judge(log, standing)
        standing = Standing(standing.remaining & ~ruling.ratings, standing.out | ruling.out)
        yield rule, ruling


def _sortable(identifier: str | int) -> tuple[str, str | int]:
    return type(identifier).__name__, identifier
