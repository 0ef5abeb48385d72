"""Items from records with other people's field names, by a mapping of fields to meanings."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from annotation.core.near_names import did_you_mean
from annotation.core.problems import Problems, listed
from annotation.datasets.mapping.meanings import (
    CONTEXT,
    DIALOGUE,
    ID,
    MESSAGE,
    OF_RESPONSE,
    ORIGINAL,
    OTHERS,
    OUTPUT,
    OUTPUTS,
    REFERENCES,
    REPRESENTATION,
    RESPONSE,
    SPLIT,
    SYSTEM,
)
from annotation.datasets.mapping.rules import PROMPTS, parts_of
from annotation.datasets.mapping.values import text_of, value_at
from annotation.datasets.services.content import (
    DEFAULT_REFERENCE_KIND,
    DatasetContent,
    ItemDraft,
    SourceDraft,
    check_response,
    check_text,
    finite_number,
)
from annotation.models import SourceKind

ASSISTANTS = ("assistant", "gpt", "bot", "model", "system_response")
ROLES = ("role", "from", "speaker")
TEXTS = {MESSAGE: "message", REPRESENTATION: "meaning_representation", SPLIT: "split"}

Record = Mapping[str, Any]
Turns = list[dict[str, str]] | None


class MappedReader:
    """Reads records into items. Errors name the line and the person's field."""

    def __init__(self, problems: Problems, mapping: Mapping[str, str], turn_separator: str) -> None:
        self.problems, self.separator, self.content = problems, turn_separator, DatasetContent()
        self.mapping = {name: parts_of(meaning) for name, meaning in mapping.items()}
        self.by_key = {key: name for name, (key, _) in self.mapping.items()}  # of meanings that one field has
        self.known = set(self.mapping) | {name.split(".")[0] for name in self.mapping}
        self.is_long = RESPONSE in self.by_key
        self.references = [name for name, (key, _) in self.mapping.items() if key == REFERENCES]
        self.numbered: dict[tuple[str, int], str] = {}  # ids of items that are known by their texts
        self.rows: Counter[tuple[str, str]] = Counter()  # of a system with these texts
        self.outputs = {name: system for name, (key, system) in self.mapping.items() if key == OUTPUT}

    def read(self, records: Iterable[tuple[int, Record]]) -> DatasetContent:
        for number, (line, record) in enumerate(records, start=1):
            for name in record:
                if name not in self.known and OTHERS not in self.known:
                    self.unknown(line, name)
            item = self._item(line, number, record)
            if item is not None:
                self._add_texts(item, line, record)
                self._add_sources(item, line, record)
        return self.content

    def unknown(self, line: int, name: str) -> None:
        def accepted() -> str:
            return f"a field of the mapping: {listed(self.mapping)}{did_you_mean(name, self.mapping)}"

        self.problems.add(line, name, "a field without a meaning", accepted)

    def _value(self, record: Record, key: str) -> Any:
        name = self.by_key.get(key)
        return None if name is None else value_at(record, name)

    def _item(self, line: int, number: int, record: Record) -> ItemDraft | None:
        """Return a new item; the known one if each row is a response; None, with an error, without a right id."""
        if ID not in self.by_key:
            external_id = self._numbered(record) if self.is_long else str(number)
        else:
            name, value = self.by_key[ID], self._value(record, ID)
            if isinstance(value, int) and not isinstance(value, bool):
                value = str(value)
            external_id = self._text(value, line, name, limit="id")
            if not external_id.strip():
                if value is None or isinstance(value, str):
                    self.problems.add(line, name, value or "", "a text or whole number that names the item")
                return None
        known = self.content.items.get(external_id)
        if known is not None and self.is_long:
            return known
        item = ItemDraft(line=line, external_id=external_id)
        return item if self.content.add_item(item, self.problems, name=self.by_key.get(ID, "id")) else None

    def _numbered(self, record: Record) -> str:
        """Return the number of the item with these texts; a system's second response to them is another item's."""
        texts = json.dumps([self._value(record, key) for key in (*sorted(PROMPTS), SPLIT)], default=str)
        system = str(self._value(record, SYSTEM) or "").strip()
        nth = self.rows[texts, system] if system else 0
        self.rows[texts, system] += 1
        return self.numbered.setdefault((texts, nth), str(len(self.numbered) + 1))

    def _text(self, value: Any, line: int, name: str, *, limit: str = "") -> str:
        return check_text(value, line, name, self.problems, limit=limit)

    # --- What is asked ------------------------------------------------------------------------------------------------

    def _add_texts(self, item: ItemDraft, line: int, record: Record) -> None:
        for key, attribute in TEXTS.items():
            if key in self.by_key:
                name, value = self.by_key[key], self._value(record, key)
                if key == REPRESENTATION and isinstance(value, list):
                    value = "\n".join(self._turns(value, line, name))
                self._set(item, attribute, self._text(value, line, name, limit=key), line, name)
        if CONTEXT in self.by_key:
            name = self.by_key[CONTEXT]
            self._set(item, "context", self._turns(self._value(record, CONTEXT), line, name), line, name)
        if DIALOGUE in self.by_key:
            self._add_dialogue(item, line, self._value(record, DIALOGUE))

    def _add_dialogue(self, item: ItemDraft, line: int, value: Any) -> None:
        name = self.by_key[DIALOGUE]
        turns = self._turns(value, line, name)
        if len(turns) > 1 and _is_by_assistant(value) and ORIGINAL not in self.by_key and not item.sources:
            self._add_reference(item, line, turns.pop(), name, SourceKind.SEED.value)
        if turns:
            self._set(item, "message", turns[-1], line, name)
            self._set(item, "context", turns[:-1], line, name)

    def _set(self, item: ItemDraft, attribute: str, value: Any, line: int, name: str) -> None:
        """Describe an item once: later rows repeat what is known, or leave it empty."""
        before = getattr(item, attribute)
        if not before:
            setattr(item, attribute, value)
        elif value and value != before:
            accepted = f"nothing, or the same as before (first row of this item: line {item.line})"
            self.problems.add(line, name, value, accepted)

    def _turns(self, value: Any, line: int, name: str) -> list[str]:
        """Return the turns of a list, or of a text that separators divide."""
        if isinstance(value, str):
            text = self._text(value, line, name)
            return [turn.strip() for turn in text.split(self.separator)] if text.strip() else []
        if value is None:
            return []
        if not isinstance(value, list):
            self.problems.add(line, name, value, "a list of turns, or a text")
            return []
        return [self._text_in(part, line, f"{name}[{index}]") for index, part in enumerate(value)]

    def _text_in(self, value: Any, line: int, name: str) -> str:
        text = text_of(value)
        if text is None:
            self.problems.add(line, name, value, "a text, or an object with a text")
            return ""
        return self._text(text, line, name)

    # --- What is rated ------------------------------------------------------------------------------------------------

    def _add_sources(self, item: ItemDraft, line: int, record: Record) -> None:
        if ORIGINAL in self.by_key:
            name, value = self.by_key[ORIGINAL], self._value(record, ORIGINAL)
            if value is not None:
                text = self._text(value, line, name)
                self._add_reference(item, line, text, name, SourceKind.SEED.value)
        for name in self.references:
            self._add_references(item, line, value_at(record, name), name)
        for name, system in self.outputs.items():
            self._add_output(item, line, value_at(record, name), name, system)
        if OUTPUTS in self.by_key:
            self._add_outputs(item, line, self._value(record, OUTPUTS), self.by_key[OUTPUTS])
        if self.is_long:
            self._add_response(item, line, record)

    def _add_references(self, item: ItemDraft, line: int, value: Any, name: str) -> None:
        if value is None:
            return
        parts = value if isinstance(value, list) else [value]
        for index, part in enumerate(parts):
            path = f"{name}[{index}]" if isinstance(value, list) else name
            if part is not None:
                kind = self._kind(part.get("kind") if isinstance(part, Mapping) else None, line, f"{path}.kind")
                is_dialogue = isinstance(part, list)
                text, turns = (
                    self._response(part, line, path) if is_dialogue else (self._text_in(part, line, path), None)
                )
                self._add_reference(item, line, text, path, kind, turns)

    def _kind(self, value: Any, line: int, name: str) -> str:
        kinds = SourceKind.of_references()
        if value and value not in kinds:
            self.problems.add(line, name, value, f"one of {', '.join(kinds)}")
        return str(value) if value else DEFAULT_REFERENCE_KIND

    def _response(self, value: Any, line: int, name: str) -> tuple[str, Turns]:
        """Return the text of a response and, if it is a dialogue, its turns."""
        return check_response(value, line, name, self.problems)

    def _add_reference(self, item: ItemDraft, line: int, text: str, name: str, kind: str, turns: Turns = None) -> None:
        source = SourceDraft(line, text, kind, rank=1 + item.n_references, turns=turns)
        self.content.add_source(item, source, self.problems, name=name)

    def _add_output(self, item: ItemDraft, line: int, value: Any, name: str, system: str) -> None:
        """Add the output of a system; None is no output, an empty text an empty one."""
        if value is not None:
            text, turns = self._response(value, line, name)
            source = SourceDraft(line, text, SourceKind.SYSTEM.value, system, turns=turns)
            self.content.add_source(item, source, self.problems, name=name)

    def _add_outputs(self, item: ItemDraft, line: int, value: Any, name: str) -> None:
        if value is None:
            return
        if not isinstance(value, Mapping):
            self.problems.add(line, name, value, 'an object, such as {"SystemA": "its text"}')
            return
        for written, text in value.items():
            system = self._text(written, line, name, limit="system").strip()
            if system:
                self._add_output(item, line, text, f"{name}.{written}", system)
            else:
                self.problems.add(line, name, written, "the name of a system")

    def _add_response(self, item: ItemDraft, line: int, record: Record) -> None:
        """Add the response of a row: of the system that the row names, else a reference."""
        problems, name = self.problems, self.by_key[RESPONSE]
        system = self._text(self._value(record, SYSTEM), line, self.by_key.get(SYSTEM, SYSTEM), limit=SYSTEM).strip()
        value = self._value(record, RESPONSE)
        about = {key: self._value(record, key) for key in OF_RESPONSE}
        if value is None or (value == "" and not system):
            return
        kind = (
            self._kind(about["kind"], line, self.by_key.get("kind", "kind")) if not system else SourceKind.SYSTEM.value
        )
        if system and about["kind"] not in (None, "", SourceKind.SYSTEM):
            problems.add(line, self.by_key["kind"], about["kind"], "nothing or system, if the row names a system")
        rank = self._number(about["rank"], line, "rank", whole=True)
        text, turns = self._response(value, line, name)
        source = SourceDraft(
            line=line,
            text=text,
            turns=turns,
            kind=kind,
            system=system or None,
            rank=1 + item.n_references if rank is None and not system else None if rank is None else int(rank),
            score=self._number(about["score"], line, "score"),
            source_context=self._turns(about["source_context"], line, self.by_key.get("source_context", "")),
            source_message=self._text(about["source_message"], line, self.by_key.get("source_message", "")),
        )
        self.content.add_source(item, source, problems, name=name)

    def _number(self, value: Any, line: int, key: str, *, whole: bool = False) -> float | None:
        if value is None or value == "":
            return None
        number = finite_number(value, whole=whole)
        if number is None:
            accepted = "a whole number from 0" if whole else "a number"
            self.problems.add(line, self.by_key[key], value, accepted)
        return number


def _is_by_assistant(value: Any) -> bool:
    last = value[-1] if isinstance(value, list) and value else None
    if not isinstance(last, Mapping):
        return False
    return any(str(last.get(role, "")).casefold() in ASSISTANTS for role in ROLES)
