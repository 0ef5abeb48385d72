"""The shape of a file of judgements, guessed from its first rows. A person sees the guess before anything is stored."""

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice

from annotation.core import file_limits
from annotation.core.near_names import nearest, plain
from annotation.core.rows import UTF8_MARK, csv_delimiter
from annotation.datasets.mapping.meanings import ID, SYNONYMS, SYSTEM
from annotation.datasets.selectors.datasets import fields_of_meanings
from annotation.judgements.services import options as shapes
from annotation.judgements.services.appraise import is_header as is_appraise_header
from annotation.judgements.services.appraise import is_headless as is_appraise_row
from annotation.judgements.services.content import number_in
from annotation.judgements.services.log import is_log
from annotation.judgements.services.options import OTHER_NAMES, RatingOptions
from annotation.judgements.services.rows import COLUMNS, SENT
from annotation.judgements.services.wide import BETWEEN, aggregate_columns, aggregate_kind, is_blank, judge_raters
from annotation.models import Dataset

IN_TEXTS = {"item": ID, "system": SYSTEM}  # Assay's names here, and the meanings of fields in files of texts
# What criteria are usually called, and raters are not; as ``near_names.plain`` writes them.
CRITERIA = frozenset(
    [
        *("informativeness", "naturalness", "quality", "fluency", "adequacy", "relevance", "coherence", "consistency"),
        *("appropriateness", "grammar", "grammaticality", "accuracy", "faithfulness", "correctness", "readability"),
        *("clarity", "engagingness", "interestingness", "humanness", "specificity", "helpfulness", "harmlessness"),
        *("overall", "rating", "similarity", "completeness", "factuality", "understandability"),
    ]
)
SAMPLE_BYTES = 256 * 1024
SAMPLE_ROWS = 200
TAB = "\t"


def recognised(
    content: bytes, *, file_format: str, options: RatingOptions, known: Mapping[str, str] | None = None
) -> RatingOptions:
    """Return the options with the likely shape of the file and the columns in its header.

    Given options stay. ``known`` has the columns of the data set's own file by Assay's names.
    A file that no shape fits is read as one rating a row: that reader says what is missing.
    """
    if file_format == "json":
        return replace(options, shape=shapes.LABEL_STUDIO)
    sample = _sample(content)
    if file_format == "jsonl":
        return replace(options, shape=shapes.ASSAY if is_log(_first_names(sample)) else shapes.ROWS)
    rows = _table(sample, csv_delimiter(sample) if file_format == "csv" else TAB)
    if not rows:
        return replace(options, shape=shapes.ROWS)
    header = [name.strip() for name in rows[0]]
    if len(header) > file_limits.COLUMNS:
        return replace(options, shape=shapes.ROWS)
    if is_appraise_row(header) or is_appraise_header(header):
        return replace(options, shape=shapes.APPRAISE)
    if is_log(header):
        return replace(options, shape=shapes.ASSAY)
    return _recognised_table(header, rows[1:], _with_known(options, header, known or {}))


def known_columns(dataset: Dataset) -> dict[str, str]:
    """Return the columns of items and systems in the data set's own file, by Assay's names in a file of ratings."""
    fields = fields_of_meanings(dataset)
    return {ours: fields[meaning] for ours, meaning in IN_TEXTS.items() if meaning in fields}


def _with_known(options: RatingOptions, header: list[str], known: Mapping[str, str]) -> RatingOptions:
    """Add the columns that the header shares with the data set's own file, unless it has Assay's names or others do."""
    used = {*options.columns.values(), *options.criteria, *options.raters}
    shared = {
        ours: theirs
        for ours, theirs in known.items()
        if theirs in header and theirs not in used and ours not in header and ours not in options.columns
    }
    return replace(options, columns=options.columns | shared)


def _recognised_table(header: list[str], rows: list[list[str]], options: RatingOptions) -> RatingOptions:
    columns = usual_columns(header, options)
    ours = {theirs: name for name, theirs in columns.items()}
    named = [ours.get(name, name) for name in header]
    response = "item" in named and ("system" in named or "text" in named)
    if "rater" in named or not response:
        shape = shapes.ROWS
    elif options.aggregate or aggregate_kind(aggregate_columns(named, options)):
        shape = shapes.AGGREGATE
    elif options.raters or [name for name in named if name not in COLUMNS]:
        shape = shapes.RATERS
    else:
        shape = shapes.ROWS
    if shape != shapes.AGGREGATE:
        columns.pop("n", None)
    chosen = replace(options, shape=shape, columns=columns)
    numeric = _numeric(named, rows)
    others = [name for name in named if name not in (*COLUMNS, SENT, "n")]
    some = [name for name in others if name in numeric]
    if shape == shapes.AGGREGATE:
        return replace(chosen, aggregate=options.aggregate or aggregate_kind(aggregate_columns(named, options)))
    if shape == shapes.RATERS and not options.raters and some and all(plain(name) in CRITERIA for name in some):
        return replace(chosen, shape=shapes.ROWS, criteria=options.criteria or some)  # whose reader asks for the rater
    if shape == shapes.RATERS and not options.raters and (judges := judge_raters(some)):
        return replace(chosen, raters=[name for name in some if name not in judges])
    if not some or len(some) == len(others) or {"criterion", "value"} <= set(named):
        return chosen
    if shape == shapes.RATERS:
        return replace(chosen, raters=options.raters or some)
    return replace(chosen, criteria=options.criteria or some)


def usual_columns(header: list[str], options: RatingOptions) -> dict[str, str]:
    """Return columns by Assay's names: the given ones, then those with a usual name that no other column has."""
    columns = dict(options.columns)
    free = [
        name for name in header if name not in columns.values() and name not in (*options.criteria, *options.raters)
    ]
    written = {name: plain(name) for name in free}
    for ours, usual in OTHER_NAMES.items():
        if ours in columns or ours in header or (ours == "time" and SENT in header):
            continue
        like = [name for name in free if written[name] == ours or written[name] in usual]
        if not like and ours in IN_TEXTS:  # as the import of texts would propose
            like = [name for name in free if nearest(name, IN_TEXTS.values(), SYNONYMS) == IN_TEXTS[ours]]
        if len(like) == 1 and BETWEEN not in like[0]:
            columns[ours] = like[0]
            free.remove(like[0])
    return columns


def _numeric(header: list[str], rows: list[list[str]]) -> set[str]:
    """Return the columns with a number in some cell, or without any entry; columns of words hold no ratings."""
    numeric = set()
    for index, name in enumerate(header):
        cells = [row[index] for row in rows if index < len(row) and not is_blank(row[index])]
        if not cells or any(number_in(cell) == number_in(cell) for cell in cells):
            numeric.add(name)
    return numeric


def _sample(content: bytes) -> str:
    """Return whole lines from the beginning of the file."""
    part = content[:SAMPLE_BYTES].removeprefix(UTF8_MARK)
    if len(content) > SAMPLE_BYTES:
        part = part[: part.rfind(b"\n") + 1] or part
    return part.decode(errors="replace")


def _first_names(sample: str) -> list[str]:
    line = next((line for line in sample.split("\n") if line.strip()), "")
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):
        return []
    return list(first) if isinstance(first, dict) else []


def _table(sample: str, delimiter: str) -> list[list[str]]:
    source = io.StringIO(sample, newline="")
    tabs = delimiter == TAB
    reader = (
        csv.reader(source, delimiter=TAB, quoting=csv.QUOTE_NONE) if tabs else csv.reader(source, delimiter=delimiter)
    )
    try:
        return list(islice((row for row in reader if any(cell.strip() for cell in row)), SAMPLE_ROWS + 1))
    except csv.Error:
        return []
