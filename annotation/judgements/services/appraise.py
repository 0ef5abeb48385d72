"""Scores exported from Appraise: direct assessments, by default from 0 to 100.

``ExportSystemScoresToCSV`` writes no header. Its columns, by its source code and the README of the WMT21 human
evaluation (github.com/wmt-conference/wmt21-news-systems, humaneval): user, system, segment, item type, source
language, target language, score; for documents also the document's id, whether the score is of the whole of it, and in
newer versions error spans (MQM); then start and end in seconds since 1970; with ``--batch-info`` numbers of batch and
item. The dump of all results has a header and the same under other names.
"""

from datetime import UTC, datetime
from itertools import chain
from typing import NamedTuple

from annotation.core.problems import Problems
from annotation.core.rows import Row, Table
from annotation.judgements.services.content import Cells, RatingContent, number_in
from annotation.judgements.services.options import ITEM_PARTS, ITEM_TYPES, OWN_SYSTEM, RatingOptions

KNOWN_TYPES = {*ITEM_TYPES, "SRC"}
TRUTHS = {"true", "false"}
CRITERION = "score"
FEWEST = 9
HEADER = {
    "username": "user",
    "systemid": "system",
    "segmentid": "item",
    "itemtype": "type",
    "score": "score",
    "starttime": "start",
    "endtime": "end",
    "documentid": "document",
    "iscompletedocument": "whole",
    "durationinseconds": "seconds",
}
NEEDED = ("user", "system", "item", "type", "score")
LATEST = datetime(2200, 1, 1, tzinfo=UTC).timestamp()


class Score(NamedTuple):
    line: int
    user: str
    system: str
    item: str
    type: str
    source: str = ""
    target: str = ""
    score: str = ""
    document: str = ""
    whole: bool = False
    start: str = ""
    end: str = ""
    seconds: str = ""


def is_headless(cells: list[str]) -> bool:
    return len(cells) >= FEWEST and cells[3].strip() in KNOWN_TYPES


def is_header(cells: list[str]) -> bool:
    return set(NEEDED) <= {HEADER.get(name.strip().lower(), "") for name in cells}


def appraise_rows(table: Table, options: RatingOptions, problems: Problems) -> tuple[RatingContent, list[Cells]]:
    """Return the scores of outputs. Checks are left out and counted, unless the options say whose output they are."""
    if is_header(table.header):
        scores = _with_header(table)
    else:
        table.oddities.ragged_rows = 0  # files of several kinds of task have rows of several lengths
        first = Row(table.header_line, table.header)
        scores = [score for row in chain([first], table.each()) if (score := _headless(row, problems))]
    read = RatingContent([CRITERION], rows=len(scores), oddities=table.oddities)
    rows = [cells for score in scores if (cells := _cells(score, read, options, problems))]
    return read, rows


def _headless(row: Row, problems: Problems) -> Score | None:
    line, cells = row.line, [cell.strip() for cell in row.cells]
    if len(cells) < FEWEST:
        problems.add(line, "number of cells", str(len(cells)), f"at least {FEWEST}, as Appraise exports them")
        return None
    user, system, item, kind, source, target, score = cells[:7]
    common = (line, user, system, item, kind, source, target, score)
    if cells[8].lower() not in TRUTHS:
        return Score(*common, start=cells[7], end=cells[8])
    if len(cells) < 11:
        problems.add(line, "number of cells", str(len(cells)), "at least 11 if a document is named")
        return None
    times = 10 if len(cells) in (12, 14) else 9  # error spans come before the times
    whole = cells[8].lower() == "true"
    return Score(*common, document=cells[7], whole=whole, start=cells[times], end=cells[times + 1])


def _with_header(table: Table) -> list[Score]:
    names = [HEADER.get(name.strip().lower(), "") for name in table.header]
    scores = []
    for line, cells in table.each():
        # Error spans stand last and unquoted, so a row may be longer than the header.
        named = {name: cell.strip() for name, cell in zip(names, cells, strict=False) if name}
        named["whole"] = named.get("whole", "").lower() == "true"  # type: ignore[assignment] # a bool from here
        given = {name: named.get(name, "") for name in NEEDED} | named
        scores.append(Score(line=line, **given))  # type: ignore[arg-type]
    table.oddities.ragged_rows = 0
    return scores


def _cells(score: Score, read: RatingContent, options: RatingOptions, problems: Problems) -> Cells | None:
    if score.type not in KNOWN_TYPES:
        problems.add(score.line, "item type", score.type, f"one of {', '.join(ITEM_TYPES)}")
        return None
    if score.whole:
        read.left_out["scores_of_documents"] += 1
        return None
    system = score.system
    if score.type != "TGT":
        mapped = options.item_types.get(score.type)
        if mapped is None:
            read.left_out[f"checks_{score.type.lower()}"] += 1
            return None
        system = score.system if mapped == OWN_SYSTEM else mapped
    parts = (score.item, score.document, score.source, score.target)
    item = options.item
    for name, value in zip(ITEM_PARTS, parts, strict=True):
        item = item.replace(name, value)
    fields = {
        "rater": score.user,
        "item": item,
        "system": system,
        "seconds": score.seconds if not score.end else "",
        "shown": _moment(score, "start", score.start, problems),
        "time": _moment(score, "end", score.end, problems),
    }
    # A judgement of a text that several systems gave is written once for each of them.
    shared = "\t".join((score.user, item, score.type, score.score, score.start, score.end))
    return Cells(score.line, fields, {CRITERION: score.score}, shared=shared)


def _moment(score: Score, name: str, cell: str, problems: Problems) -> str:
    """Return seconds since 1970 as ISO 8601, the form in which moments are read."""
    if not cell:
        return ""
    seconds = number_in(cell)
    if not 0 < seconds < LATEST:
        problems.add(score.line, name, cell, "seconds since 1970, such as 1511470503.271")
        return ""
    return datetime.fromtimestamp(seconds, UTC).isoformat()
