"""Data sets: the list, one with its items, its downloads."""

from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from annotation.core.exports import table_response
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, object_view, project_view
from annotation.datasets.forms import DatasetEditForm
from annotation.datasets.lookups import dataset_or_404
from annotation.datasets.selectors import datasets as selectors
from annotation.datasets.selectors.datasets import has_seeds
from annotation.datasets.services import datasets as services
from annotation.datasets.services.report import report_rows
from annotation.models import Dataset, JobState, Role


@require_GET
@project_view(Role.VIEWER)
def dataset_list(request: MemberRequest) -> HttpResponseBase:
    project = request.project
    datasets: QuerySet[Any] = selectors.datasets_of(project)
    if wanted := request.GET.get("format"):
        rows = ((d.name, d.slug, d.n_items, d.n_systems, d.language, d.licence, d.created_at) for d in datasets)
        columns = ["dataset", "slug", "items", "systems", "language", "licence", "created"]
        return table_response(format=wanted, filename=f"{project.slug}-datasets", columns=columns, rows=rows)
    unfinished = project.dataset_imports.exclude(state=JobState.DONE).defer("content", "report")[:10]
    context = {"project": project, "datasets": datasets, "imports": unfinished}
    return render(request, "annotation/datasets/dataset_list.html", context)


@require_GET
@object_view(dataset_or_404, Role.VIEWER)
def dataset_detail(request: MemberRequest, dataset: Dataset) -> HttpResponse:
    """Facts, systems, what the import found, and the items: searched and paged in place."""
    search = request.GET.get("q", "").replace("\x00", "").strip()
    page = selectors.item_page(
        dataset, search=search, after=whole_number(request, "after"), before=whole_number(request, "before")
    )
    context = {"project": request.project, "dataset": dataset, "page": page, "search": search}
    if request.htmx:
        return render(request, "annotation/datasets/item_rows.html", context)
    source = dataset.imports.filter(state=JobState.DONE).defer("content").first()
    context |= {
        "facts": selectors.dataset_facts(dataset),
        "source": source,
        "report": report_rows(source.report.get("counts", {})) if source else [],
        "has_seeds": has_seeds(dataset),
        "campaigns": dataset.campaigns.order_by("-pk"),
    }
    return render(request, "annotation/datasets/dataset_detail.html", context)


@require_http_methods(["GET", "POST"])
@object_view(dataset_or_404, Role.MANAGER)
def dataset_edit(request: MemberRequest, dataset: Dataset) -> HttpResponse:
    fields = DatasetEditForm.Meta.fields
    form = DatasetEditForm(request.POST or None, initial={name: getattr(dataset, name) for name in fields})
    if request.method == "POST" and form.is_valid():
        services.dataset_update(dataset=dataset, **form.cleaned_data)
        messages.success(request, "Saved.")
        return redirect("annotation:dataset-detail", request.project.slug, dataset.slug)
    return render(
        request, "annotation/datasets/dataset_edit.html", {"project": request.project, "dataset": dataset, "form": form}
    )


@require_GET
@object_view(dataset_or_404, Role.VIEWER)
def dataset_download(
    request: MemberRequest,
    dataset: Dataset,
    table: str,
    format: str,  # noqa: A002 - the word in the address
) -> HttpResponseBase:
    """One of the tables of a data set, whole."""
    columns: tuple[str, ...]
    if table == "items":
        columns, rows = selectors.ITEM_COLUMNS, selectors.item_table(dataset)
    elif table == "responses":
        columns, rows = selectors.RESPONSE_COLUMNS, selectors.response_table(dataset)
    elif table == "systems":
        columns = ("system", "outputs", "identical_to_another_system")
        rows = iter((row.system.name, row.outputs, row.shared) for row in selectors.dataset_facts(dataset).systems)
    else:
        raise Http404(f"No table {table!r}; there are items, responses and systems.")
    return table_response(format=format, filename=f"{dataset.slug}-{table}", columns=columns, rows=rows)
