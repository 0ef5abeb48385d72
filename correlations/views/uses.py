"""What rests on a response, as a page and as a section of the response's page."""

from typing import cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from annotation.access import get_project_or_404
from annotation.exports import table_response
from annotation.models import Response, User
from correlations.selectors.uses import USE_COLUMNS, response_uses, use_rows


@login_required
@require_GET
def response_uses_detail(request: HttpRequest, project_slug: str, pk: int) -> HttpResponseBase:
    project = get_project_or_404(cast(User, request.user), project_slug)
    responses = Response.objects.select_related("item__dataset")
    response = get_object_or_404(responses, pk=pk, item__dataset__project=project)
    uses = response_uses(response)
    if wanted := request.GET.get("format"):
        filename = f"response-{pk}-uses"
        return table_response(format=wanted, filename=filename, columns=USE_COLUMNS, rows=use_rows(uses))
    context = {
        "project": project,
        "response": response,
        "item": response.item,
        "dataset": response.item.dataset,
        "uses": uses,
        "csv_url": f"{request.path}?format=csv",
        "json_url": f"{request.path}?format=json",
    }
    is_part = bool(request.htmx)  # type: ignore[attr-defined] # set by django_htmx's middleware
    template = "correlations/parts/response_uses.html" if is_part else "correlations/response_uses.html"
    return render(request, template, context)
