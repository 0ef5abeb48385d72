"""A study's result as the tables, sentences and charts of its report."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from annotation.core.charts import Spec, Theme
from correlations.charts import ForestRow, forest_plot, observation_scatter, sweep_chart
from correlations.charts.sweeps import Kind
from correlations.models import Study
from correlations.results.common import Ends
from correlations.results.study import (
    NO_REFERENCES,
    Clamped,
    Comparison,
    RowEstimate,
    StudyResult,
    StudyRow,
    Sweep,
    SystemShare,
)
from correlations.stats.coefficients.coefficient import Coefficient

NAN = float("nan")
SWEEPS: dict[Kind, str] = {
    "threshold": "References of lower weight",
    "unit_size": "Larger observation units",
    "order": "Longer n-grams",
}
FOREST_CAPTION = "Band: bootstrap over items. Line: the paper's interval."
SIGNIFICANT = 0.05
FEW_UNITS = 30
FEW_COMPARISONS = 30  # that a page can show
MOST_RIVALS = 4  # before the lead sentence counts them
IN_COLOUR = 6  # lines that differ enough to be read in one chart
CLAMPED_WORTH_SHOWING = 0.02  # share of (unit, system) cells


@dataclass(frozen=True)
class BestRow:
    """The row with the highest coefficient; ``rivals`` do not differ from it significantly, ``ahead`` are closer to
    the raters on the items that both can use."""

    row: StudyRow
    index: int
    estimate: RowEstimate
    rivals: list[str]
    ahead: list[str]

    @property
    def references(self) -> str:
        """Return the row's references as a sentence goes on with them."""
        named = {NO_REFERENCES: "no references", "all": "all references", "original": "the single original reference"}
        return named.get(self.row.subset, f"references of {self.row.subset_label}")

    @property
    def rivals_text(self) -> str:
        if len(self.rivals) > MOST_RIVALS:
            return f"{len(self.rivals)} others: {', '.join(self.rivals)}"
        return " or ".join(self.rivals)


def best_row(result: StudyResult) -> BestRow | None:
    """Return the row with the highest leading coefficient; None if no row's is defined."""
    values = [result.lead_value(row) for row in result.rows]
    defined = [index for index, value in enumerate(values) if value is not None]
    if not defined:
        return None
    best = max(defined, key=lambda index: values[index] or 0.0)
    row = result.rows[best]
    rivals, ahead = [], []
    for entry in result.comparisons:
        if entry.subset_label != row.subset_label or row.label not in (entry.first, entry.second):
            continue
        if entry.p_holm is None:
            continue
        if entry.p_holm >= SIGNIFICANT:
            rivals.append(entry.other(row.label))
        elif _lead(row, entry) < 0:
            ahead.append(entry.other(row.label))
    return BestRow(row, best, row.coefficients[result.lead.key], rivals, ahead)


def _lead(row: StudyRow, entry: Comparison) -> float:
    """Return how much higher the row's coefficient is, over the items that both can use."""
    difference = entry.difference or 0.0
    return difference if entry.first == row.label else -difference


def few_units(result: StudyResult) -> int | None:
    """Return the number of units of all pairs if it is too small for stable coefficients; else None."""
    units = sum(pair.units for pair in result.pairs)
    return units if units < FEW_UNITS else None


def summary_cards(study: Study, result: StudyResult) -> list[dict[str, str]]:
    """Return the numbers at the head of the report."""
    counts, unit_size = result.counts, study.specification["unit_size"]
    excluded = f", {counts.raters_excluded:,} excluded" if counts.raters_excluded else ""
    raters = f"{counts.raters:,} rater{'' if counts.raters == 1 else 's'}{excluded}"
    units = f"units of {unit_size} item{'' if unit_size == 1 else 's'}"
    return [
        {"label": "Human judgements", "value": f"{counts.judgements:,}", "hint": raters},
        {
            "label": "Items",
            "value": f"{result.items.used:,}",
            "hint": f"{result.items.left_out:,} left out",
            "link": "#left-out",
        },
        {"label": "Weighted references", "value": f"{counts.references:,}", "hint": str(study.release)},
        {"label": "Assignments to units", "value": f"{result.assignments:,}", "hint": units},
    ]


def estimates(result: StudyResult, row: StudyRow) -> list[tuple[Coefficient, RowEstimate]]:
    return [(entry, row.coefficients[entry.key]) for entry in result.entries]


def comparisons_worth_showing(result: StudyResult) -> list[tuple[Comparison, float | None, float | None]]:
    """Comparisons with both coefficients: all if they are few, else those with the best metric of each references."""
    lead = result.lead.key
    return [(entry, entry.first_value[lead], entry.second_value[lead]) for entry in _worth_showing(result)]


def _worth_showing(result: StudyResult) -> Sequence[Comparison]:
    if len(result.comparisons) <= FEW_COMPARISONS:
        return result.comparisons
    best: dict[str, tuple[float, str]] = {}
    for row in result.rows:
        value = result.lead_value(row)
        if value is not None:
            candidate = value, row.label
            best[row.subset_label] = max(best.get(row.subset_label, candidate), candidate, key=itemgetter(0))
    if alone := best.get(NO_REFERENCES):  # reads no references, and is compared under each choice of them
        best = {label: max(candidate, alone) for label, candidate in best.items()}
    leaders = {label: leader for label, (_, leader) in best.items()}
    return [entry for entry in result.comparisons if leaders.get(entry.subset_label) in (entry.first, entry.second)]


def metrics_in_colour(result: StudyResult) -> list[str]:
    """Labels of the metrics closest to the raters, whatever their references, closest first."""
    best: dict[str, float] = {}
    for row in result.rows:
        value = result.lead_value(row)
        best[row.label] = max(best.get(row.label, -math.inf), -math.inf if value is None else value)
    return sorted(best, key=lambda label: -best[label])[:IN_COLOUR]


@dataclass(frozen=True)
class ClampedRow:
    row: StudyRow
    index: int
    worst: list[SystemShare]


def clamped_rows(result: StudyResult) -> list[ClampedRow]:
    """Rows in which clamping explains something, with the systems it hits most, worst first."""
    rows = [
        ClampedRow(row, index, _worst(row.clamped))
        for index, row in enumerate(result.rows)
        if row.clamped.share >= CLAMPED_WORTH_SHOWING
    ]
    return sorted(rows, key=lambda each: -each.row.clamped.share)


def _worst(clamped: Clamped) -> list[SystemShare]:
    return sorted(clamped.systems, key=lambda entry: -entry.share)[:3]


def sweeps_to_draw(result: StudyResult) -> list[tuple[str, str, str]]:
    """Return the name, title and caption of each sweep that has a point to draw."""
    return [
        (name, title, f"References: {result.sweeps[name].references}.")
        for name, title in SWEEPS.items()
        if name in result.sweeps and _has_point(result, result.sweeps[name])
    ]


def _has_point(result: StudyResult, sweep: Sweep) -> bool:
    return any(result.lead_value(point) is not None for series in sweep.series for point in series.points)


# --- Charts ----------------------------------------------------------------------------------------------------------


def figure(result: StudyResult, name: str, *, theme: Theme) -> Spec | None:
    """Return the specification of a chart; None if there is no chart of that name."""
    if name == "forest":
        return forest_plot(_forest_rows(result), theme=theme)
    for kind in SWEEPS:
        if name == kind and kind in result.sweeps:
            return _sweep_figure(result, kind, theme)
    rows = {f"row-{index}": index for index in range(len(result.rows))}
    return _scatter(result, rows[name], theme) if name in rows else None


def _forest_rows(result: StudyResult) -> list[ForestRow]:
    return [
        ForestRow(
            metric=row.label,
            subset=row.subset_label,
            coefficient=entry.label,
            mean=_number(estimate.value),
            honest=estimate.over_items or (NAN, NAN),
            paper=estimate.paper or (NAN, NAN),
            reason=estimate.reason,
        )
        for row in result.rows
        for entry, estimate in estimates(result, row)
    ]


def _sweep_figure(result: StudyResult, kind: Kind, theme: Theme) -> Spec:
    sweep, best = result.sweeps[kind], metrics_in_colour(result)
    series = {each.label: [_number(result.lead_value(point)) for point in each.points] for each in sweep.series}
    in_colour = None
    if len(series) > IN_COLOUR:
        named = {label.split(" (")[0] for label in best}  # two orders of one metric are one line of the order sweep
        in_colour = [label for label in series if label in best or label in named][:IN_COLOUR]
    label = result.lead.label
    return sweep_chart(sweep.points, series, kind=kind, coefficient=label, theme=theme, in_colour=in_colour)


def _scatter(result: StudyResult, index: int, theme: Theme) -> Spec | None:
    row, observations = result.rows[index], result.observations
    human, metric = ([_number(value) for value in side[index]] for side in (observations.human, observations.metric))
    if all(map(math.isnan, metric)):
        return None
    names = [f"{pair.a} – {pair.b}" for pair in result.pairs]
    return observation_scatter(
        human,
        metric,
        metric_name=f"{row.label} ({row.subset_label})",
        pairs=[names[pair] for pair in observations.pair],
        subtitle="One assignment of items to units",
        theme=theme,
    )


def _number(value: float | None) -> float:
    return NAN if value is None else value


# --- Tables for download ---------------------------------------------------------------------------------------------

Table = tuple[Sequence[str], Iterator[Sequence[Any]]]


def table(result: StudyResult, name: str) -> Table | None:
    """Return the columns and rows of one table of the report; None if there is none of that name."""
    builders: dict[str, Callable[[StudyResult], Table]] = {
        "correlations": _correlation_table,
        "sweeps": lambda each: _sweep_table(each, each.sweeps),
        "comparisons": _comparison_table,
        "systems": _system_table,
        "dropped": _dropped_table,
        "pairs": _pair_table,
        "observations": _observation_table,
    }
    if name in result.sweeps:
        return _sweep_table(result, {name: result.sweeps[name]})
    return builders[name](result) if name in builders else None


COEFFICIENT_PARTS = (
    "",
    "_paper_low",
    "_paper_high",
    "_items_low",
    "_items_high",
    "_items_raters_low",
    "_items_raters_high",
    "_assignment_spread",
    "_undefined_reason",
)


def _coefficient_cells(estimate: RowEstimate) -> list[Any]:
    intervals = (estimate.paper, estimate.over_items, estimate.over_items_and_raters)
    ends = [end for interval in intervals for end in _ends(interval)]
    return [estimate.value, *ends, estimate.assignment_spread, estimate.reason]


def _ends(interval: Ends | None) -> tuple[float | None, float | None]:
    return interval or (None, None)


def _correlation_table(result: StudyResult) -> Table:
    columns = [
        "metric",
        "references",
        *(f"{entry.short}{part}" for entry in result.entries for part in COEFFICIENT_PARTS),
        "observations",
        "items",
        "items_per_unit",
        "items_left_out",
        "items_share",
        "clamped_cells",
        "clamped_share",
        "clamped_systems",
        "signature",
    ]
    return columns, (_correlation_cells(result, row) for row in result.rows)


def _correlation_cells(result: StudyResult, row: StudyRow) -> list[Any]:
    return [
        row.label,
        row.subset_label,
        *(cell for _, estimate in estimates(result, row) for cell in _coefficient_cells(estimate)),
        row.n_observations,
        row.items,
        row.items_per_unit,
        row.dropped.count,
        row.items / result.items.used,
        row.clamped.cells,
        row.clamped.share,
        {entry.system: entry.share for entry in row.clamped.systems},
        row.signature,
    ]


def _sweep_table(result: StudyResult, sweeps: dict[str, Sweep]) -> Table:
    short, key = result.lead.short, result.lead.key
    measured = (short, f"{short}_undefined_reason", "observations", "items", "clamped_share")
    rows = (
        (
            name,
            value,
            series.label,
            sweep.references,
            point.coefficients[key].value,
            point.coefficients[key].reason,
            point.n_observations,
            point.items,
            point.clamped_share,
        )
        for name, sweep in sweeps.items()
        for series in sweep.series
        for value, point in zip(sweep.points, series.points, strict=True)
    )
    return ("sweep", "point", "metric", "references", *measured), rows


def _comparison_table(result: StudyResult) -> Table:
    short, key = result.lead.short, result.lead.key
    values = (f"first_{short}", f"second_{short}", f"{short}_difference")
    tested = ("low", "high", "p", "p_holm", "undefined_reason")
    rows = (
        (
            entry.subset_label,
            entry.first,
            entry.second,
            entry.items,
            entry.of,
            entry.first_value[key],
            entry.second_value[key],
            entry.difference,
            *_ends(entry.interval),
            entry.p,
            entry.p_holm,
            entry.reason,
        )
        for entry in result.comparisons
    )
    return ("references", "first", "second", "items", "items_of_study", *values, *tested), rows


def _system_table(result: StudyResult) -> Table:
    columns = ("metric", "references", "system", "score", "mean_rating", "rated_items", "clamped_share", "run")
    rows = (
        (
            row.label,
            row.subset_label,
            each.system,
            each.score,
            each.rating,
            each.rated_items,
            each.clamped_share,
            row.run,
        )
        for row in result.rows
        for each in row.systems
    )
    return columns, rows


def _dropped_table(result: StudyResult) -> Table:
    whole = (("", "", entry.reason, item) for entry in result.items.dropped for item in entry.items)
    by_row = (
        (row.label, row.subset_label, row.dropped.reason, item) for row in result.rows for item in row.dropped.items
    )
    return ("metric", "references", "reason", "item"), (entry for part in (whole, by_row) for entry in part)


def _pair_table(result: StudyResult) -> Table:
    return ("a", "b", "items", "units"), ((pair.a, pair.b, pair.items, pair.units) for pair in result.pairs)


def _observation_table(result: StudyResult) -> Table:
    observations = result.observations
    columns = ("metric", "references", "a", "b", "rating_difference", "metric_difference")
    rows = (
        (
            row.label,
            row.subset_label,
            result.pairs[pair].a,
            result.pairs[pair].b,
            observations.human[index][unit],
            observations.metric[index][unit],
        )
        for index, row in enumerate(result.rows)
        for unit, pair in enumerate(observations.pair)
    )
    return columns, rows
