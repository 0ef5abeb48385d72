"""Add outputs of systems to a data set: the form, a preview, the button that stores it."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.core.errors import AnnotationError, ImportRefused
from annotation.core.kept_files import FileKeeper
from annotation.core.numbers import counted
from annotation.core.problems import listed, unlisted
from annotation.core.uploads import takes_uploads
from annotation.core.views import MemberRequest, object_view
from annotation.datasets.forms import OutputsForm
from annotation.datasets.lookups import dataset_or_404
from annotation.datasets.services.outputs import outputs_add, outputs_preview
from annotation.models import CampaignState, Dataset, Item, Role

STORE = "store"
EXAMPLE_ITEMS = 2


@require_http_methods(["GET", "POST"])
@object_view(dataset_or_404, Role.MANAGER)
@takes_uploads
def outputs_page(request: MemberRequest, dataset: Dataset) -> HttpResponse:
    """Show the form; then the same form below what the file would add, and a button that adds it."""
    keeper = FileKeeper(request.project, request.user)
    if request.method == "GET":
        return _page(request, dataset, OutputsForm(keeper=keeper))
    form = OutputsForm(request.POST, request.FILES, keeper=keeper)
    shown: dict[str, Any] = {}
    if form.is_valid():
        file = form.arguments()
        try:
            if request.POST.get("action") == STORE:
                added = outputs_add(dataset=dataset, by=request.user, **file)
                form.forget_file()
                names = listed(each.system for each in added.systems)
                messages.success(request, f"{counted(added.outputs, 'output')} of {names} added.")
                return redirect("annotation:dataset-detail", request.project.slug, dataset.slug)
            shown = {"preview": outputs_preview(dataset=dataset, **file), "filename": file["filename"]}
        except ImportRefused as error:
            shown = {"refusal": error, "more": unlisted(error.rows, error.total)}
        except AnnotationError as error:
            form.add_refusal(error)
    form.keep_file()
    return _page(request, dataset, form, **shown)


def _page(request: MemberRequest, dataset: Dataset, form: OutputsForm, **context: Any) -> HttpResponse:
    items = Item.objects.filter(dataset=dataset).order_by("position")
    context |= {
        "project": request.project,
        "dataset": dataset,
        "form": form,
        "examples": items.values_list("external_id", flat=True)[:EXAMPLE_ITEMS],
        "launched": dataset.campaigns.exclude(state=CampaignState.DRAFT).exists(),
    }
    return render(request, "annotation/datasets/dataset_outputs.html", context)
