"""How far a study's raters agree among themselves, as its report says it."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.core.numbers import counted, decimals
from annotation.judgements.stand_ins import REASON as UNKNOWN_RATERS
from correlations.results.ceiling import CoefficientCeiling, RowCeiling
from correlations.results.study import RowEstimate, StudyResult, StudyRow
from correlations.stats.ceiling import attainable
from correlations.stats.coefficients.coefficient import Coefficient

ANOTHER_GROUP = "Another group of as many raters would agree with these at about"


@dataclass(frozen=True)
class CeilingCell:
    """A row's coefficient beside that of the raters."""

    entry: Coefficient
    estimate: RowEstimate
    human: CoefficientCeiling

    @property
    def reached(self) -> float | None:
        """Return the share of the ceiling that the metric reaches; None if one is undefined."""
        if self.estimate.value is None or not self.human.ceiling:
            return None
        return self.estimate.value / self.human.ceiling

    @property
    def bound(self) -> float | None:
        """Return the most that is expected of a score that has not seen these ratings; None without a ceiling."""
        return None if self.human.ceiling is None else attainable(self.human.ceiling, self.entry)

    @property
    def exceeds(self) -> bool:
        """Return whether the row lies above that bound."""
        return self.estimate.value is not None and self.bound is not None and self.estimate.value > self.bound

    @property
    def reached_in_words(self) -> str:
        """Return the share of the ceiling as a table's cell: beyond both ends a percentage says nothing."""
        if self.reached is None:
            return "–"
        if self.exceeds:
            return "more than expected"
        if self.reached > 1:
            return "above"
        return "none" if self.reached <= 0 else f"{decimals(100 * self.reached, 0)} %"


@dataclass(frozen=True)
class CeilingLine:
    row: StudyRow
    ceiling: RowCeiling
    cells: Sequence[CeilingCell]


def ceiling_lines(result: StudyResult) -> list[CeilingLine]:
    return [
        CeilingLine(row, ceiling, ceiling_cells(result, index))
        for index, (row, ceiling) in enumerate(zip(result.rows, result.ceilings, strict=True))
    ]


def ceiling_cells(result: StudyResult, row: int) -> list[CeilingCell]:
    """Return the coefficients of a row, each beside that of the raters."""
    estimates, ceilings = result.rows[row].coefficients, result.ceilings[row].coefficients
    return [CeilingCell(entry, estimates[entry.key], ceilings[entry.key]) for entry in result.entries]


def too_good(result: StudyResult) -> list[tuple[StudyRow, CeilingCell]]:
    """Return the rows above what is expected of a score that has not seen the ratings, by the leading coefficient."""
    lead = result.lead
    lines = (
        (row, CeilingCell(lead, row.coefficients[lead.key], result.ceilings[index].coefficients[lead.key]))
        for index, row in enumerate(result.rows)
    )
    return [(row, cell) for row, cell in lines if cell.exceeds]


def too_good_sentence(result: StudyResult) -> str:
    """Return which rows agree better than is expected, what with, and what to look at; empty if none does."""
    rows = too_good(result)
    if not rows:
        return ""
    symbol = result.lead.symbol
    each = ", ".join(
        f"{row.label} ({symbol} = {decimals(cell.estimate.value or 0.0)}, "
        f"expected at most {decimals(cell.bound or 0.0)})"
        for row, cell in rows
    )
    return (
        f"More than is expected of a score that has not seen these ratings, as far as raters agree: {each}. Both "
        "numbers are estimates, which noise can turn round; else these scores have seen the ratings, or share the "
        "raters’ errors."
    )


def raters_are_known(result: StudyResult) -> bool:
    """Return whether all ratings are those of single raters; False if medians or means are among them."""
    return all(worth.stand_in.reason != UNKNOWN_RATERS for worth in result.worth)


def agreement_sentence(result: StudyResult, row: int) -> str:
    """Return how far another group of raters would agree with these over a row's items; empty if that is not known."""
    value = result.ceilings[row].coefficients[result.lead.key].ceiling
    if value is None:
        return ""
    items = counted(result.rows[row].items, "item")
    return f"{ANOTHER_GROUP} {result.lead.symbol} = {decimals(value)}: a rough estimate, from {items}."


def ceiling_sentence(result: StudyResult) -> str:
    """Return how far raters agree by the leading coefficient: over rows, the range; and how far one of them does."""
    lead = result.lead
    humans = [each.coefficients[lead.key] for each in result.ceilings]
    known = [
        (human.ceiling, row.items) for human, row in zip(humans, result.rows, strict=True) if human.ceiling is not None
    ]
    if not known:
        return f"Not known: {humans[0].reason}."
    values, items = zip(*known, strict=True)
    reach = _from_to(decimals(min(values)), decimals(max(values)))
    used = _from_to(f"{min(items):,}", f"{max(items):,}")
    which = "" if min(items) == max(items) else ", as many as each metric scored"
    noun = "item" if max(items) == 1 else "items"
    sentence = f"{ANOTHER_GROUP} {lead.symbol} = {reach}: a rough estimate, from {used} {noun}{which}."
    one_rater = next((human for human in humans if human.one_rater is not None), None)
    if one_rater is None:
        return sentence
    ends, value = one_rater.one_rater_ends, decimals(one_rater.one_rater or 0.0)
    interval = f", 95% interval [{decimals(ends[0])}, {decimals(ends[1])}]" if ends else ""
    return f"{sentence} Over single outputs one rater agrees with the others at {lead.symbol} = {value}{interval}."


def _from_to(first: str, last: str) -> str:
    return first if first == last else f"{first} to {last}"
