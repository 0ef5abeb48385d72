"""Results in plain words."""

from __future__ import annotations

from math import isnan
from statistics import median
from typing import TYPE_CHECKING

from annotation.core.numbers import counted, decimals, ends_in_words
from annotation.core.prose import enumerated

if TYPE_CHECKING:
    from annotation.results.selectors.verdicts import CriterionVerdict, PairVerdict

MOST_PAIRS = 3  # that the text names one by one
PLAIN_NAMES = ("rating", "ratings")  # of criteria: they add nothing to "mean rating"
FEW_RATERS = 9  # up to here the correction for several pairs widens intervals by much
MUCH_WIDER = 1.5
NEARLY_ALL = 0.75  # of the differences that the scale allows: an interval that wide tells nearly nothing


def verdict_sentence(verdict: CriterionVerdict) -> str:
    """Say who finds which system better for certain, what is not, and which systems share no item."""
    return " ".join(filter(None, (_verdict(verdict), _not_compared(verdict))))


def _not_compared(verdict: CriterionVerdict) -> str:
    """Name the pairs without a common item: means over different items say nothing of a difference."""
    if not verdict.systems or not (apart := [pair for pair in verdict.pairs if not pair.is_compared]):
        return ""
    if len(apart) > MOST_PAIRS:
        return f"{len(apart):,} of {len(verdict.pairs):,} pairs of systems have no item in common and are not compared."
    names = enumerated([f"{pair.first} and {pair.second}" for pair in apart])
    return f"{names} have no item in common and are not compared."


def _compared(verdict: CriterionVerdict) -> list[PairVerdict]:
    return [pair for pair in verdict.pairs if pair.is_compared]


def _verdict(verdict: CriterionVerdict) -> str:
    """Say one finding in a sentence."""
    if not verdict.systems:
        return "No output of a system has a rating that counts yet."
    if len(verdict.systems) == 1:
        return f"Only {verdict.systems[0].name} has ratings: there is nothing to compare it with."
    if verdict.parts:
        groups = "; ".join(enumerated(part) for part in verdict.parts)
        return f"These systems cannot all be compared, because some never met, not even through others: {groups}."
    if verdict.reason:
        return f"Strengths are undefined: {verdict.reason}. The shares of comparisons won are below."
    certain = [pair for pair in verdict.pairs if pair.is_certain]
    open_ = [pair for pair in _compared(verdict) if not pair.is_certain]
    if not certain:
        sentences = [_nothing_certain(verdict)]
    elif leads := _leads_over_all(verdict):
        sentences = _ahead_of_all(verdict, leads)
    elif len(certain) <= MOST_PAIRS:
        sentences = [*_named_pairs(verdict, certain), _cannot_tell(open_)]
    else:
        sentences = [*_many_pairs(verdict, certain), _cannot_tell(open_)]
    return " ".join(filter(None, sentences))


def _by(verdict: CriterionVerdict) -> str:
    """Return what the sentence rests on, and how many gave it: a mean, and not what each rater prefers."""
    n, of = verdict.raters, "’s" if verdict.raters == 1 else "’"
    if not n:
        return "By the mean ratings" if verdict.by_means else "By the comparisons"
    if verdict.by_means:
        return f"By the mean of {counted(n, 'rater')}{of} ratings"
    return f"By the comparisons of {counted(n, 'rater')}"


def few_raters_sentence(verdict: CriterionVerdict) -> str:
    """Say that too few raters rated to know how far others would differ; empty if enough did."""
    if not verdict.is_rough or not _compared(verdict):
        return ""
    if verdict.raters == 1:
        return "Only one rater rated: what others would say is not known."
    return f"Only {verdict.raters} raters rated, so how far a new sample of raters would differ is uncertain."


def _nothing_certain(verdict: CriterionVerdict) -> str:
    compared = _compared(verdict)
    if len(compared) == len(verdict.pairs) == 1:
        (pair,) = compared
        difference = _difference(pair, verdict.of_means)
        return f"{_by(verdict)}, {pair.first} and {pair.second} cannot be told apart: {difference}."
    best = verdict.systems[0]
    what = f"highest {'mean' if verdict.by_means else 'strength'}, {number(best.estimate)}"
    shared = [each.name for each in verdict.systems if number(each.estimate) == number(best.estimate)]
    highest = (
        f"{best.name} has the {what}{_interval(best.low, best.high)}, which may be chance"
        if len(shared) == 1
        else f"{enumerated(shared) if len(shared) <= MOST_PAIRS else f'{len(shared):,} systems'} share the {what}"
    )
    return f"{_by(verdict)}, no difference between two systems is certain; {highest}."


def _cannot_tell(open_: list[PairVerdict], of_means: str = "") -> str:
    """Name the systems between which no difference was found, or count their pairs if they are many."""
    if not open_:
        return ""
    if len(open_) == 1:
        (pair,) = open_
        if pair.is_equal:
            return f"{pair.first} and {pair.second} have the same ratings throughout."
        return f"{pair.first} and {pair.second} cannot be told apart: {_difference(pair, of_means)}."
    names = list(dict.fromkeys(name for pair in open_ for name in (pair.first, pair.second)))
    if len(open_) == len(names) * (len(names) - 1) // 2:
        return f"{enumerated(names)} cannot be told apart."
    if len(open_) <= MOST_PAIRS:
        pairs = enumerated([f"{pair.first} and {pair.second}" for pair in open_])
        return f"These pairs cannot be told apart: {pairs}."
    return f"The other {len(open_):,} differences are not certain."


def _leads_over_all(verdict: CriterionVerdict) -> list[PairVerdict]:
    """Return the differences of the first of three or more systems to each other one if all are certain, else none."""
    first = verdict.systems[0].name
    leads = [pair for pair in verdict.pairs if pair.first == first and pair.is_certain]
    return leads if 1 < len(leads) == len(verdict.systems) - 1 else []


def _ahead_of_all(verdict: CriterionVerdict, leads: list[PairVerdict]) -> list[str]:
    least = leads[-1]
    text = f"{_by(verdict)}, {least.first} is better than every other system"
    lead = f"{text}; its smallest lead, over {least.second}, is {_difference(least, verdict.of_means)}."
    return [lead, *_among_others(verdict, [pair for pair in _compared(verdict) if pair not in leads])]


def _among_others(verdict: CriterionVerdict, others: list[PairVerdict]) -> list[str]:
    open_ = [pair for pair in others if not pair.is_certain]
    certain = len(others) - len(open_)
    if not open_:
        return [f"The order of the others is {_firm(verdict)}, too."]
    if not certain and len(open_) > 1:
        return ["The others cannot be told apart."]
    if len(open_) > MOST_PAIRS:
        return [f"Of the {len(others):,} differences between the others {certain:,} {_are(certain)} certain."]
    return [_cannot_tell(open_)]


def _firm(verdict: CriterionVerdict) -> str:
    """Return how firm an order is if each difference is: so few raters vouch for themselves."""
    if not verdict.is_rough:
        return "certain"
    return "clear for this rater" if verdict.raters == 1 else f"clear for these {verdict.raters} raters"


def _named_pairs(verdict: CriterionVerdict, certain: list[PairVerdict]) -> list[str]:
    """Give each difference that is certain a sentence."""
    first, *others = certain
    sentences = [
        f"{_by(verdict)}, {first.first} is better than {first.second}: {_difference(first, verdict.of_means)}.",
        *(f"{pair.first} is better than {pair.second}, too: {_difference(pair)}." for pair in others),
    ]
    if len(certain) == len(verdict.pairs) > 1:
        sentences.append(f"So the order is {_firm(verdict)}.")
    return sentences


def _many_pairs(verdict: CriterionVerdict, certain: list[PairVerdict]) -> list[str]:
    first_ones = [each.name for each in verdict.systems if each.first_rank == 1]
    lead = (
        f"{_by(verdict)}, no system is ahead of all others: {enumerated(first_ones)} may each be first."
        if 1 < len(first_ones) < len(verdict.systems)
        else f"{_by(verdict)}, {verdict.systems[0].name} comes first, but it is not certain that it leads all others."
    )
    n_pairs, widest = len(_compared(verdict)), certain[0]
    how_many = (
        f"All {n_pairs:,} differences are"
        if len(certain) == n_pairs
        else f"Of {n_pairs:,} differences {len(certain):,} are"
    )
    largest = f"the largest between {widest.first} and {widest.second}: {_difference(widest, verdict.of_means)}"
    return [lead, f"{how_many} certain, {largest}."]


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def named_sentence(verdict: CriterionVerdict, *, many: bool) -> str:
    """Return the sentence; with its criterion in front if it is one of many."""
    return f"{verdict.criterion.capitalize()}: {verdict.sentence}" if many else verdict.sentence


def width_sentence(verdict: CriterionVerdict) -> str:
    """Say why intervals of differences by few raters are wide, and what helps; empty where they are not."""
    pairs = [pair for pair in _compared(verdict) if pair.single_high > pair.single_low]
    if not 1 < verdict.raters <= FEW_RATERS or not pairs:
        return ""
    many = len(pairs) > 1
    together = f" and {len(pairs):,} differences are tested together" if many else ""
    why = f"because only {verdict.raters} raters rated{together}: more raters narrow"
    possible = 2 * (verdict.scale_high - verdict.scale_low)
    widest = max(pairs, key=lambda pair: pair.high - pair.low)
    if widest.high - widest.low >= NEARLY_ALL * possible:
        ends = " to ".join(ends_in_words(widest.low, widest.high))
        alone = " to ".join(ends_in_words(widest.single_low, widest.single_high))
        most = decimals(verdict.scale_high - verdict.scale_low)
        with_all = f" with all {len(pairs):,} tested together" if many else ""
        by_itself = f" Alone it is {alone}." if many else ""
        return (
            f"The 95% interval of {widest.first} less {widest.second} is {ends}{with_all}, nearly every difference "
            f"that the scale allows (−{most} to {most}).{by_itself} It is so wide because only {verdict.raters} raters "
            "rated: more raters narrow it most."
        )
    ratio = median((pair.high - pair.low) / (pair.single_high - pair.single_low) for pair in pairs)
    return f"The intervals of differences are wide {why} them most." if ratio >= MUCH_WIDER else ""


def _difference(pair: PairVerdict, of_means: str = "") -> str:
    where = f" {of_means}" if of_means else ""
    interval = "" if isnan(pair.low) else f", 95% interval {' to '.join(ends_in_words(pair.low, pair.high))}"
    return f"{number(pair.difference, plus=True)}{where}{interval}"


def _interval(low: float, high: float) -> str:
    return "" if isnan(low) else f" (95% interval {' to '.join(ends_in_words(low, high))})"


def number(value: float, *, plus: bool = False) -> str:
    """Return a number with two decimals and a minus sign.

    >>> number(-0.314), number(0.2, plus=True), number(-0.001)
    ('−0.31', '+0.20', '0.00')
    """
    return decimals(value, plus=plus)
