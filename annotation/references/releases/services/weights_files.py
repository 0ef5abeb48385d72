"""Read files of weights that were made elsewhere: JSON Lines, tables with a header, and weighted lines."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

from annotation.core import file_limits
from annotation.core.one_line import unescaped
from annotation.core.problems import Problems, storable
from annotation.core.progress import Beat, noop
from annotation.core.rows import (
    Oddities,
    beating,
    check_header,
    decode,
    lines_of,
    read_jsonl,
    read_table,
    square,
    unknown_name,
)
from annotation.references.releases.files.tables import FLAT_COLUMNS
from annotation.references.sets.services import TEXT_KINDS

NUMBERS = ("mean", "standard_error", "low", "high")
NEEDED = ("item", "text", "weight")
OPTIONAL = (*NUMBERS, "n", "original")
ROW_FIELDS = tuple(dict.fromkeys((*NEEDED, *OPTIONAL, *FLAT_COLUMNS)))
ITEM_FIELDS = ("release", "content_hash", "id", "context", "message", "meaning_representation", "split", "references")
REFERENCE_FIELDS = ("text", "weight", *OPTIONAL, "spread", "histogram", "sources")
SYNONYMS = {"item_id": "item", "rating_mean": "mean", "n_ratings": "n", "is_original": "original"}
TRUTH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False, "": False}
NAME_CHARACTERS, HASH_CHARACTERS = 300, 64
MOST_JUDGEMENTS = 2**31 - 1
MOST = 1e9  # the database subtracts one end of an interval from the other


@dataclass(slots=True)
class Draft:
    """One weight of the file, checked by itself."""

    line: int
    item: str
    text: str
    weight: float
    mean: float | None = None
    n: int = 0
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None
    original: bool = False
    kinds: tuple[str, ...] = ()  # of the sources that the file names and an added text can have
    item_field: str = "item"  # as the file calls it
    text_field: str = "text"

    @property
    def values(self) -> tuple[object, ...]:
        """Return the values of ``HASHED_COLUMNS``."""
        return self.weight, self.mean, self.n, self.standard_error, self.low, self.high, self.original


@dataclass
class WeightsFile:
    """The weights of a file, and the release that the file says it is, if it does."""

    problems: Problems
    sha256: str
    drafts: list[Draft] = field(default_factory=list)
    release: str = ""
    content_hash: str = ""
    is_quoted: bool = False  # a table, which may be a spreadsheet's download: an apostrophe may guard a formula
    beat: Beat = noop


def read_weights(content: bytes, file_format: str, problems: Problems, beat: Beat = noop) -> WeightsFile:
    """Return the weights of a file, each checked by itself; refuse the file with all its row errors."""
    file = WeightsFile(problems, hashlib.sha256(content).hexdigest(), beat=beat)
    if file_format == "jsonl":
        _read_json(content, file)
    elif file_format == "tsv" and not _has_header(content):
        _read_weighted_lines(content, file)
    else:
        _read_table(content, file_format, file)
    if not file.drafts and not problems.total:
        problems.add(1, "weight", "no weight in the whole file", "one weight or more")
    problems.refuse()
    return file


def _read_json(content: bytes, file: WeightsFile) -> None:
    problems = file.problems
    for line, record in beating(read_jsonl(content, problems, Oddities()), file.beat):
        if "references" not in record:
            names = {"item": "item_id"} if "item_id" in record and "item" not in record else {}
            row = {**record, "item": record.get("item", record.get("item_id"))}
            row.pop("item_id", None)
            if _check_fields(line, row, ROW_FIELDS, problems):
                _add(file, line, row, names=names)
            continue
        if not _check_fields(line, record, ITEM_FIELDS, problems):
            continue
        _check_release(file, line, record)
        references = record["references"]
        if not isinstance(references, list):
            problems.add(line, "references", references, "a list of objects with text and weight")
            continue
        for number, reference in enumerate(references, start=1):
            if not isinstance(reference, Mapping):
                problems.add(line, f"reference {number}", reference, "an object with text and weight")
            elif _check_fields(line, reference, REFERENCE_FIELDS, problems):
                row = {**reference, "item": record.get("id")}
                _add(file, line, row, names={"item": "id"}, prefix=f"reference {number}: ")


def _check_release(file: WeightsFile, line: int, record: Mapping[str, object]) -> None:
    """Report a line that names another release than the first line."""
    release = str(record.get("release", ""))[:NAME_CHARACTERS]
    content_hash = str(record.get("content_hash", ""))[:HASH_CHARACTERS]
    if not file.drafts:
        file.release, file.content_hash = release, content_hash
    elif (release, content_hash) != (file.release, file.content_hash):
        accepted = f"one release in a file: {file.release or 'none named'}"
        file.problems.add(line, "release", f"{release} {content_hash}", accepted)


def _check_fields(line: int, record: Mapping[str, object], names: Sequence[str], problems: Problems) -> bool:
    unknown = [name for name in record if name not in names]
    if unknown:
        accepted = partial(unknown_name, unknown[0], names, among="only")
        problems.add(line, unknown[0], "a field of this name", accepted)
    return not unknown


def _has_header(content: bytes) -> bool:
    """Return whether the first line names columns; a weighted line may hold the text "weight", after a number."""
    first = content.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0].decode(errors="replace").strip("\r").split("\t")
    return "weight" in [cell.strip() for cell in first] and _number(first[min(1, len(first) - 1)]) is None


def _read_weighted_lines(content: bytes, file: WeightsFile) -> None:
    """Read lines of an item's id, then weight and text in turn."""
    problems = file.problems
    lines = beating(lines_of(decode(content, problems, Oddities())), file.beat)
    for line, written in enumerate(lines, start=1):
        if not written.strip():
            continue
        problems.check_limit(line, "line", len(written), file_limits.LINE_CHARACTERS, " characters")
        item, *cells = written.split("\t")
        if not cells or len(cells) % 2:
            problems.add(line, "number of cells", str(1 + len(cells)), "an item, then pairs of a weight and a text")
            continue
        try:
            name, *texts = [unescaped(cell) for cell in (item, *cells[1::2])]
        except ValueError as error:
            problems.add(line, "text", str(error), r"a backslash only as in \\, \t, \n, \r and \u2028")
            continue
        for weight, text in zip(cells[0::2], texts, strict=True):
            _add(file, line, {"item": name, "text": text, "weight": weight})


def _read_table(content: bytes, file_format: str, file: WeightsFile) -> None:
    table = read_table(content, file_format, file.problems, file.beat)
    names = {SYNONYMS[name]: name for name in table.header if name in SYNONYMS}
    table.header[:] = [SYNONYMS.get(name, name) for name in table.header]
    check_header(table, file.problems, required=NEEDED, known=(*ROW_FIELDS, "response_id"))
    square(table, file.problems)
    for line, cells in table.each():
        _add(file, line, dict(zip(table.header, cells, strict=True)), names=names)
    file.is_quoted = True


def _add(
    file: WeightsFile,
    line: int,
    row: Mapping[str, object],
    *,
    names: Mapping[str, str] = MappingProxyType({}),
    prefix: str = "",
) -> None:
    """Add a row's weight, or its row errors under the file's field names: those in ``names``, else with ``prefix``."""
    problems, before = file.problems, file.problems.total
    label = {name: names.get(name, f"{prefix}{name}") for name in (*NEEDED, *OPTIONAL)}
    item, text = row.get("item"), row.get("text")
    if isinstance(item, int) and not isinstance(item, bool):
        item = str(item)
    if not isinstance(item, str) or not item.strip():
        problems.add(line, label["item"], _shown(item), "the id of an item")
    if not isinstance(text, str):
        problems.add(line, label["text"], _shown(text), "a text")
    elif storable(text) != text:
        problems.add(line, label["text"], text, "a text without NUL characters and halves of surrogate pairs")
    weight = _number(row.get("weight"))
    if weight is None or not -1 <= weight <= 1:
        problems.add(line, label["weight"], _shown(row.get("weight")), "a number from -1 to 1")
    numbers = {name: _number(row.get(name)) for name in NUMBERS}
    for name, number in numbers.items():
        if row.get(name) not in (None, "") and (number is None or abs(number) > MOST):
            problems.add(line, label[name], _shown(row[name]), f"a number from {-MOST:g} to {MOST:g}, or nothing")
    low, high = numbers["low"], numbers["high"]
    if (low is None) != (high is None) or (low is not None and high is not None and low > high):
        ends = f"low {_shown(row.get('low'))}, high {_shown(row.get('high'))}"
        problems.add(line, label["low"], ends, "both or neither, low at most high")
    n, original = _number(row.get("n") if row.get("n") not in (None, "") else 0), _truth(row.get("original"))
    if n is None or n != int(n) or not 0 <= n <= MOST_JUDGEMENTS:
        problems.add(line, label["n"], _shown(row.get("n")), "a whole number of judgements, or nothing")
    if original is None:
        problems.add(line, label["original"], _shown(row.get("original")), "true or false, or nothing")
    if problems.total == before:
        problems.check_limit(line, "weights", len(file.drafts) + 1, file_limits.WORKER.rows)
        file.drafts.append(
            Draft(
                line,
                str(item),
                str(text),
                float(weight or 0) + 0.0,
                n=int(n or 0),
                original=bool(original),
                kinds=_kinds(row.get("sources")),
                item_field=label["item"],
                text_field=label["text"],
                **numbers,
            )
        )


def _kinds(sources: object) -> tuple[str, ...]:
    """Return the kinds of the sources that a row names, without systems, which an added text cannot have."""
    if isinstance(sources, str):  # a cell of a table
        cell = sources.strip()
        try:
            sources = json.loads(cell)
        except (ValueError, RecursionError):
            sources = [cell]
    if not isinstance(sources, list):
        return ()
    kinds = (source.get("kind") if isinstance(source, Mapping) else source for source in sources)
    return tuple(dict.fromkeys(kind for kind in kinds if isinstance(kind, str) and kind in TEXT_KINDS))


def _shown(value: object) -> object:
    return "nothing" if value in (None, "") else value


def _number(value: object) -> float | None:
    """Return a finite number, from a cell's text as well; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _truth(value: object) -> bool | None:
    if value is None or isinstance(value, bool):
        return bool(value)
    return TRUTH.get(str(value).strip().lower())
