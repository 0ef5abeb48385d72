"""Pages by cursor: no row is skipped or shown twice while others are added."""

from typing import Any

from django.core import signing
from django.db.models import QuerySet
from rest_framework.exceptions import NotFound
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param
from rest_framework.views import APIView


class Pages(CursorPagination):
    """Page in the view's ordering, which must be unique: the cursor continues after the last row shown.

    A cursor is signed for the address of its list, so that one of another list, or an invented one, is recognised.
    """

    page_size = 100
    page_size_query_param = "page_size"
    max_page_size = 1000
    address = ""

    def get_ordering(self, request: Request, queryset: QuerySet[Any], view: APIView) -> tuple[str, ...]:
        ordering: str = view.ordering  # type: ignore[attr-defined] # every view set that lists rows has one
        return (ordering,)

    def decode_cursor(self, request: Request) -> Cursor | None:
        self.address = request.path
        encoded = request.query_params.get(self.cursor_query_param)
        if encoded is None:
            return None
        try:
            return Cursor(*signing.loads(encoded, salt=self.address))
        except signing.BadSignature:
            message = "No such page: found a cursor that is not of this list; accepted: next or previous of its pages."
            raise NotFound(message) from None

    def encode_cursor(self, cursor: Cursor) -> str:
        encoded = signing.dumps([cursor.offset, cursor.reverse, cursor.position], salt=self.address)
        return replace_query_param(self.base_url or "", self.cursor_query_param, encoded)
