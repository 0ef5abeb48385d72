"""The content of a data set file, checked while it is read and before anything is stored."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from annotation.core.dialogues import MOST_TURNS, SPEAKERS, SYSTEM, TURN_FIELDS, joined
from annotation.core.file_limits import WORKER
from annotation.core.normalisation import text_key
from annotation.core.problems import Problems
from annotation.models import SourceKind

DEFAULT_REFERENCE_KIND = SourceKind.HUMAN.value
LENGTHS = {"id": 200, "item_id": 200, "split": 40, "system": 120, "rater": 200}


@dataclass(slots=True)
class SourceDraft:
    """A text and where it came from."""

    line: int
    text: str
    kind: str
    system: str | None = None
    rank: int | None = None
    score: float | None = None
    source_context: list[str] = field(default_factory=list)
    source_message: str = ""
    raw_text: str = ""  # as it came, if that is not the response's text
    turns: list[dict[str, str]] | None = None  # of a dialogue, which the text joins


@dataclass(slots=True)
class ItemDraft:
    line: int
    external_id: str
    context: list[str] = field(default_factory=list)
    message: str = ""
    meaning_representation: str = ""
    split: str = ""
    sources: list[SourceDraft] = field(default_factory=list)
    outputs: dict[str, int] = field(default_factory=dict)  # system name: line
    n_references: int = 0  # among the sources


@dataclass
class DatasetContent:
    """The items of a file, in its order, and their counts."""

    items: dict[str, ItemDraft] = field(default_factory=dict)
    filename: str = ""
    empty_references: int = 0
    empty_outputs: int = 0
    n_sources: int = 0

    def add_item(self, item: ItemDraft, problems: Problems, *, name: str = "id") -> bool:
        first = self.items.get(item.external_id)
        if first is not None:
            problems.add(item.line, name, item.external_id, f"each id once; this one is on line {first.line} already")
            return False
        self.items[item.external_id] = item
        return True

    def add_source(self, item: ItemDraft, source: SourceDraft, problems: Problems, *, name: str = "system") -> None:
        """Add a text to an item. An empty reference is only counted; an empty output is an answer and stays."""
        self.n_sources += 1
        problems.check_limit(source.line, "texts", self.n_sources, WORKER.rows)
        empty = not source.text.strip()
        if source.system is None:
            self.empty_references += empty
            if not empty:
                item.sources.append(source)
                item.n_references += 1
            return
        first = item.outputs.get(source.system)
        if first is not None:
            accepted = f"one output of a system for an item; the first is on line {first}"
            problems.add(source.line, name, f"a second output of {source.system} for {item.external_id}", accepted)
            return
        item.outputs[source.system] = source.line
        self.empty_outputs += empty
        item.sources.append(source)

    @property
    def systems(self) -> list[str]:
        """Return the names of the systems in order of first appearance."""
        systems = (source.system for item in self.items.values() for source in item.sources)
        return list(dict.fromkeys(filter(None, systems)))

    def counts(self, rule: str) -> dict[str, int]:
        """Return the numbers of items, systems and texts, and of the texts that the normalisation rule makes one."""
        counts = Counter({"items": len(self.items), "systems": len(self.systems)})
        for item in self.items.values():
            outputs = [text_key(source.text, rule) for source in item.sources if source.system]
            references = [text_key(source.text, rule) for source in item.sources if not source.system]
            counts["outputs"] += len(outputs)
            counts["references"] += len(references)
            counts["responses"] += len({*outputs, *references})
            counts["identical_outputs"] += len(outputs) - len(set(outputs))
            counts["identical_references"] += len(references) - len(set(references))
            counts["output_equals_reference"] += len(set(outputs) & set(references))
            counts["items_without_references"] += not references
            counts["items_without_outputs"] += not outputs
        return dict(counts) | {"empty_references": self.empty_references, "empty_outputs": self.empty_outputs}


def check_text(value: object, line: int, name: str, problems: Problems, *, limit: str | None = None) -> str:
    """Return a text that PostgreSQL can store, '' for None or a wrong value; add what is wrong to the problems.

    ``limit`` is the name in ``LENGTHS``, if it is not the field's.
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        problems.add(line, name, value, "a text")
        return ""
    if "\x00" in value:
        position = value.index("\x00") + 1
        problems.add(line, name, f"a NUL character at position {position}", "text without NUL characters")
        return ""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        problems.add(line, name, f"half a surrogate pair at position {error.start + 1}", "whole Unicode characters")
        return ""
    most = LENGTHS.get(name if limit is None else limit)
    if most is not None and len(value) > most:
        problems.add(line, name, f"{len(value)} characters: {value[:40]}…", f"at most {most} characters")
    return value


def check_texts(value: object, line: int, name: str, problems: Problems) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, Sequence) or isinstance(value, str):
        problems.add(line, name, value, "a list of texts")
        return []
    return [check_text(part, line, f"{name}[{index}]", problems) for index, part in enumerate(value)]


def check_response(value: object, line: int, name: str, problems: Problems) -> tuple[str, list[dict[str, str]] | None]:
    """Return a response's text and, if a list of turns was given, the turns; add what is wrong to the problems."""
    if not isinstance(value, list):
        return check_text(value, line, name, problems), None
    before = problems.total
    turns = [_turn(part, line, f"{name}[{index}]", problems) for index, part in enumerate(value[: MOST_TURNS + 1])]
    if not 1 <= len(value) <= MOST_TURNS:
        problems.add(line, name, f"{len(value)} turns", f"a dialogue of 1 to {MOST_TURNS} turns")
    elif problems.total == before and all(turn["speaker"] != SYSTEM for turn in turns):
        problems.add(line, name, "no turn of the system", f"at least one turn whose speaker is {SYSTEM}")
    return joined(turns), turns


def _turn(value: object, line: int, name: str, problems: Problems) -> dict[str, str]:
    if not isinstance(value, Mapping):
        problems.add(line, name, value, 'a turn, such as {"speaker": "user", "text": "Hi"}')
        return dict.fromkeys(TURN_FIELDS, "")
    for unknown in [key for key in value if key not in TURN_FIELDS]:
        problems.add(line, f"{name}.{unknown}", "an unknown field", f"only {' and '.join(TURN_FIELDS)}")
    speaker, text = value.get("speaker"), value.get("text")
    if speaker not in SPEAKERS:
        problems.add(line, f"{name}.speaker", speaker, " or ".join(SPEAKERS))
    if text is None:
        problems.add(line, f"{name}.text", text, "a text")
    return {"speaker": str(speaker), "text": check_text(text, line, f"{name}.text", problems)}


def finite_number(value: object, *, whole: bool = False) -> float | None:
    """Return the number, or None if it is none that can be stored: finite, or whole and from 0."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number: float = int(value) if whole and not isinstance(value, float) else float(value)
    except (ValueError, OverflowError):
        return None
    if whole:
        return number if 0 <= number < 2**31 and number == int(number) else None
    return number if math.isfinite(number) else None
