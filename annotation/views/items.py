"""One item and everything known about its responses."""

from collections.abc import Iterator

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from annotation.access import get_in_project_or_404, get_project_or_404
from annotation.exports import table_response
from annotation.models import Dataset, Item
from annotation.selectors import datasets as selectors

COLUMNS = ("response", "text", "systems", "kinds", "weight", "campaign", "criterion", "mean", "ratings")


@login_required
@require_GET
def item_detail(request: HttpRequest, project_slug: str, dataset_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug)
    dataset = get_in_project_or_404(Dataset.objects, project, slug=dataset_slug)
    item = get_object_or_404(Item, dataset=dataset, pk=pk)
    responses = selectors.item_responses(item, dataset)
    if wanted := request.GET.get("format"):
        filename = f"{dataset.slug}-item-{item.position}"
        return table_response(format=wanted, filename=filename, columns=COLUMNS, rows=_rows(responses))
    context = {
        "project": project,
        "dataset": dataset,
        "item": item,
        "responses": responses,
        "previous": Item.objects.filter(dataset=dataset, position__lt=item.position).order_by("-position").first(),
        "following": Item.objects.filter(dataset=dataset, position__gt=item.position).order_by("position").first(),
    }
    return render(request, "annotation/item_detail.html", context)


def _rows(responses: selectors.ItemResponses) -> Iterator[tuple[object, ...]]:
    """A row for each mean of each response; one without means where nobody rated it."""
    for row in responses.all:
        known = (
            row.response.pk,
            row.response.text,
            ", ".join(row.systems),
            ", ".join(source.kind for source in row.kinds),
            row.weight.weight if row.weight else None,
        )
        for mean in row.ratings:
            yield *known, mean.campaign, mean.criterion, mean.mean, mean.n
        if not row.ratings:
            yield *known, None, None, None, 0
