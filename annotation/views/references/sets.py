"""Pages of reference sets, and the form of their next release."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
)
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import tasks
from annotation.access import get_project_or_404, may_manage
from annotation.errors import AnnotationError
from annotation.exports import table_response
from annotation.forms.references import (
    AddCampaignForm,
    ReferenceSetEditForm,
    ReferenceSetForm,
    ReleaseForm,
    WeightsUploadForm,
)
from annotation.models import Project, ReferenceSet, Release, Role
from annotation.selectors.browsing import (
    source_names,
)
from annotation.selectors.releases import reference_sets, releases
from annotation.selectors.sent_back import campaigns_to_join
from annotation.services.reference_sets import reference_set_add_campaign as add_campaign
from annotation.services.reference_sets import reference_set_create as create_reference_set
from annotation.services.reference_sets import reference_set_edit as edit_reference_set
from annotation.services.releases import release_create as create_release
from annotation.services.weights_imports import weights_import_create
from annotation.views.references.common import release_url, set_or_404

SET_COLUMNS = ("name", "slug", "dataset", "campaigns", "source_kinds", "source_systems", "finished_releases", "latest")
RELEASE_COLUMNS = (
    "number",
    "state",
    "method",
    "parameters",
    "exclusion_rules",
    "content_hash",
    "signature",
    "created_at",
    "requested_by",
    "report",
    "code_version",
    "deprecated_at",
    "deprecation_reason",
)


@login_required
@require_GET
def reference_set_list(request: HttpRequest, project_slug: str) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug)
    sets = reference_sets(project)
    if "format" in request.GET:
        rows = map(_set_row, sets)
        name = f"{project.slug}-reference-sets"
        return table_response(format=request.GET["format"], filename=name, columns=SET_COLUMNS, rows=rows)
    context = {"project": project, "sets": sets, "may_manage": may_manage(project)}
    return render(request, "annotation/reference_set_list.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def reference_set_create(request: HttpRequest, project_slug: str) -> HttpResponse:
    """The data set is chosen first, by its own small form: what can be a reference depends on it."""
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    datasets = list(project.datasets.order_by("name"))
    asked = request.GET.get("dataset") or (datasets[0].slug if len(datasets) == 1 else None)
    if asked is None:
        return render(request, "annotation/reference_set_form.html", {"project": project, "datasets": datasets})
    dataset = next((dataset for dataset in datasets if dataset.slug == asked), None)
    if dataset is None:
        raise Http404("No such data set in this project.")
    form = ReferenceSetForm(request.POST or None, dataset=dataset)
    if form.is_valid():
        try:
            made = create_reference_set(project=project, dataset=dataset, **form.asked())
        except AnnotationError as error:
            for name, texts in (error.fields or {"": [error.message]}).items():
                form.add_error(form.field_of(name), texts)
        else:
            messages.success(request, f"Reference set “{made}” is there. Build its first release next.")
            return redirect("annotation:reference-set-detail", project.slug, made.slug)
    context = {"project": project, "datasets": datasets, "dataset": dataset, "form": form}
    return render(request, "annotation/reference_set_form.html", context)


@login_required
@require_GET
def reference_set_detail(request: HttpRequest, project_slug: str, slug: str) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug)
    reference_set = set_or_404(project, slug)
    if "format" in request.GET:
        rows = map(_release_row, releases(reference_set))
        name = f"{project.slug}-{slug}-releases"
        return table_response(format=request.GET["format"], filename=name, columns=RELEASE_COLUMNS, rows=rows)
    return _render_set(request, project, reference_set, ReleaseForm(reference_set=reference_set))


@login_required
@require_POST
def release_create(request: HttpRequest, project_slug: str, slug: str) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    reference_set = set_or_404(project, slug)
    form = ReleaseForm(request.POST, reference_set=reference_set)
    if form.is_valid():
        try:
            release = create_release(reference_set=reference_set, by=request.user, **form.asked())
        except AnnotationError as error:
            form.add_error(None, error.message)
        else:
            tasks.release_build.delay_on_commit(release.pk)
            return redirect(release_url(project, release))
    return _render_set(request, project, reference_set, form, status=400)


@login_required
@require_http_methods(["GET", "POST"])
def reference_set_edit(request: HttpRequest, project_slug: str, slug: str) -> HttpResponse:
    """Name and description; what is a reference stays, since releases rest on it."""
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    reference_set = set_or_404(project, slug)
    about = {"name": reference_set.name, "description": reference_set.description}
    form = ReferenceSetEditForm(request.POST or None, initial=about)
    if request.method == "POST" and form.is_valid():
        try:
            edit_reference_set(reference_set=reference_set, by=request.user, **form.cleaned_data)
        except AnnotationError as error:
            for name, texts in (error.fields or {"": [error.message]}).items():
                form.add_error(name or None, texts)
        else:
            messages.success(request, "Saved.")
            return redirect("annotation:reference-set-detail", project.slug, slug)
    context = {"project": project, "reference_set": reference_set, "form": form}
    return render(request, "annotation/reference_set_edit.html", context, status=400 if form.errors else 200)


@login_required
@require_POST
def reference_set_add_campaign(request: HttpRequest, project_slug: str, slug: str) -> HttpResponse:
    """Later releases of the set read one more campaign."""
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    reference_set = set_or_404(project, slug)
    form = AddCampaignForm(request.POST, reference_set=reference_set)
    if form.is_valid():
        campaign = form.cleaned_data["campaign"]
        try:
            add_campaign(reference_set=reference_set, campaign=campaign, by=request.user)
        except AnnotationError as error:
            form.add_error("campaign", error.message)
        else:
            text = f"“{campaign}” was added. Releases there are keep the campaigns they were built with."
            messages.success(request, text)
            return redirect("annotation:reference-set-detail", project.slug, slug)
    release_form = ReleaseForm(reference_set=reference_set)
    return _render_set(request, project, reference_set, release_form, status=400, add_form=form)


@login_required
@require_http_methods(["GET", "POST"])
def reference_set_import(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Weights that were made elsewhere. The data set is chosen first: its items and texts are what the file names."""
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    datasets = list(project.datasets.order_by("name"))
    asked = request.GET.get("dataset") or (datasets[0].slug if len(datasets) == 1 else None)
    context: dict[str, object] = {"project": project, "datasets": datasets}
    if asked is None:
        return render(request, "annotation/reference_set_import.html", context)
    dataset = next((dataset for dataset in datasets if dataset.slug == asked), None)
    if dataset is None:
        raise Http404("No such data set in this project.")
    form = WeightsUploadForm(request.POST or None, request.FILES or None, dataset=dataset)
    context |= {"dataset": dataset, "form": form}
    if request.method == "POST" and form.is_valid():
        asked_for = dict(form.cleaned_data)
        file = asked_for.pop("file")
        try:
            job = weights_import_create(
                dataset=dataset, filename=file.name, content=file.read(), by=request.user, **asked_for
            )
        except AnnotationError as error:
            for name, texts in (error.fields or {"": [error.message]}).items():
                form.add_error(name if name in form.fields else None, texts)
        else:
            tasks.weights_import_execute.delay_on_commit(job.pk)
            return redirect("annotation:weights-import-detail", project.slug, job.pk)
    return render(request, "annotation/reference_set_import.html", context, status=400 if form.errors else 200)


def _render_set(
    request: HttpRequest,
    project: Project,
    reference_set: ReferenceSet,
    form: ReleaseForm,
    status: int = 200,
    add_form: AddCampaignForm | None = None,
) -> HttpResponse:
    context = {
        "project": project,
        "reference_set": reference_set,
        "campaigns": reference_set.campaigns.order_by("id"),
        "sources": source_names(reference_set),
        "originals": [*reference_set.original_kinds, *reference_set.original_systems],
        "releases": releases(reference_set),
        "form": form,
        "add_form": add_form or AddCampaignForm(reference_set=reference_set),
        "to_join": campaigns_to_join(reference_set),
        "may_manage": may_manage(project),
    }
    return render(request, "annotation/reference_set_detail.html", context, status=status)


def _set_row(reference_set: ReferenceSet) -> tuple[object, ...]:
    return (
        reference_set.name,
        reference_set.slug,
        reference_set.dataset.name,
        [campaign.name for campaign in reference_set.campaigns.all()],
        reference_set.source_kinds,
        reference_set.source_systems,
        reference_set.n_releases,
        reference_set.latest_number,
    )


def _release_row(release: Release) -> tuple[object, ...]:
    by = release.requested_by.get_username() if release.requested_by else None
    fields = (getattr(release, name) for name in RELEASE_COLUMNS[:8])
    return (*fields, by, release.report, release.code_version, release.deprecated_at, release.deprecation_reason)
