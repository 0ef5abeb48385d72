"""The API of the product: the endpoints of all apps in one router, with one format of errors and one schema."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.urls import path
from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import exception_handler as rest_exception_handler

from annotation import api as annotation
from annotation.core.errors import AnnotationError, ImportRefused, LimitReached, Overtaken
from annotation.projects.api.tokens import TokenView
from config.incoming import refusal_of
from correlations.api import routes as correlations
from metrics.api import routes as metrics

router = SimpleRouter(use_regex_path=False)
for app in (annotation, metrics, correlations):
    app.register(router)

app_name = "api"
urlpatterns = [path("token/", TokenView.as_view(), name="token"), *router.urls]

# --- Errors -----------------------------------------------------------------------------------------------------------


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return the error as ``detail`` in words, with ``fields`` of the request or ``rows`` of a file."""
    if isinstance(error, ImportRefused):
        body = {"detail": error.message, "rows": error.rows, "total": error.total}
        return Response(body, status=status.HTTP_400_BAD_REQUEST)
    if isinstance(error, AnnotationError):
        code: int = status.HTTP_409_CONFLICT if isinstance(error, Overtaken) else status.HTTP_400_BAD_REQUEST
        return Response({"detail": error.message, "fields": error.fields}, status=code)
    if isinstance(error, LimitReached):
        headers = {"Retry-After": str(error.seconds)}
        return Response({"detail": error.message}, status=status.HTTP_429_TOO_MANY_REQUESTS, headers=headers)
    if isinstance(error, RequestDataTooBig):
        message = f"Accepted: at most {settings.DATA_UPLOAD_MAX_MEMORY_SIZE} bytes of JSON; or a file, as multipart."
        return Response({"detail": message}, status=status.HTTP_413_REQUEST_ENTITY_TOO_LARGE)
    response = rest_exception_handler(error, context)
    if response is None and (refusal := refusal_of(error, context["request"])):
        code, message = refusal
        return Response({"detail": message}, status=code)
    if response is not None and isinstance(error, ValidationError):
        fields: dict[str, list[str]] = {}
        for name, message in _messages(error.detail):
            fields.setdefault(name, []).append(message)
        parts = (f"{name}: {text}" if name else text for name, messages in fields.items() for text in messages)
        response.data = {"detail": " ".join(parts), "fields": fields}
    return response


def _messages(detail: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield field and message of a nested error; names of nested fields are joined with dots."""
    if isinstance(detail, Mapping):
        for key, value in detail.items():
            parts = (name, "" if key == "non_field_errors" else str(key))
            yield from _messages(value, ".".join(filter(None, parts)))
    elif isinstance(detail, Sequence) and not isinstance(detail, str):
        for index, value in enumerate(detail):
            yield from _messages(value, f"{name}.{index}" if isinstance(value, Mapping) else name)
    else:
        yield name, str(detail)


# --- Schema -----------------------------------------------------------------------------------------------------------

PROBLEM = {
    "type": "object",
    "properties": {
        "detail": {"type": "string", "description": "What was found and what is accepted, for people to read."},
        "fields": {
            "type": "object",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
            "description": "Messages by the field they are about.",
        },
    },
    "required": ["detail"],
}
REFUSALS = {
    "400": "What was sent cannot be accepted.",
    "401": "No token, or one that is not valid.",
    "403": "Your role in the project is too small.",
    "404": "It does not exist, or not for you.",
    "409": "Not in its present state, or another request changed or deleted it meanwhile.",
    "429": "Too many requests.",
}


def document_refusals(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add to the schema how each operation refuses a request."""
    result.setdefault("components", {}).setdefault("schemas", {})["Problem"] = PROBLEM
    for address, operations in result["paths"].items():
        for method, operation in operations.items():
            for code in _refusals(address, method):
                content = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
                operation["responses"].setdefault(code, {"description": REFUSALS[code], "content": content})
    return result


def _refusals(address: str, method: str) -> Iterator[str]:
    if address.endswith("/token/") and method == "post":
        yield from ("400", "429")
        return
    yield "401"
    if method in ("post", "put", "patch"):
        yield "400"
    if "{project_slug}" in address:
        yield "404"
        if method != "get":
            yield "403"
    if method != "get" or address.endswith(("/table/", "/result/")):
        yield "409"


def in_this_version(endpoints: list[tuple[str, str, str, Any]], **_: Any) -> list[tuple[str, str, str, Any]]:
    """Return the endpoints of the API, without its schema and the pages."""
    return [endpoint for endpoint in endpoints if endpoint[0].startswith("/api/v1/")]
