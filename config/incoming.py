"""Checks of every request, in one place for all views: its size, and whether its values can be stored.

Views and services need not look for NUL characters, numbers out of a column's range, or concurrent requests. If the
database refuses such a value, or one of two concurrent requests, the request gets 400 or 409, and the error is logged.
Any other error of the database is an error of the program.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import structlog
from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist
from django.core.handlers.wsgi import WSGIHandler
from django.db import DataError, IntegrityError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.template.defaultfilters import filesizeformat
from django.utils.http import parse_header_parameters, url_has_allowed_host_and_scheme
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.parsers import MultiPartParser

from annotation.projects.api.authentication import HashedTokenAuthentication
from config.checks import refuse_to_serve

GetResponse = Callable[[HttpRequest], HttpResponseBase]

ANONYMOUS_MAX_BYTES = 1024 * 1024  # raters' answers and providers' messages are far smaller
LARGEST_ID = 2**63 - 1
MOST_DIGITS = 4300  # of a number that Python reads
CHARSETS = {"utf-8", "utf8", "us-ascii", "ascii"}
RACES = {"23505", "23503", "40001", "40P01"}  # unique, foreign key, serialization, deadlock
OUT_OF_RANGE = {"22003", "22021", "22P05"}  # numeric value, character not in repertoire, untranslatable character
NO_NUL = "cannot contain NUL"  # psycopg's own refusal, without a state

log = structlog.get_logger("assay.refused")

UNSTORABLE = "A text or number cannot be stored; accepted: text without NUL characters, numbers in range."
OVERTAKEN = (
    "Another request changed or deleted this at the same moment, and yours was not carried out. Look at what is there "
    "now, and try again if it is still needed."
)


def refuse(request: HttpRequest, status: int, message: str) -> HttpResponse:
    """Answer in the API's form or as a page."""
    if request.path.startswith("/api/"):
        return JsonResponse({"detail": message}, status=status)
    context = {"message": message, "status": status, "back": _page_before(request)}
    return render(request, "refusal.html", context, status=status)


def _page_before(request: HttpRequest) -> str:
    """Return the address of the product's page that sent the request, or ''."""
    page = request.headers.get("Referer", "")
    return page if url_has_allowed_host_and_scheme(page, {request.get_host()}, request.is_secure()) else ""


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer what Django itself refuses, such as too many fields."""
    return refuse(request, 400, "The request cannot be read. Go back, reload the page and send the form again.")


# --- Headers ----------------------------------------------------------------------------------------------------------

HEADER_PROBLEM = "assay.header_problem"  # no header of a request has this name in the environment


class Application(WSGIHandler):
    """Django's handler, which would fail at a charset such as ``base64`` before any middleware runs."""

    def __call__(self, environ: dict[str, Any], start_response: Any) -> HttpResponseBase:
        if problem := header_problem(environ):
            environ = environ | {"CONTENT_TYPE": "", "CONTENT_LENGTH": "", HEADER_PROBLEM: problem}
        return super().__call__(environ, start_response)


class GuardedApplication(Application):
    """Refuses to serve in production with settings or accounts of the demo.

    If the database is away when a process starts, its first request that finds it there is checked instead: gunicorn
    ends all processes of web if one of them cannot start.
    """

    def __init__(self) -> None:
        super().__init__()
        self.is_checked = False
        self.check()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> HttpResponseBase:
        if not self.is_checked:
            self.check()
        return super().__call__(environ, start_response)

    def check(self) -> None:
        with suppress(OperationalError):
            refuse_to_serve()
            self.is_checked = True


def header_problem(environ: dict[str, Any]) -> str:
    """Return what is wrong with the headers that name media types or the length; '' if nothing is."""
    length = environ.get("CONTENT_LENGTH") or "0"
    if not (length.isascii() and length.isdecimal() and len(length) <= MOST_DIGITS):
        return "The header Content-Length cannot be read; accepted: a number of bytes."
    for name, label in (("CONTENT_TYPE", "Content-Type"), ("HTTP_ACCEPT", "Accept")):
        try:
            types = [parse_header_parameters(each) for each in environ.get(name, "").split(",")]
        except ValueError:
            return f"The header {label} cannot be read; accepted: a media type, such as application/json."
        charset = types[0][1].get("charset", "") if name == "CONTENT_TYPE" else ""
        if charset and charset.lower() not in CHARSETS:
            return f"Found the charset {charset[:40]!r}; accepted: utf-8."
    return ""


# --- Size -------------------------------------------------------------------------------------------------------------


class Sizes:
    """Refuse a body that is too large, unread: 413. Files are only taken from users, at addresses that take files.

    Listed before ``CsrfViewMiddleware``, which reads bodies.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: Any, kwargs: Any
    ) -> HttpResponse | None:
        n_bytes = _content_length(request)
        if n_bytes <= ANONYMOUS_MAX_BYTES:
            return None
        accepted, condition = ANONYMOUS_MAX_BYTES, " without signing in"
        if _is_signed_in(request):
            accepted, condition = settings.DATA_UPLOAD_MAX_MEMORY_SIZE, ""
            if _takes_uploads(view):
                accepted += settings.UPLOAD_MAX_BYTES
        if n_bytes <= accepted:
            return None
        text = f"Found a request of {filesizeformat(n_bytes)}; accepted{condition}: at most {filesizeformat(accepted)}."
        return refuse(request, 413, text.replace("\xa0", " "))


def _content_length(request: HttpRequest) -> int:
    return int(request.META.get("CONTENT_LENGTH") or 0)


def _is_signed_in(request: HttpRequest) -> bool:
    try:
        return request.user.is_authenticated or HashedTokenAuthentication().authenticate(request) is not None  # type: ignore[arg-type] # it reads headers
    except AuthenticationFailed:
        return False


def _takes_uploads(view: Callable[..., Any]) -> bool:
    endpoint, initial = getattr(view, "cls", None), getattr(view, "initkwargs", {})
    parsers = initial.get("parser_classes", getattr(endpoint, "parser_classes", ()))
    return getattr(view, "takes_uploads", False) or any(issubclass(parser, MultiPartParser) for parser in parsers)


# --- Values -----------------------------------------------------------------------------------------------------------


class WellFormed:
    """Refuse values that no view can use with 400, and what the database refuses with 400 or 409."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        message = _malformed(request)
        return refuse(request, 400, message) if message else self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: Any, kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        large = [name for name, value in kwargs.items() if isinstance(value, int) and value > LARGEST_ID]
        if large:
            return refuse(request, 400, f"The number in the address is too large; accepted: at most {LARGEST_ID}.")
        return None

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        refusal = refusal_of(exception, request)
        return refuse(request, *refusal) if refusal else None


def refusal_of(error: Exception, request: HttpRequest) -> tuple[int, str] | None:
    """Return status and message if the request, not the program, is the cause of an error that no view expected."""
    refusal = _refusal_of(error, request)
    if refusal:
        log.warning("refused", path=request.path, method=request.method, status=refusal[0], exc_info=error)
    return refusal


def _refusal_of(error: Exception, request: HttpRequest) -> tuple[int, str] | None:
    writes = request.method not in ("GET", "HEAD", "OPTIONS")
    state = getattr(error.__cause__, "sqlstate", None)
    if isinstance(error, DataError) and (state in OUT_OF_RANGE or NO_NUL in str(error)):
        return 400, UNSTORABLE
    if isinstance(error, UnicodeEncodeError) and "surrogates" in error.reason:
        return 400, UNSTORABLE
    if isinstance(error, IntegrityError | OperationalError):
        return (409, OVERTAKEN) if state in RACES else None
    return (409, OVERTAKEN) if writes and isinstance(error, ObjectDoesNotExist) else None


def _malformed(request: HttpRequest) -> str:
    """Return what is wrong with the headers, the address, the query or the cookies; '' if nothing is."""
    if problem := request.META.get(HEADER_PROBLEM):
        return str(problem)
    values = [value for name, values in request.GET.lists() for value in (name, *values)]
    if any("\0" in text for text in (request.path, *values, *request.COOKIES.values())):
        return "The address contains a NUL character; accepted: text without."
    if any(len(value) > MOST_DIGITS and value.isdecimal() for value in values):
        return f"A number in the address is too long; accepted: at most {MOST_DIGITS} digits."
    return ""
