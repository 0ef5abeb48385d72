"""Which mappings of fields to meanings can be imported."""

from collections import defaultdict
from collections.abc import Mapping

from annotation.core.file_limits import NAME_CHARACTERS
from annotation.core.near_names import did_you_mean
from annotation.core.problems import shortened, storable
from annotation.datasets.mapping.meanings import (
    CONTEXT,
    DIALOGUE,
    ID,
    IGNORE,
    MEANINGS,
    MESSAGE,
    OF_RESPONSE,
    OTHERS,
    OUTPUT,
    REPRESENTATION,
    RESPONSE,
    SYNONYMS,
    SYSTEM,
)
from annotation.datasets.mapping.proposing import system_of

PROMPTS = {MESSAGE, REPRESENTATION, CONTEXT, DIALOGUE}  # rows with equal ones are one item if no field is its id
MOST_FIELDS = 200  # a person looks at each
SYSTEM_CHARACTERS = 120
NAMED = 20
SHOWN_CHARACTERS = 40


def parts_of(meaning: str) -> tuple[str, str]:
    """Return the key of a meaning and the system that it names: ``output:GPT`` is the output of GPT."""
    key, _, system = meaning.partition(":")
    return key.strip(), system.strip()


def is_by_rows(mapping: Mapping[str, str]) -> bool:
    """Return whether each row is one response, so that an item's responses may lie far apart."""
    return RESPONSE in {parts_of(meaning)[0] for meaning in mapping.values()}


def numbers_by_texts(mapping: Mapping[str, str]) -> bool:
    """Return whether rows are responses without an id, so that those with equal texts are one item."""
    keys = {parts_of(meaning)[0] for meaning in mapping.values()}
    return RESPONSE in keys and ID not in keys


def checked_mapping(mapping: Mapping[str, str], likely_id: str = "") -> dict[str, str]:
    """Return the mapping with every output naming its system; ``likely_id`` is a field that a refusal can name.

    Raises
    ------
    ValueError
        What cannot be imported: an unknown meaning, one meaning of two fields, one that needs another.
    """
    if len(mapping) > MOST_FIELDS:
        raise ValueError(f"Found {len(mapping):,} fields; accepted: up to {MOST_FIELDS}.")
    checked: dict[str, str] = {}
    fields = defaultdict[str, list[str]](list)
    systems: dict[str, str] = {}
    for name, meaning in mapping.items():
        key, system = parts_of(meaning)
        if key not in MEANINGS or (system and key != OUTPUT):
            hint = did_you_mean(key, MEANINGS, SYNONYMS)
            found = shortened(meaning, SHOWN_CHARACTERS)
            raise ValueError(f"{name}: found {found!r}; accepted: one of {', '.join(MEANINGS)}{hint}.")
        if len(name) > NAME_CHARACTERS or storable(name) != name:
            found, accepted = (
                shortened(name, SHOWN_CHARACTERS),
                f"up to {NAME_CHARACTERS:,} characters that can be stored",
            )
            raise ValueError(f"Name of a field: found {found!r}; accepted: {accepted}.")
        if name == OTHERS and key != IGNORE:
            raise ValueError(f"{OTHERS} (all other fields): found {meaning!r}; accepted: {IGNORE}.")
        if key == OUTPUT:
            system = system or system_of(name)
            _check_system(name, system, systems)
        fields[key].append(name)
        checked[name] = f"{key}:{system}" if key == OUTPUT else key
    for key, names in fields.items():
        if len(names) > 1 and not MEANINGS[key].many:
            accepted = f"one field with the meaning {key}"
            raise ValueError(f"{MEANINGS[key].label}: found {', '.join(names[:NAMED])}; accepted: {accepted}.")
    _check_together(fields, likely_id)
    return checked


def _check_system(name: str, system: str, systems: dict[str, str]) -> None:
    if len(system) > SYSTEM_CHARACTERS:
        raise ValueError(f"{name}: found a system of {len(system)} characters; accepted: up to {SYSTEM_CHARACTERS}.")
    if system in systems:
        accepted = "another name of the system for each field"
        raise ValueError(f"{name}: found {system!r}, as for {systems[system]}; accepted: {accepted}.")
    systems[system] = name


def _check_together(fields: Mapping[str, list[str]], likely_id: str) -> None:
    used = {key for key in fields if fields[key]}
    if not used - {IGNORE, ID, SYSTEM, "split"}:
        raise ValueError("Nothing would be imported: no field is a message, a reference or an output.")
    for key in (SYSTEM, *OF_RESPONSE):
        if key in used and RESPONSE not in used:
            raise ValueError(
                f"{MEANINGS[key].label} ({fields[key][0]}) needs a field that is the response of the row ({RESPONSE})."
            )
    if RESPONSE in used and ID not in used:
        hint = f"Is “{likely_id}” the id?" if likely_id else "Which field is the same in all rows of an item?"
        if likely_id or not used & PROMPTS:
            without = (
                ""
                if likely_id
                else " Without an id, a field is needed by which rows of one item are known: its message."
            )
            raise ValueError(f"No field is the id of the item. {hint}{without}")
    if DIALOGUE in used and used & {CONTEXT, MESSAGE}:
        other = fields[CONTEXT] or fields[MESSAGE]
        raise ValueError(
            f"Found {fields[DIALOGUE][0]} as the whole conversation and {other[0]} as a part; accepted: one of the two."
        )
