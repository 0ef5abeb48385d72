"""What results can be filtered by: attributes of items, one entry each, and what raters answered about themselves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import F, IntegerField, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce


@dataclass(frozen=True)
class Attribute:
    """``value`` is an expression over items; ``kind`` reads a value from an address."""

    key: str
    label: str
    value: Combinable
    kind: type = str


ATTRIBUTES = {
    entry.key: entry
    for entry in (
        Attribute("split", "Split", F("split")),
        Attribute("language", "Language", F("dataset__language")),
        Attribute(
            "turns", "Turns before the message", Coalesce(F("context__len"), Value(0), output_field=IntegerField()), int
        ),
    )
}
MOST_VALUES = 30  # an attribute with more is no filter
FILTER_REFUSED = "What raters answered about themselves is for managers: results are filtered by it only for them."
RATER = "rater."  # begins the name of a filter by raters' answers; the question's name follows


def filters_from(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the filters that an address or a request names, by attribute; unreadable values match no item."""
    filters: dict[str, Any] = {}
    for key, attribute in ATTRIBUTES.items():
        if (text := given.get(key)) not in (None, ""):
            try:
                filters[key] = attribute.kind(str(text).replace("\x00", ""))
            except ValueError:
                filters[key] = -1
    for key in given:
        if key.startswith(RATER) and (text := given.get(key)):
            filters[key] = str(text).replace("\x00", "")
    return filters


def rater_answers(filters: Mapping[str, Any]) -> dict[str, str]:
    """Return the answers that raters must have given, by question."""
    return {key.removeprefix(RATER): value for key, value in filters.items() if key.startswith(RATER)}
