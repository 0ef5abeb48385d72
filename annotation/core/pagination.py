"""Pages by cursor: no row is skipped or shown twice while others are added."""

from typing import Any

from django.db.models import QuerySet
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.views import APIView


class Pages(CursorPagination):
    """Page in the view's ordering, which must be unique: the cursor continues after the last row shown."""

    page_size = 100
    page_size_query_param = "page_size"
    max_page_size = 1000

    def get_ordering(self, request: Request, queryset: QuerySet[Any], view: APIView) -> tuple[str, ...]:
        ordering: str = view.ordering  # type: ignore[attr-defined] # every view set that lists rows has one
        return (ordering,)
