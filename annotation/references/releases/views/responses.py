"""The page of one response: its ratings, its weights, and how the weights were computed."""

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.core.exports import objects_response
from annotation.core.views import MemberRequest, object_view
from annotation.datasets.lookups import response_or_404
from annotation.models import Response, Role
from annotation.references.releases.selectors.releases import newest_release
from annotation.references.releases.selectors.responses import (
    EXPLAINED_COLUMNS,
    RATING_COLUMNS,
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
        "sources": response.sources.select_related("system", "written_by", "mining_run__corpus"),
        "ratings": ratings,
        "n_counting": sum(logged.counts for logged in ratings),
        # Columns that would be empty from top to bottom are left out.
        "any_rated_as": any(logged.rating.rated_as_id for logged in ratings),
        "any_seed": any(logged.rating.presentation.order_seed is not None for logged in ratings),
        "weights": response_weights(response),
        "release": newest_release(response.item.dataset),
    }
    return render(request, "annotation/references/response_detail.html", context)


@require_GET
@object_view(response_or_404, Role.VIEWER)
def response_ratings_download(request: MemberRequest, response: Response, file_format: str) -> StreamingHttpResponse:
    return objects_response(
        file_format,
        f"response-{response.pk}-ratings",
        response_ratings(response),
        RATING_COLUMNS,
        {"seconds": "number", "order_seed": "whole"},
    )


@require_GET
@object_view(response_or_404, Role.VIEWER)
def response_weights_download(request: MemberRequest, response: Response, file_format: str) -> StreamingHttpResponse:
    """Download the weight in each finished release, and how it was computed."""
    return objects_response(
        file_format, f"response-{response.pk}-weights", response_weights(response), EXPLAINED_COLUMNS
    )
