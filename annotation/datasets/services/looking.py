"""A first look at a file with other people's field names: its fields, a proposed mapping, and its first items."""

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from annotation.core.errors import ImportRefused
from annotation.core.file_limits import PAGE_BYTES
from annotation.core.problems import Problems, shortened, shown, storable_json
from annotation.core.progress import Beat, noop
from annotation.core.rows import UTF8_MARK, Oddities, csv_delimiter
from annotation.datasets.mapping.by_values import filled
from annotation.datasets.mapping.meanings import IGNORE, NOTHING
from annotation.datasets.mapping.proposing import (
    MEASURED,
    Field,
    is_prose,
    label_fields,
    likely_id,
    measures,
    propose,
)
from annotation.datasets.mapping.rules import MOST_FIELDS
from annotation.datasets.mapping.values import common_kind, fields_of, kind_of
from annotation.datasets.services.content import ItemDraft, SourceDraft
from annotation.datasets.services.files import COLUMNS, ITEM_NAMES, TURN_SEPARATOR
from annotation.datasets.services.mapped import MappedReader
from annotation.datasets.services.records import PARQUET, records_of

SAMPLES = 3
ROWS = 20  # kept for the preview
ROWS_CHARACTERS = 200_000
ITEMS = 3  # shown of the preview
VALUE_CHARACTERS, PARTS, LEVELS = 400, 12, 20
PAGE_ROWS = 1000  # of Parquet, which is not cut at a line


@dataclass
class SeenField:
    """A field of the file: kinds and examples of its values."""

    kinds: set[str] = field(default_factory=set)
    samples: list[str] = field(default_factory=list)
    first: list[str] = field(default_factory=list)  # in the first records
    filled: int = 0

    def add(self, value: Any) -> None:
        kind = kind_of(value)
        if kind == NOTHING:
            return
        self.kinds.add(kind)
        self.filled += 1
        if len(self.samples) < SAMPLES or len(self.first) < ROWS:
            text = value if isinstance(value, str) else json.dumps(_bounded(value), ensure_ascii=False)
            text = shown(text)
            self.first = [*self.first, text][:ROWS]
            if text not in self.samples:
                self.samples = [*self.samples, text][:SAMPLES]


@dataclass
class Look:
    """``mapping`` is the proposal; ``rows`` are the first records, shortened.

    ``likely_id`` is the field whose values name the items; '' if there is none.
    """

    fields: list[dict[str, Any]]
    rows: list[tuple[int, dict[str, Any]]]
    n_rows: int
    mapping: dict[str, str]
    likely_id: str = ""

    def as_json(self) -> dict[str, Any]:
        document: dict[str, Any] = storable_json(vars(self))
        return document


def first_names(content: bytes, file_format: str) -> list[str] | None:
    """Return the names in the header or the first record of text; None if it is unclear where they are."""
    text = content[:PAGE_BYTES].removeprefix(UTF8_MARK).decode(errors="replace")
    try:
        if file_format == "jsonl":
            first = json.loads(next((line for line in text.split("\n") if line.strip()), "null"))
            return list(first) if isinstance(first, dict) else None
        tabs: Any = {"delimiter": "\t", "quoting": csv.QUOTE_NONE}
        quoting = {"delimiter": csv_delimiter(text)} if file_format == "csv" else tabs
        rows = csv.reader(io.StringIO(text, newline=""), **quoting)
        return next(([name.strip() for name in row] for row in rows if any(cell.strip() for cell in row)), None)
    except (ValueError, RecursionError, csv.Error):
        return None


def has_own_names(content: bytes, file_format: str) -> bool:
    """Return whether a file has Assay's names, or cannot be read: then its reader says what is wrong."""
    if file_format == PARQUET:
        records = records_of(content, file_format, Problems(""), Oddities(), noop)
        try:
            names: list[str] | None = next((list(record) for _, record in records), None)
        except ImportRefused:
            names = None
    else:
        names = first_names(content, file_format)
    known, needed = (ITEM_NAMES, "id") if file_format in ("jsonl", PARQUET) else (COLUMNS, "item_id")
    return names is None or (needed in names and set(names) <= set(known))


def look_at(content: bytes, *, filename: str, file_format: str, beat: Beat = noop, beginning: bool = False) -> Look:
    """Read all of a file or, for a page, its beginning. Raise ImportRefused if it has row errors or too many fields."""
    problems = Problems(filename)
    if beginning and file_format != PARQUET and len(content) > PAGE_BYTES:
        content = content[: content.rfind(b"\n", 0, PAGE_BYTES) + 1]
    records = records_of(content, file_format, problems, Oddities(), beat)
    seen: dict[str, SeenField] = {}
    rows: list[tuple[int, dict[str, Any]]] = []
    n_rows = size = 0
    for line, record in islice(records, PAGE_ROWS) if beginning and file_format == PARQUET else records:
        n_rows += 1
        for name, value in fields_of(record):
            seen.setdefault(name, SeenField()).add(value)
        problems.check_limit(line, "fields", len(seen), MOST_FIELDS)
        if len(rows) < ROWS and size < ROWS_CHARACTERS:
            row = _bounded(record)
            size += len(json.dumps(row))
            rows.append((line, row))
    if not problems.total and not rows:
        problems.add(None, "items", "none", "at least one item")
    problems.refuse()
    kinds = {name: common_kind(list(field.kinds)) for name, field in seen.items()}
    fields = [
        {"name": name, "kind": kinds[name], "samples": field.samples, "filled": field.filled}
        for name, field in seen.items()
    ]
    repeats = {name: len(set(field.first)) < len(field.first) for name, field in seen.items()}
    labels = label_fields([row for _, row in rows])
    candidates = [
        Field(name, kinds[name], repeats[name], name in labels, measures(seen[name].first), is_prose(seen[name].first))
        for name in seen
    ]
    mapping = filled(propose(candidates), [row for _, row in rows])
    return Look(fields, rows, n_rows, mapping, likely_id(candidates, mapping))


def _bounded(value: Any, levels: int = LEVELS) -> Any:
    """Return a value as it can be kept in a report: long texts and lists are cut, deep ones become texts."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return shortened(value, VALUE_CHARACTERS)
    if isinstance(value, Mapping) and levels:
        return {str(name): _bounded(part, levels - 1) for name, part in islice(value.items(), MOST_FIELDS)}
    if isinstance(value, list) and levels:
        return [_bounded(part, levels - 1) for part in value[:PARTS]]
    return shown(value)


def numbers_left_out(fields: Iterable[Mapping[str, Any]], mapping: Mapping[str, str]) -> list[str]:
    """Return the fields that are left out and hold numbers alone, as the scores of a judge or of a metric do."""
    return [
        field["name"]
        for field in fields
        if mapping.get(field["name"]) == IGNORE and field["samples"] and all(map(MEASURED.fullmatch, field["samples"]))
    ]


@dataclass
class Preview:
    """The first items as they would be imported, and what is wrong with the first records."""

    items: list[ItemDraft]
    errors: list[dict[str, Any]]
    total: int


def preview_items(
    rows: Iterable[tuple[int, Mapping[str, Any]]],
    mapping: Mapping[str, str],
    *,
    filename: str,
    turn_separator: str = TURN_SEPARATOR,
) -> Preview:
    problems = Problems(filename)
    content = MappedReader(problems, mapping, turn_separator).read((line, row) for line, row in rows)
    items = [replace(item, sources=_once(item.sources)) for item in list(content.items.values())[:ITEMS]]
    return Preview(items, problems.rows, problems.total)


def _once(sources: list[SourceDraft]) -> list[SourceDraft]:
    """Return each reference once, which rows of several systems repeat; outputs as they are."""
    seen: set[tuple[str, str]] = set()
    kept = []
    for source in sources:
        key = source.kind, source.text
        if source.system or key not in seen:
            kept.append(source)
        seen.add(key)
    return kept
