"""Long lists, a page at a time."""

from typing import TypeVar

from django.db import models

AnyModel = TypeVar("AnyModel", bound=models.Model)


def newest_page(rows: models.QuerySet[AnyModel], *, before: int | None, size: int) -> tuple[list[AnyModel], int | None]:
    """Return the newest rows, or those before an id, and the id to continue from if there are more.

    ``rows`` come newest first: by falling id.
    """
    page = list((rows if before is None else rows.filter(pk__lt=before))[: size + 1])
    return page[:size], page[size - 1].pk if len(page) > size else None
