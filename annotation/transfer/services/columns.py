"""The values of columns as JSON, and back: strictly, since an archive may have been changed."""

import base64
import binascii
import json
import math
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from django.db import connection, models

Reader = Callable[[Any], Any]


def written(column: Any, value: Any) -> Any:
    """Return a value of the database as JSON has it: times in ISO 8601 and UTC, amounts as text, bytes in base 64."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, bytes | memoryview):
        return base64.b64encode(bytes(value)).decode()
    return value


def reader_of(column: Any) -> Reader:
    """Return a function that reads a value of this column. It raises ValueError with what is accepted."""
    if column.is_relation:
        read: Reader = _whole(1, 2**63 - 1)
    elif isinstance(column, models.JSONField):
        read = _json
    elif hasattr(column, "base_field"):
        read = _list_of(reader_of(column.base_field))
    else:
        read = next(make(column) for kind, make in KINDS if isinstance(column, kind))

    def read_or_none(value: Any) -> Any:
        if value is None and column.null:
            return None
        return read(value)

    return read_or_none


def stored(column: Any, value: Any) -> Any:
    """Return a value as COPY takes it."""
    return json.dumps(value) if isinstance(column, models.JSONField) and value is not None else value


def _text(column: Any) -> Reader:
    choices = {key for key, _ in column.flatchoices} if column.choices else set()

    def read(value: Any) -> str:
        if not isinstance(value, str) or "\x00" in value:
            raise ValueError("a text without NUL characters")
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise ValueError("whole Unicode characters") from error
        if column.max_length is not None and len(value) > column.max_length:
            raise ValueError(f"at most {column.max_length} characters")
        if choices and value not in choices and not (value == "" and column.blank):
            raise ValueError(f"one of {', '.join(sorted(choices))}")
        return value

    return read


def _whole(low: int, high: int) -> Reader:
    def read(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise ValueError(f"a whole number from {low} to {high}")
        return value

    return read


def _integer(column: Any) -> Reader:
    low, high = connection.ops.integer_field_range(column.get_internal_type())
    return _whole(low, high)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("a finite number")
    return float(value)


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _moment(value: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise ValueError("a time in ISO 8601") from error
    if moment.tzinfo is None:
        raise ValueError("a time with its offset from UTC")
    return moment.astimezone(UTC)


def _amount(column: Any) -> Reader:
    most = Decimal(10) ** (column.max_digits - column.decimal_places)

    def read(value: Any) -> Decimal:
        try:
            amount = Decimal(value) if isinstance(value, str) else Decimal("NaN")
        except InvalidOperation:
            amount = Decimal("NaN")
        if not amount.is_finite() or not -most < amount < most:
            raise ValueError(f"an amount below {most} as a text")
        return amount

    return read


def _bytes(value: Any) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (TypeError, ValueError, binascii.Error) as error:
        raise ValueError("bytes in base 64") from error


def _json(value: Any) -> Any:
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError("whole Unicode characters") from error
    if "\\u0000" in text:
        raise ValueError("texts without NUL characters")
    return value


def _list_of(read: Reader) -> Reader:
    def read_list(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise ValueError("a list")
        return [read(each) for each in value]

    return read_list


# The first that a column is an instance of.
KINDS: tuple[tuple[type[Any], Callable[[Any], Reader]], ...] = (
    (models.BooleanField, lambda column: _truth),
    (models.IntegerField, _integer),
    (models.FloatField, lambda column: _number),
    (models.DecimalField, _amount),
    (models.DateTimeField, lambda column: _moment),
    (models.BinaryField, lambda column: _bytes),
    (models.CharField, _text),
    (models.TextField, _text),
)
