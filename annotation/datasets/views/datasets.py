"""Data sets: the list, a data set with its items, its downloads."""

from typing import Any

from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotation.core.access import may_manage
from annotation.core.exports import CONTENT_TYPES, file_response, objects_response
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, object_view, project_view
from annotation.datasets.forms import DatasetEditForm
from annotation.datasets.lookups import dataset_or_404
from annotation.datasets.selectors import datasets as selectors
from annotation.datasets.selectors.onward import numbers_left
from annotation.datasets.services.datasets import DESCRIBED, dataset_update
from annotation.datasets.services.export import dataset_chunks, dataset_hash
from annotation.datasets.services.report import report_rows
from annotation.models import Dataset, JobState, Role
from annotation.projects.services.editing import columns_of, version_of

COLUMNS = {
    "dataset": "name",
    "slug": "slug",
    "items": "n_items",
    "systems": "n_systems",
    "language": "language",
    "licence": "licence",
    "created": "created_at",
}


@require_GET
@project_view(Role.VIEWER)
def dataset_list(request: MemberRequest) -> HttpResponseBase:
    project = request.project
    datasets: QuerySet[Any] = selectors.datasets_of(project)
    if file_format := request.GET.get("format"):
        return objects_response(file_format, f"{project.slug}-datasets", datasets, COLUMNS)
    unfinished = project.dataset_imports.exclude(state=JobState.DONE).defer("content", "report")
    unfinished = unfinished.annotate(is_draft=Q(state=JobState.CANCELLED, report__has_key="look"))[:10]
    import_url = reverse("annotation:dataset-import", args=[project.slug]) if may_manage(project) else ""
    context = {"project": project, "datasets": datasets, "imports": unfinished, "import_url": import_url}
    return render(request, "annotation/datasets/dataset_list.html", context)


@require_GET
@object_view(dataset_or_404, Role.VIEWER)
def dataset_detail(request: MemberRequest, dataset: Dataset) -> HttpResponse:
    """Show facts, systems, the counts of the import, and the items, which are searched and paged in place."""
    search = request.GET.get("q", "").replace("\x00", "").strip()
    page = selectors.item_page(
        dataset, search=search, after=whole_number(request, "after"), before=whole_number(request, "before")
    )
    context = {"project": request.project, "dataset": dataset, "page": page, "search": search}
    if request.htmx:
        return render(request, "annotation/datasets/item_rows.html", context)
    source = dataset.imports.filter(state=JobState.DONE).defer("content").first()
    facts = selectors.dataset_facts(dataset)
    context |= {
        "facts": facts,
        "systems_hint": selectors.systems_hint(dataset, facts.systems),
        "content_hash": dataset.content_hash or dataset_hash(dataset),
        "source": source,
        "numbers": numbers_left(dataset, source),
        "report": report_rows(source.report.get("counts", {})) if source else [],
        "has_seeds": selectors.has_seeds(dataset),
        "campaigns": dataset.campaigns.order_by("-pk"),
    }
    return render(request, "annotation/datasets/dataset_detail.html", context)


@require_http_methods(["GET", "POST"])
@object_view(dataset_or_404, Role.MANAGER)
def dataset_edit(request: MemberRequest, dataset: Dataset) -> HttpResponse:
    about = columns_of(dataset, DESCRIBED)
    form = DatasetEditForm(request.POST or None, initial=about | {"version": version_of(about)})
    if form.submit(dataset_update, dataset=dataset, by=request.user):
        messages.success(request, "Saved.")
        return redirect("annotation:dataset-detail", request.project.slug, dataset.slug)
    context = {"project": request.project, "dataset": dataset, "form": form}
    return render(request, "annotation/datasets/dataset_edit.html", context)


@require_GET
@object_view(dataset_or_404, Role.VIEWER)
def dataset_download(
    request: MemberRequest,
    dataset: Dataset,
    table: str,
    format: str,  # noqa: A002 - the word in the address
) -> HttpResponseBase:
    """Download a table of the data set."""
    if table not in selectors.TABLES:
        raise Http404(f"No table {table!r}; there are {', '.join(selectors.TABLES)}.")
    columns, objects = selectors.TABLES[table]
    return objects_response(format, f"{dataset.slug}-{table}", objects(dataset), columns)


@require_GET
@object_view(dataset_or_404, Role.VIEWER)
def dataset_export(request: MemberRequest, dataset: Dataset) -> HttpResponseBase:
    """Download the data set in the format that it is imported in."""
    return file_response(dataset_chunks(dataset), CONTENT_TYPES["jsonl"], f"{dataset.slug}.jsonl")
