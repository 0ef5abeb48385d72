"""The page of an item and its responses."""

from collections.abc import Iterator
from typing import Any

from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotation.core.exports import table_response
from annotation.core.views import MemberRequest, object_view
from annotation.datasets.lookups import dataset_or_404
from annotation.models import Dataset, Item, Role
from annotation.references.browsing.selectors import items as selectors

COLUMNS = ("response", "text", "systems", "kinds", "weight", "campaign", "criterion", "mean", "ratings")


@require_GET
@object_view(dataset_or_404, Role.VIEWER)
def item_detail(request: MemberRequest, dataset: Dataset, pk: int) -> HttpResponseBase:
    item = get_object_or_404(Item, dataset=dataset, pk=pk)
    responses = selectors.item_responses(item, dataset)
    if file_format := request.GET.get("format"):
        filename = f"{dataset.slug}-item-{item.position}"
        return table_response(format=file_format, filename=filename, columns=COLUMNS, rows=_rows(responses))
    context: dict[str, Any] = {
        "project": request.project,
        "dataset": dataset,
        "item": item,
        "responses": responses,
        "previous": Item.objects.filter(dataset=dataset, position__lt=item.position).order_by("-position").first(),
        "following": Item.objects.filter(dataset=dataset, position__gt=item.position).order_by("position").first(),
    }
    if release := responses.release:
        address = [request.project.slug, release.reference_set.slug, release.number]
        playground = reverse("metrics:playground", args=[request.project.slug])
        context |= {
            "release_url": reverse("annotation:release-detail", args=address),
            "explained_url": reverse("metrics:release-item", args=[*address, item.pk]),
            "playground_url": f"{playground}?item={item.pk}&release={release.pk}",
        }
    return render(request, "annotation/datasets/item_detail.html", context)


def _rows(responses: selectors.ItemResponses) -> Iterator[tuple[object, ...]]:
    """Yield a row for each mean of each response, or one row for a response without ratings."""
    for row in responses.all:
        cells = (
            row.response.pk,
            row.response.text,
            ", ".join(row.systems),
            ", ".join(source.kind for source in row.kinds),
            row.weight.weight if row.weight else None,
        )
        for mean in row.ratings:
            yield *cells, mean.campaign, mean.criterion, mean.mean, mean.n
        if not row.ratings:
            yield *cells, None, None, None, 0
