"""The uses of a response, as a page and as a section of the response's page."""

from django.http import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.core.exports import table_response
from annotation.core.views import MemberRequest, object_view
from annotation.datasets.lookups import response_or_404
from annotation.models import Response, Role
from correlations.selectors.uses import USE_COLUMNS, response_uses, use_rows


@require_GET
@object_view(response_or_404, Role.VIEWER)
def response_uses_detail(request: MemberRequest, response: Response) -> HttpResponseBase:
    uses = response_uses(response)
    if file_format := request.GET.get("format"):
        filename = f"response-{response.pk}-uses"
        return table_response(format=file_format, filename=filename, columns=USE_COLUMNS, rows=use_rows(uses))
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
