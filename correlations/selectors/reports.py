"""A study's result as the tables, sentences and charts of its report."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any

from annotation.core.charts import Spec, Theme
from annotation.core.numbers import card, counted
from correlations.charts.forest import ForestRow, forest_plot
from correlations.charts.observations import observation_scatter
from correlations.charts.sweeps import AXES, Kind, sweep_chart
from correlations.models import ParameterStudy, Study
from correlations.results.common import Ends
from correlations.results.study import NO_REFERENCES, Comparison, RowEstimate, StudyResult, StudyRow, Sweep, SystemShare
from correlations.stats.coefficients.coefficient import Coefficient
from metrics.scoring.registry import METRICS

NAN = float("nan")
FOREST_CAPTION = "Band: bootstrap over items. Line: the paper's interval."
SIGNIFICANT = 0.05
FEW_COMPARISONS = 30  # that a page shows in any case
MOST_COMPARISONS = 200  # that it shows; the download has all
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
        """Return the row's references as part of a sentence."""
        named = {NO_REFERENCES: "no references", "all": "all references", "original": "the single original reference"}
        return named.get(self.row.subset, f"references of {self.row.subset_label}")

    @property
    def is_baseline(self) -> bool:
        """Return whether the metric describes outputs without judging them, such as their length."""
        return self.row.metric in METRICS and not METRICS[self.row.metric].judges_quality

    @property
    def rivals_text(self) -> str:
        if len(self.rivals) > MOST_RIVALS:
            return f"{len(self.rivals)} others: {', '.join(self.rivals)}"
        return " or ".join(self.rivals)


def best_row(result: StudyResult) -> BestRow | None:
    """Return the row with the highest leading coefficient of those with enough units; None if none is defined."""
    values = [None if row.few_units else result.lead_value(row) for row in result.rows]
    defined = [index for index, value in enumerate(values) if value is not None]
    if not defined:
        return None
    best = max(defined, key=lambda index: values[index] or 0.0)
    row = result.rows[best]
    rivals, ahead = [], []
    this = row.label, row.subset_label
    for entry in result.comparisons:
        sides = entry.sides()
        if this not in sides or entry.p_holm is None:
            continue
        label, references = sides[0] if sides[1] == this else sides[1]
        if label == row.label:
            continue  # the same metric with other references
        name = label if references in (row.subset_label, NO_REFERENCES) else f"{label} with {_short(references)}"
        if entry.p_holm >= SIGNIFICANT:
            rivals.append(name)
        elif _lead(this, entry) < 0:
            ahead.append(name)
    return BestRow(row, best, row.coefficients[result.lead.key], rivals, ahead)


def _short(references: str) -> str:
    """Return a choice of references as part of a list."""
    return {"all": "all references", "single": "the single original"}.get(references, references)


def _lead(row: tuple[str, str], entry: Comparison) -> float:
    """Return how much higher the row's coefficient is, over the items that both can use."""
    difference = entry.difference or 0.0
    return difference if entry.sides()[0] == row else -difference


def few_units(result: StudyResult) -> str:
    """Return why every row has too few units for a conclusion; empty if one has enough, or if none is defined."""
    defined = [row for row in result.rows if result.lead_value(row) is not None]
    if not defined or any(not row.few_units for row in defined):
        return ""
    return max(defined, key=lambda row: sum(pair.units for pair in row.pairs)).few_units


def copies(result: StudyResult) -> list[str]:
    """Return the systems most of whose outputs are references, but for case, spaces and punctuation."""
    return [entry.system for entry in result.circularity.same_text if 2 * entry.items > result.items.used]


def summary_cards(study: Study, result: StudyResult) -> list[dict[str, str]]:
    """Return the numbers at the head of the report."""
    counts, unit_size = result.counts, study.specification["unit_size"]
    excluded = f", {counts.raters_excluded:,} excluded" if counts.raters_excluded else ""
    return [
        card("Human judgements", counts.judgements, f"{counted(counts.raters, 'rater')}{excluded}"),
        card("Items", result.items.used, f"{result.items.left_out:,} left out", "#left-out"),
        card("References", counts.references, references_of(study)),
        card("Assignments to units", result.assignments, f"units of {counted(unit_size, 'item')}"),
    ]


def references_of(study: Study | ParameterStudy) -> str:
    """Return where a study's references come from."""
    return f"of {study.dataset}, all alike" if study.release is None else f"weighted by {study.release}"


def estimates(result: StudyResult, row: StudyRow) -> list[tuple[Coefficient, RowEstimate]]:
    return [(entry, row.coefficients[entry.key]) for entry in result.entries]


def n_significant(result: StudyResult) -> int:
    """Count the comparisons of two metrics that differ significantly, after the correction."""
    return sum(entry.p_holm is not None and entry.p_holm < SIGNIFICANT for entry in result.comparisons)


def comparisons_worth_showing(result: StudyResult) -> list[tuple[Comparison, float | None, float | None]]:
    """Return comparisons with both coefficients: all if few, else those with the best metric of each references."""
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
    return [
        entry
        for entry in result.comparisons
        if not entry.subset_label or leaders.get(entry.subset_label) in (entry.first, entry.second)
    ][:MOST_COMPARISONS]


def metrics_in_colour(result: StudyResult) -> list[str]:
    """Return labels of the metrics closest to the raters, whatever their references, closest first."""
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
    """Return rows in which clamping explains something, with the three systems it affects most, worst first."""
    rows = [
        ClampedRow(row, index, sorted(row.clamped.systems, key=lambda entry: -entry.share)[:3])
        for index, row in enumerate(result.rows)
        if row.clamped.share >= CLAMPED_WORTH_SHOWING
    ]
    return sorted(rows, key=lambda each: -each.row.clamped.share)


def sweeps_to_draw(result: StudyResult) -> list[tuple[str, str, str]]:
    """Return the name, title and caption of each sweep that has a point to draw."""
    return [
        (name, axis.chart_title, f"References: {result.sweeps[name].references}.")
        for name, axis in AXES.items()
        if name in result.sweeps and _has_point(result, result.sweeps[name])
    ]


def _has_point(result: StudyResult, sweep: Sweep) -> bool:
    return any(result.lead_value(point) is not None for series in sweep.series for point in series.points)


# --- Charts ----------------------------------------------------------------------------------------------------------


def figure(result: StudyResult, name: str, *, theme: Theme) -> Spec | None:
    """Return the specification of a chart; None if there is no chart of that name."""
    if name == "forest":
        return forest_plot(_forest_rows(result), theme=theme)
    kind = next((kind for kind in AXES if kind == name), None)
    if kind is not None and kind in result.sweeps:
        return _sweep_figure(result, kind, theme)
    rows = {f"row-{index}": index for index in range(len(result.rows))}
    return _scatter(result, rows[name], theme) if name in rows else None


def _forest_rows(result: StudyResult) -> list[ForestRow]:
    return [
        ForestRow(
            metric=row.label,
            subset=row.subset_label,
            coefficient=entry.label,
            mean=number(estimate.value),
            honest=estimate.over_items or (NAN, NAN),
            paper=estimate.paper or (NAN, NAN),
            reason=estimate.reason,
        )
        for row in result.rows
        for entry, estimate in estimates(result, row)
    ]


def _sweep_figure(result: StudyResult, kind: Kind, theme: Theme) -> Spec:
    sweep, best = result.sweeps[kind], metrics_in_colour(result)
    series = {each.label: [number(result.lead_value(point)) for point in each.points] for each in sweep.series}
    in_colour = None
    if len(series) > IN_COLOUR:
        named = {label.split(" (")[0] for label in best}  # two orders of one metric are one line of the order sweep
        in_colour = [label for label in series if label in best or label in named][:IN_COLOUR]
    label = result.lead.label
    return sweep_chart(sweep.points, series, kind=kind, coefficient=label, theme=theme, in_colour=in_colour)


def _scatter(result: StudyResult, index: int, theme: Theme) -> Spec | None:
    row, observations = result.rows[index], result.observations[index]
    human, metric = ([number(value) for value in side] for side in (observations.human, observations.metric))
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


def number(value: float | None) -> float:
    return NAN if value is None else value


# --- Tables for download ---------------------------------------------------------------------------------------------

Table = tuple[Sequence[str], Iterator[Sequence[Any]]]
Columns = Mapping[str, Callable[..., object]]  # a column's name and its cell


def table_of(columns: Columns, entries: Iterable[tuple[Any, ...]]) -> Table:
    """Return a table whose cells are computed from the parts of each entry."""
    return tuple(columns), ([cell(*entry) for cell in columns.values()] for entry in entries)


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


def low(interval: Ends | None) -> float | None:
    return interval and interval[0]


def high(interval: Ends | None) -> float | None:
    return interval and interval[1]


NAMES: Columns = {"metric": lambda row, *_: row.label, "references": lambda row, *_: row.subset_label}
ESTIMATE: Columns = {
    "": lambda estimate: estimate.value,
    "_paper_low": lambda estimate: low(estimate.paper),
    "_paper_high": lambda estimate: high(estimate.paper),
    "_items_low": lambda estimate: low(estimate.over_items),
    "_items_high": lambda estimate: high(estimate.over_items),
    "_items_raters_low": lambda estimate: low(estimate.over_items_and_raters),
    "_items_raters_high": lambda estimate: high(estimate.over_items_and_raters),
    "_assignment_spread": lambda estimate: estimate.assignment_spread,
    "_undefined_reason": lambda estimate: estimate.reason,
}


def _correlation_table(result: StudyResult) -> Table:
    coefficients = {
        f"{entry.short}{part}": lambda row, key=entry.key, cell=cell: cell(row.coefficients[key])
        for entry in result.entries
        for part, cell in ESTIMATE.items()
    }
    columns: Columns = {
        **NAMES,
        **coefficients,
        "observations": lambda row: row.n_observations,
        "items": lambda row: row.items,
        "items_left_out": lambda row: row.dropped.count,
        "items_share": lambda row: row.items / result.items.used if result.items.used else None,
        "clamped_cells": lambda row: row.clamped.cells,
        "clamped_share": lambda row: row.clamped.share,
        "clamped_systems": lambda row: {entry.system: entry.share for entry in row.clamped.systems},
        "signature": lambda row: row.signature,
    }
    return table_of(columns, ((row,) for row in result.rows))


def _sweep_table(result: StudyResult, sweeps: dict[str, Sweep]) -> Table:
    short, key = result.lead.short, result.lead.key
    columns: Columns = {
        "sweep": lambda name, *_: name,
        "point": lambda name, value, *_: value,
        "metric": lambda name, value, series, *_: series.label,
        "references": lambda name, *_: sweeps[name].references,
        short: lambda *entry: entry[-1].coefficients[key].value,
        f"{short}_undefined_reason": lambda *entry: entry[-1].coefficients[key].reason,
        "observations": lambda *entry: entry[-1].n_observations,
        "items": lambda *entry: entry[-1].items,
        "clamped_share": lambda *entry: entry[-1].clamped_share,
    }
    points = (
        (name, value, series, point)
        for name, sweep in sweeps.items()
        for series in sweep.series
        for value, point in zip(sweep.points, series.points, strict=True)
    )
    return table_of(columns, points)


def _comparison_table(result: StudyResult) -> Table:
    short, key = result.lead.short, result.lead.key
    columns: Columns = {
        "first": lambda entry: entry.first,
        "first_references": lambda entry: entry.first_references,
        "second": lambda entry: entry.second,
        "second_references": lambda entry: entry.second_references,
        "items": lambda entry: entry.items,
        "items_of_study": lambda entry: entry.of,
        f"first_{short}": lambda entry: entry.first_value[key],
        f"second_{short}": lambda entry: entry.second_value[key],
        f"{short}_difference": lambda entry: entry.difference,
        "low": lambda entry: low(entry.interval),
        "high": lambda entry: high(entry.interval),
        "p": lambda entry: entry.p,
        "p_holm": lambda entry: entry.p_holm,
        "undefined_reason": lambda entry: entry.reason,
    }
    return table_of(columns, ((entry,) for entry in result.comparisons))


def _system_table(result: StudyResult) -> Table:
    columns: Columns = {
        **NAMES,
        "system": lambda _, each: each.system,
        "score": lambda _, each: each.score,
        "mean_rating": lambda _, each: each.rating,
        "rated_items": lambda _, each: each.rated_items,
        "clamped_share": lambda _, each: each.clamped_share,
        "run": lambda row, _: row.run,
    }
    return table_of(columns, ((row, each) for row in result.rows for each in row.systems))


def _dropped_table(result: StudyResult) -> Table:
    whole = (("", "", entry.reason, item) for entry in result.items.dropped for item in entry.items)
    by_row = (
        (row.label, row.subset_label, row.dropped.reason, item) for row in result.rows for item in row.dropped.items
    )
    return ("metric", "references", "reason", "item"), chain(whole, by_row)


def _pair_table(result: StudyResult) -> Table:
    columns: Columns = {
        **NAMES,
        "a": lambda _, pair, each: pair.a,
        "b": lambda _, pair, each: pair.b,
        "score_difference": lambda _, pair, each: each.score,
        "rating_difference": lambda _, pair, each: each.rating,
        "items": lambda _, pair, each: each.items,
        "units": lambda _, pair, each: each.units,
    }
    return table_of(
        columns, ((row, *both) for row in result.rows for both in zip(result.pairs, row.pairs, strict=True))
    )


def _observation_table(result: StudyResult) -> Table:
    columns: Columns = {
        **NAMES,
        "a": lambda row, each, unit: result.pairs[each.pair[unit]].a,
        "b": lambda row, each, unit: result.pairs[each.pair[unit]].b,
        "rating_difference": lambda row, each, unit: each.human[unit],
        "metric_difference": lambda row, each, unit: each.metric[unit],
    }
    by_row = zip(result.rows, result.observations, strict=True)
    return table_of(columns, ((row, each, unit) for row, each in by_row for unit in range(len(each.pair))))
