"""How far a study's raters agree among themselves, as its report says it."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.core.numbers import decimals
from annotation.judgements.stand_ins import REASON as UNKNOWN_RATERS
from correlations.results.ceiling import CoefficientCeiling, RowCeiling
from correlations.results.study import RowEstimate, StudyResult, StudyRow
from correlations.stats.ceiling import attainable
from correlations.stats.coefficients.coefficient import Coefficient

ANOTHER_GROUP = "Another group of as many raters is estimated to agree with these at"
FROM_HALVES = "how far two halves of the raters agree, stepped up to all of them; no interval is computed"


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
    lines = (
        (row, next(cell for cell in ceiling_cells(result, index) if cell.entry is result.lead))
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


def ceiling_sentence(result: StudyResult) -> str:
    """Return how far raters agree by the leading coefficient: over rows, the range; and how far one of them does."""
    lead = result.lead
    values = [each.coefficients[lead.key].ceiling for each in result.ceilings]
    defined = sorted(f"{value:.2f}" for value in values if value is not None)
    if not defined:
        return f"Not known: {result.ceilings[0].coefficients[lead.key].reason}."
    reach = (
        defined[0] if defined[0] == defined[-1] else f"{defined[0]} to {defined[-1]}, depending on the items of the row"
    )
    sentence = f"{ANOTHER_GROUP} {lead.symbol} = {reach}."
    one_rater = next(filter(None, (each.coefficients[lead.key].one_rater for each in result.ceilings)), None)
    if one_rater is None:
        return sentence
    return f"{sentence} Over single outputs one rater agrees with the others at {one_rater:.2f}."
