"""Files with a response in each row: a column for each rater, or medians or means of all raters."""

import re
from collections.abc import Iterator, Mapping

from annotation.core.judges import judge_columns
from annotation.core.problems import Problems
from annotation.core.rows import Table, check_header, square
from annotation.judgements.services.content import Cells, RatingContent, number_in
from annotation.judgements.services.options import AGGREGATES, OTHER_NAMES, OWN_COLUMNS, RatingOptions
from annotation.judgements.services.rows import check_names_a_response, rename_header

NAMES = ("item", "system", "text")
BLANKS = {"", "na", "n/a", "nan"}
BETWEEN = ":"
NO_VALUES = ("rater", "time", "shown", "seconds", "n")
AGGREGATE_WORDS = {"median": "median", "med": "median", "mean": "mean", "average": "mean", "avg": "mean"}


def is_blank(cell: str) -> bool:
    return cell.strip().lower() in BLANKS


# --- A column for each rater ------------------------------------------------------------------------------------------


def rater_rows(table: Table, options: RatingOptions, problems: Problems) -> tuple[RatingContent, Iterator[Cells]]:
    """Read columns headed ``rater`` or ``rater:criterion``; an empty cell was not rated."""
    rename_header(table, options)
    check_header(table, problems, required=["item", *options.raters], known=None, synonyms=OTHER_NAMES)
    check_names_a_response(table, problems)
    others = [name for name in table.header if name not in OWN_COLUMNS]
    judges = [name for name in judge_raters(others) if name not in options.raters and _has_number(table, name)]
    columns = options.raters or [name for name in others if name not in judges]
    if not columns:
        problems.add(table.header_line, "raters", "none", "a column for each rater")
    problems.refuse()
    square(table, problems)
    named_columns = rater_columns(columns, options)
    by_rater: dict[str, dict[str, str]] = {}
    for name, (rater, criterion) in named_columns.items():
        if not rater or not criterion:
            problems.add(table.header_line, name, name, "rater:criterion, both named")
        elif criterion in by_rater.setdefault(rater, {}):
            problems.add(table.header_line, name, name, f"one column for {rater} and {criterion}")
        else:
            by_rater[rater][criterion] = name
    problems.refuse()
    known = dict.fromkeys(criterion for _, criterion in named_columns.values())
    criteria = [name for name in options.criteria if name in known] if options.criteria else list(known)
    if not criteria:
        problems.add(table.header_line, "criteria", ", ".join(options.criteria), f"of {', '.join(known)}")
    chosen = set(criteria)
    columns_of = {
        rater: {name: column for name, column in by_criterion.items() if name in chosen}
        for rater, by_criterion in by_rater.items()
    }
    read = RatingContent(criteria, rows=len(table.rows), oddities=table.oddities, judges=judges)
    read.left_out.update({"judge_columns": len(judges)} if judges else {})
    return read, _by_rater(table, columns_of)


def judge_raters(columns: list[str]) -> list[str]:
    """Return the columns whose rater, by its name, is no person beside people; a criterion's name does not matter."""
    raters = {name: name.rsplit(BETWEEN, 1)[0] for name in columns}
    judges = judge_columns(list(dict.fromkeys(raters.values())))
    return [name for name in columns if raters[name] in judges]


def _has_number(table: Table, name: str) -> bool:
    index = table.header.index(name)
    values = (number_in(row.cells[index]) for row in table.rows if index < len(row.cells))
    return any(value == value for value in values)


def _by_rater(table: Table, by_rater: Mapping[str, dict[str, str]]) -> Iterator[Cells]:
    for line, cells in table.each():
        named = dict(zip(table.header, cells, strict=True))
        fields = {name: named.get(name, "") for name in NAMES}
        for rater, by_criterion in by_rater.items():
            values = {name: _cell(named[column]) for name, column in by_criterion.items()}
            yield Cells(line, {"rater": rater, **fields}, values, optional=True, names=by_criterion)


def rater_columns(columns: list[str], options: RatingOptions) -> dict[str, tuple[str, str]]:
    """Return rater and criterion of each column; a colon separates them only if every column has one."""
    if all(BETWEEN in name for name in columns):
        split = {name: name.rsplit(BETWEEN, 1) for name in columns}
        return {name: (rater.strip(), criterion.strip()) for name, (rater, criterion) in split.items()}
    criterion = options.criteria[0] if len(options.criteria) == 1 else options.criterion
    return {name: (name, criterion) for name in columns}


# --- Medians or means -------------------------------------------------------------------------------------------------


def split_aggregate(column: str) -> tuple[str, str]:
    """Return the criterion and the aggregate (median or mean) that a column's name contains; '' for none."""
    words = [word for word in re.split(r"[^\w]+|_", column) if word]
    aggregates = [word for word in words if word.lower() in AGGREGATE_WORDS]
    if len(aggregates) != 1:
        return column, ""
    rest = [word for word in words if word != aggregates[0]]
    return "_".join(rest), AGGREGATE_WORDS[aggregates[0].lower()]


def aggregate_columns(header: list[str], options: RatingOptions) -> list[str]:
    """Return the columns with medians or means: the chosen ones; else those with such names; else all others."""
    others = [name for name in header if name not in (*NAMES, *NO_VALUES)]
    return options.criteria or [name for name in others if split_aggregate(name)[1]] or others


def aggregate_rows(table: Table, options: RatingOptions, problems: Problems) -> tuple[RatingContent, list[Cells]]:
    """Read a median or mean for each response and criterion; ``n`` is the number of ratings behind those of a row."""
    rename_header(table, options)
    check_header(table, problems, required=["item", *options.criteria], known=None, synonyms=OTHER_NAMES)
    check_names_a_response(table, problems)
    columns = aggregate_columns(table.header, options)
    if not columns:
        problems.add(table.header_line, "criteria", "none", "a column named median or mean")
    kind = options.aggregate or aggregate_kind(columns)
    if kind not in AGGREGATES:
        accepted = (
            "columns named median or mean; or choose under “If it holds medians or means” which of the two they are"
        )
        problems.add(table.header_line, "aggregate", ", ".join(columns), accepted)
    problems.refuse()
    square(table, problems)
    criteria = {(split_aggregate(name)[0] or options.criterion): name for name in columns}
    if len(criteria) < len(columns):
        problems.add(table.header_line, "criteria", ", ".join(columns), "one column for each criterion")
    read = RatingContent(list(criteria), rows=len(table.rows), oddities=table.oddities, aggregate=kind)
    rows, first = [], dict[tuple[str, ...], int]()
    for line, cells in table.each():
        named = dict(zip(table.header, cells, strict=True))
        fields = {name: named.get(name, "") for name in NAMES}
        key = tuple(fields.values())
        if first.setdefault(key, line) != line:
            accepted = f"one row for each response; the first of this one is on line {first[key]}"
            problems.add(line, "item", fields["item"], accepted)
        values = {name: _cell(named[column]) for name, column in criteria.items()}
        rows.append(Cells(line, {"rater": kind, **fields}, values, optional=True, names=criteria))
        _count_behind(named.get("n", ""), line, read, problems)
    return read, rows


def _cell(cell: str) -> str | None:
    return None if is_blank(cell) else cell


def aggregate_kind(columns: list[str]) -> str:
    kinds = {split_aggregate(name)[1] for name in columns}
    return kinds.pop() if len(kinds) == 1 else ""


def _count_behind(cell: str, line: int, read: RatingContent, problems: Problems) -> None:
    if is_blank(cell):
        return
    n = number_in(cell)
    if n >= 0 and n.is_integer():
        read.stated_n.append(int(n))
    else:
        problems.add(line, "n", cell, "a whole number of ratings")
