"""Which metrics of a study agree with the raters no better than a baseline that judges nothing, such as length."""

from annotation.core.numbers import decimals
from annotation.core.prose import enumerated
from correlations.results.study import StudyResult, StudyRow
from correlations.selectors.reports import describes_only

MOST_NAMED = 3  # metrics
SHARED = "on the items that both can use"  # where the numbers are not those of the study's table
Name = tuple[str, str]  # label and references


def trivial_sentence(result: StudyResult) -> str:
    """Return which metrics the best baseline does no worse than, with both coefficients; empty if none is.

    A metric counts by its best choice of references. Two rows are compared on the items that both can use where the
    study did so, else each on its own. A baseline that does not agree with the raters itself is no yardstick.
    """
    rows = [(row, value) for row in result.rows if not row.few_units and (value := result.lead_value(row)) is not None]
    baselines = [(value, row) for row, value in rows if describes_only(row)]
    if not baselines:
        return ""
    value, baseline = max(baselines, key=lambda each: each[0])
    if value <= 0:
        return ""
    best: dict[str, StudyRow] = {}
    for row, _ in sorted(rows, key=lambda each: -each[1]):
        if not describes_only(row):
            best.setdefault(row.label, row)
    matched: list[str] = []
    for row in best.values():
        of_baseline, of_metric = _on_shared_items(result, baseline, row)
        if of_baseline >= of_metric:
            symbol = "" if matched else f"{result.lead.symbol} "
            shown = decimals(of_baseline), decimals(of_metric)
            of_each = decimals(value), decimals(result.lead_value(row) or 0.0)
            where = "" if shown == of_each else f" {SHARED}"
            matched.append(f"{row.label} ({symbol}{shown[0]} against {shown[1]}{where})")
    if not matched:
        return ""
    return f"{baseline.label} alone does no worse than {enumerated(matched, MOST_NAMED)}."


def _on_shared_items(result: StudyResult, first: StudyRow, second: StudyRow) -> tuple[float, float]:
    """Return both coefficients over the items that both rows can use, else over those of each."""
    this, other = _name(first), _name(second)
    for entry in result.comparisons:
        if {this, other} == set(entry.sides()):
            values = [side[result.lead.key] for side in (entry.first_value, entry.second_value)]
            ordered = values if entry.sides()[0] == this else values[::-1]
            if ordered[0] is not None and ordered[1] is not None:
                return ordered[0], ordered[1]
    return result.lead_value(first) or 0.0, result.lead_value(second) or 0.0


def _name(row: StudyRow) -> Name:
    return row.label, row.subset_label
