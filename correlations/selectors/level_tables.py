"""Tables of a study's report for download: agreement over systems and over outputs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from correlations.results.levels import LevelEstimate, OutputLevel, RowLevels, ScaledErrors, SystemLevel, SystemPoint
from correlations.results.study import StudyResult, StudyRow
from correlations.selectors.levels import too_few_systems
from correlations.selectors.tables import NAMES, Columns, Table, high, low, table_of
from correlations.selectors.tuned import tuned_marks
from correlations.stats.coefficients.registry import COEFFICIENTS

COEFFICIENT: Columns = {
    "coefficient": lambda row, level, key, _: COEFFICIENTS[key].name,
    "value": lambda row, level, key, estimate: estimate.value,
    "low_over_items": lambda row, level, key, estimate: low(estimate.over_items),
    "high_over_items": lambda row, level, key, estimate: high(estimate.over_items),
    "low_over_items_and_systems": lambda row, level, key, estimate: low(estimate.over_items_and_systems),
    "high_over_items_and_systems": lambda row, level, key, estimate: high(estimate.over_items_and_systems),
    "p": lambda row, level, key, estimate: estimate.p,
}
RANGES: Columns = {
    "low_over_systems": lambda row, level, key, estimate: low(estimate.over_systems),
    "high_over_systems": lambda row, level, key, estimate: high(estimate.over_systems),
    "low_over_raters": lambda row, level, key, estimate: low(estimate.over_raters),
    "high_over_raters": lambda row, level, key, estimate: high(estimate.over_raters),
    "low_over_items_systems_and_raters": lambda row, level, key, estimate: low(estimate.over_items_systems_and_raters),
    "high_over_items_systems_and_raters": lambda row, level, key, estimate: high(
        estimate.over_items_systems_and_raters
    ),
    "raters": lambda row, level, *_: level.raters,
    "raters_undefined_reason": lambda row, level, *_: level.raters_reason,
}
REASON: Columns = {"undefined_reason": lambda row, level, *_: level.reason}
Coefficients = Iterator[tuple[StudyRow, SystemLevel | OutputLevel, str, LevelEstimate]]


def table(result: StudyResult, name: str) -> Table | None:
    """Return the columns and rows of one table; None if there is none of that name."""
    return BUILDERS[name](result) if name in BUILDERS else None


def _rows(result: StudyResult) -> Iterator[tuple[StudyRow, RowLevels]]:
    return zip(result.rows, result.levels, strict=True)


def _coefficients(row: StudyRow, level: SystemLevel | OutputLevel) -> Coefficients:
    for key, estimate in level.coefficients.items():
        yield row, level, key, estimate


def _system_level(result: StudyResult) -> Table:
    columns: Columns = {
        **NAMES,
        **_tuned(result, [[levels.system for levels in result.levels]]),
        **COEFFICIENT,
        **RANGES,
        "p": lambda row, level, key, estimate: None if too_few_systems(len(level.systems)) else estimate.p,
        "systems": lambda row, level, *_: len(level.systems),
        "without": lambda row, level, *_: level.without and level.without.system,
        "value_without": lambda row, level, key, _: level.without and level.without.values[key],
        **REASON,
    }
    return table_of(columns, (each for row, levels in _rows(result) for each in _coefficients(row, levels.system)))


def _tuned(result: StudyResult, levels: Iterable[Sequence[SystemLevel | OutputLevel]]) -> Columns:
    """Return the column that marks the highest of several choices of references, by each coefficient of each level."""
    marks: dict[tuple[int, str], str] = {}
    for of_rows in levels:
        for key in of_rows[0].coefficients:
            found = tuned_marks(result, {index: each.coefficients[key].value for index, each in enumerate(of_rows)})
            marks |= {(id(of_rows[index]), key): mark for index, mark in found.items()}
    return {"tuned": lambda row, level, key, _: marks[id(level), key]}


def _systems(result: StudyResult) -> Table:
    columns: Columns = {
        **NAMES,
        "system": lambda _, point: point.system,
        "outputs": lambda _, point: point.outputs,
        "score": lambda _, point: point.score,
        "mean_rating": lambda _, point: point.rating,
        "spread": lambda _, point: point.spread,
    }
    points: Iterator[tuple[StudyRow, SystemPoint]] = (
        (row, point) for row, levels in _rows(result) for point in levels.system.systems
    )
    return table_of(columns, points)


def _output_level(result: StudyResult) -> Table:
    columns: Columns = {
        **NAMES,
        "grouping": lambda row, level, *_: level.grouping,
        "outputs": lambda row, level, *_: level.outputs,
        **_tuned(result, zip(*(levels.outputs for levels in result.levels), strict=True)),
        **COEFFICIENT,
        "groups": lambda row, level, key, _: level.groups[key],
        **REASON,
    }
    entries = (each for row, levels in _rows(result) for level in levels.outputs for each in _coefficients(row, level))
    return table_of(columns, entries)


def _errors(result: StudyResult) -> Table:
    columns: Columns = {
        **NAMES,
        "scaled": lambda _, each: each.scaled,
        "step": lambda _, each: each.step,
        "outputs": lambda _, each: each.outputs,
        "mae": lambda _, each: each.mae,
        "rmse": lambda _, each: each.rmse,
        "mae_of_the_mean": lambda _, each: each.constant_mae,
        "rmse_of_the_mean": lambda _, each: each.constant_rmse,
        "undefined_reason": lambda _, each: each.reason,
    }
    errors: Iterator[tuple[StudyRow, ScaledErrors]] = (
        (row, each) for row, levels in _rows(result) for each in levels.errors
    )
    return table_of(columns, errors)


BUILDERS: Mapping[str, Callable[[StudyResult], Table]] = {
    "system-level": _system_level,
    "system-points": _systems,
    "output-level": _output_level,
    "rating-errors": _errors,
}
