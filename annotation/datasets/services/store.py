"""A checked content into the database, in one transaction."""

from collections.abc import Iterator
from dataclasses import dataclass

from annotation.core.copying import allocate_ids, copy_rows
from annotation.core.normalisation import text_key
from annotation.datasets.services.content import DatasetContent, ItemDraft, SourceDraft
from annotation.models import Dataset, Item, Response, ResponseSource, System


@dataclass(frozen=True, slots=True)
class _ResponseRow:
    pk: int
    text: str


def store_dataset(content: DatasetContent, dataset: Dataset) -> None:
    """Fill a new data set. Call inside a transaction."""
    systems = {
        system.name: system.pk
        for system in System.objects.bulk_create([System(dataset=dataset, name=name) for name in content.systems])
    }
    items = list(content.items.values())
    item_ids = allocate_ids(Item, len(items))
    copy_rows(
        Item,
        ["id", "dataset_id", "external_id", "position", "context", "message", "meaning_representation", "split"],
        (
            (
                pk,
                dataset.pk,
                item.external_id,
                place,
                item.context,
                item.message,
                item.meaning_representation,
                item.split,
            )
            for place, (pk, item) in enumerate(zip(item_ids, items, strict=True))
        ),
    )
    _store_responses(items, item_ids, systems, dataset.normalisation)


def _store_responses(items: list[ItemDraft], item_ids: list[int], systems: dict[str, int], rule: str) -> None:
    """Identical texts of an item become one response, whose text is the first as it came."""
    keyed: list[tuple[int, SourceDraft, str]] = [
        (item_id, source, text_key(source.text, rule))
        for item_id, item in zip(item_ids, items, strict=True)
        for source in item.sources
    ]
    firsts: dict[tuple[int, str], str] = {}
    for item_id, source, key in keyed:
        firsts.setdefault((item_id, key), source.text)
    ids = allocate_ids(Response, len(firsts))
    responses = {place: _ResponseRow(pk, text) for pk, (place, text) in zip(ids, firsts.items(), strict=True)}
    copy_rows(
        Response,
        ["id", "item_id", "text", "text_key"],
        ((row.pk, item_id, row.text, key) for (item_id, key), row in responses.items()),
    )

    def sources() -> Iterator[tuple[object, ...]]:
        for item_id, source, key in keyed:
            response = responses[item_id, key]
            yield (
                response.pk,
                item_id,
                source.kind,
                systems[source.system] if source.system else None,
                source.rank,
                source.score,
                source.source_context,
                source.source_message,
                "" if source.text == response.text else source.text,
            )

    copy_rows(
        ResponseSource,
        [
            "response_id",
            "item_id",
            "kind",
            "system_id",
            "rank",
            "score",
            "source_context",
            "source_message",
            "raw_text",
        ],
        sources(),
    )
