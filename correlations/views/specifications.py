"""Specifications of studies: taken from a file or a text, given as a file, and their schema."""

import json

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotation.core.exports import file_response
from annotation.core.uploads import takes_uploads
from annotation.core.views import MemberRequest, object_view, project_view
from annotation.models import Role
from correlations.forms.specifications import SpecificationForm
from correlations.models import Study
from correlations.results.study import StudyResult
from correlations.services.joint_studies import DATASETS, joint_study_create
from correlations.specification import SCHEMA, Specification
from correlations.specification_schema import specification_schema
from correlations.views.kinds import Kind, StudyPage, study_page_or_404


@takes_uploads
@require_http_methods(["GET", "POST"])
@project_view(Role.MANAGER)
def study_from_specification(request: MemberRequest, kind: Kind[Study, StudyResult]) -> HttpResponse:
    project = request.project
    sent = request.method == "POST"
    form = SpecificationForm(request.POST if sent else None, request.FILES if sent else None)
    if sent and form.is_valid() and DATASETS in form.cleaned_data["specification"]:
        if made := form.submit(joint_study_create, project=project, by=request.user):
            joint, new = made
            for study in new:
                kind.task.delay_on_commit(study.pk)
            return redirect(reverse("correlations:study-joint-detail", args=[project.slug, joint.pk]))
    elif result := form.submit(kind.create, project=project, by=request.user):
        study, created = result
        if created:
            kind.task.delay_on_commit(study.pk)
        else:
            messages.info(request, "Opened the existing study with these settings.")
        return redirect(kind.url("detail", project, study.pk))
    context = {
        "project": project,
        "form": form,
        "here": "From a specification",
        "trail": [(kind.title, kind.url("list", project)), ("New", kind.url("create", project))],
        "cancel_url": kind.url("create", project),
    }
    return render(request, "correlations/study_from_specification.html", context)


@require_GET
@object_view(study_page_or_404, Role.VIEWER)
def study_specification(request: MemberRequest, page: StudyPage[Study, StudyResult]) -> HttpResponseBase:
    """Return the specification, as every way to start a study takes it."""
    address = request.build_absolute_uri(reverse("correlations:study-schema"))
    document = {SCHEMA: address} | Specification.requested(page.study.specification)
    content = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    filename = f"{request.project.slug}-study-{page.study.pk}-specification.json"
    return file_response(content, "application/json", filename)


@require_GET
def study_schema(request: HttpRequest) -> JsonResponse:
    """Return the JSON Schema of specifications, to everyone: editors read it."""
    return JsonResponse(
        specification_schema(), json_dumps_params={"ensure_ascii": False, "indent": 2}, content_type=SCHEMA_TYPE
    )


SCHEMA_TYPE = "application/schema+json"
