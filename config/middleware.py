"""Middleware: a log line for each request, the security policy, the pages for 404 and 429."""

import time
import uuid
from collections.abc import Callable

import structlog
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.defaults import page_not_found

from annotation.core.errors import LimitReached
from annotation.core.progress import noop
from annotation.rating.views.access import LinkGone
from annotation.rating.views.pages import link_gone

GetResponse = Callable[[HttpRequest], HttpResponse]
QUIET_PATHS = ("/healthz", "/metrics", "/static/")


class RequestLog:
    """One line for each request. Its id is in every line that it causes, also of workers, and in the answer's head."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        self.log = structlog.get_logger("assay.request")
        self.observe = observer()

    def __call__(self, request: HttpRequest) -> HttpResponse:
        structlog.contextvars.clear_contextvars()
        request_id = uuid.uuid4().hex[:12]
        structlog.contextvars.bind_contextvars(request_id=request_id)
        began = time.perf_counter()
        response = self.get_response(request)
        response.headers["X-Request-ID"] = request_id
        if not request.path.startswith(QUIET_PATHS):
            seconds = time.perf_counter() - began
            self.observe(request, response, seconds)
            self.log.info(
                "request",
                method=request.method,
                path=request.path,
                status=response.status_code,
                ms=round(1000 * seconds, 1),
            )
        return response


def observer() -> Callable[[HttpRequest, HttpResponse, float], None]:
    """Return what counts requests for /metrics, or what does nothing if no one may read that."""
    if not settings.METRICS_TOKEN:
        return noop
    from config.monitoring.requests import observe  # its library takes part in no installation without a token

    return observe


class PlainNotFound:
    """Show the product's page for 404 under DEBUG, too: a rater of a demo must not see a list of URLs."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if isinstance(exception, LinkGone):
            return link_gone(request)
        return page_not_found(request, exception) if isinstance(exception, Http404) else None


class LimitsReached:
    """Answer 429 and say when to try again. The API has its own form of the answer: see ``config.api``."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, LimitReached):
            return None
        response = render(request, "429.html", {"message": exception.message}, status=429)
        response.headers["Retry-After"] = str(exception.seconds)
        return response


class ContentSecurityPolicy:
    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", settings.CONTENT_SECURITY_POLICY)
        return response
