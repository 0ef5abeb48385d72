"""Store a checked content in the database, in one transaction."""

import json

from annotation.core.copying import allocate_ids, copy_rows
from annotation.core.dialogues import speakers_of
from annotation.core.normalisation import text_key
from annotation.core.problems import Problems
from annotation.datasets.services.content import DatasetContent, SourceDraft
from annotation.models import Dataset, Item, Response, ResponseSource, System

ITEM_COLUMNS = ["external_id", "context", "message", "meaning_representation", "split"]
SOURCE_COLUMNS = ["kind", "rank", "score", "source_context", "source_message"]


def store_dataset(content: DatasetContent, dataset: Dataset) -> None:
    """Fill a new data set. Call inside a transaction."""
    systems = System.objects.bulk_create([System(dataset=dataset, name=name) for name in content.systems])
    items = list(content.items.values())
    ids = allocate_ids(Item, len(items))
    copy_rows(
        Item,
        ["id", "dataset_id", "position", *ITEM_COLUMNS],
        (
            (pk, dataset.pk, position, *(getattr(item, name) for name in ITEM_COLUMNS))
            for position, (pk, item) in enumerate(zip(ids, items, strict=True))
        ),
    )
    _store_responses(content, ids, {system.name: system.pk for system in systems}, dataset.normalisation)


def _store_responses(content: DatasetContent, item_ids: list[int], systems: dict[str, int], rule: str) -> None:
    """Store identical texts of an item as one response, with the text of the first."""
    keyed = [
        ((item_id, text_key(source.text, rule)), source)
        for item_id, item in zip(item_ids, content.items.values(), strict=True)
        for source in item.sources
    ]
    firsts: dict[tuple[int, str], SourceDraft] = {}
    problems = Problems(content.filename)
    for key, source in keyed:
        first = firsts.setdefault(key, source)
        if (first.turns or source.turns) and speakers_of(first.turns) != speakers_of(source.turns):
            accepted = f"other turns, or the same as on line {first.line}: joined, their texts are equal"
            problems.add(source.line, source.system or source.kind, source.text, accepted)
    problems.refuse()
    ids = dict(zip(firsts, allocate_ids(Response, len(firsts)), strict=True))
    columns = ["id", "item_id", "text_key", "text", "turns"]
    copy_rows(
        Response,
        columns,
        ((ids[key], *key, first.text, _json(first.turns)) for key, first in firsts.items()),
    )
    copy_rows(
        ResponseSource,
        ["response_id", "item_id", "system_id", "raw_text", *SOURCE_COLUMNS],
        (
            (
                ids[key],
                key[0],
                systems[source.system] if source.system else None,
                source.raw_text or ("" if source.text == firsts[key].text else source.text),
                *(getattr(source, name) for name in SOURCE_COLUMNS),
            )
            for key, source in keyed
        ),
    )


def _json(turns: list[dict[str, str]] | None) -> str | None:
    return None if turns is None else json.dumps(turns, ensure_ascii=False)
