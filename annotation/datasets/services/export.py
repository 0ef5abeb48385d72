"""A data set in the format that it is imported in: JSON Lines, an item on each line.

The same content gives the same bytes on every installation: items by position, references in the order in which they
came, outputs by the name of their system. What an import takes by default is left out. The SHA-256 of these bytes is
the data set's content hash.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotation.core.dialogues import TURN_FIELDS
from annotation.core.exports import gathered
from annotation.core.snapshots import snapshot
from annotation.datasets.services.content import DEFAULT_REFERENCE_KIND
from annotation.models import Dataset, Item, ResponseSource

CHUNK = 2000  # items whose texts are read at once
ITEM_FIELDS = ("context", "message", "meaning_representation", "split")
SOURCE_FIELDS = ("rank", "score", "raw_text", "source_context", "source_message")
SOURCE_COLUMNS = ("item_id", "kind", "system__name", "response__text", "response__turns", *SOURCE_FIELDS)


def dataset_chunks(dataset: Dataset) -> Iterator[bytes]:
    """Yield the file in pieces, all as of one moment."""
    with snapshot():
        yield from gathered(
            json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n" for record in dataset_records(dataset)
        )


def dataset_hash(dataset: Dataset) -> str:
    """Return the content hash; compute and store that of a data set made before there were hashes."""
    stored = Dataset.objects.values_list("content_hash", flat=True).get(pk=dataset.pk)
    return stored or dataset_rehash(dataset)


def dataset_rehash(dataset: Dataset) -> str:
    """Compute and store the content hash. A service that changes the content calls it in its transaction."""
    digest = hashlib.sha256()
    for chunk in dataset_chunks(dataset):
        digest.update(chunk)
    dataset.content_hash = digest.hexdigest()
    Dataset.objects.filter(pk=dataset.pk).update(content_hash=dataset.content_hash)
    return dataset.content_hash


def dataset_records(dataset: Dataset) -> Iterator[dict[str, Any]]:
    """Yield an object for each item, as ``annotation.datasets.services.files`` reads it."""
    rows = Item.objects.filter(dataset=dataset).order_by("position").values_list("pk", "external_id", *ITEM_FIELDS)
    items: list[tuple[Any, ...]] = []
    for row in rows.iterator(chunk_size=CHUNK):
        items.append(row)
        if len(items) == CHUNK:
            yield from _records(items)
            items = []
    yield from _records(items)


def _records(items: Sequence[tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    references: dict[int, list[Any]] = {}
    outputs: dict[int, dict[str, Any]] = {}
    sources = ResponseSource.objects.filter(item__in=[item[0] for item in items]).order_by("pk")
    for pk, kind, system, joined, turns, *values in sources.values_list(*SOURCE_COLUMNS):
        text = joined if turns is None else [{name: turn[name] for name in TURN_FIELDS} for turn in turns]
        source = dict(zip(SOURCE_FIELDS, values, strict=True))
        if system is None:
            of_item = references.setdefault(pk, [])
            default = {"kind": DEFAULT_REFERENCE_KIND, "rank": len(of_item) + 1}
            of_item.append(_written(text, {"kind": kind, **source}, default))
        else:
            outputs.setdefault(pk, {})[system] = _written(text, source, {"rank": None})
    for pk, external_id, *values in items:
        about = {name: value for name, value in zip(ITEM_FIELDS, values, strict=True) if value}
        record = {"id": external_id, **about}
        if pk in references:
            record["references"] = references[pk]
        if pk in outputs:
            record["outputs"] = dict(sorted(outputs[pk].items()))
        yield record


def _written(text: str | list[dict[str, str]], source: Mapping[str, Any], default: Mapping[str, Any]) -> Any:
    """Return a text as an import reads it: alone if everything else about it is what the import takes by default."""
    usual: dict[str, Any] = {"score": None, "raw_text": "", "source_context": [], "source_message": "", **default}
    unusual = {name: value for name, value in source.items() if value != usual[name]}
    return {"text": text, **unusual} if unusual else text
