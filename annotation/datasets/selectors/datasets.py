"""Reads over data sets: counts, pages of items, downloads."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.postgres.aggregates import StringAgg
from django.db.models import Count, Exists, Func, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.functions import MD5, Cast

from annotation.core.counting import count_of
from annotation.core.exports import Column
from annotation.core.prose import enumerated
from annotation.models import Dataset, Item, JobState, Project, Response, ResponseSource, SourceKind, System

PAGE_SIZE = 50
MOST_NAMED = 2  # systems that gave the outputs of another


def datasets_of(project: Project) -> QuerySet[Dataset]:
    return project.datasets.annotate(
        n_items=count_of(Item.objects.all(), "dataset"), n_systems=count_of(System.objects.all(), "dataset")
    )


def reference_choices(dataset: Dataset, *, also: Collection[str] = ()) -> list[tuple[str, str]]:
    """Return value and label of the kinds of reference that the data set has, or that ``also`` names."""
    sources = ResponseSource.objects.filter(item__dataset=dataset).order_by()
    kinds = {*sources.values_list("kind", flat=True).distinct(), *also} - {SourceKind.SYSTEM}
    return [(kind, label) for kind, label in SourceKind.choices if kind in kinds]


def splits_of(dataset: Dataset) -> list[str]:
    items = Item.objects.filter(dataset=dataset).exclude(split="").order_by()
    return sorted(items.values_list("split", flat=True).distinct())


def other_names(dataset: Dataset) -> dict[str, str]:
    """Map each system whose outputs all equal an alphabetically earlier system's to that system's name."""
    outputs = MD5(StringAgg(Cast("response_id", TextField()), Value(","), order_by="item_id"))
    rows = ResponseSource.objects.filter(system__dataset=dataset).values_list("system__name").order_by("system__name")
    first: dict[str, str] = {}
    names = {name: first.setdefault(digest, name) for name, digest in rows.annotate(digest=outputs)}
    return {name: original for name, original in names.items() if original != name}


@dataclass
class SystemRow:
    system: System
    outputs: int
    shared: int  # outputs identical to another system's


@dataclass
class DatasetFacts:
    items: int
    responses: int
    outputs: int
    distinct_outputs: int  # texts of outputs, over all items
    references: int
    kinds: list[tuple[str, int]]
    systems: list[SystemRow]

    @property
    def outputs_hint(self) -> str:
        return f"{self.distinct_outputs:,} different texts; one given for several items counts once"


def systems_hint(dataset: Dataset, rows: Sequence[SystemRow]) -> str:
    """Say how many of the systems differ; empty if none shares all of its outputs with others."""
    if sum(0 < row.outputs == row.shared for row in rows) < 2:
        return ""
    same = other_names(dataset)
    if not same:
        return ""
    named = [f"{name} gave the outputs of {original}" for name, original in same.items()][:MOST_NAMED]
    return f"{len(rows) - len(same)} different: {enumerated(named)}"


def dataset_facts(dataset: Dataset) -> DatasetFacts:
    sources = ResponseSource.objects.filter(item__dataset=dataset).order_by()
    kinds = dict(sources.values_list("kind").annotate(n=Count("pk")))
    other = ResponseSource.objects.filter(response=OuterRef("response"), system__isnull=False).exclude(
        system=OuterRef("system")
    )
    per_system = {
        row["system"]: row
        for row in sources.filter(system__isnull=False)
        .annotate(also=Exists(other))
        .values("system")
        .annotate(n=Count("pk"), shared=Count("pk", filter=Q(also=True)))
    }
    is_output = Q(kind=SourceKind.SYSTEM)
    distinct = sources.aggregate(
        distinct_outputs=Count("response__text_key", distinct=True, filter=is_output),
        references=Count("response", distinct=True, filter=~is_output),
    )
    return DatasetFacts(
        items=dataset.items.count(),
        responses=Response.objects.filter(item__dataset=dataset).count(),
        outputs=kinds.get(SourceKind.SYSTEM, 0),
        **distinct,
        kinds=[(kind.label, kinds[kind]) for kind in SourceKind if kind in kinds],
        systems=[
            SystemRow(system, row["n"], row["shared"])
            if (row := per_system.get(system.pk))
            else SystemRow(system, 0, 0)
            for system in dataset.systems.all()
        ],
    )


# --- Items ------------------------------------------------------------------------------------------------------------


@dataclass
class ItemPage:
    items: list[Item]
    previous: int | None  # show the items before this position
    following: int | None  # show the items after this position


def items_matching(dataset: Dataset, search: str) -> QuerySet[Item]:
    """Return the items whose id, context or message contains the text."""
    items = Item.objects.filter(dataset=dataset)
    if not search:
        return items
    turns = Func("context", Value("\n"), function="array_to_string", output_field=TextField())
    return items.annotate(turns=turns).filter(
        Q(external_id__icontains=search) | Q(message__icontains=search) | Q(turns__icontains=search)
    )


def items_between(
    items: QuerySet[Item], *, after: int | None, before: int | None, size: int
) -> tuple[list[Item], int | None, int | None]:
    """Return a page of items by position, and where the previous and the next page start, or None."""
    if before is not None:
        rows = list(items.filter(position__lt=before).order_by("-position")[: size + 1])
        more_before, more_after = len(rows) > size, True
        rows = rows[:size][::-1]
    else:
        rows = list(items.filter(position__gt=-1 if after is None else after).order_by("position")[: size + 1])
        more_before, more_after = after is not None, len(rows) > size
        rows = rows[:size]
    return (
        rows,
        rows[0].position if rows and more_before else None,
        rows[-1].position if rows and more_after else None,
    )


def item_page(
    dataset: Dataset, *, search: str = "", after: int | None = None, before: int | None = None, size: int = PAGE_SIZE
) -> ItemPage:
    """Return a page of items by position, with their numbers of responses; earlier items are not read."""
    rows, earlier, later = items_between(items_matching(dataset, search), after=after, before=before, size=size)
    responses = Response.objects.filter(item__in=rows).order_by()
    counts = dict(responses.values_list("item").annotate(n=Count("pk")))
    for item in rows:
        item.n_responses = counts.get(item.pk, 0)  # type: ignore[attr-defined]
    return ItemPage(items=rows, previous=earlier, following=later)


# --- Downloads --------------------------------------------------------------------------------------------------------

ITEM_COLUMNS = {
    "item_id": "external_id",
    "context": "context",
    "message": "message",
    "meaning_representation": "meaning_representation",
    "split": "split",
    "responses": "n",
}
RESPONSE_COLUMNS: dict[str, Column] = {
    "item_id": "item.external_id",
    "response": "response_id",
    "system": lambda source: source.system.name if source.system else None,
    "kind": "kind",
    "text": lambda source: source.raw_text or source.response.text,
    "rank": "rank",
    "score": "score",
    "source_context": "source_context",
    "source_message": "source_message",
}
SYSTEM_COLUMNS = {"system": "system.name", "outputs": "outputs", "identical_to_another_system": "shared"}


def items_counted(dataset: Dataset) -> Iterator[Item]:
    """Yield the items with ``n``, their number of responses."""
    items = Item.objects.filter(dataset=dataset).annotate(n=Count("responses")).order_by("position")
    return items.iterator(chunk_size=2000)


def sources_in_order(dataset: Dataset) -> Iterator[ResponseSource]:
    """Yield the sources of all responses; a response with two sources comes twice."""
    sources = ResponseSource.objects.filter(item__dataset=dataset).select_related("item", "response", "system")
    return sources.order_by("item__position", "pk").iterator(chunk_size=2000)


# The tables of a data set that can be downloaded: their columns, and what their rows show.
TABLES: dict[str, tuple[Mapping[str, Column], Callable[[Dataset], Iterable[Any]]]] = {
    "items": (ITEM_COLUMNS, items_counted),
    "responses": (RESPONSE_COLUMNS, sources_in_order),
    "systems": (SYSTEM_COLUMNS, lambda dataset: dataset_facts(dataset).systems),
}


def has_dialogues(dataset: Dataset) -> bool:
    """Return whether a response is a dialogue; an index of dialogues alone answers."""
    return Response.objects.filter(turns__isnull=False, item__dataset=dataset).exists()


def has_seeds(dataset: Dataset) -> bool:
    return ResponseSource.objects.filter(item__dataset=dataset, kind=SourceKind.SEED).exists()


def fields_of_meanings(dataset: Dataset) -> dict[str, str]:
    """Return the fields of the file that the data set is from, by their meaning, if a person mapped them."""
    mapped = dataset.imports.filter(state=JobState.DONE, options__has_key="mapping").order_by("-pk")
    mapping = mapped.values_list("options__mapping", flat=True).first() or {}
    return {meaning: name for name, meaning in mapping.items()}
