"""Reads over lists of responses."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection
from django.db.models import Count, IntegerField, OuterRef, Prefetch, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.models import Dataset, Project, Response, ResponseList, ResponseSource


def response_lists_of(project: Project) -> QuerySet[ResponseList]:
    """Return the lists, newest first, with ``size``, the number of responses, and ``n_items``, of their items."""
    rows: QuerySet[Any] = (
        ResponseList.responses.through.objects.filter(responselist=OuterRef("pk")).order_by().values("responselist")
    )

    def number(total: Count) -> Coalesce:
        return Coalesce(Subquery(rows.annotate(total=total).values("total")), 0, output_field=IntegerField())

    return (
        ResponseList.objects.filter(project=project)
        .select_related("dataset", "created_by")
        .annotate(size=number(Count("response")), n_items=number(Count("response__item", distinct=True)))
        .order_by("-pk")
    )


def responses_page(
    response_list: ResponseList, *, after: tuple[int, int] | None, size: int
) -> tuple[list[Response], tuple[int, int] | None]:
    """Return the responses after ``(item position, response id)``, by item, and the start of the next page."""
    responses = (
        response_list.responses.select_related("item")
        .prefetch_related(Prefetch("sources", ResponseSource.objects.select_related("system")))
        .order_by("item__position", "pk")
    )
    if after is not None:
        position, pk = after
        responses = responses.filter(item__position__gte=position).exclude(item__position=position, pk__lte=pk)
    page = list(responses[: size + 1])
    last = page[size - 1] if len(page) > size else None
    return page[:size], ((last.item.position, last.pk) if last else None)


def responses_named(dataset: Dataset, names: Sequence[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Return ids of responses by the item's external id and the text's key; unknown ones are left out."""
    if not names:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT i.external_id, r.text_key, r.id
            FROM unnest(%(items)s::text[], %(keys)s::text[]) AS wanted (external_id, text_key)
            JOIN annotation_item i ON i.dataset_id = %(dataset)s AND i.external_id = wanted.external_id
            JOIN annotation_response r ON r.item_id = i.id AND r.text_key = wanted.text_key
            """,
            {"items": [item for item, _ in names], "keys": [key for _, key in names], "dataset": dataset.pk},
        )
        return {(item, key): pk for item, key, pk in cursor.fetchall()}


def foreign_responses(dataset: Dataset, responses: Iterable[int]) -> list[int]:
    """Return the ids that are not responses of the data set, in the order given."""
    ids = list(responses)
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT r.id FROM annotation_response r JOIN annotation_item i ON i.id = r.item_id
            WHERE i.dataset_id = %s AND r.id = ANY(%s)
            """,
            [dataset.pk, ids],
        )
        known = {pk for (pk,) in cursor.fetchall()}
    return [pk for pk in ids if pk not in known]
