"""A campaign's complete record as one zip, written while it is sent.

Content hash: SHA-256 over the lines ``<SHA-256 of the file>  <name>`` of ``design.json`` and of the JSON Lines files,
ordered by name, each ended by a line feed. The same record has the same content hash, however often and wherever it is
written. Parquet holds the same rows, but its bytes differ between versions of its library.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.conf import settings

from annotation.core import sql
from annotation.core.canonical import canonical_json
from annotation.core.exports import table_chunks
from annotation.core.snapshots import snapshot
from annotation.core.zips import zip_chunks
from annotation.models import Campaign
from annotation.records.selectors.reading import table_rows
from annotation.records.selectors.tables import Table, tables_of
from annotation.records.services.readme import readme

FORMAT = "assay-record/1"
TABLE_FORMATS = ("jsonl", "parquet")
PARQUET_TYPES = {kind: kind for kind in ("text", "whole", "number", "truth", "time")} | {"json": "text"}

Documents = Callable[[Campaign], Mapping[str, str]]


def _design(campaign: Campaign) -> bytes:
    """Return the bytes that the design's hash covers: for imported judgements, JSON with spaces."""
    spaced = json.dumps(campaign.design or {}, sort_keys=True, ensure_ascii=False).encode()
    is_spaced = hashlib.sha256(spaced).hexdigest() == campaign.design_hash
    return spaced if is_spaced else canonical_json(campaign.design or {})


def content_hash(files: Mapping[str, Mapping[str, Any]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(files):
        if name == "design.json" or name.endswith(".jsonl"):
            digest.update(f"{files[name]['sha256']}  {name}\n".encode())
    return digest.hexdigest()


def column_types(table: Table) -> dict[str, str]:
    """Return the Parquet types of the columns that may be empty from top to bottom."""
    return {column.name: PARQUET_TYPES[column.kind] for column in table.columns if column.kind in PARQUET_TYPES}


def single_rows(table: Table, campaign: Campaign, *, json_as_text: bool) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one table, for a download of it alone."""
    with snapshot():
        yield from table_rows(table, campaign, json_as_text=json_as_text)


def single_chunks(table: Table, campaign: Campaign, ending: str) -> Iterator[bytes]:
    """Yield a file of one table; ``ending`` is one of ``annotation.core.exports.CONTENT_TYPES``."""
    columns = [column.name for column in table.columns]
    rows = single_rows(table, campaign, json_as_text=ending == "parquet")
    return table_chunks(ending, columns, rows, types=column_types(table))


def record_chunks(
    campaign: Campaign, *, formats: Sequence[str] = TABLE_FORMATS, documents: Documents | None = None
) -> Iterator[bytes]:
    """Yield the zip in pieces, all as of one moment; memory does not grow with the campaign.

    ``documents`` returns further files by their names, as of the same moment.
    """
    with snapshot():
        campaign = Campaign.objects.select_related("project", "dataset").get(pk=campaign.pk)
        yield from zip_chunks(_members(campaign, formats, documents))


def _members(
    campaign: Campaign, formats: Sequence[str], documents: Documents | None
) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Yield name and pieces of each file; the manifest, which describes the others, is the last."""
    files: dict[str, dict[str, Any]] = {}
    yield "README.md", described(files, "README.md", [readme(formats).encode()])
    yield "design.json", described(files, "design.json", [_design(campaign)])
    for table in tables_of(campaign):
        columns = [column.name for column in table.columns]
        for ending in formats:
            count = _Counted(table_rows(table, campaign, json_as_text=ending == "parquet"))
            name = f"{table.name}.{ending}"
            yield name, described(files, name, table_chunks(ending, columns, count, types=column_types(table)))
            files[name]["rows"] = count.n
    for name, text in (documents(campaign) if documents else {}).items():
        yield name, described(files, name, [text.encode()])
    manifest = json.dumps(_manifest(campaign, files), ensure_ascii=False, indent=2) + "\n"
    yield "manifest.json", [manifest.encode()]


class _Counted:
    """Rows that are counted as they pass."""

    def __init__(self, rows: Iterator[tuple[Any, ...]]) -> None:
        self.rows = rows
        self.n = 0

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for row in self.rows:
            self.n += 1
            yield row


def described(files: dict[str, dict[str, Any]], name: str, chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the same pieces; after the last, ``files`` holds the hash and the size of all."""
    digest, size = hashlib.sha256(), 0
    for chunk in chunks:
        digest.update(chunk)
        size += len(chunk)
        yield chunk
    files[name] = {"sha256": digest.hexdigest(), "bytes": size}


def _manifest(campaign: Campaign, files: dict[str, dict[str, Any]]) -> dict[str, Any]:
    (moment,) = sql.row("SELECT transaction_timestamp()")
    return {
        "format": FORMAT,
        "assay": settings.VERSION,
        "taken_at": _moment(moment),
        "campaign": {
            "name": campaign.name,
            "project": campaign.project.slug,
            "dataset": campaign.dataset.slug,
            "state": campaign.state,
            "imported": campaign.imported,
            "launched_at": _moment(campaign.launched_at),
            "closed_at": _moment(campaign.closed_at),
            "seed": campaign.seed,
            "payment_currency": campaign.payment_currency,
        },
        "design_hash": campaign.design_hash,
        "amendments": list(campaign.amendments.order_by("number").values("number", "kind", "data", "hash")),
        "content_hash": content_hash(files),
        "files": files,
    }


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="microseconds")
