"""What other items, systems and raters would make of correlations over systems: sentences, and the printed table."""

from annotation.core.numbers import counted, decimals
from correlations.documents.model import Column, Grid
from correlations.results.common import Ends
from correlations.results.levels import SystemLevel
from correlations.results.study import StudyResult
from correlations.selectors.levels import FEWEST_SYSTEMS, LEAD, LevelsReport, RowOfLevels, levels_report
from correlations.selectors.printed_tables import METRIC, REFERENCES, interval, names, number

FEW_RATERS = 5  # below, drawn raters say little of others


def ranges_sentence(report: LevelsReport) -> str:
    """Return what would move r over systems of the row in full most; empty if nothing was drawn anew."""
    widths = {name: ends[1] - ends[0] for name, ends in _ranges(report.chosen).items()}
    if len(widths) < 2:
        return ""
    if report.n_systems < FEWEST_SYSTEMS:
        return f"{counted(report.n_systems, 'system')} are too few to say what others would give."
    (first, widest), *others = sorted(widths.items(), key=lambda entry: -entry[1])
    rest = ", ".join(f"{name}: {decimals(width)}" for name, width in others)
    return (
        f"For {report.chosen.name}, other {first} would move r over systems most: that range is {decimals(widest)} "
        f"wide ({rest})."
    )


def raters_note(level: SystemLevel) -> str:
    """Return why raters are not drawn anew, or that they are few; else empty."""
    if level.raters_reason:
        return f"Raters are not drawn anew: {level.raters_reason}."
    if level.coefficients[LEAD].over_raters is not None and level.raters < FEW_RATERS:
        return f"There are {level.raters} raters: the ranges over raters are rough."
    return ""


def ranges_grid(result: StudyResult) -> Grid | None:
    """Return the table as it is printed; None if nothing was drawn anew."""
    report = levels_report(result, None)
    if report is None or not any(_ranges(each) for each in report.rows):
        return None
    rows, notes = [], []
    for each in report.rows:
        lead = each.lead
        ranges = (
            lead.over_items,
            lead.over_systems,
            lead.over_items_and_systems,
            lead.over_raters,
            lead.over_items_systems_and_raters,
        )
        rows.append((*names(each.row), number(lead.value, 2), *(interval(ends, 2) for ends in ranges)))
        notes.append(raters_note(each.system))
    labels = ("r", "items", "systems", "items, systems", "raters", "all three")
    caption = (
        "The middle 95% of r over systems if the items, the systems, both, the raters of the outputs, or all three are "
        "drawn anew, with replacement; what is not named stays as it was."
    )
    columns = (METRIC, REFERENCES, *(Column(label, is_number=True) for label in labels))
    return Grid("system-ranges", caption, columns, tuple(rows), tuple(filter(None, dict.fromkeys(notes))))


def _ranges(row: RowOfLevels) -> dict[str, Ends]:
    lead = row.lead
    ranges = {"items": lead.over_items, "systems": lead.over_systems, "raters": lead.over_raters}
    return {name: ends for name, ends in ranges.items() if ends is not None}
