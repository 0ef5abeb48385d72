"""One table of a record, for a download of its own."""

from collections.abc import Iterator
from typing import Any

from annotation.core.exports import table_chunks
from annotation.core.snapshots import snapshot
from annotation.models import Campaign
from annotation.records.selectors.reading import table_rows
from annotation.records.selectors.tables import Table
from annotation.records.services.archive import column_types


def single_rows(table: Table, campaign: Campaign, *, json_as_text: bool) -> Iterator[tuple[Any, ...]]:
    with snapshot():
        yield from table_rows(table, campaign, json_as_text=json_as_text)


def single_chunks(table: Table, campaign: Campaign, ending: str) -> Iterator[bytes]:
    """Yield the file; ``ending`` is one of ``annotation.core.exports.CONTENT_TYPES``."""
    columns = [column.name for column in table.columns]
    rows = single_rows(table, campaign, json_as_text=ending == "parquet")
    return table_chunks(ending, columns, rows, types=column_types(table))
