"""Long lists, a page at a time."""

from typing import TypeVar
from urllib.parse import urlencode

import numpy as np
import numpy.typing as npt
from django.db import models
from django.http import HttpRequest

from annotation.core.parameters import whole_number

AnyModel = TypeVar("AnyModel", bound=models.Model)
IntArray = npt.NDArray[np.int64]


def newest_page(rows: models.QuerySet[AnyModel], *, before: int | None, size: int) -> tuple[list[AnyModel], int | None]:
    """Return the newest rows, or those before an id, and the id to continue from if there are more.

    ``rows`` come newest first: by falling id.
    """
    page = list((rows if before is None else rows.filter(pk__lt=before))[: size + 1])
    return page[:size], page[size - 1].pk if len(page) > size else None


def page_of(ids: IntArray, *, after: int | None, before: int | None, size: int) -> tuple[IntArray, bool, bool]:
    """Return the ids after or before a given id, and whether there are more on either side.

    A list never changes, so the id at a page's edge is its key. An unknown id starts at the beginning.
    """
    edge = np.flatnonzero(ids == (before if after is None else after))
    start, end = 0, size
    if edge.size and after is not None:
        start, end = int(edge[0]) + 1, int(edge[0]) + 1 + size
    elif edge.size:
        start, end = max(int(edge[0]) - size, 0), int(edge[0])
    return ids[start:end], start > 0, end < len(ids)


def page_links(
    request: HttpRequest, ids: IntArray, size: int, **query: object
) -> tuple[IntArray, str | None, str | None]:
    """Return one page of ids, and the addresses of the pages before and after it, at the anchor ``list``."""
    shown, has_before, has_after = page_of(
        ids, after=whole_number(request, "after"), before=whole_number(request, "before"), size=size
    )
    if not len(shown):
        return shown, None, None
    previous_url = f"?{urlencode({**query, 'before': int(shown[0])})}#list" if has_before else None
    next_url = f"?{urlencode({**query, 'after': int(shown[-1])})}#list" if has_after else None
    return shown, previous_url, next_url
