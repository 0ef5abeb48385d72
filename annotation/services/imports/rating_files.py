"""Files of judgements, one a row (or one criterion of one a row), read and checked as far as the file alone allows."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.utils.dateparse import parse_datetime
from django.utils.text import slugify

from annotation.errors import AnnotationError
from annotation.services.imports.content import check_text
from annotation.services.imports.problems import Problems
from annotation.services.imports.reading import (
    Beat,
    Oddities,
    Table,
    beating,
    check_header,
    no_beat,
    read_jsonl,
    read_table,
    square,
)

OWN_COLUMNS = ("rater", "item", "system", "text", "time", "criterion", "value")
JSON_NAMES = ("rater", "item", "system", "text", "time", "ratings")


@dataclass
class RatingOptions:
    """How to read a file of judgements; stored with its import as JSON.

    ``columns`` maps Assay's names to the file's; ``criteria`` chooses columns, all others by default; ``only_systems``
    leaves other rows out; ``aliases`` maps a name that was judged to the system whose outputs were shown.
    """

    columns: dict[str, str] = field(default_factory=dict)
    criteria: list[str] = field(default_factory=list)
    only_systems: list[str] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)
    scale_min: int = 1
    scale_max: int = 5

    def __post_init__(self) -> None:
        unknown = [name for name in self.columns if name not in OWN_COLUMNS]
        if unknown:
            message = f"columns: found {unknown[0]!r}; accepted: {', '.join(OWN_COLUMNS)}."
            raise AnnotationError.at("columns", message)
        if not -32768 <= self.scale_min < self.scale_max <= 32767:
            message = f"Scale: found {self.scale_min} to {self.scale_max}; accepted: a lower end below the upper end."
            raise AnnotationError.at("scale_max", message)

    def as_json(self) -> dict[str, Any]:
        return {spec.name: getattr(self, spec.name) for spec in fields(self)}


class Judgement(NamedTuple):
    """One rater's answer about one response: a value on every criterion."""

    line: int
    rater: str
    item: str
    system: str
    text: str
    time: datetime | None
    values: tuple[float, ...]


@dataclass
class RatingContent:
    criteria: list[str]
    judgements: list[Judgement] = field(default_factory=list)
    rows: int = 0
    rows_of_other_systems: int = 0
    oddities: Oddities = field(default_factory=Oddities)


class _Cells(NamedTuple):
    """One row before its values are known to be numbers."""

    line: int
    own: dict[str, str]
    values: dict[str, object]


def read_ratings(
    content: bytes,
    *,
    filename: str,
    file_format: str,
    options: RatingOptions,
    beat: Beat = no_beat,
    collect: Problems | None = None,
) -> RatingContent:
    """Every judgement of the file. Bad rows are refused here, or left to a caller that has more to say: ``collect``."""
    problems = Problems(filename) if collect is None else collect
    if file_format == "jsonl":
        read, rows = _jsonl_rows(content, options, problems, beat)
    else:
        table = read_table(content, file_format, problems, beat)
        read, rows = _table_rows(table, options, problems)
    names = [slugify(name)[:60] for name in read.criteria]
    for name, slug in zip(read.criteria, names, strict=True):
        if not slug or names.count(slug) > 1:
            problems.add(None, name, name, "criteria whose names differ in their letters and digits")
    _gather(beating(rows, beat), read, options, problems)
    if not problems.total and not read.judgements:
        problems.add(None, "judgements", "none", "at least one judgement")
    if collect is None:
        problems.refuse()
    return read


# --- Rows -------------------------------------------------------------------------------------------------------------


def _table_rows(table: Table, options: RatingOptions, problems: Problems) -> tuple[RatingContent, list[_Cells]]:
    own_name = {theirs: ours for ours, theirs in options.columns.items()}
    table.header = [own_name.get(name, name) for name in table.header]
    is_long = "criterion" in table.header and "value" in table.header
    others = [name for name in table.header if name not in OWN_COLUMNS]
    if options.criteria and not is_long:
        check_header(table, problems, required=["rater", "item", *options.criteria], known=None)
        criteria = options.criteria
    else:
        known = OWN_COLUMNS if is_long else None
        check_header(table, problems, required=["rater", "item"], known=known)
        criteria = [] if is_long else others
    if "system" not in table.header and "text" not in table.header:
        problems.add(table.header_line, "system", "no such column", "a column named system, or one named text")
    if not is_long and not criteria:
        accepted = "a column for each criterion, or the columns criterion and value"
        problems.add(table.header_line, "criteria", "none", accepted)
    problems.refuse()
    square(table, problems)
    rows = []
    for line, cells in table.rows:
        named = dict(zip(table.header, cells, strict=True))
        rows.append(_Cells(line, named, {name: named[name] for name in criteria}))
    read = RatingContent(criteria, rows=len(rows), oddities=table.oddities)
    return (read, _joined(rows, read, options, problems)) if is_long else (read, rows)


def _joined(rows: list[_Cells], read: RatingContent, options: RatingOptions, problems: Problems) -> list[_Cells]:
    """Rows of one criterion each, put together: the n-th value of each criterion belongs to the n-th judgement."""
    seen = dict.fromkeys(row.own["criterion"].strip() for row in rows)
    read.criteria = options.criteria or [name for name in seen if name]
    judgements: dict[tuple[str, ...], list[_Cells]] = defaultdict(list)
    for row in rows:
        criterion = row.own["criterion"].strip()
        if criterion not in read.criteria:
            problems.add(row.line, "criterion", criterion, f"one of {', '.join(read.criteria)}")
            continue
        mine = judgements[tuple(row.own.get(name, "") for name in ("rater", "item", "system", "text"))]
        place = next((one for one in mine if criterion not in one.values), None)
        if place is None:
            place = _Cells(row.line, row.own, {})
            mine.append(place)
        place.values[criterion] = row.own["value"]
    joined = [one for mine in judgements.values() for one in mine]
    for one in joined:
        for missing in [name for name in read.criteria if name not in one.values]:
            accepted = f"a value for each of {', '.join(read.criteria)} in every judgement (this one begins here)"
            problems.add(one.line, missing, "no row", accepted)
    return [one for one in joined if len(one.values) == len(read.criteria)]


def _jsonl_rows(
    content: bytes, options: RatingOptions, problems: Problems, beat: Beat
) -> tuple[RatingContent, list[_Cells]]:
    theirs = {ours: options.columns.get(ours, ours) for ours in OWN_COLUMNS}
    oddities, rows = Oddities(), []
    criteria = list(options.criteria)
    known = {options.columns.get(name, name): name for name in JSON_NAMES}
    for line, value in beating(read_jsonl(content, problems, oddities), beat):
        for name in value:
            if name not in known:
                problems.add(line, name, "an unknown field", f"only {', '.join(known)}")
        ratings = value.get("ratings")
        if not isinstance(ratings, dict) or not ratings:
            problems.add(line, "ratings", ratings, 'an object, such as {"relevance": 4}')
            continue
        criteria = criteria or list(ratings)
        if sorted(ratings) != sorted(criteria) and not (options.criteria and set(criteria) <= set(ratings)):
            problems.add(line, "ratings", ", ".join(ratings), f"the criteria {', '.join(criteria)}")
            continue
        own = {
            name: check_text(value.get(theirs[name]), line, name, problems)
            for name in ("rater", "item", "system", "text", "time")
        }
        rows.append(_Cells(line, own, {name: ratings[name] for name in criteria}))
    return RatingContent(criteria, rows=len(rows), oddities=oddities), rows


# --- Judgements -------------------------------------------------------------------------------------------------------


def _gather(rows: Iterable[_Cells], read: RatingContent, options: RatingOptions, problems: Problems) -> None:
    wanted = set(options.only_systems)
    for row in rows:
        system = row.own.get("system", "").strip()
        if wanted and system not in wanted:
            read.rows_of_other_systems += 1
            continue
        text = row.own.get("text", "")
        for name in ("rater", "item"):
            if not row.own[name].strip():
                problems.add(row.line, name, "", f"the {name}'s id")
        if not system and not text:
            problems.add(row.line, "system", "", "the name of a system, or the text of the response")
        values = tuple(_values(row, read.criteria, options, problems))
        rater = check_text(row.own["rater"].strip(), row.line, "rater", problems)
        time = _time(row.own.get("time", ""), row.line, problems)
        read.judgements.append(Judgement(row.line, rater, row.own["item"], system, text, time, values))


def _values(row: _Cells, criteria: list[str], options: RatingOptions, problems: Problems) -> Iterator[float]:
    for name in criteria:
        found = row.values[name]
        try:
            value = math.nan if isinstance(found, bool) else float(found)  # type: ignore[arg-type] # refused below
        except (TypeError, ValueError, OverflowError):
            value = math.nan
        if not options.scale_min <= value <= options.scale_max:
            problems.add(row.line, name, found, f"a number from {options.scale_min} to {options.scale_max}")
        yield value


def _time(cell: str, line: int, problems: Problems) -> datetime | None:
    """ISO 8601; without an offset it is UTC."""
    if not cell.strip():
        return None
    try:
        moment = parse_datetime(cell.strip())
    except ValueError:
        moment = None
    if moment is None:
        problems.add(line, "time", cell, "ISO 8601, such as 2015-07-26T10:30:00Z")
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
