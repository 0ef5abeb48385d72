"""A campaign's complete record as one zip, written while it is sent.

Content hash: SHA-256 over the lines ``<SHA-256 of the file>  <name>`` of ``design.json`` and of the JSON Lines files,
ordered by name, each ended by a line feed. The same record has the same content hash, however often and wherever it is
written. Parquet holds the same rows, but its bytes differ between versions of its library.
"""

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.db import connection

from annotation.canonical import canonical_json
from annotation.exports import table_chunks
from annotation.models import Campaign
from annotation.selectors.records.reading import snapshot, table_rows
from annotation.selectors.records.tables import ALL, Table
from annotation.services.records.readme import readme

FORMAT = "assay-record/1"
TABLE_FORMATS = ("jsonl", "parquet")
PARQUET_TYPES = {"text": "text", "json": "text", "whole": "whole", "number": "number", "truth": "truth", "time": "time"}
STAMP = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can say: the moment stands in the manifest

Documents = Callable[[Campaign], Mapping[str, str]]


class _Outbox:
    """What zipfile writes to; whoever sends takes what has gathered. It cannot seek, so sizes follow the data."""

    def __init__(self) -> None:
        self.waiting: list[bytes] = []

    def write(self, data: bytes) -> int:
        self.waiting.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""

    def take(self) -> bytes:
        taken, self.waiting = b"".join(self.waiting), []
        return taken


def _design(campaign: Campaign) -> bytes:
    """The bytes that the design's hash was taken over: of imported judgements, JSON with spaces."""
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
    """Those of columns that may be empty from top to bottom, for Parquet."""
    return {column.name: PARQUET_TYPES[column.kind] for column in table.columns if column.kind in PARQUET_TYPES}


def record_chunks(
    campaign: Campaign, *, formats: Sequence[str] = TABLE_FORMATS, documents: Documents | None = None
) -> Iterator[bytes]:
    """The zip in pieces. All of it is as of one moment; memory does not grow with the campaign.

    ``documents`` writes further files by their names, inside the same moment.
    """
    with snapshot():
        campaign = Campaign.objects.select_related("project", "dataset").get(pk=campaign.pk)
        outbox = _Outbox()
        files: dict[str, dict[str, Any]] = {}
        with zipfile.ZipFile(outbox, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:  # type: ignore[call-overload] # it asks for write and flush alone
            yield from _member(archive, outbox, files, "README.md", [readme(formats).encode()])
            yield from _member(archive, outbox, files, "design.json", [_design(campaign)])
            for table in ALL:
                yield from _table(archive, outbox, files, table, campaign, formats)
            for name, text in (documents(campaign) if documents else {}).items():
                yield from _member(archive, outbox, files, name, [text.encode()])
            manifest = json.dumps(_manifest(campaign, files), ensure_ascii=False, indent=2) + "\n"
            yield from _member(archive, outbox, {}, "manifest.json", [manifest.encode()])
        yield outbox.take()


def _table(
    archive: zipfile.ZipFile,
    outbox: _Outbox,
    files: dict[str, dict[str, Any]],
    table: Table,
    campaign: Campaign,
    formats: Sequence[str],
) -> Iterator[bytes]:
    columns = [column.name for column in table.columns]
    for ending in formats:
        count = _Counted(table_rows(table, campaign, json_as_text=ending == "parquet"))
        name = f"{table.name}.{ending}"
        yield from _member(
            archive, outbox, files, name, table_chunks(ending, columns, count, types=column_types(table))
        )
        files[name]["rows"] = count.n


class _Counted:
    """Passes rows on and knows how many there were."""

    def __init__(self, rows: Iterator[tuple[Any, ...]]) -> None:
        self.rows = rows
        self.n = 0

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for row in self.rows:
            self.n += 1
            yield row


def _member(
    archive: zipfile.ZipFile, outbox: _Outbox, files: dict[str, dict[str, Any]], name: str, chunks: Iterable[bytes]
) -> Iterator[bytes]:
    digest, size = hashlib.sha256(), 0
    entry = zipfile.ZipInfo(name, STAMP)
    entry.compress_type = zipfile.ZIP_STORED if name.endswith(".parquet") else zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    with archive.open(entry, "w", force_zip64=True) as member:
        for chunk in chunks:
            digest.update(chunk)
            size += len(chunk)
            member.write(chunk)
            if sent := outbox.take():
                yield sent
    files[name] = {"sha256": digest.hexdigest(), "bytes": size}
    yield outbox.take()


def _manifest(campaign: Campaign, files: dict[str, dict[str, Any]]) -> dict[str, Any]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT transaction_timestamp()")
        (moment,) = cursor.fetchone()
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
