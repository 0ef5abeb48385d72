"""How long web takes to answer, by the kind of request.

Each process counts in a file of ``settings.MONITORING_DIR``, and any of them answers for all of its host.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from prometheus_client import Histogram

SUBMIT, HAND_OUT, RATER, API, PAGE = "submit", "hand_out", "rater", "api", "page"
_BY_NAME = {"rater-submit": SUBMIT, "rater-work": HAND_OUT, "rater-begin": HAND_OUT, "rater-result": HAND_OUT}
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds

SECONDS = Histogram(
    "assay_request_seconds", "Seconds until web answered a request.", ["what", "status"], buckets=BUCKETS
)


def observe(request: HttpRequest, response: HttpResponse, seconds: float) -> None:
    SECONDS.labels(kind_of(request), f"{response.status_code // 100}xx").observe(seconds)


def kind_of(request: HttpRequest) -> str:
    """Return what a request asks for: an answer and the next screen, a screen, another page of raters, API or page."""
    name = request.resolver_match.url_name if request.resolver_match else None
    if name in _BY_NAME:
        return _BY_NAME[name]
    if name and name.startswith("rater-"):
        return RATER
    return API if request.path.startswith("/api/") else PAGE
