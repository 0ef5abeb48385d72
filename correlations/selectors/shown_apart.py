"""What a study shows of imported scores, such as a judge's, and of automatic metrics, each by themselves."""

from collections.abc import Sequence

from annotation.core.numbers import counted
from annotation.core.prose import enumerated
from correlations.results.common import Ends
from correlations.results.study import StudyResult, StudyRow
from correlations.selectors.reports import describes_only, is_imported

MOST_NAMED = 4  # in a list of the metrics that agree
_NOT_ABOVE = {True: "includes 0", False: "does not lie above 0"}


def shown_apart(result: StudyResult, best: str) -> str:
    """Return how many scores of each kind are shown to agree with the raters; empty if there is only one kind.

    Metrics that do not judge quality count as neither. Of a kind that has ``best`` alone the headline says enough.
    """
    judging = [row for row in result.rows if not describes_only(row)]
    imported = [row for row in judging if is_imported(row)]
    automatic = [row for row in judging if not is_imported(row)]
    if not imported or not automatic:
        return ""
    kinds = ((imported, "imported score"), (automatic, "automatic metric"))
    return " ".join(
        filter(None, (_shown(result, rows, noun) for rows, noun in kinds if {row.label for row in rows} != {best}))
    )


def _shown(result: StudyResult, rows: Sequence[StudyRow], noun: str) -> str:
    """Return which metrics have an interval above 0; empty if none has an interval that can be relied on."""
    intervals: dict[str, list[Ends]] = {}
    estimates = [row.coefficients[result.lead.key] for row in rows]
    with_raters = all(each.over_items_and_raters is not None for each in estimates if each.over_items is not None)
    over = "range over items and raters" if with_raters else "interval for other items, by these raters,"
    for row, each in zip(rows, estimates, strict=True):
        ends = each.over_items_and_raters if with_raters else each.over_items
        if ends is not None and not row.few_units:
            intervals.setdefault(row.label, []).append(ends)
    agree = [label for label, of_rows in intervals.items() if any(low > 0 for low, _ in of_rows)]
    if not intervals:
        return ""
    somehow = (
        ", with at least one choice of references" if any(len(of_rows) > 1 for of_rows in intervals.values()) else ""
    )
    include = all(low <= 0 <= high for of_rows in intervals.values() for low, high in of_rows)
    opening = f"Of the {counted(len(intervals), noun)}"
    if len(intervals) == 1:
        is_shown, why = ("is", "") if agree else ("is not", f": its {over} {_NOT_ABOVE[include]}")
        return f"{next(iter(intervals))}, the only {noun}, {is_shown} shown to agree with the raters{why}."
    if not agree:
        every = f"{'every' if include else 'no'} {over}"
        what = f"{every} {'includes' if include else 'lies above'} 0"
        return f"{opening} none is shown to agree with the raters over these units: {what}."
    if len(agree) == len(intervals):
        return f"{opening} each is shown to agree with the raters{somehow}: its {over} lies above 0."
    verb = "is" if len(agree) == 1 else "are"
    only = f"{enumerated(agree, MOST_NAMED)} {verb} shown to agree with the raters{somehow}"
    beside = " (the table’s intervals are over items alone)" if with_raters else ""
    return f"{opening} only {only}: no other {noun}’s {over}{beside} lies above 0."
