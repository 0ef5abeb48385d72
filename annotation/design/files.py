"""The file that a campaign is exported to, read back: every field that is missing, unknown or of the wrong type, named.

Whether its values make a campaign, and fit a data set, is for others to say.
"""

from collections.abc import Iterator, Mapping
from typing import Any

FILE_VERSION = 1

# What each field holds, and what it is where a file leaves it out; REQUIRED has no such value.
REQUIRED: Any = object()
FIELDS: dict[str, tuple[str, Any]] = {
    "name": ("text", REQUIRED),
    "dataset": ("object", {}),
    "target": ("text", REQUIRED),
    "systems": ("texts", []),
    "response_list": ("response list or null", None),
    "reference_kinds": ("texts", []),
    "pairs": ("pairs", []),
    "split": ("text", ""),
    "item_limit": ("whole or null", None),
    "presentation": ("text", REQUIRED),
    "criteria": ("criteria", REQUIRED),
    "comment": ("text", "off"),
    "cannot_judge_reasons": ("texts", []),
    "instructions": ("text", ""),
    "consent": ("text", ""),
    "rater_language": ("text", ""),
    "ratings_per_unit": ("whole", REQUIRED),
    "min_units_per_rater": ("whole", 0),
    "max_units_per_rater": ("whole or null", None),
    "seconds_between_units": ("whole", 0),
    "break_every_units": ("whole", 0),
    "lease_seconds": ("whole", 600),
    "lease_min_seconds": ("whole or null", None),
    "lease_max_seconds": ("whole or null", None),
    "admission": ("text", "open"),
    "payment": ("payment", {}),
    "qualification": ("object", {}),
    "quality": ("object", {}),
    "seed": ("whole", 20150726),
    "rules": ("rules", []),
}
PAYMENT: dict[str, tuple[str, Any]] = {
    "per_unit": ("text", "0"),
    "currency": ("text", "GBP"),
    "fee_percent": ("text", "0"),
}
RESPONSE_LIST: dict[str, tuple[str, Any]] = {
    "name": ("text", REQUIRED),
    "origin": ("object", {}),
    "responses": ("keys", REQUIRED),
}
CRITERION: dict[str, tuple[str, Any]] = {
    "name": ("text", REQUIRED),
    "question": ("text", REQUIRED),
    "kind": ("text", "likert"),
    "scale_min": ("whole", 1),
    "scale_max": ("whole", 5),
    "step": ("number", 1.0),
    "labels": ("texts", []),
    "ties": ("yes or no", False),
    "standard_source": ("text", ""),
    "standard_value": ("number or null", None),
}
TEXT = "text without NUL characters and halves of surrogate pairs"
ACCEPTED = {
    "text": TEXT,
    "texts": "a list of texts",
    "whole": "a whole number",
    "whole or null": "a whole number or null",
    "number": "a number",
    "number or null": "a number or null",
    "yes or no": "true or false",
    "object": "an object",
    "pairs": "a list of pairs of system names",
    "keys": "a list of pairs: an item's external id and the key of a text",
    "rules": "a list of rules",
}


class FileProblems(ValueError):
    """``problems`` maps the path of each field to what is wrong with it."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__(" ".join(f"{path}: {problem}" for path, problem in problems.items()))
        self.problems = dict(problems)


def read_campaign_file(document: object) -> dict[str, Any]:
    """Every field of ``FIELDS``, as the file has it or as it is left out.

    Raises
    ------
    FileProblems
        With every mistake at once.

    Examples
    --------
    >>> scale = {"name": "relevance", "question": "How relevant is it?"}
    >>> read = read_campaign_file({"assay_campaign": 1, "name": "Replies", "target": "outputs",
    ...                            "presentation": "single", "criteria": [scale], "ratings_per_unit": 5})
    >>> read["criteria"][0]["scale_max"], read["comment"]
    (5, 'off')
    >>> read_campaign_file([])
    Traceback (most recent call last):
    annotation.design.files.FileProblems: file: Found []; accepted: an object, as a campaign is exported.
    """
    if not isinstance(document, Mapping):
        raise FileProblems({"file": f"Found {_short(document)}; accepted: an object, as a campaign is exported."})
    version = document.get("assay_campaign")
    if isinstance(version, bool) or version != FILE_VERSION:
        found = _short(version) if "assay_campaign" in document else "nothing"
        raise FileProblems(
            {"assay_campaign": f"Found {found}; accepted: {FILE_VERSION}, the version of an exported campaign."}
        )
    problems: dict[str, str] = {}
    rest = {name: value for name, value in document.items() if name != "assay_campaign"}
    read = _fields(rest, FIELDS, "", problems)
    if problems:
        raise FileProblems(problems)
    return read


def _fields(
    found: Mapping[str, Any], known: Mapping[str, tuple[str, Any]], path: str, problems: dict[str, str]
) -> dict[str, Any]:
    for name in found:
        if name not in known:
            problems[_join(path, str(name))] = f"An unknown field; accepted: {', '.join(known)}."
    read = {}
    for name, (kind, default) in known.items():
        place = _join(path, name)
        if name in found:
            read[name] = _value(found[name], kind, place, problems)
        elif default is REQUIRED:
            problems[place] = f"Found nothing; accepted: {ACCEPTED.get(kind, 'a list of criteria')}."
        else:
            read[name] = _value(default, kind, place, problems)
    return read


def _value(value: Any, kind: str, path: str, problems: dict[str, str]) -> Any:
    if kind == "criteria":
        return _criteria(value, path, problems)
    if kind == "payment":
        if isinstance(value, Mapping):
            return _fields(value, PAYMENT, path, problems)
        problems[path] = f"Found {_short(value)}; accepted: an object with {', '.join(PAYMENT)}."
        return {}
    if kind == "response list or null" and value is not None:
        if isinstance(value, Mapping):
            return _fields(value, RESPONSE_LIST, path, problems)
        problems[path] = f"Found {_short(value)}; accepted: null, or an object with {', '.join(RESPONSE_LIST)}."
        return None
    if not _fits(value, kind):
        problems[path] = f"Found {_short(value)}; accepted: {ACCEPTED[kind]}."
    if kind in ("object", "rules"):
        problems |= {place: f"Found {_short(text)}; accepted: {TEXT}." for place, text in _odd_texts(value, path)}
    return value


def _criteria(value: Any, path: str, problems: dict[str, str]) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        problems[path] = f"Found {_short(value)}; accepted: a list of criteria."
        return []
    return [_fields(one, CRITERION, f"{path}.{place}", problems) for place, one in enumerate(value)]


def _fits(value: Any, kind: str) -> bool:
    if value is None:
        return kind.endswith("or null")
    if isinstance(value, bool):
        return kind == "yes or no"
    texts = isinstance(value, list) and all(_is_text(one) for one in value)
    pairs = isinstance(value, list) and all(
        isinstance(pair, list) and len(pair) == 2 and all(map(_is_text, pair)) for pair in value
    )
    fits = {
        "text": _is_text(value),
        "texts": texts,
        "whole": isinstance(value, int) and abs(value) < 2**63,
        "number": isinstance(value, int | float) and abs(value) < 1e12,
        "object": isinstance(value, Mapping),
        "pairs": pairs,
        "keys": pairs,
        "rules": isinstance(value, list) and all(isinstance(one, Mapping) for one in value),
    }
    return fits.get(kind.removesuffix(" or null"), False)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and _escaped(value) == value


def _odd_texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Where a text within is one that cannot be kept, be it the name of a field, and that text."""
    if isinstance(value, str) and not _is_text(value):
        yield path, value
    elif isinstance(value, Mapping):
        for name, part in value.items():
            if not _is_text(name):
                yield _join(path, name), name
            yield from _odd_texts(part, _join(path, name))
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield from _odd_texts(part, _join(path, str(place)))


def _join(path: str, name: str) -> str:
    return f"{path}.{_escaped(name)}" if path else _escaped(name)


def _escaped(text: str) -> str:
    """Without NUL characters and halves of surrogate pairs, which neither a database nor UTF-8 can hold."""
    return text.replace("\x00", "\\x00").encode(errors="backslashreplace").decode()


def _short(value: object) -> str:
    return repr(value)[:60]
