"""A release as JSON Lines, flat tables and Parquet."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from annotation.core.exports import gathered, table_chunks
from annotation.core.one_line import escaped
from annotation.core.parquet import batch_chunks
from annotation.models import Release
from annotation.references.releases.files.reading import Reference, ReleasedItem, released_items
from annotation.references.releases.selectors.releases import release_name

SHORT_HASH = 12
BATCH_REFERENCES = 5_000  # of a row group of Parquet
TEXTS = pa.list_(pa.string())
SOURCE = pa.struct(
    [
        ("kind", pa.string()),
        ("system", pa.string()),
        ("rank", pa.int64()),
        ("score", pa.float64()),
        ("message", pa.string()),
        ("context", TEXTS),
    ]
)
WEIGHT_FIELDS = (
    ("text", pa.string()),
    ("weight", pa.float64()),
    ("mean", pa.float64()),
    ("n", pa.int64()),
    ("standard_error", pa.float64()),
    ("low", pa.float64()),
    ("high", pa.float64()),
)
REFERENCE = pa.struct(
    [
        *WEIGHT_FIELDS,
        ("spread", pa.float64()),
        ("histogram", pa.list_(pa.int64())),
        ("original", pa.bool_()),
        ("sources", pa.list_(SOURCE)),
    ]
)
ITEMS = pa.schema(
    [
        ("id", pa.string()),
        ("context", TEXTS),
        ("message", pa.string()),
        ("meaning_representation", pa.string()),
        ("split", pa.string()),
        ("references", pa.list_(REFERENCE)),
    ]
)
FLAT = pa.schema(
    [
        ("release", pa.string()),
        ("item", pa.string()),
        ("split", pa.string()),
        *WEIGHT_FIELDS,
        ("original", pa.bool_()),
        ("sources", TEXTS),
        ("mined_rank", pa.int64()),
        ("mined_score", pa.float64()),
        ("mined_message", pa.string()),
        ("mined_context", TEXTS),
    ]
)
FLAT_COLUMNS: tuple[str, ...] = tuple(FLAT.names)


def short_name(release: Release) -> str:
    """Return a release's name and the beginning of its content hash, as each row of a flat table shows them."""
    return f"{release_name(release)}@{release.content_hash[:SHORT_HASH]}"


def item_lines(release: Release) -> Iterator[bytes]:
    """Yield JSON Lines, an item a line; every line names the release and its content hash."""
    release_fields = {"release": release_name(release), "content_hash": release.content_hash}
    yield from gathered(
        json.dumps({**release_fields, **item_record(item)}, ensure_ascii=False, allow_nan=False) + "\n"
        for item in released_items(release)
    )


def item_record(item: ReleasedItem) -> dict[str, Any]:
    """Return an item as JSON; unknown values are left out, except the numbers of a reference."""
    record: dict[str, Any] = {"id": item.external_id, "context": item.context, "message": item.message}
    if item.meaning_representation:
        record["meaning_representation"] = item.meaning_representation
    if item.split:
        record["split"] = item.split
    return {**record, "references": [_reference_record(reference) for reference in item.references]}


def _reference_record(reference: Reference) -> dict[str, Any]:
    record = reference._asdict()
    for name in ("spread", "histogram"):
        if record[name] is None:
            del record[name]
    record["sources"] = [
        {name: value for name, value in source._asdict().items() if value not in (None, "", [])}
        for source in reference.sources
    ]
    return record


def flat_chunks(release: Release, file_format: str) -> Iterator[bytes]:
    """Yield a row per reference, as CSV for spreadsheets or as JSON Lines."""
    return table_chunks(file_format, FLAT_COLUMNS, flat_rows(release))


def flat_rows(release: Release) -> Iterator[tuple[Any, ...]]:
    name = short_name(release)
    for item in released_items(release):
        for reference in item.references:
            mined = reference.mined_from
            yield (
                name,
                item.external_id,
                item.split,
                *(getattr(reference, field) for field, _ in WEIGHT_FIELDS),
                reference.original,
                [source.name for source in reference.sources],
                *((mined.rank, mined.score, mined.message, mined.context) if mined else (None, None, None, [])),
            )


def flat_parquet(release: Release) -> Iterator[bytes]:
    rows = (dict(zip(FLAT.names, row, strict=True)) for row in flat_rows(release))
    return parquet_chunks(FLAT, batches(rows, lambda _: 1), metadata(release))


def items_parquet(release: Release, items: Iterable[ReleasedItem]) -> Iterator[bytes]:
    """Yield an item a row, its references a list of structures."""
    rows = (
        {**item._asdict(), "id": item.external_id, "references": list(map(_arrow, item.references))} for item in items
    )
    return parquet_chunks(ITEMS, batches(rows, lambda row: len(row["references"])), metadata(release))


def metadata(release: Release) -> dict[str, str]:
    """Return the metadata of a Parquet file."""
    dataset = release.reference_set.dataset
    return {
        "assay.release": release_name(release),
        "assay.content_hash": release.content_hash,
        "assay.signature": release.signature,
        "assay.code_version": release.code_version,
        "licence": dataset.licence,
        "attribution": dataset.attribution,
    }


def weighted_lines(release: Release) -> Iterator[bytes]:
    """Yield an item a line: its id, then weight and text of each reference, highest first, all between tabs."""
    yield from gathered("\t".join(_weighted_cells(item)) + "\n" for item in released_items(release))


def _weighted_cells(item: ReleasedItem) -> Iterator[str]:
    yield escaped(item.external_id)
    for reference in item.references:
        yield from (repr(reference.weight), escaped(reference.text))


def _arrow(reference: Reference) -> dict[str, Any]:
    return {**reference._asdict(), "sources": [source._asdict() for source in reference.sources]}


def batches(rows: Iterable[dict[str, Any]], size: Any) -> Iterator[list[dict[str, Any]]]:
    """Yield rows in groups of as many references as a row group holds."""
    batch: list[dict[str, Any]] = []
    n_references = 0
    for row in rows:
        batch.append(row)
        n_references += size(row)
        if n_references >= BATCH_REFERENCES:
            yield batch
            batch, n_references = [], 0
    if batch:
        yield batch


def parquet_chunks(
    schema: pa.Schema, parts: Iterable[list[dict[str, Any]]], about: Mapping[str, str]
) -> Iterator[bytes]:
    """Yield a Parquet file of a known schema in pieces."""
    columns = list(zip(schema.names, schema.types, strict=True))
    arrays = ([pa.array([row[name] for row in part], kind) for name, kind in columns] for part in parts)
    return batch_chunks(schema.with_metadata(dict(about)), arrays)
