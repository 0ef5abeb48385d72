"""The three shapes of a data set file, documented in docs/data-formats.md, read into one content."""

import math
from typing import Any

from annotation.core.problems import Problems
from annotation.core.progress import Beat, noop
from annotation.core.rows import Oddities, beating, check_header, read_jsonl, read_table, square
from annotation.datasets.services.content import (
    DEFAULT_REFERENCE_KIND,
    REFERENCE_KINDS,
    DatasetContent,
    ItemDraft,
    SourceDraft,
    check_text,
    check_texts,
)
from annotation.models import SourceKind

TURN_SEPARATOR = "|||"
ITEM_NAMES = ("id", "context", "message", "meaning_representation", "split", "references", "outputs")
REFERENCE_NAMES = ("text", "kind", "rank", "score", "source_context", "source_message")
COLUMNS = (
    "item_id",
    "context",
    "message",
    "meaning_representation",
    "split",
    "system",
    "kind",
    "text",
    "rank",
    "score",
    "source_context",
    "source_message",
)
ITEM_COLUMNS = ("context", "message", "meaning_representation", "split")
RESPONSE_COLUMNS = ("system", "kind", "text", "rank", "score", "source_context", "source_message")


def read_dataset(
    content: bytes, *, filename: str, file_format: str, turn_separator: str = TURN_SEPARATOR, beat: Beat = noop
) -> tuple[DatasetContent, Oddities]:
    """Everything a file says; ImportRefused with every bad row where it cannot be read."""
    problems = Problems(filename)
    if file_format == "jsonl":
        read, oddities = _read_jsonl(content, problems, beat)
    else:
        read, oddities = _read_table(content, file_format, problems, turn_separator, beat)
    if not problems.total and not read.items:
        problems.add(None, "items", "none", "at least one item")
    problems.refuse()
    return read, oddities


# --- JSON Lines: one item a line --------------------------------------------------------------------------------------


def _read_jsonl(content: bytes, problems: Problems, beat: Beat) -> tuple[DatasetContent, Oddities]:
    read, oddities = DatasetContent(), Oddities()
    for line, value in beating(read_jsonl(content, problems, oddities), beat):
        _unknown_names(value, ITEM_NAMES, line, "", problems)
        external_id = value.get("id")
        if isinstance(external_id, int) and not isinstance(external_id, bool):
            external_id = str(external_id)
        item = ItemDraft(
            line=line,
            external_id=check_text(external_id, line, "id", problems),
            context=check_texts(value.get("context"), line, "context", problems),
            message=check_text(value.get("message"), line, "message", problems),
            meaning_representation=check_text(
                value.get("meaning_representation"), line, "meaning_representation", problems
            ),
            split=check_text(value.get("split"), line, "split", problems),
        )
        if not item.external_id.strip():
            problems.add(line, "id", value.get("id", ""), "a text or whole number that names the item")
        elif read.add_item(item, problems):
            _json_references(value.get("references"), item, read, problems)
            _json_outputs(value.get("outputs"), item, read, problems)
    return read, oddities


def _unknown_names(value: dict[str, Any], known: tuple[str, ...], line: int, prefix: str, problems: Problems) -> None:
    for name in value:
        if name not in known:
            problems.add(line, prefix + name, "an unknown field", f"only {', '.join(known)}")


def _json_outputs(outputs: Any, item: ItemDraft, read: DatasetContent, problems: Problems) -> None:
    if outputs is None:
        return
    if not isinstance(outputs, dict):
        problems.add(item.line, "outputs", outputs, 'an object, such as {"SystemA": "its text"}')
        return
    for system, text in outputs.items():
        name = check_text(system, item.line, "system", problems).strip()
        if not name:
            problems.add(item.line, "outputs", system, "the name of a system")
        elif not isinstance(text, str):
            problems.add(item.line, f"outputs.{name}", text, "a text")
        else:
            checked = check_text(text, item.line, f"outputs.{name}", problems)
            read.add_source(item, SourceDraft(item.line, checked, SourceKind.SYSTEM.value, name), problems)


def _json_references(references: Any, item: ItemDraft, read: DatasetContent, problems: Problems) -> None:
    if references is None:
        return
    if not isinstance(references, list):
        problems.add(item.line, "references", references, "a list of texts or objects with a text")
        return
    for index, given in enumerate(references):
        prefix = f"references[{index}]"
        value = {"text": given} if isinstance(given, str) else given
        if not isinstance(value, dict) or not isinstance(value.get("text"), str):
            problems.add(item.line, prefix, value, 'a text, or an object such as {"text": "Hi", "kind": "human"}')
            continue
        _unknown_names(value, REFERENCE_NAMES, item.line, f"{prefix}.", problems)
        read.add_source(item, _json_reference(value, item.line, prefix, index, problems), problems)


def _json_reference(value: dict[str, Any], line: int, prefix: str, index: int, problems: Problems) -> SourceDraft:
    kind = value.get("kind", DEFAULT_REFERENCE_KIND)
    if kind not in REFERENCE_KINDS:
        problems.add(line, f"{prefix}.kind", kind, f"one of {', '.join(REFERENCE_KINDS)}")
    rank = value.get("rank", index + 1)
    if not isinstance(rank, int) or isinstance(rank, bool) or not 0 <= rank < 2**31:
        problems.add(line, f"{prefix}.rank", rank, "a whole number from 0")
    score = value.get("score")
    if score is not None and (isinstance(score, bool) or not isinstance(score, int | float) or not _is_finite(score)):
        problems.add(line, f"{prefix}.score", score, "a number")
    return SourceDraft(
        line=line,
        text=check_text(value["text"], line, f"{prefix}.text", problems),
        kind=kind,
        rank=rank,
        score=score,
        source_context=check_texts(value.get("source_context"), line, f"{prefix}.source_context", problems),
        source_message=check_text(value.get("source_message"), line, f"{prefix}.source_message", problems),
    )


# --- CSV and TSV: one response a row ---------------------------------------------------------------------------------


def _read_table(
    content: bytes, file_format: str, problems: Problems, turn_separator: str, beat: Beat
) -> tuple[DatasetContent, Oddities]:
    table = read_table(content, file_format, problems, beat)
    check_header(table, problems, required=["item_id"], known=COLUMNS)
    square(table, problems)
    read = DatasetContent()
    for line, cells in beating(table.rows, beat):
        row = {name: check_text(cell, line, name, problems) for name, cell in zip(table.header, cells, strict=True)}
        if not row["item_id"].strip():
            problems.add(line, "item_id", "", "a text that names the item")
            continue
        item = _table_item(row, line, read, problems, turn_separator)
        if any(row.get(name, "").strip() for name in RESPONSE_COLUMNS):
            read.add_source(item, _table_source(row, line, item, problems, turn_separator), problems)
    return read, table.oddities


def _turns(cell: str, separator: str) -> list[str]:
    return [turn.strip() for turn in cell.split(separator)] if cell.strip() else []


def _table_item(
    row: dict[str, str], line: int, read: DatasetContent, problems: Problems, turn_separator: str
) -> ItemDraft:
    """The row's item; what a later row says of it again must be the same, or left empty."""
    item = read.items.get(row["item_id"])
    if item is None:
        item = ItemDraft(line=line, external_id=row["item_id"])
        read.add_item(item, problems, name="item_id")
    for name in ITEM_COLUMNS:
        cell = row.get(name, "")
        value: Any = _turns(cell, turn_separator) if name == "context" else cell
        known = getattr(item, name)
        if not known:
            setattr(item, name, value)
        elif value and value != known:
            accepted = f"nothing, or the same as before (first row of this item: line {item.line}): {str(known)[:60]!r}"
            problems.add(line, name, cell, accepted)
    return item


def _table_source(
    row: dict[str, str], line: int, item: ItemDraft, problems: Problems, turn_separator: str
) -> SourceDraft:
    system = row.get("system", "").strip() or None
    kind = row.get("kind", "").strip() or (SourceKind.SYSTEM.value if system else DEFAULT_REFERENCE_KIND)
    if system and kind != SourceKind.SYSTEM:
        problems.add(line, "kind", kind, "nothing or system, where the column system names one")
    elif not system and kind not in REFERENCE_KINDS:
        problems.add(line, "kind", kind, f"one of {', '.join(REFERENCE_KINDS)}; for an output, name the system")
    score = _number(row.get("score", ""), line, "score", problems)
    rank = _number(row.get("rank", ""), line, "rank", problems, whole=True)
    if rank is None and system is None:
        rank = 1 + sum(source.system is None for source in item.sources)
    return SourceDraft(
        line=line,
        text=row.get("text", ""),
        kind=kind,
        system=system,
        rank=None if rank is None else int(rank),
        score=score,
        source_context=_turns(row.get("source_context", ""), turn_separator),
        source_message=row.get("source_message", ""),
    )


def _number(cell: str, line: int, name: str, problems: Problems, *, whole: bool = False) -> float | None:
    if not cell.strip():
        return None
    try:
        value = int(cell) if whole else float(cell)
    except ValueError:
        value = math.nan
    if not _is_finite(value) or (whole and not 0 <= value < 2**31):
        problems.add(line, name, cell, "a whole number from 0" if whole else "a number")
        return None
    return value


def _is_finite(value: float) -> bool:
    """Also of a whole number: one that no float can hold is not."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False
