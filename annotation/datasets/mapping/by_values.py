"""Propose meanings of fields whose names say nothing, if each row of the file is one response."""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from annotation.datasets.mapping.meanings import ID, IGNORE, MESSAGE, OUTPUT, OUTPUTS, RESPONSE, SYSTEM
from annotation.datasets.mapping.proposing import LABEL, measures
from annotation.datasets.mapping.rules import PROMPTS, parts_of
from annotation.datasets.mapping.values import value_at

SHORTEST_RESPONSE = 12  # characters, on average
OF_SYSTEMS = {OUTPUT, OUTPUTS, RESPONSE, SYSTEM}


def filled(mapping: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the mapping with a message, a system and a response for fields that were left out, if values show them.

    The message is the text that each item has once; the system a label that no item has twice; the response the longest
    other text. Nothing is proposed if items do not repeat, or without a response.
    """
    proposed = dict(mapping)
    keys = {parts_of(meaning)[0] for meaning in mapping.values()}
    ids = _texts(rows, next((name for name, key in mapping.items() if key == ID), ""))
    if not ids or len(set(ids)) == len(ids) or keys & OF_SYSTEMS:
        return proposed
    free = {name: texts for name, key in mapping.items() if key == IGNORE and (texts := _texts(rows, name))}
    prompts = {name for name in free if _is_text(free[name]) and _follows(free[name], ids)}
    responses = {name for name in free if _is_text(free[name]) and name not in prompts}
    responses = {name for name in responses if mean(map(len, free[name])) >= SHORTEST_RESPONSE}
    if not responses:
        return proposed
    proposed[_longest(responses, free)] = RESPONSE
    if prompts and not keys & PROMPTS:
        proposed[_longest(prompts, free)] = MESSAGE
    labels = [name for name, texts in free.items() if not _is_text(texts) and _names_systems(texts, ids)]
    if labels:
        proposed[min(labels, key=lambda name: len(set(free[name])))] = SYSTEM
    return proposed


def _texts(rows: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    """Return a field's values; none if one is missing or no text or number."""
    values = [value_at(row, name) for row in rows]
    return (
        [] if any(value in ("", None) or not isinstance(value, str | int) for value in values) else [*map(str, values)]
    )


def _is_text(values: Sequence[str]) -> bool:
    return not all(map(LABEL.fullmatch, values))


def _follows(values: Sequence[str], ids: Sequence[str]) -> bool:
    """Return whether each item has one value, and not all the same."""
    return len(set(zip(ids, values, strict=True))) == len(set(ids)) and len(set(values)) > 1


def _names_systems(values: Sequence[str], ids: Sequence[str]) -> bool:
    pairs = set(zip(ids, values, strict=True))
    is_name = not measures(values) and not all(value.isdecimal() for value in values)
    return is_name and len(pairs) == len(ids) and 1 < len(set(values)) <= len(values) / 2


def _longest(names: set[str], texts: Mapping[str, Sequence[str]]) -> str:
    return max(sorted(names), key=lambda name: mean(map(len, texts[name])))
