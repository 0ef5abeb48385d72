"""Pages that delete a data set or a campaign: what is deleted with it, and its name as confirmation."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from annotation.campaigns.lookups import campaign_or_404
from annotation.core.views import MemberRequest, object_view
from annotation.datasets.lookups import dataset_or_404
from annotation.models import Campaign, Dataset, Role
from annotation.projects.forms import DeletionForm
from annotation.removal.services import PAGE_ROWS, noun_of, removal_of, row_remove


@require_http_methods(["GET", "POST"])
@object_view(dataset_or_404, Role.OWNER)
def dataset_delete(request: MemberRequest, dataset: Dataset) -> HttpResponse:
    row_url = reverse("annotation:dataset-detail", args=[request.project.slug, dataset.slug])
    return _delete(request, dataset, row_url, "annotation:dataset-list")


@require_http_methods(["GET", "POST"])
@object_view(campaign_or_404, Role.OWNER)
def campaign_delete(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    row_url = reverse("annotation:campaign-detail", args=[request.project.slug, campaign.pk])
    return _delete(request, campaign, row_url, "annotation:campaign-list")


def _delete(request: MemberRequest, row: Dataset | Campaign, row_url: str, list_name: str) -> HttpResponse:
    noun, form = noun_of(row), DeletionForm(request.POST or None)
    form.fields["confirmation"].label = f"The {noun}'s name"
    if form.submit(row_remove, row=row, by=request.user, most=PAGE_ROWS):
        messages.success(request, f"“{row.name}” was deleted.")
        return redirect(list_name, request.project.slug)
    context = {
        "project": request.project,
        "row": row,
        "row_url": row_url,
        "noun": noun,
        "form": form,
        "removal": removal_of(row),
    }
    return render(request, "annotation/removal/row_delete.html", context)
