"""Read the formats of a data set file, documented in docs/data-formats.md, into one content."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from annotation.core.problems import Problems
from annotation.core.progress import Beat, noop
from annotation.core.rows import Oddities, check_header, read_table, square, unknown_name
from annotation.datasets.mapping.meanings import SYNONYMS
from annotation.datasets.services.content import (
    DEFAULT_REFERENCE_KIND,
    DatasetContent,
    ItemDraft,
    SourceDraft,
    check_response,
    check_text,
    check_texts,
    finite_number,
)
from annotation.datasets.services.mapped import MappedReader
from annotation.datasets.services.records import PARQUET, Records, records_of
from annotation.models import SourceKind

TURN_SEPARATOR = "|||"
ITEM_COLUMNS = ("context", "message", "meaning_representation", "split")
ITEM_NAMES = ("id", *ITEM_COLUMNS, "references", "outputs")
OUTPUT_NAMES = ("text", "raw_text", "rank", "score", "source_context", "source_message")
REFERENCE_NAMES = ("kind", *OUTPUT_NAMES)
RESPONSE_COLUMNS = ("system", "kind", "text", "rank", "score", "source_context", "source_message")
COLUMNS = ("item_id", *ITEM_COLUMNS, *RESPONSE_COLUMNS)
TABLE_SYNONYMS = {**SYNONYMS, "item_id": ("id", *SYNONYMS["id"])}


def read_dataset(
    content: bytes,
    *,
    filename: str,
    file_format: str,
    turn_separator: str = TURN_SEPARATOR,
    mapping: Mapping[str, str] | None = None,
    beat: Beat = noop,
) -> tuple[DatasetContent, Oddities]:
    """Return the content of a file. Raise ImportRefused with every row error if it cannot be read.

    ``mapping`` gives the meanings of its fields, if they do not have Assay's names.
    """
    problems, oddities = Problems(filename), Oddities()
    if mapping:
        reader = MappedReader(problems, mapping, turn_separator)
        read = reader.read(records_of(content, file_format, problems, oddities, beat))
    elif file_format in ("jsonl", PARQUET):
        read = _JsonReader(problems).read(records_of(content, file_format, problems, oddities, beat))
    else:
        read, oddities = _TableReader(problems, turn_separator).read(content, file_format, beat)
    if not problems.total and not read.items:
        problems.add(None, "items", "none", "at least one item")
    problems.refuse()
    read.filename = filename
    return read, oddities


class _JsonReader:
    """Reads JSON Lines with an item on each line."""

    def __init__(self, problems: Problems) -> None:
        self.problems, self.content = problems, DatasetContent()

    def read(self, records: Records) -> DatasetContent:
        problems = self.problems
        for line, value in records:
            self._refuse_unknown(value, ITEM_NAMES, line, "")
            external_id = value.get("id")
            if isinstance(external_id, int) and not isinstance(external_id, bool):
                external_id = str(external_id)
            item = ItemDraft(line=line, external_id=check_text(external_id, line, "id", problems))
            item.context = check_texts(value.get("context"), line, "context", problems)
            for name in ("message", "meaning_representation", "split"):
                setattr(item, name, check_text(value.get(name), line, name, problems))
            if not item.external_id.strip():
                problems.add(line, "id", value.get("id", ""), "a text or whole number that names the item")
            elif self.content.add_item(item, problems):
                self._add_references(value.get("references"), item)
                self._add_outputs(value.get("outputs"), item)
        return self.content

    def _refuse_unknown(self, value: Mapping[str, Any], known: Sequence[str], line: int, prefix: str) -> None:
        for name in value:
            if name not in known:
                accepted = partial(unknown_name, name, known, SYNONYMS, among="only")
                self.problems.add(line, prefix + name, "an unknown field", accepted)

    def _add_outputs(self, outputs: Any, item: ItemDraft) -> None:
        problems, line = self.problems, item.line
        if outputs is None:
            return
        if not isinstance(outputs, dict):
            problems.add(line, "outputs", outputs, 'an object, such as {"SystemA": "its text"}')
            return
        for system, text in outputs.items():
            name = check_text(system, line, "system", problems).strip()
            if not name:
                problems.add(line, "outputs", system, "the name of a system")
                continue
            prefix = f"outputs.{name}"
            value = {"text": text} if isinstance(text, str | list) else text
            if isinstance(value, dict) and isinstance(value.get("text"), str | list):
                self._refuse_unknown(value, OUTPUT_NAMES, line, f"{prefix}.")
                source = self._source(value, line, prefix, SourceKind.SYSTEM.value)
                source.system = name
                self.content.add_source(item, source, problems)
            else:
                accepted = 'a text, a list of turns, or an object such as {"text": "Hi", "rank": 1}'
                problems.add(line, prefix, text, accepted)

    def _add_references(self, references: Any, item: ItemDraft) -> None:
        if references is None:
            return
        if not isinstance(references, list):
            self.problems.add(item.line, "references", references, "a list of texts or objects with a text")
            return
        for index, reference in enumerate(references):
            prefix = f"references[{index}]"
            value = {"text": reference} if isinstance(reference, str | list) else reference
            if isinstance(value, dict) and isinstance(value.get("text"), str | list):
                self._refuse_unknown(value, REFERENCE_NAMES, item.line, f"{prefix}.")
                self.content.add_source(item, self._reference(value, item.line, prefix, index), self.problems)
            else:
                accepted = 'a text, a list of turns, or an object such as {"text": "Hi", "kind": "human"}'
                self.problems.add(item.line, prefix, value, accepted)

    def _reference(self, value: dict[str, Any], line: int, prefix: str, index: int) -> SourceDraft:
        kind, kinds = value.get("kind", DEFAULT_REFERENCE_KIND), SourceKind.of_references()
        if kind not in kinds:
            self.problems.add(line, f"{prefix}.kind", kind, f"one of {', '.join(kinds)}")
        return self._source({"rank": index + 1, **value}, line, prefix, kind)

    def _source(self, value: dict[str, Any], line: int, prefix: str, kind: str) -> SourceDraft:
        problems, rank, score = self.problems, value.get("rank"), value.get("score")
        is_rank = isinstance(rank, int) and not isinstance(rank, bool) and 0 <= rank < 2**31
        if rank is not None and not is_rank:
            problems.add(line, f"{prefix}.rank", rank, "a whole number from 0, or null")
        if score is not None and (isinstance(score, str) or finite_number(score) is None):
            problems.add(line, f"{prefix}.score", score, "a number")
        text, turns = check_response(value["text"], line, f"{prefix}.text", problems)
        return SourceDraft(
            line=line,
            text=text,
            turns=turns,
            kind=kind,
            rank=rank,
            score=score,
            source_context=check_texts(value.get("source_context"), line, f"{prefix}.source_context", problems),
            source_message=check_text(value.get("source_message"), line, f"{prefix}.source_message", problems),
            raw_text=check_text(value.get("raw_text"), line, f"{prefix}.raw_text", problems),
        )


class _TableReader:
    """Reads CSV and TSV with a response on each row."""

    def __init__(self, problems: Problems, turn_separator: str) -> None:
        self.problems, self.separator, self.content = problems, turn_separator, DatasetContent()

    def read(self, content: bytes, file_format: str, beat: Beat) -> tuple[DatasetContent, Oddities]:
        problems = self.problems
        table = read_table(content, file_format, problems, beat)
        check_header(table, problems, required=["item_id"], known=COLUMNS, synonyms=TABLE_SYNONYMS)
        square(table, problems)
        for line, cells in table.each():
            row = {name: check_text(cell, line, name, problems) for name, cell in zip(table.header, cells, strict=True)}
            if not row["item_id"].strip():
                problems.add(line, "item_id", "", "a text that names the item")
                continue
            item = self._item(row, line)
            if any(row.get(name, "").strip() for name in RESPONSE_COLUMNS):
                self.content.add_source(item, self._source(row, line, item), problems)
        return self.content, table.oddities

    def _turns(self, cell: str) -> list[str]:
        return [turn.strip() for turn in cell.split(self.separator)] if cell.strip() else []

    def _item(self, row: dict[str, str], line: int) -> ItemDraft:
        """Return the row's item. A later row repeats what is known about it, or leaves it empty."""
        item = self.content.items.get(row["item_id"])
        if item is None:
            item = ItemDraft(line=line, external_id=row["item_id"])
            self.content.add_item(item, self.problems, name="item_id")
        for name in ITEM_COLUMNS:
            cell = row.get(name, "")
            value: Any = self._turns(cell) if name == "context" else cell
            known = getattr(item, name)
            if not known:
                setattr(item, name, value)
            elif value and value != known:
                before = f"(first row of this item: line {item.line}): {str(known)[:60]!r}"
                self.problems.add(line, name, cell, f"nothing, or the same as before {before}")
        return item

    def _source(self, row: dict[str, str], line: int, item: ItemDraft) -> SourceDraft:
        system = row.get("system", "").strip() or None
        kind = row.get("kind", "").strip() or (SourceKind.SYSTEM.value if system else DEFAULT_REFERENCE_KIND)
        kinds = SourceKind.of_references()
        if system and kind != SourceKind.SYSTEM:
            self.problems.add(line, "kind", kind, "nothing or system, where the column system names one")
        elif not system and kind not in kinds:
            self.problems.add(line, "kind", kind, f"one of {', '.join(kinds)}; for an output, name the system")
        score, rank = self._number(row, line, "score"), self._number(row, line, "rank", whole=True)
        if rank is None and system is None:
            rank = 1 + item.n_references
        return SourceDraft(
            line=line,
            text=row.get("text", ""),
            kind=kind,
            system=system,
            rank=None if rank is None else int(rank),
            score=score,
            source_context=self._turns(row.get("source_context", "")),
            source_message=row.get("source_message", ""),
        )

    def _number(self, row: dict[str, str], line: int, name: str, *, whole: bool = False) -> float | None:
        cell = row.get(name, "")
        if not cell.strip():
            return None
        value = finite_number(cell, whole=whole)
        if value is None:
            self.problems.add(line, name, cell, "a whole number from 0" if whole else "a number")
        return value
