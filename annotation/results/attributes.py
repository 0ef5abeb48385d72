"""What results can be filtered by: attributes of items, one entry each, and what raters answered about themselves."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Func, IntegerField, TextField, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce

ACT = r"^\s*\??([A-Za-z_]\w*)\("  # of a dialogue act, such as inform(name=X)
FACT = r"[^\s=;,(\[|]+\s*[=\[]"  # name=X or name[X]
BANDS = {0: "no message", 1: "1 to 5", 6: "6 to 10", 11: "11 to 20", 21: "21 or more"}  # by their first number of words


def _shown(value: object) -> str:
    return str(value) if value not in (None, "") else "none"


@dataclass(frozen=True)
class Attribute:
    """``value`` is an expression over items; ``kind`` reads a value from an address, ``shown`` writes it on a page."""

    key: str
    label: str
    value: Combinable
    kind: type = str
    shown: Callable[[Any], str] = _shown


def _matches(field: str, pattern: str) -> Func:
    """Return how often a pattern matches a text."""
    return Func(F(field), Value(pattern), function="regexp_count", output_field=IntegerField())


def _band(number: Func) -> Func:
    first, *others = BANDS
    template = f"(ARRAY{[first, *others]})[width_bucket(%(expressions)s, ARRAY{others}) + 1]"
    return Func(number, template=template, output_field=IntegerField())


def _part(field: str, pattern: str) -> Combinable:
    """Return what the pattern's group matches in a text; empty if nothing."""
    numbers = (Value(1), Value(1), Value(""), Value(1))  # from the first character the first match's first group
    found = Func(F(field), Value(pattern), *numbers, function="regexp_substr", output_field=TextField())
    return Coalesce(found, Value(""), output_field=TextField())


ATTRIBUTES = {
    entry.key: entry
    for entry in (
        Attribute("dataset", "Data set", F("dataset__name")),
        Attribute("split", "Split", F("split")),
        Attribute("language", "Language", F("dataset__language")),
        Attribute(
            "turns", "Turns before the message", Coalesce(F("context__len"), Value(0), output_field=IntegerField()), int
        ),
        Attribute(
            "words",
            "Words in the message",
            _band(_matches("message", r"\S+")),
            int,
            lambda words: BANDS.get(words, str(words)),
        ),
        Attribute("act", "Act of the meaning representation", _part("meaning_representation", ACT)),
        Attribute("facts", "Facts in the meaning representation", _matches("meaning_representation", FACT), int),
    )
}
MOST_VALUES = 30  # an attribute with more is no filter
FILTER_REFUSED = "What raters answered about themselves is for managers: results are filtered by it only for them."
RATER = "rater."  # begins the name of a filter by raters' answers; the question's name follows
NONE = "(none)"  # in an address: the items whose attribute is empty


def filters_from(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the filters that an address or a request names, by attribute; unreadable values match no item."""
    filters: dict[str, Any] = {}
    for key, attribute in ATTRIBUTES.items():
        if (text := given.get(key)) not in (None, ""):
            try:
                filters[key] = attribute.kind("" if text == NONE else str(text).replace("\x00", ""))
            except ValueError:
                filters[key] = -1
    for key in given:
        if key.startswith(RATER) and (text := given.get(key)):
            filters[key] = str(text).replace("\x00", "")
    return filters


def rater_answers(filters: Mapping[str, Any]) -> dict[str, str]:
    """Return the answers that raters must have given, by question."""
    return {key.removeprefix(RATER): value for key, value in filters.items() if key.startswith(RATER)}


def in_address(filters: Mapping[str, Any]) -> dict[str, Any]:
    """Return filters as `filters_from` reads them."""
    return {key: NONE if value == "" else value for key, value in filters.items()}
