"""A study's result as tables for download."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any

from correlations.results.common import Ends
from correlations.results.study import StudyResult, StudyRow, Sweep
from correlations.results.worth import MarginTest, RowWorth
from correlations.selectors.tested_raters import TestedPanel
from correlations.selectors.tuned import MARK, tuned_marks
from correlations.selectors.worth import answers

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
        "ceilings": _ceiling_table,
        "rankings": _ranking_table,
        "systems": _system_table,
        "dropped": _dropped_table,
        "pairs": _pair_table,
        "observations": _observation_table,
        "stand-ins": _stand_in_table,
        "stand-in-raters": _tested_rater_table,
        "helped-means": _helped_mean_table,
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
    marks = tuned_marks(result, dict(enumerate(map(result.lead_value, result.rows))))
    columns: Columns = {
        **NAMES,
        "tuned": lambda row: marks[result.rows.index(row)],
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


def _ranking_table(result: StudyResult) -> Table:
    columns: Columns = {
        **NAMES,
        "pairwise_accuracy": lambda _, ranking: ranking.pairwise,
        "tie_calibrated_accuracy": lambda _, ranking: ranking.calibrated,
        "tie_calibrated_accuracy_tuned": lambda _, ranking: _tuned(ranking.calibrated),
        "tie_accuracy_epsilon_of_other_items": lambda _, ranking: ranking.held_out,
        "epsilon": lambda _, ranking: ranking.epsilon,
        "tie_accuracy_by_chance": lambda _, ranking: ranking.chance,
        "soft_pairwise_accuracy": lambda _, ranking: ranking.soft,
        **_grouped("within_systems"),
        "tie_accuracy_epsilon_of_other_systems": lambda _, ranking: ranking.within_systems.held_out,
        **_grouped("over_all"),
    }
    rows = zip(result.rows, result.worth, strict=True)
    return table_of(columns, ((row, worth.ranking) for row, worth in rows))


def _grouped(name: str) -> Columns:
    """Return the columns of a row's accuracy over other pairs than those of one item."""
    pairs = attrgetter(name)
    return {
        f"pairwise_accuracy_{name}": lambda _, ranking: pairs(ranking).pairwise,
        f"tie_calibrated_accuracy_{name}": lambda _, ranking: pairs(ranking).calibrated,
        f"tie_calibrated_accuracy_{name}_tuned": lambda _, ranking: _tuned(pairs(ranking).calibrated),
        f"epsilon_{name}": lambda _, ranking: pairs(ranking).epsilon,
        f"outputs_{name}": lambda _, ranking: pairs(ranking).outputs,
    }


def _tuned(calibrated: float | None) -> str:
    """Return the mark of an accuracy whose threshold for ties is the best one for the pairs that it is over."""
    return "" if calibrated is None else MARK


def _ceiling_table(result: StudyResult) -> Table:
    columns: Columns = {
        **NAMES,
        "coefficient": lambda row, ceiling, entry, human: entry.key,
        "metric_over_units": lambda row, ceiling, entry, human: row.coefficients[entry.key].value,
        "halves_of_raters": lambda row, ceiling, entry, human: human.halves,
        "human_ceiling": lambda row, ceiling, entry, human: human.ceiling,
        "halvings": lambda row, ceiling, *_: ceiling.splits,
        "raters_of_output": lambda row, ceiling, *_: ceiling.raters_of_output,
        "one_rater": lambda row, ceiling, entry, human: human.one_rater,
        "metric_instead": lambda row, ceiling, entry, human: human.metric,
        "raters_left_out": lambda row, ceiling, entry, human: human.raters,
        "undefined_reason": lambda row, ceiling, entry, human: human.reason or ceiling.one_rater_reason,
    }
    entries = (
        (row, ceiling, entry, ceiling.coefficients[entry.key])
        for row, ceiling in zip(result.rows, result.ceilings, strict=True)
        for entry in result.entries
    )
    return table_of(columns, entries)


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
    marks = tuned_marks(result, dict(enumerate(map(result.lead_value, result.rows))))
    by_name = {(row.label, row.subset_label): marks[index] for index, row in enumerate(result.rows)}
    columns: Columns = {
        "first": lambda entry: entry.first,
        "first_references": lambda entry: entry.first_references,
        "first_tuned": lambda entry: by_name[entry.sides()[0]],
        "second": lambda entry: entry.second,
        "second_references": lambda entry: entry.second_references,
        "second_tuned": lambda entry: by_name[entry.sides()[1]],
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


MARGIN: Columns = {
    "in_place_of": lambda row, worth, whom, *_: whom,
    "epsilon": lambda row, worth, whom, margin, *_: margin.epsilon,
}


def _stand_in_table(result: StudyResult) -> Table:
    stands_in = answers(result)
    columns: Columns = {
        **NAMES,
        **MARGIN,
        "stands_in": lambda row, worth, whom, margin: stands_in[result.rows.index(row)][whom],
        "passed": lambda row, worth, whom, margin: margin.passed,
        "enough_raters": lambda row, worth, whom, margin: not TestedPanel(worth.stand_in, margin).too_few,
        "winning_rate": lambda row, worth, whom, margin: margin.winning_rate,
        "raters_beaten": lambda row, worth, whom, margin: margin.beaten,
        "raters_tested": lambda row, worth, *_: len(worth.stand_in.raters),
        "raters_left_out": lambda row, worth, *_: len(worth.stand_in.left_out),
        "advantage": lambda row, worth, *_: worth.stand_in.advantage,
        "one_rating": lambda row, worth, *_: worth.same_rating.rating,
        "outputs_closer_than_one_rating": lambda row, worth, *_: worth.same_rating.closer,
        "outputs_farther_than_one_rating": lambda row, worth, *_: worth.same_rating.farther,
        "advantage_of_one_rating": lambda row, worth, *_: worth.same_rating.advantage,
        "winning_rate_of_one_rating": lambda row, worth, whom, _: worth.same_rating.winning_rates[whom],
        "lead_over_one_rating": lambda row, worth, *_: worth.same_rating.lead,
        "p_of_lead": lambda row, worth, whom, _: worth.same_rating.lead_p[whom],
        "advantage_fitted": lambda row, worth, *_: worth.fitted and worth.fitted.advantage,
        "winning_rate_fitted": lambda row, worth, whom, _: worth.fitted and worth.fitted.winning_rates.get(whom),
        "lead_fitted": lambda row, worth, *_: worth.fitted and worth.fitted.lead,
        "outputs": lambda row, worth, *_: worth.stand_in.outputs,
        "scale": lambda row, worth, *_: worth.stand_in.scale,
        "p_of_same_offset": lambda row, worth, *_: worth.stand_in.same_offset_p,
        "ratings_saved": lambda row, worth, *_: worth.saved,
    }
    return table_of(columns, _margins(result))


def _tested_rater_table(result: StudyResult) -> Table:
    columns: Columns = {
        **NAMES,
        **MARGIN,
        "rater_place": lambda *entry: entry[4].rater,
        "outputs": lambda *entry: entry[4].outputs,
        "advantage": lambda *entry: entry[4].advantage,
        "agreement": lambda *entry: entry[4].agreement,
        "agreement_p": lambda *entry: entry[4].agreement_p,
        "p": lambda *entry: entry[3].p[entry[5]],
        "p_corrected": lambda *entry: entry[3].p_corrected[entry[5]],
    }
    entries = (
        (row, worth, whom, margin, rater, place)
        for row, worth, whom, margin in _margins(result)
        for place, rater in enumerate(worth.stand_in.raters)
    )
    return table_of(columns, entries)


def _helped_mean_table(result: StudyResult) -> Table:
    columns: Columns = {
        **NAMES,
        "system": lambda _, each: each.system,
        "rated": lambda _, each: each.rated,
        "scored": lambda _, each: each.scored,
        "mean": lambda _, each: each.mean,
        "mean_low": lambda _, each: low(each.mean_interval),
        "mean_high": lambda _, each: high(each.mean_interval),
        "estimate": lambda _, each: each.estimate,
        "low": lambda _, each: low(each.interval),
        "high": lambda _, each: high(each.interval),
        "ratings_saved": lambda _, each: each.saved,
        "undefined_reason": lambda _, each: each.reason,
    }
    by_row = zip(result.rows, result.worth, strict=True)
    return table_of(columns, ((row, each) for row, worth in by_row for each in worth.means))


def _margins(result: StudyResult) -> Iterator[tuple[StudyRow, RowWorth, str, MarginTest]]:
    for row, worth in zip(result.rows, result.worth, strict=True):
        for whom, margin in worth.stand_in.margins.items():
            yield row, worth, whom, margin
