"""The page of one response: every rating, every weight, and the way from one to the other."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from annotation.access import get_project_or_404
from annotation.exports import table_response
from annotation.models import Response
from annotation.selectors.datasets import latest_release
from annotation.selectors.responses import (
    EXPLAINED_COLUMNS,
    RATING_COLUMNS,
    explained_row,
    rating_row,
    response_ratings,
    response_weights,
)


@login_required
@require_GET
def response_detail(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug)
    response = get_object_or_404(
        Response.objects.select_related("item__dataset"), pk=pk, item__dataset__project=project
    )
    ratings = response_ratings(response)
    context = {
        "project": project,
        "response": response,
        "item": response.item,
        "dataset": response.item.dataset,
        "sources": response.sources.select_related("system", "mining_run__corpus"),
        "ratings": ratings,
        "n_counting": sum(logged.counts for logged in ratings),
        # Columns that would be empty from top to bottom are left out.
        "any_rated_as": any(logged.rating.rated_as_id for logged in ratings),
        "any_seed": any(logged.rating.presentation.order_seed is not None for logged in ratings),
        "weights": response_weights(response),
        "release": latest_release(response.item.dataset),
    }
    return render(request, "annotation/response_detail.html", context)


@login_required
@require_GET
def response_ratings_download(
    request: HttpRequest, project_slug: str, pk: int, file_format: str
) -> StreamingHttpResponse:
    project = get_project_or_404(request.user, project_slug)
    response = get_object_or_404(Response, pk=pk, item__dataset__project=project)
    rows = map(rating_row, response_ratings(response))
    types = {"seconds": "number", "order_seed": "whole"}
    filename = f"response-{pk}-ratings"
    return table_response(format=file_format, filename=filename, columns=RATING_COLUMNS, rows=rows, types=types)


@login_required
@require_GET
def response_weights_download(
    request: HttpRequest, project_slug: str, pk: int, file_format: str
) -> StreamingHttpResponse:
    """What it weighs in each finished release, and why."""
    project = get_project_or_404(request.user, project_slug)
    response = get_object_or_404(Response, pk=pk, item__dataset__project=project)
    rows = map(explained_row, response_weights(response))
    return table_response(format=file_format, filename=f"response-{pk}-weights", columns=EXPLAINED_COLUMNS, rows=rows)
