"""A study's sensitivity as tables for download."""

from collections.abc import Callable, Iterable

from correlations.results.sensitivity import COMBINED, Draws, Sensitivity
from correlations.results.study import StudyResult
from correlations.selectors.tables import Columns, Table, high, low, table_of
from correlations.selectors.tuned import tuned_marks

DRAWS: Columns = {
    "low": lambda *entry: low(entry[-1].ends),
    "high": lambda *entry: high(entry[-1].ends),
    "spread": lambda *entry: entry[-1].spread,
    "undefined_reason": lambda *entry: entry[-1].reason,
}
NAMES: Columns = {"metric": lambda row, *_: row.label, "references": lambda row, *_: row.subset_label}


def table(result: StudyResult, name: str) -> Table | None:
    """Return the columns and rows of one table; None if there is none of that name, or if nothing was computed."""
    builders: dict[str, Callable[[StudyResult, Sensitivity], Table]] = {
        "sources": _source_table,
        "sources-of-differences": _difference_table,
        "fewer": _curve_table,
        "fewer-ahead": _ahead_table,
        "schemes": _scheme_table,
    }
    if result.sensitivity is None or name not in builders:
        return None
    return builders[name](result, result.sensitivity)


def _names(result: StudyResult, part: Sensitivity) -> Columns:
    marks = _marks(result, part.shown)
    return {**NAMES, "tuned": lambda row, *_: marks[result.rows.index(row)]}


def _pair(result: StudyResult, part: Sensitivity) -> Columns:
    marks = _marks(result, part.shown)
    return {
        "first": lambda first, *_: first.label,
        "first_references": lambda first, *_: first.subset_label,
        "first_tuned": lambda first, *_: marks[result.rows.index(first)],
        "second": lambda _, second, *__: second.label,
        "second_references": lambda _, second, *__: second.subset_label,
        "second_tuned": lambda _, second, *__: marks[result.rows.index(second)],
    }


def _marks(result: StudyResult, rows: Iterable[int]) -> dict[int, str]:
    return tuned_marks(result, {index: result.lead_value(result.rows[index]) for index in rows})


def _source_table(result: StudyResult, part: Sensitivity) -> Table:
    columns: Columns = {
        **_names(result, part),
        result.lead.short: lambda row, entry, *_: entry.value,
        "drawn": lambda row, entry, name, _: name,
        **DRAWS,
    }
    return table_of(
        columns,
        (
            (result.rows[entry.row], entry, name, draws)
            for entry in part.rows
            for name, draws in _with_missing(part, entry.sources)
        ),
    )


def _with_missing(part: Sensitivity, sources: dict[str, Draws]) -> list[tuple[str, Draws]]:
    """Return each source, also those that cannot be drawn."""
    entries = []
    for name, parts in COMBINED.items():
        reason = next((part.missing[each] for each in parts if each in part.missing), "")
        entries.append((name, sources.get(name) or Draws(None, None, reason)))
    return entries


def _difference_table(result: StudyResult, part: Sensitivity) -> Table:
    columns: Columns = {
        **_pair(result, part),
        "difference": lambda first, second, pair, *_: pair.difference,
        "drawn": lambda first, second, pair, name, _: name,
        "first_ahead": lambda first, second, pair, name, _: pair.ahead.get(name),
        **DRAWS,
    }
    return table_of(
        columns,
        (
            (result.rows[pair.first], result.rows[pair.second], pair, name, draws)
            for pair in part.pairs
            for name, draws in _with_missing(part, pair.sources)
        ),
    )


def _curve_table(result: StudyResult, part: Sensitivity) -> Table:
    columns: Columns = {
        **_names(result, part),
        "kept_of": lambda row, kind, *_: kind,
        "count": lambda row, kind, point, _: point.count,
        "reached": lambda row, kind, point, _: point.reached,
        f"{result.lead.short}_mean": lambda row, kind, point, value: value.mean,
        "low": lambda row, kind, point, value: low(value.ends),
        "high": lambda row, kind, point, value: high(value.ends),
        "spread": lambda row, kind, point, value: value.spread,
        "items": lambda row, kind, point, value: value.items,
    }
    return table_of(
        columns,
        (
            (result.rows[index], kind, point, value)
            for kind, curve in part.curves.items()
            for point in curve.points
            for index, value in zip(part.shown, point.rows, strict=True)
        ),
    )


def _ahead_table(result: StudyResult, part: Sensitivity) -> Table:
    columns: Columns = {
        **_pair(result, part),
        "kept_of": lambda first, second, kind, *_: kind,
        "count": lambda first, second, kind, point, _: point.count,
        "first_ahead": lambda *entry: entry[-1],
    }
    return table_of(
        columns,
        (
            (result.rows[pair.first], result.rows[pair.second], kind, point, share)
            for kind, curve in part.curves.items()
            for point in curve.points
            for pair, share in zip(part.pairs, point.ahead, strict=True)
        ),
    )


def _scheme_table(result: StudyResult, part: Sensitivity) -> Table:
    marks = _marks(result, part.schemes.rows)
    columns: Columns = {
        "weights": lambda line, *_: line.key,
        "is_own": lambda line, *_: line.is_own,
        "metric": lambda _, row, __: row and row.label,
        "references": lambda _, row, __: row and row.subset_label,
        "tuned": lambda _, row, __: row and marks[result.rows.index(row)],
        result.lead.short: lambda _, __, value: value and value.value,
        "low": lambda _, __, value: value and low(value.interval),
        "high": lambda _, __, value: value and high(value.interval),
        "difference": lambda _, __, value: value and value.difference,
        "difference_low": lambda _, __, value: value and low(value.difference_interval),
        "difference_high": lambda _, __, value: value and high(value.difference_interval),
        "items": lambda _, __, value: value and value.items,
        "undefined_reason": lambda line, _, value: line.reason or (value and value.reason),
    }
    entries = (
        (line, row, value)
        for line in part.schemes.lines
        for row, value in (
            zip((result.rows[index] for index in part.schemes.rows), line.rows, strict=True)
            if line.rows
            else [(None, None)]
        )
    )
    return table_of(columns, entries)
