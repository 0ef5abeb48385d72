"""Results in plain words."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from annotation.results.selectors.verdicts import CriterionVerdict, PairVerdict

MOST_PAIRS = 3  # that the sentence names one by one


def verdict_sentence(verdict: CriterionVerdict) -> str:
    """Return who is better than whom for certain, and what remains open."""
    if not verdict.systems:
        return "No output of a system has a rating that counts yet."
    if len(verdict.systems) == 1:
        return f"Only {verdict.systems[0].name} has ratings: there is nothing to compare it with."
    if verdict.parts:
        groups = "; ".join(listed(part) for part in verdict.parts)
        return f"These systems cannot all be compared, because some never met, not even through others: {groups}."
    if verdict.reason:
        return f"Strengths are undefined: {verdict.reason}. The shares of comparisons won are below."
    certain = [pair for pair in verdict.pairs if pair.differs]
    if not certain:
        best = verdict.systems[0]
        return (
            f"No difference between two systems is certain yet; {best.name} is ahead with "
            f"{number(best.estimate)}{_interval(best.low, best.high)}."
        )
    n_pairs = len(verdict.pairs)
    if len(certain) <= MOST_PAIRS:
        first, *others = certain
        text = f"Raters prefer {first.first} to {first.second}: {_difference(first, verdict.of_means)}"
        for pair in others:
            text += f"; {pair.first} to {pair.second}: {_difference(pair)}"
        rest = "nothing else is certain" if n_pairs > len(certain) else "so the order is certain"
        return f"{text}; {rest}." + _caution(certain)
    first_ones = [each for each in verdict.systems if each.cluster == verdict.systems[0].cluster]
    widest = certain[0]
    lead = (
        f"{first_ones[0].name} is better than every other system"
        if len(first_ones) == 1
        else f"No system is ahead of all others; {listed([each.name for each in first_ones])} share the first place"
        if len(first_ones) < len(verdict.systems)
        else f"{verdict.systems[0].name} is ahead, but not certainly of all"
    )
    text = (
        f"{lead}. {_how_many(len(certain), n_pairs)} certain, the largest between "
        f"{widest.first} and {widest.second}: {_difference(widest, verdict.of_means)}."
    )
    return text + _caution(certain)


def _how_many(certain: int, pairs: int) -> str:
    return f"All {pairs:,} differences are" if certain == pairs else f"Of {pairs:,} differences {certain:,} are"


def named_sentence(verdict: CriterionVerdict, *, many: bool) -> str:
    """Return the sentence; with its criterion in front if it is one of many."""
    return f"{verdict.criterion.capitalize()}: {verdict.sentence}" if many else verdict.sentence


def _caution(certain: list[PairVerdict]) -> str:
    turned = sum(pair.holds_zero for pair in certain)
    if not turned:
        return ""
    which = "It holds" if len(certain) == 1 else f"{turned:,} of these differences hold"
    return f" {which} for these raters; with other raters it may be otherwise, as the interval says."


def _difference(pair: PairVerdict, of_means: str = "") -> str:
    where = f" {of_means}" if of_means else ""
    interval = "" if isnan(pair.low) else f", 95 % interval {number(pair.low)} to {number(pair.high)}"
    return f"{number(pair.difference, plus=True)}{where}{interval}"


def _interval(low: float, high: float) -> str:
    return "" if isnan(low) else f" (95 % interval {number(low)} to {number(high)})"


def number(value: float, *, plus: bool = False) -> str:
    """Return a number with two decimals and a minus sign.

    >>> number(-0.314), number(0.2, plus=True), number(-0.001)
    ('−0.31', '+0.20', '0.00')
    """
    text = f"{value:+.2f}" if plus else f"{value:.2f}"
    return (text.lstrip("-") if text == "-0.00" else text).replace("-", "−")


def listed(names: list[str]) -> str:
    """Return names in a sentence.

    >>> listed(["A", "B", "C"])
    'A, B and C'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
