"""A log of ratings downloaded from Assay: what was exported is what is imported."""

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
                row[name] = cell[1:]  # the export keeps spreadsheets from running it as a formula
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
    """A correction takes the place of what it corrects; late ratings are left out; both are counted.

    Ratings on several criteria belong to one judgement where they have a presentation in common or, in logs that do not
    name it, by their order.
    """
    read = RatingContent([], rows=len(rows), oddities=oddities)
    found = dict.fromkeys(_cell(row, "criterion") for _, row in rows)
    read.criteria = options.criteria or [name for name in found if name]
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
        mine = judgements.setdefault(
            tuple(_cell(row, name) for name in ("rater", "item", "text", "rated_as", "presentation")), []
        )
        value = None if is_blank(_cell(row, "value")) else row["value"]
        if _cell(row, "revision") not in ("", "0") and any(criterion in one.values for one in mine):
            place = next(one for one in reversed(mine) if criterion in one.values)
            read.left_out["corrected_ratings"] += 1
        else:
            place = next((one for one in mine if criterion not in one.values), None) or _new(line, row, mine)
        place.values[criterion] = value
    return read, [one for mine in judgements.values() for one in mine]


def _new(line: int, row: Record, mine: list[Cells]) -> Cells:
    own = {name: _cell(row, name) for name in ("rater", "item", "text", "seconds")}
    own |= {"system": _cell(row, "rated_as"), "time": _cell(row, "sent_at")}
    made = Cells(line, own, {}, optional=True)
    mine.append(made)
    return made


def _cell(row: Record, name: str) -> str:
    value = row.get(name)
    return "" if value is None else value if isinstance(value, str) else str(value)
