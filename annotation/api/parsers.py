"""Request bodies, no larger than the server is willing to hold in memory."""

from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework import status
from rest_framework.exceptions import APIException
from rest_framework.parsers import JSONParser


class BodyTooLarge(APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"


class BoundedJSONParser(JSONParser):
    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        length = int((parser_context or {})["request"].META.get("CONTENT_LENGTH") or 0)
        if length > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            accepted = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
            raise BodyTooLarge(f"Found {length} bytes of JSON; accepted: at most {accepted}, or a file as multipart.")
        return super().parse(stream, media_type, parser_context)
