"""Rules from data, applied in order to a finished log or asked about raters at work."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from annotation.weighting.exclusion.listed import (
    ExcludeExtra,
    ExcludeRaters,
    ExcludeRatings,
    MinRatingsPerRater,
    MinSecondsPerRating,
)
from annotation.weighting.exclusion.log import RatingLog
from annotation.weighting.exclusion.measured import (
    AgreementBelow,
    AnchorAccuracyBelow,
    AttentionAccuracyBelow,
    DegradedNotLower,
    EntropyBelow,
    FasterThanPercentile,
    GoldAccuracyBelow,
    MedianSecondsBelow,
    SelfConsistencyBelow,
)
from annotation.weighting.exclusion.rule import (
    Action,
    Evidence,
    ExclusionRule,
    RuleError,
    Ruling,
    Standing,
    Struck,
)
from annotation.weighting.groups import BoolArray

_LISTED: tuple[type[ExclusionRule], ...] = (
    ExcludeRaters,
    ExcludeRatings,
    MinSecondsPerRating,
    MinRatingsPerRater,
    ExcludeExtra,
)
_MEASURED: tuple[type[ExclusionRule], ...] = (
    GoldAccuracyBelow,
    AttentionAccuracyBelow,
    AnchorAccuracyBelow,
    SelfConsistencyBelow,
    DegradedNotLower,
    FasterThanPercentile,
    MedianSecondsBelow,
    AgreementBelow,
    EntropyBelow,
)
_RULES: dict[str, type[ExclusionRule]] = {rule.name: rule for rule in (*_LISTED, *_MEASURED)}

RULE_NAMES = tuple(_RULES)


@dataclass(frozen=True, eq=False)
class Exclusion:
    """Which of n ratings stay, how many each rule took and whom it struck, in the order of the rules.

    A rating that several rules exclude is counted for the first of them; a rater whom a rule has excluded is struck by
    no later one. ``flagged`` names everybody whom a flagging rule struck, in order, whether or not excluded later.
    """

    keep: BoolArray
    counts: tuple[int, ...]
    struck: tuple[tuple[Struck, ...], ...]
    flagged: tuple[str | int, ...]


@dataclass(frozen=True)
class RaterVerdict:
    """What a rule says of a rater now; ``rule`` is its place in the list of rules, from 0."""

    rater: str | int
    action: Action
    rule: int
    evidence: Evidence


def apply_rules(rules: Sequence[ExclusionRule], log: RatingLog) -> Exclusion:
    """Apply rules in order; the log is left as it is.

    Raises
    ------
    ValueError
        A rule needs a column, or answers to checks, that the log does not have.

    Examples
    --------
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
    """Whom the rules would exclude or flag now, and why: for campaigns that still run.

    Rules that say nothing of a rater at work (``min_ratings_per_rater``: everybody starts with none) are passed over.

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
    >>> log = RatingLog(["ann"] * 3 + ["bob"] * 3, seconds=[9, 8, 9, 1, 1, 2])
    >>> [verdict] = judge_raters([MedianSecondsBelow("flag", seconds=3, after=3)], log)
    >>> verdict.rater, verdict.action, verdict.evidence.estimate, verdict.evidence.n
    ('bob', 'flag', 1.0, 3)
    """
    asked = [(place, rule) for place, rule in enumerate(rules) if rule.live]
    rulings = _rulings([rule for _, rule in asked], log)
    return [
        RaterVerdict(entry.rater, rule.does(), place, entry.evidence)
        for (place, rule), (_, ruling) in zip(asked, rulings, strict=True)
        for entry in ruling.struck
    ]


def _rulings(rules: Sequence[ExclusionRule], log: RatingLog) -> Iterator[tuple[ExclusionRule, Ruling]]:
    """Each rule's ruling on what the rules before it left."""
    standing = Standing(np.ones(len(log), dtype=np.bool_), np.zeros(len(log.raters), dtype=np.bool_))
    for rule in rules:
        ruling = rule.judge(log, standing)
        standing = Standing(standing.remaining & ~ruling.ratings, standing.out | ruling.out)
        yield rule, ruling


def _sortable(identifier: str | int) -> tuple[str, str | int]:
    return type(identifier).__name__, identifier


def rule_class(name: str) -> type[ExclusionRule] | None:
    """The rule of a name, in the version that is current; None where there is none."""
    return _RULES.get(name)


def rule_from_dict(data: Mapping[str, Any]) -> ExclusionRule:
    """A rule from its record.

    Raises
    ------
    RuleError
        Unknown rule or version, missing or unknown fields, or a field outside what is accepted; named in the message
        and in ``field``.

    Examples
    --------
    >>> rule_from_dict({"rule": "min_seconds_per_rating", "version": 1, "seconds": 2})
    MinSecondsPerRating(seconds=2)
    >>> record = {"rule": "gold_accuracy_below", "version": 1, "action": "exclude", "accuracy": 0.6, "after": 5}
    >>> rule_from_dict(record).sentence
    'Exclude raters whose gold accuracy is below 0.6, after 5 gold answers.'
    """
    name = data.get("rule")
    if not isinstance(name, str) or name not in _RULES:
        raise RuleError(f"exclusion rule: field 'rule' is {name!r}; accepted: {', '.join(_RULES)}", field="rule")
    kind = _RULES[name]
    if data.get("version") != kind.version:
        raise RuleError(
            f"exclusion rule {name!r}: field 'version' is {data.get('version')!r}; accepted: {kind.version}",
            field="version",
        )
    known = [field.name for field in fields(kind)]
    given = {key: value for key, value in data.items() if key not in {"rule", "version"}}
    wrong = sorted(set(known) ^ set(given))
    if wrong:
        problem = "missing" if wrong[0] in known else "unknown"
        accepted = ", ".join(["rule", "version", *known])
        raise RuleError(
            f"exclusion rule {name!r}: field {wrong[0]!r} is {problem}; accepted: {accepted}", field=wrong[0]
        )
    return kind(**given)


def rules_from_data(data: Sequence[Mapping[str, Any]]) -> list[ExclusionRule]:
    """Rules from a list of records; an error names the place in the list, counted from 1, also as ``number``."""
    rules = []
    for number, record in enumerate(data, start=1):
        try:
            rules.append(rule_from_dict(record))
        except RuleError as error:
            raise RuleError(f"rule {number} of {len(data)}: {error}", field=error.field, number=number) from error
    return rules
