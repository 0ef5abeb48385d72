"""Rated outputs from a table: CSV, TSV or JSON Lines, plain or compressed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from annotation.core.errors import ImportRefused
from annotation.core.problems import Problems
from annotation.core.rows import ENDINGS, Oddities, check_header, read_jsonl, read_table, square
from metrics.cli.errors import CommandError
from metrics.cli.files import read_bytes
from metrics.scoring.arrays import Floats
from metrics.scoring.qe.instances import Instance
from metrics.scoring.qe.plans import WrittenText

COMPRESSIONS = (".gz", ".zst")


@dataclass(frozen=True)
class Columns:
    """Names of the columns of a table; those that may be missing are empty."""

    source: str
    output: str
    rating: str
    domain: str = ""
    system: str = ""
    references: tuple[str, ...] = ()
    scores: tuple[str, ...] = ()

    @property
    def required(self) -> list[str]:
        named = (self.source, self.output, self.rating, self.domain, self.system, *self.references, *self.scores)
        return list(dict.fromkeys(filter(None, named)))


def read_instances(path: str, columns: Columns) -> tuple[list[Instance], dict[str, Floats]]:
    """Return the rated outputs of a table, and for each column of scores its numbers (n,), NaN if empty."""
    problems = Problems(path)
    with _refusals():
        rows = _rows(path, columns.required, problems)
        instances = [_instance(row, line, columns, problems) for line, row in rows]
        scores = {
            name: np.array([_number(row[name], line, name, problems, empty=math.nan) for line, row in rows])
            for name in columns.scores
        }
        problems.refuse()
    if not instances:
        raise CommandError(f"{path}: found no row; accepted: a rated output a row")
    return instances, scores


def read_written(path: str, columns: Columns, *, complete: bool) -> list[WrittenText]:
    """Return the texts that people wrote: a source and a text a row, in the columns of source and output."""
    problems = Problems(path)
    with _refusals():
        rows = _rows(path, [columns.source, columns.output], problems)
        problems.refuse()
    return [WrittenText(str(row[columns.source]), str(row[columns.output]), complete) for _, row in rows]


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except ImportRefused as error:
        raise CommandError(str(error).removesuffix(" Nothing was imported.")) from error


def _rows(path: str, required: Sequence[str], problems: Problems) -> list[tuple[int, Mapping[str, Any]]]:
    content = read_bytes(path)
    suffixes = [each for each in Path(path).suffixes if each not in COMPRESSIONS]
    file_format = ENDINGS.get(suffixes[-1] if suffixes else "", "csv")
    if file_format == "jsonl":
        lines = list(read_jsonl(content, problems, Oddities()))
        problems.refuse()
        for line, row in lines:
            for name in required:
                if name not in row:
                    problems.add(line, name, "no such field", f"a field named {name}")
        problems.refuse()
        return [(line, {name: "" if row[name] is None else row[name] for name in required}) for line, row in lines]
    table = read_table(content, file_format, problems)
    check_header(table, problems, required=required, known=None)
    square(table, problems)
    problems.refuse()
    at = {name: table.header.index(name) for name in required}
    return [(row.line, {name: row.cells[index] for name, index in at.items()}) for row in table.rows]


def _instance(row: Mapping[str, Any], line: int, columns: Columns, problems: Problems) -> Instance:
    named = (columns.source, columns.output, columns.domain, columns.system)
    texts = {name: str(row[name]) for name in named if name}
    references = [each for name in columns.references for each in _texts(row[name]) if each.strip()]
    return Instance(
        texts[columns.source],
        texts[columns.output],
        _number(row[columns.rating], line, columns.rating, problems),
        tuple(dict.fromkeys(references)),
        texts.get(columns.domain, ""),
        texts.get(columns.system, ""),
    )


def _texts(value: Any) -> list[str]:
    """Return the references of a cell: one text, or of JSON Lines a list of texts."""
    return list(map(str, value)) if isinstance(value, list) else [str(value)]


def _number(value: Any, line: int, name: str, problems: Problems, *, empty: float | None = None) -> float:
    if empty is not None and (value is None or str(value).strip() in ("", "NA", "nan")):
        return empty
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        problems.add(line, name, value, "a finite number")
        return 0.0
    return number
