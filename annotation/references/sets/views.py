"""Pages of reference sets, and the form of their next release."""

from typing import Any

from django.contrib import messages
from django.http import (
    Http404,
    HttpResponse,
    HttpResponseBase,
)
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.core.access import may_manage
from annotation.core.errors import AnnotationError
from annotation.core.exports import table_response
from annotation.core.views import MemberRequest, object_view, project_view
from annotation.models import ReferenceSet, Release, Role
from annotation.references import tasks
from annotation.references.browsing.selectors.references import source_names
from annotation.references.releases.forms import (
    AddCampaignForm,
    ReferenceSetEditForm,
    ReferenceSetForm,
    ReleaseForm,
    WeightsUploadForm,
)
from annotation.references.releases.selectors.releases import reference_sets, releases
from annotation.references.releases.services.releases import release_create as create_release
from annotation.references.releases.services.weights_imports import weights_import_create
from annotation.references.sets.access import release_url, set_or_404
from annotation.references.sets.selectors import campaigns_to_join
from annotation.references.sets.services import reference_set_add_campaign as add_campaign
from annotation.references.sets.services import reference_set_create as create_reference_set
from annotation.references.sets.services import reference_set_edit as edit_reference_set

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


@require_GET
@project_view(Role.VIEWER)
def reference_set_list(request: MemberRequest) -> HttpResponseBase:
    project = request.project
    sets = reference_sets(project)
    if "format" in request.GET:
        rows = map(_set_row, sets)
        name = f"{project.slug}-reference-sets"
        return table_response(format=request.GET["format"], filename=name, columns=SET_COLUMNS, rows=rows)
    context = {"project": project, "sets": sets, "may_manage": may_manage(project)}
    return render(request, "annotation/references/reference_set_list.html", context)


@require_http_methods(["GET", "POST"])
@project_view(Role.MANAGER)
def reference_set_create(request: MemberRequest) -> HttpResponse:
    """The data set is chosen first, by its own small form: what can be a reference depends on it."""
    project = request.project
    datasets = list(project.datasets.order_by("name"))
    asked = request.GET.get("dataset") or (datasets[0].slug if len(datasets) == 1 else None)
    if asked is None:
        return render(
            request, "annotation/references/reference_set_form.html", {"project": project, "datasets": datasets}
        )
    dataset = next((dataset for dataset in datasets if dataset.slug == asked), None)
    if dataset is None:
        raise Http404("No such data set in this project.")
    form = ReferenceSetForm(request.POST or None, dataset=dataset)
    if form.is_valid():
        try:
            made = create_reference_set(project=project, dataset=dataset, **form.asked())
        except AnnotationError as error:
            form.add_refusal(error)
        else:
            messages.success(request, f"Created the reference set “{made}”. Build its first release next.")
            return redirect("annotation:reference-set-detail", project.slug, made.slug)
    context = {"project": project, "datasets": datasets, "dataset": dataset, "form": form}
    return render(request, "annotation/references/reference_set_form.html", context)


@require_GET
@object_view(set_or_404, Role.VIEWER)
def reference_set_detail(request: MemberRequest, reference_set: ReferenceSet) -> HttpResponseBase:
    if "format" in request.GET:
        rows = map(_release_row, releases(reference_set))
        name = f"{request.project.slug}-{reference_set.slug}-releases"
        return table_response(format=request.GET["format"], filename=name, columns=RELEASE_COLUMNS, rows=rows)
    return _render_set(request, reference_set, ReleaseForm(reference_set=reference_set))


@require_POST
@object_view(set_or_404, Role.MANAGER)
def release_create(request: MemberRequest, reference_set: ReferenceSet) -> HttpResponse:
    form = ReleaseForm(request.POST, reference_set=reference_set)
    if form.is_valid():
        try:
            release = create_release(reference_set=reference_set, by=request.user, **form.asked())
        except AnnotationError as error:
            form.add_refusal(error)
        else:
            tasks.release_build.delay_on_commit(release.pk)
            return redirect(release_url(request.project, release))
    return _render_set(request, reference_set, form, status=400)


@require_http_methods(["GET", "POST"])
@object_view(set_or_404, Role.MANAGER)
def reference_set_edit(request: MemberRequest, reference_set: ReferenceSet) -> HttpResponse:
    """Name and description; what is a reference stays, since releases rest on it."""
    about = {"name": reference_set.name, "description": reference_set.description}
    form = ReferenceSetEditForm(request.POST or None, initial=about)
    if request.method == "POST" and form.is_valid():
        try:
            edit_reference_set(reference_set=reference_set, by=request.user, **form.cleaned_data)
        except AnnotationError as error:
            form.add_refusal(error)
        else:
            messages.success(request, "Saved.")
            return redirect("annotation:reference-set-detail", request.project.slug, reference_set.slug)
    context = {"project": request.project, "reference_set": reference_set, "form": form}
    return render(request, "annotation/references/reference_set_edit.html", context, status=400 if form.errors else 200)


@require_POST
@object_view(set_or_404, Role.MANAGER)
def reference_set_add_campaign(request: MemberRequest, reference_set: ReferenceSet) -> HttpResponse:
    """Later releases of the set read one more campaign."""
    form = AddCampaignForm(request.POST, reference_set=reference_set)
    if form.is_valid():
        campaign = form.cleaned_data["campaign"]
        try:
            add_campaign(reference_set=reference_set, campaign=campaign, by=request.user)
        except AnnotationError as error:
            form.add_refusal(error)
        else:
            text = f"“{campaign}” was added. Releases there are keep the campaigns they were built with."
            messages.success(request, text)
            return redirect("annotation:reference-set-detail", request.project.slug, reference_set.slug)
    release_form = ReleaseForm(reference_set=reference_set)
    return _render_set(request, reference_set, release_form, status=400, add_form=form)


@require_http_methods(["GET", "POST"])
@project_view(Role.MANAGER)
def reference_set_import(request: MemberRequest) -> HttpResponse:
    """Weights that were made elsewhere. The data set is chosen first: its items and texts are what the file names."""
    datasets = list(request.project.datasets.order_by("name"))
    asked = request.GET.get("dataset") or (datasets[0].slug if len(datasets) == 1 else None)
    context: dict[str, object] = {"project": request.project, "datasets": datasets}
    if asked is None:
        return render(request, "annotation/references/reference_set_import.html", context)
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
            form.add_refusal(error)
        else:
            tasks.weights_import_execute.delay_on_commit(job.pk)
            return redirect("annotation:weights-import-detail", request.project.slug, job.pk)
    return render(
        request, "annotation/references/reference_set_import.html", context, status=400 if form.errors else 200
    )


def _render_set(
    request: MemberRequest,
    reference_set: ReferenceSet,
    form: ReleaseForm,
    status: int = 200,
    add_form: AddCampaignForm | None = None,
) -> HttpResponse:
    context = {
        "project": request.project,
        "reference_set": reference_set,
        "campaigns": reference_set.campaigns.order_by("id"),
        "sources": source_names(reference_set),
        "originals": [*reference_set.original_kinds, *reference_set.original_systems],
        "releases": releases(reference_set),
        "form": form,
        "add_form": add_form or AddCampaignForm(reference_set=reference_set),
        "to_join": campaigns_to_join(reference_set),
        "may_manage": may_manage(request.project),
    }
    return render(request, "annotation/references/reference_set_detail.html", context, status=status)


def _set_row(reference_set: Any) -> tuple[object, ...]:
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
