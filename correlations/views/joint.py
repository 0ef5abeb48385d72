"""Studies over several data sets: made of finished studies, watched, read, taken as files."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRefresh

from annotation.core.access import get_in_project_or_404, may_manage
from annotation.core.errors import AnnotationError
from annotation.core.exports import file_response
from annotation.core.parameters import whole_numbers
from annotation.core.views import MemberRequest, object_view, project_view
from annotation.models import Project, Role
from annotation.models.jobs import FINISHED_STATES
from correlations.forms.joint import OWN, JointStudyForm
from correlations.models import JointStudy
from correlations.selectors.compared import Compared, finished_studies
from correlations.selectors.joint import joint_comparison, joint_state, joint_studies, members
from correlations.services.joint_studies import joint_study_create, joint_study_of
from correlations.services.reports import FILES, joint_report_file
from correlations.services.verifications import joint_verification_create
from correlations.tasks import verify
from correlations.views.comparisons import comparison_context
from correlations.views.metrics import STUDY
from correlations.views.verifications import DETAIL as VERIFICATION

DETAIL = "correlations:study-joint-detail"


def joint_or_404(project: Project, pk: int) -> JointStudy:
    return get_in_project_or_404(joint_studies(project), project, pk=pk)


@require_http_methods(["GET", "POST"])
@project_view(Role.MANAGER)
def joint_start(request: MemberRequest) -> HttpResponse:
    """Start a study of each ticked data set, and the study over all of them."""
    project = request.project
    sent = request.POST if request.method == "POST" else None
    form = JointStudyForm(sent, project=project, plain=request.GET.get("references") == OWN)
    if made := form.submit(joint_study_create, project=project, by=request.user):
        joint, new = made
        for study in new:
            STUDY.task.delay_on_commit(study.pk)
        if not new:
            messages.info(request, "All studies of these data sets exist already, with the same settings.")
        return redirect(reverse(DETAIL, args=[project.slug, joint.pk]))
    context = {
        "project": project,
        "form": form,
        "here": "New, over several data sets",
        "trail": [(STUDY.title, STUDY.url("list", project))],
        "list_url": STUDY.url("list", project),
    }
    return render(request, "correlations/joint_study_create.html", context)


@require_POST
@project_view(Role.MANAGER)
def joint_create(request: MemberRequest) -> HttpResponse:
    """Keep the comparison of finished studies as one study over their data sets."""
    project, wanted = request.project, whole_numbers(request.POST, "study")
    studies = list(finished_studies(project).filter(pk__in=wanted).order_by("dataset__name"))
    name = request.POST.get("name", "").strip() or "Over several data sets"
    try:
        joint = joint_study_of(project=project, name=name, studies=studies, by=request.user)
    except AnnotationError as error:
        messages.error(request, error.message)
        query = urlencode([("study", study.pk) for study in studies])
        return redirect(f"{reverse('correlations:study-compare', args=[project.slug])}?{query}")
    return redirect(reverse(DETAIL, args=[project.slug, joint.pk]))


@require_GET
@object_view(joint_or_404, Role.VIEWER)
def joint_detail(request: MemberRequest, joint: JointStudy) -> HttpResponse:
    """Show how far the studies are, and once all are done what they say together."""
    project, studies = request.project, members(joint)
    state = joint_state(studies)
    context: dict[str, Any] = {
        "project": project,
        "joint": joint,
        "state": state,
        "studies": studies,
        "gone": len(joint.specification["datasets"]) - len(studies),
        "going_on": state not in FINISHED_STATES,
        "may_manage": may_manage(project),
        "here": joint.name,
        "trail": [(STUDY.title, STUDY.url("list", project))],
    }
    if request.htmx:
        if context["going_on"]:
            return render(request, "correlations/parts/joint_studies.html", context)
        return HttpResponseClientRefresh()
    compared = joint_comparison(joint, request.GET.get("coefficient") or None)
    if compared is not None:
        files = [(each, _report_url(joint, each.ending)) for each in FILES.values()]
        context |= {"compared": compared, "files": files, **comparison_context(request, compared)}
    return render(request, "correlations/joint_study_detail.html", context)


def _report_url(joint: JointStudy, ending: str) -> str:
    return reverse("correlations:study-joint-report", args=[joint.project.slug, joint.pk, ending])


@require_GET
@object_view(joint_or_404, Role.VIEWER)
def joint_report(request: MemberRequest, joint: JointStudy, file_format: str) -> HttpResponseBase:
    if file_format not in FILES:
        raise Http404(f"No report as {file_format!r}; there are {', '.join(FILES)}.")
    content = joint_report_file(joint, finished_or_404(joint), file_format)
    filename = f"{request.project.slug}-joint-study-{joint.pk}-report.{file_format}"
    return file_response(content, FILES[file_format].content_type, filename)


@require_POST
@object_view(joint_or_404, Role.MANAGER)
def joint_verify(request: MemberRequest, joint: JointStudy) -> HttpResponse:
    """Compute the studies again and compare every number with the report as it is now."""
    compared = finished_or_404(joint)
    verification, created = joint_verification_create(joint=joint, compared=compared, by=request.user)
    if created:
        verify.delay_on_commit(verification.pk)
    return redirect(reverse(VERIFICATION, args=[request.project.slug, verification.pk]))


def finished_or_404(joint: JointStudy) -> Compared:
    compared = joint_comparison(joint)
    if compared is None:
        raise Http404("Not every study of this one is done.")
    return compared
