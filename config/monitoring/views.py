"""The page that Prometheus reads."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from config.monitoring.installation import Installation


def metrics(request: HttpRequest) -> HttpResponse:
    """Return everything in Prometheus' text format, for the bearer of ``METRICS_TOKEN``; without that setting, 404."""
    if not settings.METRICS_TOKEN:
        raise Http404("METRICS_TOKEN is not set.")
    if not constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {settings.METRICS_TOKEN}"):
        message = "Accepted: the header Authorization: Bearer, and METRICS_TOKEN.\n"
        return HttpResponse(message, status=401, content_type="text/plain")
    registry = CollectorRegistry()
    registry.register(Installation())
    body = generate_latest(registry)
    if settings.MONITORING_DIR:
        processes = CollectorRegistry()
        MultiProcessCollector(processes, path=str(settings.MONITORING_DIR))  # type: ignore[no-untyped-call]
    else:
        processes = REGISTRY
    return HttpResponse(body + generate_latest(processes), content_type=CONTENT_TYPE_LATEST)
