"""What surprises readers of results, explained where it occurs and nowhere else."""

from collections.abc import Iterator
from math import isclose, isnan

from annotation.core.numbers import decimals
from annotation.results.selectors.verdicts import CriterionVerdict, SystemVerdict


def rank_note(verdict: CriterionVerdict) -> str:
    """Say why the ranks of a system begin before those of one with a higher mean or strength; empty if none do."""
    for place, lower in enumerate(verdict.systems):
        for higher in verdict.systems[:place]:
            if lower.first_rank < higher.first_rank and lower.estimate < higher.estimate:
                return _why_before(verdict, lower, higher)
    return ""


def _why_before(verdict: CriterionVerdict, lower: SystemVerdict, higher: SystemVerdict) -> str:
    what = "mean" if verdict.by_means else "strength"
    beaten_by = _certainly_better(verdict, higher) - _certainly_better(verdict, lower)
    better = next((each.name for each in verdict.systems if each.name in beaten_by), "")
    if not better:
        return ""
    pairs = [{pair.first, pair.second} for pair in verdict.pairs if not isnan(pair.adjusted)]
    which = f"but not from {lower.name}" if {better, lower.name} in pairs else f"and is not compared with {lower.name}"
    why = f"{better} differs significantly from {higher.name}, {which}"
    if better == lower.name:
        why = f"{lower.name} is significantly better than {higher.name} on the items that both have"
    return (
        f"{higher.name} has a higher {what} than {lower.name} ({decimals(higher.estimate)} against "
        f"{decimals(lower.estimate)}), but its best rank is {higher.first_rank}, {lower.name}’s {lower.first_rank}, "
        f"because {why}."
    )


def _certainly_better(verdict: CriterionVerdict, system: SystemVerdict) -> set[str]:
    return {pair.first for pair in verdict.pairs if pair.second == system.name and pair.is_certain}


def ends_notes(verdict: CriterionVerdict, *, of_differences: bool = True) -> Iterator[str]:
    """Yield why an interval ends exactly where the scale, or the largest difference on it, does."""
    low, high = verdict.scale_low, verdict.scale_high
    ends = [end for end in (low, high) if any(_is_shown(end, system.low, system.high) for system in verdict.systems)]
    if ends:
        named = f"{' and '.join(map(_plain, ends))} {'is' if len(ends) == 1 else 'are'}"
        yield f"Intervals end with the scale: {named} where the scale ends."
    most = high - low
    if of_differences and any(
        _is_shown(abs(end), most)
        for pair in verdict.pairs
        for end in (pair.low, pair.high, pair.single_low, pair.single_high)
    ):
        scale = f"On a scale of {_plain(low)} to {_plain(high)}"
        yield f"{scale} means differ by {most:g} at most, where intervals end, too."


def _plain(end: float) -> str:
    return f"{end:g}".replace("-", "−")


def _is_shown(end: float, *values: float) -> bool:
    """Return whether a value is the end, as tables write both."""
    return any(isclose(value, end, abs_tol=0.005) for value in values)
