"""The content of a file of ratings, whatever its shape, with the checks that need only the file."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.utils.dateparse import parse_datetime

from annotation.core.file_limits import CRITERIA, WORKER
from annotation.core.problems import Problems
from annotation.core.rows import Oddities
from annotation.datasets.services.content import check_text
from annotation.judgements.services.options import RatingOptions, write_ends

LONGEST_SECONDS = 366 * 24 * 3600
FEWEST_TO_INFER = 30  # ratings on a criterion from whose values its scale may be taken
BINARY = (0, 1)
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
    judges: list[str] = field(default_factory=list)  # columns that were not taken for raters
    inferred: list[str] = field(default_factory=list)  # criteria whose scale was taken from their values

    @property
    def n_ratings(self) -> int:
        return sum(value is not None for judgement in self.judgements for value in judgement.values)


def check_criteria(names: Sequence[str], problems: Problems) -> None:
    problems.check_limit(None, "criteria", len(names), CRITERIA)


def add_judgements(rows: Iterable[Cells], read: RatingContent, problems: Problems) -> None:
    """Turn cells into judgements; a value off the scale, a wrong time or a missing name is a row error."""
    options = read.options
    systems = set(options.only_systems)
    others: set[int] = set()
    zeros: list[tuple[str, Cells]] = []  # on criteria that may turn out to be answered with 0 or 1
    for row in rows:
        system = row.fields.get("system", "").strip()
        if systems and system not in systems:
            others.add(row.line)
            continue
        values = tuple(_values(row, read.criteria, options, problems, zeros))
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
        problems.check_limit(row.line, "judgements", len(read.judgements) + 1, WORKER.rows)
        rater = check_text(row.fields["rater"].strip(), row.line, "rater", problems)
        shown, time, seconds = _moments(row, problems)
        read.judgements.append(
            Judgement(
                row.line, rater, row.fields["item"], system, text, time, values, shown, seconds, row.path, row.shared
            )
        )
    read.rows_of_other_systems = len(others)
    _settle_scales(read)
    for name, row in zeros:
        if not read.options.scale_of(name)[0] <= 0:
            _add_off_scale(row, name, read.options, problems)


def _settle_scales(read: RatingContent) -> None:
    """Set the ends of every criterion's scale in the options: as given, as usual, or as the values show.

    Without a given scale, a criterion that was answered with 0 and 1 alone has these ends; and one that was answered
    with the three lowest points alone has three, if another criterion of the file has higher values.
    """
    low, high = read.options.scale
    scales = dict(read.options.scales)
    if not read.options.has_scale:
        values = {name: _distinct(read.judgements, index) for index, name in enumerate(read.criteria)}
        three = {float(low), low + 1.0, low + 2.0}
        highest = max((max(distinct) for distinct in values.values() if distinct), default=0.0)
        for name, distinct in values.items():
            if distinct == set(map(float, BINARY)):
                scales[name] = write_ends(*BINARY)
            elif distinct == three and high > low + 3 and highest > low + 2:
                scales[name] = write_ends(low, low + 2)
        read.inferred = list(scales)
    read.options = replace(read.options, scale_min=low, scale_max=high, scales=scales)


def _distinct(judgements: Sequence[Judgement], index: int) -> set[float]:
    """Return the different values on a criterion; none if there are too few ratings."""
    values = [judgement.values[index] for judgement in judgements if judgement.values[index] is not None]
    return {value for value in values if value is not None} if len(values) >= FEWEST_TO_INFER else set()


def add_problem(
    row: Cells | Judgement, problems: Problems, name: str, found: object, accepted: str | Callable[[], str]
) -> None:
    if row.path:
        problems.add(None, f"{row.path}, {name}", found, accepted)
    else:
        problems.add(row.line, name, found, accepted)


def _values(
    row: Cells, criteria: list[str], options: RatingOptions, problems: Problems, zeros: list[tuple[str, Cells]]
) -> Iterator[float | None]:
    may_be_binary = not options.has_scale
    for name in criteria:
        cell = row.values.get(name)
        if cell is None and row.optional:
            yield None
            continue
        value = number_in(cell)
        low, high = options.scale_of(name)
        if not low <= value <= high:
            if value == 0 and may_be_binary:
                zeros.append((name, row._replace(fields={}, values={name: cell})))
            else:
                _add_off_scale(row, name, options, problems)
        yield value


def _add_off_scale(row: Cells, name: str, options: RatingOptions, problems: Problems) -> None:
    low, high = options.scale_of(name)
    add_problem(row, problems, row.names.get(name, name), row.values.get(name), f"a number from {low} to {high}")


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
