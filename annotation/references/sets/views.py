"""Pages of reference sets, and the form of their next release."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.campaigns.rated import raters_of_references
from annotation.campaigns.selectors import plain_campaigns
from annotation.core.access import may_manage
from annotation.core.errors import AnnotationError
from annotation.core.exports import Column, objects_response
from annotation.core.kept_files import FileKeeper
from annotation.core.uploads import takes_uploads
from annotation.core.views import MemberRequest, object_view, project_view
from annotation.datasets.lookups import chosen_dataset
from annotation.datasets.views.imports import again_initial
from annotation.models import ReferenceSet, Role, WeightsImport
from annotation.projects.services.editing import columns_of, version_of
from annotation.references import tasks
from annotation.references.releases.forms import (
    AddCampaignForm,
    ReferenceSetEditForm,
    ReferenceSetForm,
    ReleaseForm,
    WeightsUploadForm,
)
from annotation.references.releases.selectors.releases import reference_sets, releases
from annotation.references.releases.services.equal_weights import equal_weights_create
from annotation.references.releases.services.imports import weights_import_create
from annotation.references.releases.services.releases import release_create as create_release
from annotation.references.sets.access import release_url, set_or_404
from annotation.references.sets.selectors import campaigns_to_join, equal_weights_name
from annotation.references.sets.services import DESCRIBED
from annotation.references.sets.services import reference_set_add_campaign as add_campaign
from annotation.references.sets.services import reference_set_create as create_reference_set
from annotation.references.sets.services import reference_set_edit as edit_reference_set

SET_COLUMNS: dict[str, Column] = {
    "name": "name",
    "slug": "slug",
    "dataset": "dataset.name",
    "campaigns": lambda reference_set: [campaign.name for campaign in reference_set.campaigns.all()],
    "source_kinds": "source_kinds",
    "source_systems": "source_systems",
    "finished_releases": "n_releases",
    "latest": "latest_number",
}
RELEASE_COLUMNS = {
    "number": "number",
    "state": "state",
    "method": "method",
    "parameters": "parameters",
    "exclusion_rules": "exclusion_rules",
    "content_hash": "content_hash",
    "signature": "signature",
    "created_at": "created_at",
    "requested_by": "requested_by",
    "report": "report",
    "code_version": "code_version",
    "deprecated_at": "deprecated_at",
    "deprecation_reason": "deprecation_reason",
}


@require_GET
@project_view(Role.VIEWER)
def reference_set_list(request: MemberRequest) -> HttpResponseBase:
    project = request.project
    sets = reference_sets(project)
    if "format" in request.GET:
        filename = f"{project.slug}-reference-sets"
        return objects_response(request.GET["format"], filename, sets, SET_COLUMNS)
    context: dict[str, Any] = {"project": project, "sets": sets, "may_manage": may_manage(project)}
    if context["may_manage"] and not sets:
        context["rated"] = raters_of_references(plain_campaigns(project))
    return render(request, "annotation/references/reference_set_list.html", context)


@require_http_methods(["GET", "POST"])
@project_view(Role.MANAGER)
def reference_set_create(request: MemberRequest) -> HttpResponse:
    """Ask for the data set first, because what can be a reference depends on it."""
    datasets, dataset = chosen_dataset(request)
    context = {"project": request.project, "datasets": datasets, "dataset": dataset}
    if dataset is None:
        return render(request, "annotation/references/reference_set_form.html", context)
    chosen = {"campaigns": request.GET.getlist("campaign")}
    if not chosen["campaigns"] and len(rated := raters_of_references(dataset.campaigns.all())) == 1:
        chosen = {"campaigns": [str(rated[0].pk)]}
    form = ReferenceSetForm(request.POST or None, dataset=dataset, initial=chosen)
    if reference_set := form.submit(create_reference_set, dataset=dataset):
        messages.success(request, f"Created the reference set “{reference_set}”. Build its first release next.")
        return redirect("annotation:reference-set-detail", request.project.slug, reference_set.slug)
    return render(request, "annotation/references/reference_set_form.html", context | {"form": form})


@require_GET
@object_view(set_or_404, Role.VIEWER)
def reference_set_detail(request: MemberRequest, reference_set: ReferenceSet) -> HttpResponseBase:
    if "format" in request.GET:
        return objects_response(
            request.GET["format"],
            f"{request.project.slug}-{reference_set.slug}-releases",
            releases(reference_set),
            RELEASE_COLUMNS,
        )
    return _render_set(request, reference_set, ReleaseForm(reference_set=reference_set))


@require_POST
@object_view(set_or_404, Role.MANAGER)
def release_create(request: MemberRequest, reference_set: ReferenceSet) -> HttpResponse:
    form = ReleaseForm(request.POST, reference_set=reference_set)
    if release := form.submit(create_release, reference_set=reference_set, by=request.user):
        tasks.release_build.delay_on_commit(release.pk)
        return redirect(release_url(request.project, release))
    return _render_set(request, reference_set, form, status=400)


@require_http_methods(["GET", "POST"])
@object_view(set_or_404, Role.MANAGER)
def reference_set_edit(request: MemberRequest, reference_set: ReferenceSet) -> HttpResponse:
    """Change the name and description; the choice of references stays, because releases depend on it."""
    about = columns_of(reference_set, DESCRIBED)
    form = ReferenceSetEditForm(request.POST or None, initial=about | {"version": version_of(about)})
    if form.submit(edit_reference_set, reference_set=reference_set, by=request.user):
        messages.success(request, "Saved.")
        return redirect("annotation:reference-set-detail", request.project.slug, reference_set.slug)
    context = {"project": request.project, "reference_set": reference_set, "form": form}
    return render(request, "annotation/references/reference_set_edit.html", context, status=400 if form.errors else 200)


@require_POST
@object_view(set_or_404, Role.MANAGER)
def reference_set_add_campaign(request: MemberRequest, reference_set: ReferenceSet) -> HttpResponse:
    """Add a campaign, whose ratings later releases include."""
    form = AddCampaignForm(request.POST, reference_set=reference_set)
    if form.submit(add_campaign, reference_set=reference_set, by=request.user):
        messages.success(
            request, f"“{form.cleaned_data['campaign']}” was added. Existing releases keep their campaigns."
        )
        return redirect("annotation:reference-set-detail", request.project.slug, reference_set.slug)
    release_form = ReleaseForm(reference_set=reference_set)
    return _render_set(request, reference_set, release_form, status=400, add_form=form)


@require_http_methods(["GET", "POST"])
@project_view(Role.MANAGER)
@takes_uploads
def reference_set_import(request: MemberRequest) -> HttpResponse:
    """Ask for the data set first, because the file names its items and texts."""
    datasets, dataset = chosen_dataset(request)
    context: dict[str, object] = {"project": request.project, "datasets": datasets, "dataset": dataset}
    if dataset is None:
        return render(request, "annotation/references/reference_set_import.html", context)
    keeper = FileKeeper(request.project, request.user, dataset.weights_imports.all())
    initial = again_initial(request, WeightsImport)
    form = WeightsUploadForm(
        request.POST or None, request.FILES or None, dataset=dataset, keeper=keeper, initial=initial
    )
    if job := form.submit(weights_import_create, dataset=dataset, by=request.user):
        tasks.weights_import_execute.delay_on_commit(job.pk)
        return redirect("annotation:weights-import-detail", request.project.slug, job.pk)
    context |= {"form": form}
    status = 400 if form.errors else 200
    return render(request, "annotation/references/reference_set_import.html", context, status=status)


@require_POST
@project_view(Role.MANAGER)
def reference_set_equal(request: MemberRequest) -> HttpResponse:
    """Make a release of a data set in which each reference weighs 1; a second request opens the first one's."""
    _, dataset = chosen_dataset(request)
    if dataset is None:
        raise Http404("Which data set? Name it by ?dataset=.")
    if existing := dataset.reference_sets.filter(name=equal_weights_name(dataset)).first():
        return redirect("annotation:reference-set-detail", request.project.slug, existing.slug)
    try:
        job = equal_weights_create(dataset=dataset, by=request.user)
    except AnnotationError as error:
        messages.error(request, str(error))
        return redirect("annotation:reference-set-list", request.project.slug)
    tasks.weights_import_execute.delay_on_commit(job.pk)
    return redirect("annotation:weights-import-detail", request.project.slug, job.pk)


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
        "releases": releases(reference_set),
        "form": form,
        "add_form": add_form or AddCampaignForm(reference_set=reference_set),
        "to_join": campaigns_to_join(reference_set),
        "may_manage": may_manage(request.project),
    }
    return render(request, "annotation/references/reference_set_detail.html", context, status=status)
