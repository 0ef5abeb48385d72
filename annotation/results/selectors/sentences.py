"""Results in plain words."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from annotation.core.numbers import decimals

if TYPE_CHECKING:
    from annotation.results.selectors.verdicts import CriterionVerdict, PairVerdict

MOST_PAIRS = 3  # that the sentence names one by one


def verdict_sentence(verdict: CriterionVerdict) -> str:
    """Return who is better than whom for certain, what remains open, and which systems share no item."""
    return " ".join(filter(None, (_verdict(verdict), _not_compared(verdict))))


def _not_compared(verdict: CriterionVerdict) -> str:
    """Name the pairs without a common item: means over different items say nothing of a difference."""
    if not verdict.systems or not (apart := [pair for pair in verdict.pairs if not pair.is_compared]):
        return ""
    if len(apart) > MOST_PAIRS:
        return f"{len(apart):,} of {len(verdict.pairs):,} pairs of systems have no item in common and are not compared."
    names = listed([f"{pair.first} and {pair.second}" for pair in apart])
    return f"{names} have no item in common and are not compared."


def _compared(verdict: CriterionVerdict) -> list[PairVerdict]:
    return [pair for pair in verdict.pairs if pair.is_compared]


def _verdict(verdict: CriterionVerdict) -> str:
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
        estimate = f"{number(best.estimate)}{_interval(best.low, best.high)}"
        if len(_compared(verdict)) < len(verdict.pairs):
            return f"No difference between two systems is certain yet; {best.name} has the highest mean, {estimate}."
        return f"No difference between two systems is certain yet; {best.name} is ahead with {estimate}."
    if leads := _leads_over_all(verdict):
        return _ahead_of_all(verdict, leads)
    return _few_pairs(verdict, certain) if len(certain) <= MOST_PAIRS else _many_pairs(verdict, certain)


def _leads_over_all(verdict: CriterionVerdict) -> list[PairVerdict]:
    """Return the differences of the first of three or more systems to each other one if all are certain, else none."""
    first = verdict.systems[0].name
    leads = [pair for pair in verdict.pairs if pair.first == first and pair.differs]
    return leads if 1 < len(leads) == len(verdict.systems) - 1 else []


def _ahead_of_all(verdict: CriterionVerdict, leads: list[PairVerdict]) -> str:
    firm, open_ = _divided(leads)
    text = f"{leads[0].first} is better than every other system"
    if not open_:
        least = leads[-1]
        text += f"; its smallest lead, over {least.second}, is {_difference(least, verdict.of_means)}"
    elif not firm:
        least = leads[-1]
        text += (
            " by these raters. With other raters it may be otherwise: its smallest lead, over "
            f"{least.second}, is {_difference(least, verdict.of_means)}"
        )
    else:
        least = min(firm, key=lambda pair: pair.low)  # its interval comes closest to 0
        of, leads_over = ("", "the lead over") if len(firm) == 1 else (f"{least.second}: ", "the leads over")
        text += (
            f" by these raters. With other raters {leads_over} {listed([pair.second for pair in firm])} should hold, "
            f"too ({of}{_difference(least, verdict.of_means)}); "
            f"{'that' if len(open_) == 1 else 'those'} over {listed([pair.second for pair in open_])} may not"
        )
    return f"{text}. {_among_others(verdict, leads)}"


def _among_others(verdict: CriterionVerdict, leads: list[PairVerdict]) -> str:
    others = [pair for pair in _compared(verdict) if pair not in leads]
    certain = sum(pair.differs for pair in others)
    if not certain:
        return "The others cannot be told apart."
    return (
        "The order of the others is certain, too."
        if certain == len(others)
        else f"Of the {len(others):,} differences between the others {certain:,} {_are(certain)} certain."
    )


def _few_pairs(verdict: CriterionVerdict, certain: list[PairVerdict]) -> str:
    firm, open_ = _divided(certain)
    rest = "so the order is certain" if len(certain) == len(verdict.pairs) else "nothing else is certain"
    if not open_:
        return f"Raters prefer {_preferred(firm, verdict)}; {rest}."
    end = f"; {rest}." if len(certain) < len(verdict.pairs) else "."
    if firm:
        names = listed([f"{pair.first} to {pair.second}" for pair in open_])
        return f"Raters prefer {_preferred(firm, verdict)}. These raters also prefer {names}, but others may not{end}"
    return f"These raters prefer {_preferred(open_, verdict)}; others may not{end}"


def _many_pairs(verdict: CriterionVerdict, certain: list[PairVerdict]) -> str:
    first_ones = [each.name for each in verdict.systems if each.cluster == verdict.systems[0].cluster]
    lead = (
        f"No system is ahead of all others; {listed(first_ones)} share the first place"
        if len(first_ones) < len(verdict.systems)
        else f"{verdict.systems[0].name} is ahead, but not certainly of all"
    )
    firm, open_ = _divided(certain)
    n_pairs, widest = len(_compared(verdict)), (firm or certain)[0]
    how_many = f"All {n_pairs:,} differences are" if len(certain) == n_pairs else _of(n_pairs, len(certain))
    caution = f" With other raters {len(open_):,} of them may not hold." if open_ else ""
    return (
        f"{lead}. {how_many} certain, the largest between {widest.first} and {widest.second}: "
        f"{_difference(widest, verdict.of_means)}.{caution}"
    )


def _divided(certain: list[PairVerdict]) -> tuple[list[PairVerdict], list[PairVerdict]]:
    """Return differences that should hold with other raters and items, too, and those that are of these raters alone.

    The p-value is over items, as the raters are; the interval is over raters and items.
    """
    return [pair for pair in certain if not pair.holds_zero], [pair for pair in certain if pair.holds_zero]


def _preferred(pairs: list[PairVerdict], verdict: CriterionVerdict) -> str:
    return "; ".join(
        f"{pair.first} to {pair.second}: {_difference(pair, '' if place else verdict.of_means)}"
        for place, pair in enumerate(pairs)
    )


def _of(pairs: int, certain: int) -> str:
    return f"Of {pairs:,} differences {certain:,} {_are(certain)}"


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def named_sentence(verdict: CriterionVerdict, *, many: bool) -> str:
    """Return the sentence; with its criterion in front if it is one of many."""
    return f"{verdict.criterion.capitalize()}: {verdict.sentence}" if many else verdict.sentence


def _difference(pair: PairVerdict, of_means: str = "") -> str:
    where = f" {of_means}" if of_means else ""
    interval = "" if isnan(pair.low) else f", 95% interval {number(pair.low)} to {number(pair.high)}"
    return f"{number(pair.difference, plus=True)}{where}{interval}"


def _interval(low: float, high: float) -> str:
    return "" if isnan(low) else f" (95% interval {number(low)} to {number(high)})"


def number(value: float, *, plus: bool = False) -> str:
    """Return a number with two decimals and a minus sign.

    >>> number(-0.314), number(0.2, plus=True), number(-0.001)
    ('−0.31', '+0.20', '0.00')
    """
    return decimals(value, plus=plus)


def listed(names: list[str]) -> str:
    """Return names in a sentence.

    >>> listed(["A", "B", "C"])
    'A, B and C'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
