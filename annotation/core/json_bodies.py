"""JSON that a request brings: read strictly, so that every value in it can be stored."""

import json
import re
from collections.abc import Mapping
from math import isfinite
from typing import Any

from django.conf import settings
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from annotation.core.errors import AnnotationError

DEEPEST = 64  # lists and objects within each other; no request needs ten
TOO_DEEP = f"Lists and objects are nested too deeply; accepted: {DEEPEST} levels."
LARGEST_NUMBER = 2**63
TOO_LARGE = "Found a whole number that is too large; accepted: 64 bits."
MOST_DIGITS = 4000
SURROGATE = re.compile("[\ud800-\udfff]")


def json_read(text: str) -> Any:
    """Return the value of a JSON text; raise ``ValueError``, in words, for one that cannot be stored."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant, parse_int=_whole_number)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    _check(value)
    return value


def _whole_number(digits: str) -> int:
    if len(digits) > MOST_DIGITS:  # Python refuses to read more of them
        raise ValueError(TOO_LARGE)
    return int(digits)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"Found {name}; accepted: a number, or null.")


def _check(value: Any) -> None:
    level = [("", value)]
    for _ in range(DEEPEST + 1):
        inner: list[tuple[str, Any]] = []
        for path, each in level:
            if isinstance(each, Mapping):
                for key, held in each.items():
                    _check_scalar(path, key)
                    inner.append((f"{path}.{key}" if path else key, held))
            elif isinstance(each, list):
                inner += ((f"{path}.{index}", held) for index, held in enumerate(each))
            else:
                _check_scalar(path, each)
        if not inner:
            return
        level = inner
    raise ValueError(TOO_DEEP)


def _check_scalar(path: str, value: Any) -> None:
    problem = _problem(value)
    if problem:
        raise UnstorableValue(path, problem)


def _problem(value: Any) -> str:
    if isinstance(value, str):
        if "\0" in value:
            return "Found a NUL character; accepted: text without."
        if not value.isascii() and SURROGATE.search(value):
            return "Found half a surrogate pair; accepted: whole characters."
    elif isinstance(value, int):
        if not -LARGEST_NUMBER <= value < LARGEST_NUMBER:
            return TOO_LARGE
    elif isinstance(value, float) and not isfinite(value):
        return "Found a number that is too large; accepted: below 1.8e308."
    return ""


class UnstorableValue(ValueError):
    """A value that cannot be stored, at a path such as ``specification.release``."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(problem)
        self.path = path


class StrictJSONParser(JSONParser):
    """The parser of all endpoints."""

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        try:
            return json_read(stream.read().decode(settings.DEFAULT_CHARSET))
        except ValueError as error:
            if isinstance(error, UnstorableValue) and error.path:
                raise AnnotationError.at(error.path, str(error)) from error
            raise ParseError(f"The JSON cannot be accepted: {error}") from error
