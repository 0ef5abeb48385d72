"""The content of a file of ratings, whatever its shape, with the checks that need only the file."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.utils.dateparse import parse_datetime

from annotation.core.problems import Problems
from annotation.core.rows import Oddities
from annotation.datasets.services.content import check_text
from annotation.judgements.services.options import RatingOptions

LONGEST_SECONDS = 366 * 24 * 3600
CLOCKS_DIFFER = 1.0  # seconds by which a stated duration may differ from that between two moments
MOMENT = "ISO 8601, such as 2015-07-26T10:30:00Z"


class Cells(NamedTuple):
    """A rater's answer about a response before its values are known to be numbers."""

    line: int
    fields: dict[str, str]  # by Assay's names of columns
    values: dict[str, Any]  # None where nothing was rated
    optional: bool = False  # may a value be missing?
    path: str = ""  # instead of the line, in files where a line says too little
    shared: str = ""  # the same for rows that credit one judgement to several systems
    names: dict[str, str] = {}  # the file's names of criteria, if they differ; never written to


class Judgement(NamedTuple):
    """A rater's answer about a response: a value on every criterion, None where it was not rated."""

    line: int
    rater: str
    item: str
    system: str
    text: str
    time: datetime | None  # when it was sent
    values: tuple[float | None, ...]
    shown: datetime | None = None
    seconds: float | None = None  # only if the file says how long, but not when
    path: str = ""
    shared: str = ""


@dataclass
class RatingContent:
    criteria: list[str]
    judgements: list[Judgement] = field(default_factory=list)
    rows: int = 0
    rows_of_other_systems: int = 0
    oddities: Oddities = field(default_factory=Oddities)
    left_out: Counter[str] = field(default_factory=Counter)  # keys as in report.WORDS
    options: RatingOptions = field(default_factory=RatingOptions)  # as they were used, with what was recognised
    aggregate: str = ""  # median or mean, if the file holds nothing else
    stated_n: list[int] = field(default_factory=list)  # ratings behind each median or mean, if the file says so

    @property
    def n_ratings(self) -> int:
        return sum(value is not None for judgement in self.judgements for value in judgement.values)


def add_judgements(rows: Iterable[Cells], read: RatingContent, problems: Problems) -> None:
    """Turn cells into judgements; a value off the scale, a wrong time or a missing name is a row error."""
    options = read.options
    systems = set(options.only_systems)
    others: set[int] = set()
    for row in rows:
        system = row.fields.get("system", "").strip()
        if systems and system not in systems:
            others.add(row.line)
            continue
        values = tuple(_values(row, read.criteria, options, problems))
        if row.optional:
            read.left_out["not_rated"] += sum(value is None for value in row.values.values())
            if all(row.values.get(name) is None for name in read.criteria):
                continue
        text = row.fields.get("text", "")
        for name in ("rater", "item"):
            if not row.fields[name].strip():
                add_problem(row, problems, name, "", f"the {name}'s id")
        if not system and not text:
            add_problem(row, problems, "system", "", "the name of a system, or the text of the response")
        rater = check_text(row.fields["rater"].strip(), row.line, "rater", problems)
        shown, time, seconds = _moments(row, problems)
        read.judgements.append(
            Judgement(
                row.line, rater, row.fields["item"], system, text, time, values, shown, seconds, row.path, row.shared
            )
        )
    read.rows_of_other_systems = len(others)


def add_problem(row: Cells | Judgement, problems: Problems, name: str, found: object, accepted: str) -> None:
    if row.path:
        problems.add(None, f"{row.path}, {name}", found, accepted)
    else:
        problems.add(row.line, name, found, accepted)


def _values(row: Cells, criteria: list[str], options: RatingOptions, problems: Problems) -> Iterator[float | None]:
    low, high = options.scale
    for name in criteria:
        cell = row.values.get(name)
        if cell is None and row.optional:
            yield None
            continue
        value = number_in(cell)
        if not low <= value <= high:
            add_problem(row, problems, row.names.get(name, name), cell, f"a number from {low} to {high}")
        yield value


def number_in(cell: object) -> float:
    """Return the number, or NaN."""
    try:
        return math.nan if isinstance(cell, bool) else float(cell)  # type: ignore[arg-type] # caught below
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _moments(row: Cells, problems: Problems) -> tuple[datetime | None, datetime | None, float | None]:
    """Return when it was shown, when it was sent, and how long it took if neither is known."""
    shown, time = _moment(row, "shown", problems), _moment(row, "time", problems)
    seconds = _seconds(row, problems)
    if shown and time:
        took = (time - shown).total_seconds()
        if took < 0:
            add_problem(
                row, problems, "shown", row.fields["shown"], f"a moment before it was sent, {row.fields['time']}"
            )
        elif seconds is not None and abs(seconds - took) > CLOCKS_DIFFER:
            add_problem(row, problems, "seconds", row.fields["seconds"], f"the time from shown to sent, {took:g}")
        return shown, time, None
    if seconds is None or (shown is None and time is None):
        return shown, time, seconds
    duration = timedelta(seconds=seconds)
    if time is not None:
        return time - duration, time, None
    return shown, shown and shown + duration, None


def _moment(row: Cells, name: str, problems: Problems) -> datetime | None:
    """Read ISO 8601; a time without an offset is UTC."""
    cell = row.fields.get(name, "").strip()
    if not cell:
        return None
    try:
        moment = parse_datetime(cell)
    except ValueError:
        moment = None
    if moment is None:
        add_problem(row, problems, name, cell, MOMENT)
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _seconds(row: Cells, problems: Problems) -> float | None:
    cell = row.fields.get("seconds", "").strip()
    if not cell:
        return None
    seconds = number_in(cell)
    if not 0 <= seconds <= LONGEST_SECONDS:
        add_problem(row, problems, "seconds", cell, f"a number from 0 to {LONGEST_SECONDS}")
        return None
    return seconds
