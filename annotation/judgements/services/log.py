"""Logs of ratings downloaded from Assay."""

from typing import Any

from annotation.core.problems import Problems
from annotation.core.progress import Beat
from annotation.core.rows import Oddities, Table, beating, read_jsonl, square
from annotation.judgements.services.content import Cells, RatingContent
from annotation.judgements.services.options import RatingOptions
from annotation.judgements.services.wide import is_blank

COLUMNS = ("rating", "item", "text", "rated_as", "rater", "criterion", "value", "revision", "extra", "sent_at")
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")

Record = dict[str, Any]


def is_log(names: list[str]) -> bool:
    return set(COLUMNS) <= set(names)


def log_table_rows(table: Table, options: RatingOptions, problems: Problems) -> tuple[RatingContent, list[Cells]]:
    square(table, problems)
    rows = [(line, dict(zip(table.header, cells, strict=True))) for line, cells in table.rows]
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
    judgements: dict[tuple[str, ...], list[Cells]] = {}
    for line, row in rows:
        criterion = _cell(row, "criterion")
        missing = [name for name in COLUMNS if name not in row]
        if missing or criterion not in read.criteria:
            name = missing[0] if missing else "criterion"
            problems.add(line, name, criterion, f"one of {', '.join(read.criteria)}" if not missing else "such a field")
            continue
        if _cell(row, "extra").lower() == "true":
            read.left_out["late_ratings"] += 1
            continue
        same = judgements.setdefault(
            tuple(_cell(row, name) for name in ("rater", "item", "text", "rated_as", "presentation")), []
        )
        value = None if is_blank(_cell(row, "value")) else row["value"]
        if _cell(row, "revision") not in ("", "0") and any(criterion in earlier.values for earlier in same):
            judgement = next(earlier for earlier in reversed(same) if criterion in earlier.values)
            read.left_out["corrected_ratings"] += 1
        else:
            open_judgements = (earlier for earlier in same if criterion not in earlier.values)
            judgement = next(open_judgements, None) or _new_judgement(line, row, same)
        judgement.values[criterion] = value
    return read, [judgement for same in judgements.values() for judgement in same]


def _new_judgement(line: int, row: Record, same: list[Cells]) -> Cells:
    fields = {name: _cell(row, name) for name in ("rater", "item", "text", "seconds")}
    fields |= {"system": _cell(row, "rated_as"), "time": _cell(row, "sent_at")}
    judgement = Cells(line, fields, {}, optional=True)
    same.append(judgement)
    return judgement


def _cell(row: Record, name: str) -> str:
    value = row.get(name)
    return "" if value is None else value if isinstance(value, str) else str(value)
