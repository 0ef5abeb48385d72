"""The uses of a response, as a page and as a section of the response's page."""

from django.http import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.core.exports import Column, objects_response
from annotation.core.views import MemberRequest, object_view
from annotation.datasets.lookups import response_or_404
from annotation.models import Response, Role
from annotation.references.releases.selectors.releases import release_name
from correlations.selectors.uses import response_uses

COLUMNS: dict[str, Column] = {
    "release": lambda use: release_name(use.release),
    "deprecated": lambda use: use.release.deprecated_at is not None,
    "kind": "kind",
    "id": "number",
    "name": "name",
    "state": "state",
    "created_at": "created_at",
}


@require_GET
@object_view(response_or_404, Role.VIEWER)
def response_uses_detail(request: MemberRequest, response: Response) -> HttpResponseBase:
    uses = response_uses(response)
    if file_format := request.GET.get("format"):
        return objects_response(file_format, f"response-{response.pk}-uses", uses, COLUMNS)
    context = {
        "project": request.project,
        "response": response,
        "item": response.item,
        "dataset": response.item.dataset,
        "uses": uses,
        "csv_url": f"{request.path}?format=csv",
        "json_url": f"{request.path}?format=json",
    }
    template = "correlations/parts/response_uses.html" if request.htmx else "correlations/response_uses.html"
    return render(request, template, context)
