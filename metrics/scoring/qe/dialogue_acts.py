"""Dialogue acts as triplets, and texts without the values of slots.

References
----------
Dušek, Novikova and Rieser: Referenceless quality estimation for natural language generation. LGNL 2017, section 3.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from metrics.scoring.texts import tokenize_texts

DEFAULT_ACT = "inform"  # of a list of slots without an act, as in the E2E data
NULL = "<none>"
PLACEHOLDER = "X-"

# Values that say something about a slot, not what fills it: they stay in the source and in the output.
KEPT_VALUES = frozenset(
    {"yes", "no", "yes or no", "true", "false", "none", "dont_care", "dontcare", "don't care", "unknown", "?", ""}
)

_ACT = re.compile(r"\s*(\??[\w+*/-]+)\s*\(\s*(.*?)\s*\)\s*(?:[&,;]|$)", re.DOTALL)
_SLOT = re.compile(
    r"""\s*([\w.+*/-]+)\s*
    (?:=\s*(?:'((?:[^'\\]|\\.|'(?!\s*(?:[,;)]|$)))*)'|"([^"]*)"|([^,;='"][^,;=]*?|))|\[([^\]]*)\])?
    \s*(?:[,;]|$)""",
    re.VERBOSE,
)
_ALTERNATIVES = re.compile(r"\s+or\s+")


@dataclass(frozen=True)
class Slot:
    """A slot of a dialogue act; ``value`` is None if it has none, as in ``request(area)``."""

    act: str
    name: str | None
    value: str | None

    @property
    def is_delexicalised(self) -> bool:
        """Return whether a placeholder stands for the value."""
        return self.name is not None and self.value is not None and self.value.lower() not in KEPT_VALUES

    @property
    def placeholder(self) -> str:
        return f"{PLACEHOLDER}{self.name}"


def parsed(source: str) -> tuple[Slot, ...]:
    """Read dialogue acts, ``act(slot=value,...)`` or the E2E data's ``slot[value], ...``; an act without slots is one.

    Raises
    ------
    ValueError
        It is neither.

    Examples
    --------
    >>> [(each.act, each.name, each.value) for each in parsed("inform(name='la ciccia',food=Thai)&request(area)")]
    [('inform', 'name', 'la ciccia'), ('inform', 'food', 'Thai'), ('request', 'area', None)]
    """
    acts, at = [], 0
    while match := _ACT.match(source, at):
        acts.append((match[1], match[2]))
        at = match.end()
    if source[at:].strip() or not acts:
        if acts or "[" not in source:
            raise ValueError(f"source: found {source!r}; accepted: a dialogue act such as inform(name='X',food=Thai)")
        acts = [(DEFAULT_ACT, source)]
    return tuple(slot for act, inside in acts for slot in _slots(act, inside, source))


def _slots(act: str, inside: str, source: str) -> list[Slot]:
    if not inside.strip():
        return [Slot(act, None, None)]
    slots, at = [], 0
    while at < len(inside):
        match = _SLOT.match(inside, at)
        if match is None:
            raise ValueError(f"source: found {inside[at:]!r} in {source!r}; accepted: slot=value, separated by commas")
        value = next((each for each in match.groups()[1:] if each is not None), None)
        slots.append(Slot(act, match[1], None if value is None else " ".join(value.split())))
        at = match.end()
    return slots


def triplets(slots: Iterable[Slot], *, delexicalise: bool = True) -> list[str]:
    """Return the tokens of an encoder: act, slot and value of each slot; what is missing is ``<none>``.

    Examples
    --------
    >>> triplets(parsed("inform(name='la ciccia',kids_allowed=no)"))
    ['inform', 'name', 'X-name', 'inform', 'kids_allowed', 'no']
    """
    tokens = []
    for slot in slots:
        value = NULL if slot.value is None else slot.value.lower()
        if delexicalise and slot.is_delexicalised:
            value = slot.placeholder
        tokens += [slot.act, slot.name or NULL, value]
    return tokens


def delexicalised(tokens: Sequence[str], slots: Sequence[Slot]) -> list[str]:
    """Replace values of slots in an output by placeholders; a value that the source does not have stays.

    Longer values come first. Words match with or without spaces (``city centre`` for ``citycentre``). Of slots with the
    same value, each takes one occurrence, in the order of the source; the last takes the rest.

    Examples
    --------
    >>> " ".join(delexicalised("x is near x .".split(), parsed("inform(name='X',near='X',food=Thai)")))
    'X-name is near X-near .'
    """
    waiting: dict[str, list[str]] = {}
    for slot in slots:
        if slot.is_delexicalised and slot.value is not None:
            for form in dict.fromkeys(_forms(slot.value)):
                waiting.setdefault(form, []).append(slot.placeholder)
    words: list[str] = list(tokens)
    for form in sorted(waiting, key=lambda each: (-len(each), each)):
        words = _replaced(words, form, waiting[form])
    return words


def _forms(value: str) -> list[str]:
    """Return how a value may be written in an output, spaces removed: whole, or as one of its alternatives."""
    texts = [value, *_ALTERNATIVES.split(value)]
    forms = ("".join(words) for words in tokenize_texts(texts, tokenize="13a", lowercase=True))
    return [form for form in forms if form]


def _replaced(words: Sequence[str], form: str, placeholders: Sequence[str]) -> list[str]:
    replaced: list[str] = []
    at = taken = 0
    while at < len(words):
        end = _end_of_match(words, at, form)
        if end is None:
            replaced.append(words[at])
            at += 1
            continue
        replaced.append(placeholders[min(taken, len(placeholders) - 1)])
        taken += 1
        at = end
    return replaced


def _end_of_match(words: Sequence[str], start: int, form: str) -> int | None:
    """Return where the words from ``start`` that spell ``form`` end; None if they do not spell it."""
    length = 0
    for at in range(start, len(words)):
        word = words[at]
        if not form.startswith(word, length):
            return None
        length += len(word)
        if length == len(form):
            return at + 1
    return None
