"""Requests to the API, checked by serializers: a refusal says what was found and what is accepted."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.fields import empty
from rest_framework.settings import api_settings

AnyField = serializers.Field[Any, Any, Any, Any]
LONGEST_QUOTE = 40  # characters of what was found
MOST_CHOICES = 20
CHARACTERS = {
    "null_characters_not_allowed": "Found a NUL character; accepted: text without one.",
    "surrogate_characters_not_allowed": "Found half of a surrogate pair; accepted: whole characters.",
}


def checked(serializer: serializers.Serializer[Any]) -> dict[str, Any]:
    """Return the serializer's data, checked and converted; refuse it with messages that say what is accepted."""
    if not serializer.is_valid():
        raise ValidationError(_reworded(serializer, serializer.initial_data, serializer.errors))
    values: dict[str, Any] = serializer.validated_data
    return values


def _reworded(field: AnyField | None, found: Any, errors: Any) -> Any:
    """Return the errors of a field and of the fields in it: DRF's own messages are replaced."""
    if isinstance(errors, Mapping):
        return {name: _reworded(*_inside(field, name, found), inner) for name, inner in errors.items()}
    return [error if field is None else _message(field, error, found) for error in errors]


def _inside(field: AnyField | None, name: Any, found: Any) -> tuple[AnyField | None, Any]:
    """Return the field that an error within another is about, None if it has none, and what it was given."""
    if name == api_settings.NON_FIELD_ERRORS_KEY:
        return field, found
    if isinstance(field, serializers.Serializer) and (child := field.fields.get(name)):
        return child, child.get_value(found) if isinstance(found, Mapping) else empty
    if isinstance(field, (serializers.ListField, serializers.ListSerializer)) and isinstance(found, (list, tuple)):
        return field.child, found[int(name)]
    if isinstance(field, serializers.DictField) and isinstance(found, Mapping):
        return field.child, found.get(name, empty)
    return None, empty


def _message(field: AnyField, error: Any, found: Any) -> str:
    """Return one message: a field's or validator's own as it is, DRF's as what was found and what is accepted."""
    code, text = getattr(error, "code", ""), str(error)
    if code in CHARACTERS:
        return CHARACTERS[code]
    usual = field.error_messages.get(code)
    if usual is None or not text.startswith(str(usual).partition("{")[0]):
        return text
    sized = code in ("max_length", "min_length") and not isinstance(field, serializers.FileField)
    return f"Found {_size(found) if sized else _value(field, found)}; accepted: {accepted(field)}."


def _value(field: AnyField, found: Any) -> str:
    """Return what was found, in words or shortened; never a password."""
    match found:
        case _ if found is empty:
            return "nothing"
        case None:
            return "null"
        case _ if field.write_only:
            return "what is hidden here"
        case bool():
            return str(found).lower()
        case str() if len(found) > LONGEST_QUOTE:
            return f"{found[:LONGEST_QUOTE] + '…'!r}"
        case str() | int() | float():
            return repr(found)
        case Mapping():
            return "an object"
        case list() | tuple():
            return "a list" if found else "an empty list"
    return "an empty file" if getattr(found, "size", None) == 0 else "a file"


def _size(found: Any) -> str:
    return f"{len(found):,} {'characters' if isinstance(found, str) else 'entries'}"


# --- What a field accepts ---------------------------------------------------------------------------------------------

KINDS: tuple[tuple[type[AnyField], str], ...] = (
    (serializers.SlugField, "a slug of letters, digits, hyphens and underscores"),
    (serializers.URLField, "an address such as https://example.org/"),
    (serializers.EmailField, "an e-mail address"),
    (serializers.CharField, "text"),
    (serializers.IntegerField, "a whole number"),
    (serializers.FloatField, "a number"),
    (serializers.DecimalField, "a number"),
    (serializers.BooleanField, "true or false"),
    (serializers.DateTimeField, "a date and time such as 2026-05-31T12:00:00Z"),
    (serializers.FileField, "a file that is not empty"),
    (serializers.DictField, "an object"),
    (serializers.JSONField, "JSON"),
)
NEVER_EMPTY = (serializers.SlugField, serializers.URLField, serializers.EmailField)


def accepted(field: AnyField) -> str:
    """Return what a field accepts, in words."""
    if isinstance(field, serializers.ChoiceField):
        names = [str(name) for name in field.choices if name != ""]
        more = f" and {len(names) - MOST_CHOICES} more" if len(names) > MOST_CHOICES else ""
        words = f"one of {', '.join(names[:MOST_CHOICES])}{more}" if len(names) > 1 else names[0]
    elif isinstance(field, serializers.Serializer):
        words = f"an object with {', '.join(name for name, child in field.fields.items() if not child.read_only)}"
    elif isinstance(field, (serializers.ListField, serializers.ListSerializer)):
        words = f"a list{_bounds(field)}{_entries(field)}"
    else:
        kind = next((words for kind, words in KINDS if isinstance(field, kind)), "a value")
        words = f"{kind}{_bounds(field)}"
    return f"{words}, or null" if field.allow_null else words


def _entries(field: Any) -> str:
    """Return what each entry of a list is, if its kind is known."""
    known = isinstance(field.child, (*(kind for kind, _ in KINDS), serializers.ChoiceField, serializers.BaseSerializer))
    return f", each entry {accepted(field.child)}" if known else ""


def _bounds(field: AnyField) -> str:
    """Return the bounds of a number, or of the length of a text or a list."""
    low, high = getattr(field, "min_value", None), getattr(field, "max_value", None)
    if low is not None or high is not None:
        return f" from {low} to {high}" if None not in (low, high) else f" of at {_end(low, high)}"
    unit = "characters" if isinstance(field, serializers.CharField) else "entries"
    low, high = getattr(field, "min_length", None), getattr(field, "max_length", None)
    blank = isinstance(field, NEVER_EMPTY) or getattr(field, "allow_blank", getattr(field, "allow_empty", True))
    if low is None and high is None:
        return "" if blank else " that is not empty"
    low = low if low is not None or blank else 1
    if low == high:
        return f" of {low} {unit}"
    return f" of {low} to {high} {unit}" if None not in (low, high) else f" of at {_end(low, high)} {unit}"


def _end(low: Any, high: Any) -> str:
    return f"most {high}" if low is None else f"least {low}"
