"""Logs of ratings downloaded from Assay."""

from collections import Counter
from typing import Any

from annotation.core.problems import Problems, listed
from annotation.core.progress import Beat
from annotation.core.rows import Oddities, Table, beating, read_jsonl, square
from annotation.judgements.services.content import Cells, RatingContent, check_criteria
from annotation.judgements.services.options import RatingOptions
from annotation.judgements.services.wide import is_blank

COLUMNS = ("rating", "item", "text", "rated_as", "rater", "criterion", "value", "revision", "extra", "sent_at")
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")

Record = dict[str, Any]


def is_log(names: list[str]) -> bool:
    return set(COLUMNS) <= set(names)


def log_table_rows(table: Table, options: RatingOptions, problems: Problems) -> tuple[RatingContent, list[Cells]]:
    square(table, problems)
    rows = [(line, dict(zip(table.header, cells, strict=True))) for line, cells in table.each()]
    for _, row in rows:
        for name, cell in row.items():
            if cell.startswith("'") and cell[1:].startswith(FORMULA_SIGNS):
                row[name] = cell[1:]  # the export adds a quote, so that spreadsheets do not run it as a formula
    return _judgements(rows, table.oddities, options, problems)


def log_jsonl_rows(
    content: bytes, options: RatingOptions, problems: Problems, beat: Beat
) -> tuple[RatingContent, list[Cells]]:
    oddities = Oddities()
    rows = list(beating(read_jsonl(content, problems, oddities), beat))
    return _judgements(rows, oddities, options, problems)


def _judgements(
    rows: list[tuple[int, Record]], oddities: Oddities, options: RatingOptions, problems: Problems
) -> tuple[RatingContent, list[Cells]]:
    """Apply corrections and leave out late ratings, and count both.

    Ratings on several criteria belong to one judgement if they have a presentation in common or, in logs that do not
    name it, by their order.
    """
    read = RatingContent([], rows=len(rows), oddities=oddities)
    names = dict.fromkeys(_cell(row, "criterion") for _, row in rows)
    read.criteria = options.criteria or [name for name in names if name]
    check_criteria(read.criteria, problems)
    judgements: dict[tuple[str, ...], list[Cells]] = {}
    n_values: Counter[tuple[str, ...]] = Counter()
    for line, row in rows:
        criterion = _cell(row, "criterion")
        missing = [name for name in COLUMNS if name not in row]
        if missing or criterion not in read.criteria:
            name = missing[0] if missing else "criterion"
            problems.add(line, name, criterion, f"one of {listed(read.criteria)}" if not missing else "such a field")
            continue
        if turn := _cell(row, "turn"):
            problems.add(line, "turn", turn, "nothing: ratings of single turns of a dialogue cannot be imported")
            continue
        if _cell(row, "extra").lower() == "true":
            read.left_out["late_ratings"] += 1
            continue
        key = tuple(_cell(row, name) for name in ("rater", "item", "text", "rated_as", "presentation"))
        same, number = judgements.setdefault(key, []), n_values[criterion, *key]
        value = None if is_blank(_cell(row, "value")) else row["value"]
        if _cell(row, "revision") not in ("", "0") and number:
            same[number - 1].values[criterion] = value
            read.left_out["corrected_ratings"] += 1
            continue
        if number == len(same):
            same.append(_new_judgement(line, row))
        same[number].values[criterion] = value
        n_values[criterion, *key] += 1
    return read, [judgement for same in judgements.values() for judgement in same]


def _new_judgement(line: int, row: Record) -> Cells:
    fields = {name: _cell(row, name) for name in ("rater", "item", "text", "seconds")}
    fields |= {"system": _cell(row, "rated_as"), "time": _cell(row, "sent_at")}
    return Cells(line, fields, {}, optional=True)


def _cell(row: Record, name: str) -> str:
    value = row.get(name)
    return "" if value is None else value if isinstance(value, str) else str(value)
