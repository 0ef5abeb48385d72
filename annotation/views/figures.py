"""Charts as answers: a specification for the browser, or a picture to keep."""

from collections.abc import Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse

from annotation import charts


def chart_theme(request: HttpRequest) -> charts.Theme:
    return "dark" if request.GET.get("theme") == "dark" else "light"


def picture_response(specification: Mapping[str, Any], kind: str, name: str) -> HttpResponse:
    if kind not in charts.PICTURE_TYPES:
        raise Http404(f"No figure as {kind!r}; there are json, {', '.join(charts.PICTURE_TYPES)}.")
    response = HttpResponse(charts.picture_of(specification, kind), content_type=charts.PICTURE_TYPES[kind])
    response["Content-Disposition"] = f'inline; filename="{name}.{kind}"'
    return response
