"""Data sets: the list, one with its items, its downloads."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import get_in_project_or_404, get_project_or_404
from annotation.exports import table_response
from annotation.forms.datasets import DatasetEditForm
from annotation.models import Dataset, JobState, Role
from annotation.parameters import whole_number
from annotation.selectors import datasets as selectors
from annotation.selectors.seeds import has_seeds
from annotation.services import datasets as services
from annotation.services.imports import report_rows


@login_required
@require_GET
def dataset_list(request: HttpRequest, project_slug: str) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug)
    datasets = selectors.datasets_of(project)
    if wanted := request.GET.get("format"):
        rows = ((d.name, d.slug, d.n_items, d.n_systems, d.language, d.licence, d.created_at) for d in datasets)
        columns = ["dataset", "slug", "items", "systems", "language", "licence", "created"]
        return table_response(format=wanted, filename=f"{project.slug}-datasets", columns=columns, rows=rows)
    unfinished = project.dataset_imports.exclude(state=JobState.DONE).defer("content", "report")[:10]
    context = {"project": project, "datasets": datasets, "imports": unfinished}
    return render(request, "annotation/dataset_list.html", context)


@login_required
@require_GET
def dataset_detail(request: HttpRequest, project_slug: str, dataset_slug: str) -> HttpResponse:
    """Facts, systems, what the import found, and the items: searched and paged in place."""
    project = get_project_or_404(request.user, project_slug)
    dataset = get_in_project_or_404(Dataset.objects, project, slug=dataset_slug)
    search = request.GET.get("q", "").replace("\x00", "").strip()
    page = selectors.item_page(
        dataset, search=search, after=whole_number(request, "after"), before=whole_number(request, "before")
    )
    context = {"project": project, "dataset": dataset, "page": page, "search": search}
    if request.htmx:  # type: ignore[attr-defined] # set by its middleware
        return render(request, "annotation/item_rows.html", context)
    source = dataset.imports.filter(state=JobState.DONE).defer("content").first()
    context |= {
        "facts": selectors.dataset_facts(dataset),
        "source": source,
        "report": report_rows(source.report.get("counts", {})) if source else [],
        "has_seeds": has_seeds(dataset),
        "campaigns": dataset.campaigns.order_by("-pk"),
    }
    return render(request, "annotation/dataset_detail.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def dataset_edit(request: HttpRequest, project_slug: str, dataset_slug: str) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    dataset = get_in_project_or_404(Dataset.objects, project, slug=dataset_slug)
    fields = DatasetEditForm.Meta.fields
    form = DatasetEditForm(request.POST or None, initial={name: getattr(dataset, name) for name in fields})
    if request.method == "POST" and form.is_valid():
        services.dataset_update(dataset=dataset, **form.cleaned_data)
        messages.success(request, "Saved.")
        return redirect("annotation:dataset-detail", project.slug, dataset.slug)
    return render(request, "annotation/dataset_edit.html", {"project": project, "dataset": dataset, "form": form})


@login_required
@require_GET
def dataset_download(
    request: HttpRequest,
    project_slug: str,
    dataset_slug: str,
    table: str,
    format: str,  # noqa: A002 - the word in the address
) -> HttpResponse:
    """One of the tables of a data set, whole."""
    project = get_project_or_404(request.user, project_slug)
    dataset = get_in_project_or_404(Dataset.objects, project, slug=dataset_slug)
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
