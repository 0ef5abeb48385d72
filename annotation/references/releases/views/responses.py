"""The page of one response: every rating, every weight, and the way from one to the other."""

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.core.exports import table_response
from annotation.core.views import MemberRequest, object_view
from annotation.datasets.lookups import response_or_404
from annotation.models import Response, Role
from annotation.references.browsing.selectors.items import latest_release
from annotation.references.releases.selectors.responses import (
    EXPLAINED_COLUMNS,
    RATING_COLUMNS,
    explained_row,
    rating_row,
    response_ratings,
    response_weights,
)


@require_GET
@object_view(response_or_404, Role.VIEWER)
def response_detail(request: MemberRequest, response: Response) -> HttpResponse:
    ratings = response_ratings(response)
    context = {
        "project": request.project,
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
    return render(request, "annotation/references/response_detail.html", context)


@require_GET
@object_view(response_or_404, Role.VIEWER)
def response_ratings_download(request: MemberRequest, response: Response, file_format: str) -> StreamingHttpResponse:
    rows = map(rating_row, response_ratings(response))
    types = {"seconds": "number", "order_seed": "whole"}
    filename = f"response-{response.pk}-ratings"
    return table_response(format=file_format, filename=filename, columns=RATING_COLUMNS, rows=rows, types=types)


@require_GET
@object_view(response_or_404, Role.VIEWER)
def response_weights_download(request: MemberRequest, response: Response, file_format: str) -> StreamingHttpResponse:
    """What it weighs in each finished release, and why."""
    rows = map(explained_row, response_weights(response))
    return table_response(
        format=file_format, filename=f"response-{response.pk}-weights", columns=EXPLAINED_COLUMNS, rows=rows
    )
