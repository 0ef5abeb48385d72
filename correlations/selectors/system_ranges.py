"""What other items, systems and raters would make of correlations over systems: sentences, and printed tables."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from annotation.core.numbers import counted, decimals
from annotation.core.prose import enumerated
from correlations.documents.model import Column, Grid, Paragraph
from correlations.results.common import Ends
from correlations.results.levels import SystemEstimate, SystemLevel
from correlations.results.study import StudyResult
from correlations.selectors.levels import FEWEST_SYSTEMS, LEAD, WHOLE, LevelsReport, RowOfLevels, levels_report
from correlations.selectors.printed_tables import METRIC, REFERENCES, interval, names, number
from correlations.selectors.reports import rows_in_order
from correlations.stats.coefficients.coefficient import Coefficient
from correlations.stats.coefficients.registry import COEFFICIENTS

FEW_RATERS = 5  # below, drawn raters say little of others


@dataclass(frozen=True)
class RowRanges:
    """A row of the study, and its coefficient over systems with the intervals over what is drawn anew."""

    of: RowOfLevels
    estimate: SystemEstimate


@dataclass(frozen=True)
class RangesReport:
    """The rows, those that agree best by this coefficient first, with what the page says of the row in full."""

    coefficient: Coefficient
    choices: Sequence[Coefficient]
    rows: Sequence[RowRanges]
    sentence: str
    raters_note: str


def ranges_report(result: StudyResult, report: LevelsReport, key: str | None) -> RangesReport | None:
    """Return the intervals by a coefficient, by default the study's leading one; None if nothing was drawn anew.

    Raises
    ------
    KeyError
        If the study holds no coefficient over systems of this key.
    """
    stored = _stored(result)
    chosen = stored[0] if key is None else {entry.key: entry for entry in stored}[key]
    if not any(_widths(estimate) for row in report.rows for estimate in row.system.coefficients.values()):
        return None
    rows = [RowRanges(each, each.system.coefficients[chosen.key]) for each in report.rows]
    rows.sort(key=lambda each: -(each.estimate.value if each.estimate.value is not None else -2.0))
    sentence, note = ranges_sentence(report, chosen), raters_note(report.chosen.system)
    return RangesReport(chosen, stored, rows, sentence, note)


def ranges_sentence(report: LevelsReport, coefficient: Coefficient) -> str:
    """Return what would move the coefficient over systems of the row in full most; empty if that is not known."""
    if report.n_systems < FEWEST_SYSTEMS:
        return f"{counted(report.n_systems, 'system')} are too few to say what others would give."
    widths = _widths(report.chosen.system.coefficients[coefficient.key])
    if len(widths) < 2:
        return ""
    (first, widest), *others = sorted(widths.items(), key=lambda entry: -entry[1])
    rest = ", ".join(f"{name}: {decimals(width)}" for name, width in others)
    return (
        f"For {report.chosen.name}, other {first} would move {coefficient.symbol} over systems most: that interval is "
        f"{decimals(widest)} wide ({rest})."
    )


def raters_note(level: SystemLevel) -> str:
    """Return why raters are not drawn anew, or that they are few; else empty."""
    if level.raters_reason:
        return f"Raters are not drawn anew: {level.raters_reason}."
    if level.coefficients[LEAD].over_raters is not None and level.raters < FEW_RATERS:
        return f"There are {level.raters} raters: they say little of others, so the interval over raters is wide."
    return ""


def ranges_blocks(result: StudyResult) -> list[Grid] | list[Paragraph]:
    """Return the printed tables, or the sentence that stands for them where no interval over systems says anything."""
    levels = levels_report(result, None)
    if levels is None or not (grids := ranges_grids(result)):
        return []
    estimates = [estimate for row in levels.rows for estimate in row.system.coefficients.values()]
    drawn = [estimate.over_items_and_systems for estimate in estimates if estimate.over_items_and_systems is not None]
    if levels.n_systems >= FEWEST_SYSTEMS and any(ends[1] - ends[0] < WHOLE for ends in drawn):
        return grids
    symbols = enumerated([entry.symbol for entry in _stored(result)])
    return [
        Paragraph(
            f"Other systems could give any agreement: over {counted(levels.n_systems, 'system')} the 95% intervals of "
            f"{symbols} for other systems go from −1 to 1 whatever the metric, and are not printed. The JSON report "
            "has them, and those for other items and other raters."
        )
    ]


def ranges_grids(result: StudyResult) -> list[Grid]:
    """Return a printed table for each coefficient, the leading one first; none if nothing was drawn anew.

    Rows are in the order of the report's other tables; what is said below all of them is said below the first.
    """
    levels = levels_report(result, None)
    if levels is None:
        return []
    order = rows_in_order(result)
    reports = [ranges_report(result, levels, entry.key) for entry in _stored(result)]
    grids = [_grid(report, order) for report in reports if report is not None]
    return [*grids[:1], *(replace(each, notes=()) for each in grids[1:])]


def _grid(report: RangesReport, order: Sequence[int]) -> Grid:
    rows, notes = [], []
    for each in sorted(report.rows, key=lambda each: order.index(each.of.index)):
        estimate = each.estimate
        ranges = (
            estimate.over_items,
            estimate.over_items_and_systems,
            estimate.over_raters,
            estimate.over_items_systems_and_raters,
        )
        rows.append((*names(each.of.row), number(estimate.value, 2), *(interval(ends) for ends in ranges)))
        notes.append(raters_note(each.of.system))
    labels = (report.coefficient.symbol, "items", "items, systems", "raters", "all three")
    caption = (
        f"{report.coefficient.label} over systems, with 95% intervals for other items, other items and systems, "
        "other raters of the outputs (at least 95%), or all three; what is not named stays as it was."
    )
    columns = (METRIC, REFERENCES, *(Column(label, is_number=True) for label in labels))
    return Grid(
        f"system-ranges-{report.coefficient.key}",
        caption,
        columns,
        tuple(rows),
        tuple(filter(None, dict.fromkeys(notes))),
    )


def _stored(result: StudyResult) -> list[Coefficient]:
    """Return the coefficients over systems that the result holds, the study's leading one first if it is among them."""
    held = result.levels[0].system.coefficients if result.levels else {}
    entries = [entry for key, entry in COEFFICIENTS.items() if key in held]
    return sorted(entries, key=lambda entry: entry != result.lead)


def _widths(estimate: SystemEstimate) -> dict[str, float]:
    ranges: dict[str, Ends | None] = {
        "items": estimate.over_items,
        "items and systems": estimate.over_items_and_systems,
        "raters": estimate.over_raters,
    }
    return {name: ends[1] - ends[0] for name, ends in ranges.items() if ends is not None}
