"""Store a checked content in the database, in one transaction."""

from annotation.core.copying import allocate_ids, copy_rows
from annotation.core.normalisation import text_key
from annotation.datasets.services.content import DatasetContent, ItemDraft
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
    _store_responses(items, ids, {system.name: system.pk for system in systems}, dataset.normalisation)


def _store_responses(items: list[ItemDraft], item_ids: list[int], systems: dict[str, int], rule: str) -> None:
    """Store identical texts of an item as one response, with the text of the first."""
    keyed = [
        ((item_id, text_key(source.text, rule)), source)
        for item_id, item in zip(item_ids, items, strict=True)
        for source in item.sources
    ]
    texts: dict[tuple[int, str], str] = {}
    for key, source in keyed:
        texts.setdefault(key, source.text)
    ids = dict(zip(texts, allocate_ids(Response, len(texts)), strict=True))
    copy_rows(Response, ["id", "item_id", "text_key", "text"], ((ids[key], *key, text) for key, text in texts.items()))
    copy_rows(
        ResponseSource,
        ["response_id", "item_id", "system_id", "raw_text", *SOURCE_COLUMNS],
        (
            (
                ids[key],
                key[0],
                systems[source.system] if source.system else None,
                source.raw_text or ("" if source.text == texts[key] else source.text),
                *(getattr(source, name) for name in SOURCE_COLUMNS),
            )
            for key, source in keyed
        ),
    )
