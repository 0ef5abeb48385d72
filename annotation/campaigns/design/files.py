"""Read the file that a campaign is exported to; every missing, unknown or wrongly typed field is named."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from annotation.campaigns.design.reading import DesignError
from annotation.campaigns.fields.kinds import REQUIRED, Field, Object, Row, Rows, Text, is_text, table_of
from annotation.campaigns.fields.table import CAMPAIGN
from annotation.core.file_limits import COLUMNS, NAME_CHARACTERS, PAGE_MISTAKES
from annotation.core.problems import shown, storable

FILE_VERSION = 1


def _layout() -> dict[str, Any]:
    """Return the fields as the file groups them, such as those of the payment."""
    layout: dict[str, Any] = {}
    for field in CAMPAIGN.values():
        if field.exported:
            *groups, last = field.path
            within = layout
            for group in groups:
                within = within.setdefault(group, {})
            within[last] = field
    return layout | {"rules": Rows(what="rules")}


FIELDS = _layout()


def read_campaign_file(document: object) -> dict[str, Any]:
    """Return every field of ``FIELDS``, or its default. Raise DesignError with every mistake at once.

    >>> scale = {"name": "relevance", "question": "How relevant is it?"}
    >>> read = read_campaign_file({"assay_campaign": 1, "name": "Replies", "target": "outputs",
    ...                            "presentation": "single", "criteria": [scale], "ratings_per_unit": 5})
    >>> read["criteria"][0]["scale_max"], read["comment"]
    (5, 'off')
    >>> read_campaign_file([])
    Traceback (most recent call last):
    annotation.campaigns.design.reading.DesignError: file: Found []; accepted: an object, as a campaign is exported.
    """
    if not isinstance(document, Mapping):
        raise DesignError({"file": f"Found {_short(document)}; accepted: an object, as a campaign is exported."})
    version = document.get("assay_campaign")
    if isinstance(version, bool) or version != FILE_VERSION:
        shown = _short(version) if "assay_campaign" in document else "nothing"
        raise DesignError(
            {"assay_campaign": f"Found {shown}; accepted: {FILE_VERSION}, the version of an exported campaign."}
        )
    problems: dict[str, str] = {}
    rest = {name: value for name, value in document.items() if name != "assay_campaign"}
    read = _fields(rest, FIELDS, "", problems)
    if problems:
        raise DesignError(problems)
    return read


def draft_values(read: Mapping[str, Any], problems: dict[str, list[str]]) -> dict[str, Any]:
    """Return the draft's values in a file, without rows of other tables; add unreadable ones to ``problems``."""
    values = {}
    for name, field in CAMPAIGN.items():
        if field.exported and not field.related:
            value: Any = read
            for part in field.path:
                value = value[part]
            try:
                values[name] = field.imported_value(value)
            except ValueError as error:
                problems[name] = [str(error)]
    return values


def _fields(given: Mapping[str, Any], known: Mapping[str, Any], path: str, problems: dict[str, str]) -> dict[str, Any]:
    unknown = (name for name in given if name not in known)
    for name in islice(unknown, PAGE_MISTAKES):
        problems[_join(path, str(name)[:NAME_CHARACTERS])] = f"An unknown field; accepted: {', '.join(known)}."
    read = {}
    for name, field in known.items():
        field_path = _join(path, name)
        if isinstance(field, dict):
            read[name] = _group(given.get(name, {}), field, field_path, problems)
        elif name in given:
            read[name] = _value(given[name], field, field_path, problems)
        elif field.left_out is REQUIRED:
            problems[field_path] = f"Found nothing; accepted: {field.accepted}."
        else:
            read[name] = field.left_out
    return read


def _group(value: Any, known: Mapping[str, Any], path: str, problems: dict[str, str]) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return _fields(value, known, path, problems)
    problems[path] = f"Found {_short(value)}; accepted: an object with {', '.join(known)}."
    return {}


def _value(value: Any, field: Field, path: str, problems: dict[str, str]) -> Any:
    if not (field.fits(value) or (value is None and field.optional)):
        problems[path] = f"Found {_short(value)}; accepted: {field.accepted}."
    elif isinstance(field, Row) and value is not None:
        return _fields(value, table_of(field.of), path, problems)
    elif isinstance(field, Rows) and len(value or ()) > COLUMNS:
        problems[path] = f"Found {len(value):,} entries; accepted: at most {COLUMNS:,}."
    elif isinstance(field, Rows) and field.of:
        table = table_of(field.of)
        return [_fields(row, table, f"{path}.{number}", problems) for number, row in enumerate(value)]
    elif isinstance(field, Object | Rows):
        for odd_path, text in _odd_texts(value, path):
            problems[odd_path] = f"Found {_short(text)}; accepted: {Text.accepts}."
    return value


def _odd_texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield each text within that cannot be stored, and its path; the names of fields are texts, too."""
    if isinstance(value, str) and not is_text(value):
        yield path, value
    elif isinstance(value, Mapping):
        for name, part in value.items():
            if not is_text(name):
                yield _join(path, name), name
            yield from _odd_texts(part, _join(path, name))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _odd_texts(part, _join(path, str(number)))


def _join(path: str, name: str) -> str:
    return f"{path}.{storable(name)}" if path else storable(name)


def _short(value: object) -> str:
    return shown(value)[:60] if isinstance(value, dict | list) else repr(value)[:60]
