"""Reads over lists of responses."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Prefetch, QuerySet

from annotation.core import sql
from annotation.core.counting import count_of
from annotation.models import Dataset, Project, Response, ResponseList, ResponseSource


def response_lists_of(project: Project) -> QuerySet[ResponseList]:
    """Return the lists, newest first, with ``size``, the number of responses, and ``n_items``, of their items."""
    rows: QuerySet[Any] = ResponseList.responses.through.objects.all()
    return (
        ResponseList.objects.filter(project=project)
        .select_related("dataset", "created_by")
        .annotate(
            size=count_of(rows, "responselist"), n_items=count_of(rows, "responselist", "response__item", distinct=True)
        )
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
    rows = sql.rows(
        """
        SELECT i.external_id, r.text_key, r.id
        FROM unnest(%(items)s::text[], %(keys)s::text[]) AS wanted (external_id, text_key)
        JOIN annotation_item i ON i.dataset_id = %(dataset)s AND i.external_id = wanted.external_id
        JOIN annotation_response r ON r.item_id = i.id AND r.text_key = wanted.text_key
        """,
        {"items": [item for item, _ in names], "keys": [key for _, key in names], "dataset": dataset.pk},
    )
    return {(item, key): pk for item, key, pk in rows}


def find_list(lists: Iterable[ResponseList], responses: Iterable[int]) -> ResponseList | None:
    """Return the first of the lists that holds exactly these responses."""
    ids = set(responses)
    same = (each for each in lists if set(each.responses.order_by().values_list("pk", flat=True)) == ids)
    return next(same, None)


def foreign_responses(dataset: Dataset, responses: Iterable[int]) -> list[int]:
    """Return the ids that are not responses of the data set, in the order given."""
    ids = list(responses)
    rows = sql.rows(
        """
        SELECT r.id FROM annotation_response r JOIN annotation_item i ON i.id = r.item_id
        WHERE i.dataset_id = %s AND r.id = ANY(%s)
        """,
        [dataset.pk, ids],
    )
    known = {pk for (pk,) in rows}
    return [pk for pk in ids if pk not in known]
