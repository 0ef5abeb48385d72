"""Charts as responses: a specification for the browser, or a file."""

from collections.abc import Sequence

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.utils.http import content_disposition_header

from annotation.core.charts import MEDIA_TYPES, Spec, Theme, render


def chart_theme(request: HttpRequest) -> Theme:
    return "dark" if request.GET.get("theme") == "dark" else "light"


def chart_urls(url_name: str, args: Sequence[object], query: str = "") -> dict[str, str]:
    """Return the addresses of a chart's specification and pictures, for ``components/chart.html``.

    ``args`` are those of the address, without the format, which comes last.
    """
    formats = {"spec_url": "json", "svg_url": "svg", "png_url": "png", "pdf_url": "pdf"}
    return {name: reverse(url_name, args=[*args, kind]) + query for name, kind in formats.items()}


def chart_response(specification: Spec, file_format: str, name: str) -> HttpResponse:
    """Return a specification as JSON, or drawn in a format of ``MEDIA_TYPES``; other formats are a 404."""
    if file_format == "json":
        return JsonResponse(specification)
    if file_format not in MEDIA_TYPES:
        raise Http404(f"No chart as {file_format!r}; there are json, {', '.join(MEDIA_TYPES)}.")
    response = HttpResponse(render(specification, file_format), content_type=MEDIA_TYPES[file_format])
    response["Content-Disposition"] = content_disposition_header(True, f"{name}.{file_format}")
    return response
