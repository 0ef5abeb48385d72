"""The columns of a table of scores: which is that of systems, which that of items, and which hold numbers."""

import re
from collections.abc import Iterator, Mapping, Sequence

from annotation.core.near_names import nearest

AnyRows = Iterator[tuple[int, Mapping[str, object]]]
MISSING = ("", "none", "null", "nan", "na")  # whatever their case
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
OTHER_NAMES = {
    "system": ("systemname", "systemid", "model", "modelname", "sys"),
    "item": ("itemid", "id", "segment", "segmentid", "example", "exampleid", "instance"),
    "score": ("value", "metricscore", "segscore"),
}


def with_own_names(
    header: list[str], rows: AnyRows, systems: Sequence[str], items: Sequence[str]
) -> tuple[list[str], AnyRows, dict[str, str]]:
    """Name the columns of systems and items by what stands in them if a file calls them otherwise; return these, too.

    A column of numbers is that of the items only if its name says so: ratings from 1 to 5 may all be names of items.
    """
    if {"system", "item"} <= set(header):
        return header, rows, {}
    table, read_as = list(rows), dict[str, str]()
    is_wide = bool(set(header) & set(systems))
    if "system" not in header and not is_wide:
        fitting = [name for name in header if name != "item" and _names_known(table, name, systems)]
        if chosen := _by_name(fitting, "system"):
            read_as[chosen] = "system"
    if "item" not in header and (is_wide or "system" in (*header, *read_as.values())):
        free = [name for name in header if name not in read_as and _names_known(table, name, items)]
        fitting = [
            name for name in free if nearest(name, ["item"], OTHER_NAMES) or not holds_numbers(_cells(table, name))
        ]
        if chosen := _by_name(fitting, "item"):
            read_as[chosen] = "item"
    if not read_as:
        return header, iter(table), {}
    renamed = ((line, {read_as.get(name, name): cell for name, cell in cells.items()}) for line, cells in table)
    return [read_as.get(name, name) for name in header], renamed, read_as


def _cells(table: Sequence[tuple[int, Mapping[str, object]]], name: str) -> list[object]:
    return [cells.get(name) for _, cells in table]


def _names_known(table: Sequence[tuple[int, Mapping[str, object]]], name: str, known: Sequence[str]) -> bool:
    """Return whether most cells of a column are known names."""
    names, cells = set(known), _cells(table, name)
    return 2 * sum(name_of(cell) in names for cell in cells) > len(cells)


def _by_name(fitting: Sequence[str], role: str) -> str:
    """Return the only fitting column, or the only one that is named like the role; empty if that does not decide."""
    named = [name for name in fitting if nearest(name, [role], OTHER_NAMES)] if len(fitting) > 1 else fitting
    return named[0] if len(named) == 1 else ""


def holds_numbers(cells: Sequence[object]) -> bool:
    """Return whether most of the cells that are not missing are numbers."""
    given = [cell for cell in cells if cell is not None and str(cell).strip().lower() not in MISSING]
    numbers = sum(
        isinstance(cell, int | float) or (isinstance(cell, str) and NUMBER.fullmatch(cell.strip()) is not None)
        for cell in given
        if not isinstance(cell, bool)
    )
    return numbers > len(given) / 2


def name_of(value: object) -> str:
    """Return a name as it stands in a cell; a whole number of JSON as its digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() if isinstance(value, str) else repr(value)
