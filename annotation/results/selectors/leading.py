"""Who is first on a criterion by the raters, for every page that marks the best: one reading of the results."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

from annotation.core.numbers import counted
from annotation.core.prose import enumerated
from annotation.results.selectors.verdicts import CriterionVerdict, PairVerdict, Results

BEST, TIED, APART = "best", "tied", "apart"
NAMED = 4  # at most, in a list


@dataclass(frozen=True)
class Leading:
    """The system with the highest mean or strength, and how each other one stands to it in the results.

    ``tied``: no difference is certain. ``behind``: for certain. ``apart``: no item in common. ``ahead``: it is better
    for certain on the items that both have. Empty if nothing can be compared.
    """

    first: str = ""
    tied: list[str] = field(default_factory=list)
    apart: list[str] = field(default_factory=list)
    ahead: list[str] = field(default_factory=list)
    behind: list[str] = field(default_factory=list)

    def standing(self, name: str) -> str:
        """Return how a page marks a system: as the best, as one of those that share the first place, or not."""
        if name == self.first:
            if self.tied or self.ahead:
                return TIED
            return BEST if self.behind else ""
        of = {TIED: [*self.tied, *self.ahead], APART: self.apart}
        return next((standing for standing, names in of.items() if name in names), "")


def leading(verdict: CriterionVerdict) -> Leading:
    """Return who leads on a criterion; nothing with fewer than two systems, or where strengths are undefined."""
    if len(verdict.systems) < 2 or verdict.reason or verdict.parts:
        return Leading()
    first = verdict.systems[0].name
    names: dict[str, list[str]] = {TIED: [], APART: [], "ahead": [], "behind": []}
    for each in verdict.systems[1:]:
        names[_stands(first, verdict.pair(first, each.name))].append(each.name)
    return Leading(first, **names)


def _stands(first: str, pair: PairVerdict | None) -> str:
    if pair is None or not pair.is_compared:
        return APART
    if not pair.is_certain:
        return TIED
    return "behind" if pair.first == first else "ahead"


def leading_sentence(verdict: CriterionVerdict) -> str:
    """Say which systems share the first place, or which one has it alone; empty if nothing can be compared."""
    found = leading(verdict)
    others = [each.name for each in verdict.systems[1:] if each.name not in found.apart]
    if not found.first:
        return ""
    if not others:
        return f"No system shares an item with {found.first}."
    who = counted(verdict.raters, "rater").capitalize() if verdict.raters else "Raters"
    s = "s" if verdict.raters == 1 else ""
    every = "every other system that it shares items with" if found.apart else "every other system"
    if not found.tied and not found.ahead:
        return f"{who} find{s} {found.first} better than {every}."
    level = [found.first, *found.tied, *found.ahead]
    are_all = len(level) == len(verdict.systems)
    if _are_level(verdict, level) and (are_all or _are_before(verdict, level)):
        return f"{who} cannot tell {enumerated(level, NAMED)} apart{'' if are_all else f' and put{s} them first'}."
    clauses = [f"{enumerated(found.tied, NAMED)} cannot be told from it"] if found.tied else []
    if found.ahead:
        clauses.append(f"{enumerated(found.ahead, NAMED)} {_is(found.ahead)} better on the items that both have")
    highest = f"the highest {'mean' if verdict.by_means else 'strength'}"
    return f"{who} give{s} {found.first} {highest}; {'; '.join(clauses)}."


def _are_level(verdict: CriterionVerdict, names: Sequence[str]) -> bool:
    """Return whether no difference between two of these systems is certain, and each two were compared."""
    pairs = [verdict.pair(one, other) for one, other in combinations(names, 2)]
    return all(pair is not None and pair.is_compared and not pair.is_certain for pair in pairs)


def _are_before(verdict: CriterionVerdict, names: Sequence[str]) -> bool:
    """Return whether each other system is behind each of these for certain."""
    others = [each.name for each in verdict.systems if each.name not in names]
    pairs = [(name, verdict.pair(name, other)) for name in names for other in others]
    return all(pair and pair.is_certain and pair.first == name for name, pair in pairs)


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def basis(results: Results) -> str:
    """Return what results rest on, as every page says it: ratings, raters if they are known, items."""
    raters = f" by {counted(results.raters, 'rater')}" if results.raters_known else ""
    return f"{counted(results.ratings, 'rating')}{raters} of {counted(results.items, 'item')}"
