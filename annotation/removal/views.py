"""Pages that delete a data set or a campaign: what is deleted with it, and its name as confirmation."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotation.campaigns.lookups import campaign_or_404
from annotation.core.access import get_in_project_or_404
from annotation.core.job_views import job_part
from annotation.core.views import MemberRequest, object_view
from annotation.datasets.lookups import dataset_or_404
from annotation.models import Campaign, DataDeletion, Dataset, Project, Role
from annotation.projects.forms import DeletionForm
from annotation.removal.services import deletion_request, noun_of, removal_of
from annotation.removal.tasks import data_delete

LISTS = {"data set": "annotation:dataset-list", "campaign": "annotation:campaign-list"}


@require_http_methods(["GET", "POST"])
@object_view(dataset_or_404, Role.OWNER)
def dataset_delete(request: MemberRequest, dataset: Dataset) -> HttpResponse:
    row_url = reverse("annotation:dataset-detail", args=[request.project.slug, dataset.slug])
    return _delete(request, dataset, row_url)


@require_http_methods(["GET", "POST"])
@object_view(campaign_or_404, Role.OWNER)
def campaign_delete(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    row_url = reverse("annotation:campaign-detail", args=[request.project.slug, campaign.pk])
    return _delete(request, campaign, row_url)


def _delete(request: MemberRequest, row: Dataset | Campaign, row_url: str) -> HttpResponse:
    noun, form = noun_of(row), DeletionForm(request.POST or None)
    form.fields["confirmation"].label = f"The {noun}'s name"
    if deletion := form.submit(deletion_request, row=row, by=request.user):
        data_delete.delay_on_commit(deletion.pk)
        return redirect("annotation:deletion-detail", request.project.slug, deletion.pk)
    context = {
        "project": request.project,
        "row": row,
        "row_url": row_url,
        "noun": noun,
        "form": form,
        "removal": removal_of(row),
    }
    return render(request, "annotation/removal/row_delete.html", context)


def _deletion_or_404(project: Project, pk: int) -> DataDeletion:
    return get_in_project_or_404(DataDeletion.objects.select_related("dataset", "campaign"), project, pk=pk)


@require_GET
@object_view(_deletion_or_404, Role.VIEWER)
def deletion_detail(request: MemberRequest, deletion: DataDeletion) -> HttpResponse:
    """Show a deletion that waits or runs, and then what went."""
    slug, row_url, again_url = request.project.slug, "", ""
    if deletion.dataset is not None:
        row_url = reverse("annotation:dataset-detail", args=[slug, deletion.dataset.slug])
        again_url = reverse("annotation:dataset-delete", args=[slug, deletion.dataset.slug])
    elif deletion.campaign is not None:
        row_url = reverse("annotation:campaign-detail", args=[slug, deletion.campaign.pk])
        again_url = reverse("annotation:campaign-delete", args=[slug, deletion.campaign.pk])
    context = {
        "project": request.project,
        "job": deletion,
        "row_url": row_url,
        "again_url": again_url if request.membership.role == Role.OWNER else "",
        "list_url": reverse(LISTS[deletion.noun], args=[slug]),
    }
    if request.htmx:
        return job_part(request, deletion, "annotation/removal/deletion_status.html", context)
    return render(request, "annotation/removal/deletion_detail.html", context)
