"""One line of a file, read strictly: what JSON does not know, or says twice, is a problem and not a guess."""

import json
import sys
from typing import Any

from annotation.problems import Problems

UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class _RepeatedName(ValueError):
    pass


class _NotJson(ValueError):
    pass


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        raise _RepeatedName(next(name for name in names if names.count(name) > 1))
    return made


def _constant(name: str) -> Any:
    raise _NotJson(name)


EXAMPLE = '{"id": "1", "message": "Hi"}'


def json_object(line: str, number: int, problems: Problems, *, example: str = EXAMPLE) -> dict[str, Any] | None:
    """The object on a line; None where there is none, and then ``problems`` says why."""
    try:
        value = json.loads(line, object_pairs_hook=_object, parse_constant=_constant)
    except _RepeatedName as error:
        problems.add(number, str(error), "the name twice in one object", "each name once")
    except json.JSONDecodeError as error:
        problems.add(number, f"column {error.colno}", f"{error.msg}: {line[error.pos : error.pos + 40]!r}", "JSON")
    except _NotJson as error:
        problems.add(number, "line", str(error), "JSON")
    except ValueError:  # Python reads no whole number of more digits, and says so in its own words
        found = f"a whole number of more than {sys.get_int_max_str_digits():,} digits"
        problems.add(number, "line", found, "a shorter number, or text in quotes")
    except RecursionError:
        problems.add(number, "line", "lists or objects nested too deep to read", "less deep nesting")
    else:
        if isinstance(value, dict):
            return value
        problems.add(number, "line", type(value).__name__, f"an object, such as {example}")
    return None
