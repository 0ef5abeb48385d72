"""Propose what each field of a file means, from its name and its first values. A person decides."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.core.near_names import nearest, plain
from annotation.datasets.mapping import meanings
from annotation.datasets.mapping.meanings import (
    CONTEXT,
    DIALOGUE,
    ID,
    IGNORE,
    MEANINGS,
    MESSAGE,
    OF_RESPONSE,
    ORIGINAL,
    OUTPUT,
    REFERENCES,
    REPRESENTATION,
    RESPONSE,
    SYNONYMS,
    SYSTEM,
)
from annotation.datasets.mapping.values import BETWEEN, TEXT_PARTS, fields_of

# Words by which columns of systems are known, before or after the system's name: "output_gpt4", "gpt4-prediction".
OUTPUT_WORDS = ("output", "prediction", "pred", "hypothesis", "hyp", "generated", "generation", "candidate")
SYSTEM_WORDS = ("system", "sys", "model")
SEPARATOR = re.compile(r"[\W_]")
LIKE_ID = re.compile(r"[\W_](?:[Ii][Dd]|[Kk]ey|nr|no)\Z|[a-z](?:Id|ID)\Z")  # conv_id, convId, conv.key
WORDS = re.compile(r"[^\W_]+")
# Words of names of fields that hold texts, but no system's output; only of fields that have no meaning otherwise.
BESIDE_WORDS = frozenset(
    (
        "annotator",
        "author",
        "caption",
        "category",
        "comment",
        "comments",
        "date",
        "description",
        "evidence",
        "explanation",
        "fact",
        "facts",
        "feedback",
        "instruction",
        "instructions",
        "knowledge",
        "keywords",
        "label",
        "name",
        "note",
        "notes",
        "persona",
        "rationale",
        "reason",
        "reasons",
        "title",
        "topic",
        "url",
    )
)
FEWEST_WORDS, FEWEST_LETTERS = 3, 10  # of a text that could be an output; letters where no words are written apart
NO_TEXT = (IGNORE, ID, CONTEXT, DIALOGUE, REPRESENTATION)  # names that a field of labels can have
SHORTEST_NAME = 2  # a shorter rest, as the b of "system_b", names no system by itself


MEASURED = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
WHOLE = re.compile(r"\d+", re.ASCII)
LABEL = re.compile(r"[\w.:/#-]{1,40}", re.ASCII)


@dataclass(frozen=True)
class Field:
    """A field of a file.

    ``repeats``: a value occurs twice in its first records. ``names_items``: so it does, and short labels repeat exactly
    as a text does. ``measures``: its first values are numbers with decimals or below 0, which name nothing.
    ``is_prose``: most of its first values are texts of several words.
    """

    name: str
    kind: str
    repeats: bool = False
    names_items: bool = False
    measures: bool = False
    is_prose: bool = False


def propose(fields: Sequence[Field]) -> dict[str, str]:
    """Return a meaning for every field, as ``rules.checked_mapping`` takes them; ``ignore`` for what is not known.

    A meaning that only one field can have goes to the field whose name is the most usual for it.
    """
    likely = {field.name: _likely(field) for field in fields}
    _prefer_labels(fields, likely)
    chosen: dict[str, str] = {}
    for key, meaning in MEANINGS.items():
        rivals = [field for field in fields if likely[field.name] == key]
        rivals.sort(key=lambda field: _position(field.name, key))
        for field in rivals if meaning.many else rivals[:1]:
            chosen[field.name] = key
    chosen = {field.name: chosen.get(field.name, IGNORE) for field in fields}
    _settle_id(fields, chosen)
    _settle_rows(fields, chosen)
    _settle_message(fields, chosen)
    _settle_conversation(fields, chosen)
    _settle_outputs(fields, chosen)
    return {name: _with_system(name) if key == OUTPUT else key for name, key in chosen.items()}


def label_fields(rows: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the fields whose short labels, such as d01, repeat exactly as the texts of another field do."""
    columns: dict[str, list[Any]] = {}
    for number, row in enumerate(rows):
        for name, value in fields_of(row):
            columns.setdefault(name, [None] * len(rows))[number] = json.dumps(value, ensure_ascii=False)
    patterns = {name: _pattern(values) for name, values in columns.items() if None not in values}
    plain_values = {name: [value.strip('"') for value in columns[name]] for name in patterns}
    labels = {
        name for name, values in plain_values.items() if all(map(LABEL.fullmatch, values)) and not measures(values)
    }
    texts = {patterns[name] for name in patterns if name not in labels}
    return {name for name in labels if patterns[name] in texts and 1 < len(set(patterns[name])) < len(rows)}


def measures(values: Sequence[str]) -> bool:
    """Return whether these are numbers of which some have decimals or are below 0, such as a metric's scores.

    >>> measures(["-88.27", "4"]), measures(["17", "4"]), measures(["1.2", "v1.2"]), measures([])
    (True, False, False, False)
    """
    return all(map(MEASURED.fullmatch, values)) and not all(map(WHOLE.fullmatch, values))


def is_prose(values: Sequence[str]) -> bool:
    """Return whether most of these are texts of several words, and not all the same.

    >>> is_prose(["I do not know.", "It is late, so no."]), is_prose(["en", "de"]), is_prose(["我不知道这个问题的答案"])
    (True, False, True)
    """
    texts = [value for value in values if value.strip()]
    several = sum(
        len(text.split()) >= FEWEST_WORDS or (not text.isascii() and len(text) >= FEWEST_LETTERS) for text in texts
    )
    return 2 * several > len(texts) and (len(set(texts)) > 1 or len(texts) == 1)


def _pattern(values: Sequence[Any]) -> tuple[int, ...]:
    """Return for each value where it occurs first."""
    first: dict[Any, int] = {}
    return tuple(first.setdefault(value, number) for number, value in enumerate(values))


def likely_id(fields: Sequence[Field], likely: Mapping[str, str]) -> str:
    """Return the field that names the items by its values; '' if none does."""
    fitting = [
        field.name
        for field in fields
        if field.names_items and field.kind in MEANINGS[ID].kinds and likely.get(field.name, IGNORE) in NO_TEXT
    ]
    return min(fitting, key=lambda name: not LIKE_ID.search(name), default="")


def _prefer_labels(fields: Sequence[Field], likely: dict[str, str]) -> None:
    """Take the field that names the items by its values as their id, unless a field named like an id repeats, too."""
    ids = [field for field in fields if likely[field.name] == ID]
    name = likely_id(fields, likely)
    is_long = SYSTEM in likely.values()
    if not name or (ids and (not is_long or any(field.repeats for field in ids))):
        return
    likely.update({field.name: IGNORE for field in ids})
    likely[name] = ID


def _likely(field: Field) -> str:
    """Return the meaning by the field's name that its values allow."""
    for name in _names(field.name):
        if is_system_column(name) and field.kind == meanings.TEXT and not field.measures:
            return OUTPUT
        fitting = [key for key, meaning in MEANINGS.items() if field.kind in meaning.kinds and key != IGNORE]
        if field.measures:
            fitting = [key for key in fitting if key in OF_RESPONSE]
        if field.kind == meanings.NOTHING or not fitting:
            return IGNORE
        near = nearest(name, fitting, SYNONYMS)
        if near is not None:
            return near
        series = _series_of(name)
        could_be = field.kind in MEANINGS[REFERENCES].kinds and not field.measures
        if series and could_be and nearest(series, [REFERENCES], SYNONYMS):
            return REFERENCES
    return IGNORE


def _series_of(name: str) -> str:
    """Return what a name has before its number or last letter: ``ref`` for ``ref_2`` and ``ref b``; '' if it has none.

    A regular expression for it takes time with the square of the name's length.
    """
    if name[-1:].isdecimal():
        return name.rstrip("0123456789")
    is_letter = name[-1:].isascii() and name[-1:].isalpha()
    return name[:-1] if is_letter and SEPARATOR.match(name[-2:-1]) else ""


def _names(name: str) -> Iterable[str]:
    """Return the names by which a field can be known: ``answers`` for ``answers.text``, ``en`` for ``names.en``."""
    parts = name.split(BETWEEN)
    if len(parts) == 1:
        return [name]
    return [parts[-2], name] if parts[-1] in TEXT_PARTS else [parts[-1], parts[0]]


def _position(name: str, key: str) -> int:
    """Return how usual a name is for a meaning: 0 for the meaning's own."""
    names = [plain(other) for other in (key, *SYNONYMS[key])]
    written = plain(name)
    return names.index(written) if written in names else len(names)


def is_system_column(name: str) -> bool:
    """Return whether a name is that of a system's column, such as ``system_x`` or ``gpt4-output``."""
    words = [word.casefold() for word in WORDS.findall(name)]
    if len(words) < 2 or plain(name) in {plain(other) for names in SYNONYMS.values() for other in names}:
        return False
    return words[0] in (*OUTPUT_WORDS, *SYSTEM_WORDS) or words[-1] in OUTPUT_WORDS


def system_of(name: str) -> str:
    """Return the name of the system whose outputs a field holds."""
    last = name.split(BETWEEN)[-1]
    words = WORDS.findall(last)
    first, end = words[0].casefold() if words else "", words[-1].casefold() if words else ""
    rest = last
    if len(words) > 1 and first in (*OUTPUT_WORDS, "system", "sys"):
        rest = last.split(words[0], 1)[1]
    elif len(words) > 1 and end in OUTPUT_WORDS:
        rest = last.rsplit(words[-1], 1)[0]
    rest = rest.strip(" _-.:/")
    return rest if len(rest) >= SHORTEST_NAME else last


def _with_system(name: str) -> str:
    return f"{OUTPUT}:{system_of(name)}"


def _settle_id(fields: Sequence[Field], chosen: dict[str, str]) -> None:
    """Take the first field that is left out and named like an id, if none is known as the item's.

    Its values occur once where a row is an item, and repeatedly where a row is one system's response.
    """
    if ID in chosen.values():
        return
    is_long = SYSTEM in chosen.values()
    for field in fields:
        fits = field.kind in MEANINGS[ID].kinds and field.repeats == is_long and not field.measures
        if chosen[field.name] == IGNORE and fits and LIKE_ID.search(field.name):
            chosen[field.name] = ID
            return


def _settle_rows(fields: Sequence[Field], chosen: dict[str, str]) -> None:
    """Decide whether each row is an item, or each row one response of a system or of an item named repeatedly."""
    repeats = any(field.repeats for field in fields if chosen[field.name] == ID)
    is_long = SYSTEM in chosen.values() or repeats
    taken = RESPONSE in chosen.values()
    if is_long and not taken:
        likely = (OUTPUT, ORIGINAL, REFERENCES) if repeats else (OUTPUT, ORIGINAL)
        texts = [field.name for key in likely for field in fields if chosen[field.name] == key]
        for name in texts[:1]:
            chosen[name], taken = RESPONSE, True
    for field in fields:
        key = chosen[field.name]
        if not is_long and key in (SYSTEM, RESPONSE, *OF_RESPONSE):
            is_free = key == RESPONSE and MESSAGE not in chosen.values()
            chosen[field.name] = MESSAGE if is_free else IGNORE
    if is_long and not taken:
        for field in fields:
            if chosen[field.name] == SYSTEM:
                chosen[field.name] = IGNORE


def _words(name: str) -> set[str]:
    return {word.casefold() for word in re.split(r"[\W_]+", name) if word}


def _settle_message(fields: Sequence[Field], chosen: dict[str, str]) -> None:
    """Take a text without a meaning whose name has a word for messages, such as ``reddit_prompt``, if none is known."""
    if {MESSAGE, REPRESENTATION, DIALOGUE} & set(chosen.values()):
        return
    words = {word for word in SYNONYMS[MESSAGE] if "_" not in word} | {MESSAGE}
    for field in fields:
        if (
            chosen[field.name] == IGNORE
            and field.kind == meanings.TEXT
            and field.is_prose
            and words & _words(field.name)
        ):
            chosen[field.name] = MESSAGE
            return


def _settle_outputs(fields: Sequence[Field], chosen: dict[str, str]) -> None:
    """Take several columns of texts without a meaning for systems' outputs, if each row is an item with a message."""
    known = set(chosen.values())
    is_long = {SYSTEM, RESPONSE} & known or any(field.repeats for field in fields if chosen[field.name] == ID)
    if is_long or not known & {MESSAGE, DIALOGUE, CONTEXT, REPRESENTATION}:
        return
    left = [
        field.name
        for field in fields
        if chosen[field.name] == IGNORE
        and field.kind == meanings.TEXT
        and field.is_prose
        and not _words(field.name) & BESIDE_WORDS
    ]
    if len(left) + sum(key == OUTPUT for key in chosen.values()) < 2:
        return
    taken = {system_of(name) for name, key in chosen.items() if key == OUTPUT}
    for name in left:
        if system_of(name) not in taken:
            chosen[name] = OUTPUT
            taken.add(system_of(name))


def _settle_conversation(fields: Sequence[Field], chosen: dict[str, str]) -> None:
    """Let a conversation end with the message only if no other field is the message."""
    has_prompt = MESSAGE in chosen.values() or REPRESENTATION in chosen.values()
    names: Mapping[str, str] = {key: name for name, key in chosen.items() if key in (CONTEXT, DIALOGUE)}
    if has_prompt and DIALOGUE in names:
        chosen[names[DIALOGUE]] = IGNORE if CONTEXT in names else CONTEXT
    elif not has_prompt and CONTEXT in names and DIALOGUE not in names:
        chosen[names[CONTEXT]] = DIALOGUE
    elif CONTEXT in names and DIALOGUE in names:
        chosen[names[CONTEXT]] = IGNORE
