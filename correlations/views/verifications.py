"""Studies computed again: started from a study's page or with a report, watched, read."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.core.access import get_in_project_or_404, may_manage
from annotation.core.job_views import cancel_view, job_part, retry_view
from annotation.core.pages import newest_page
from annotation.core.parameters import whole_number
from annotation.core.uploads import takes_uploads
from annotation.core.views import MemberRequest, object_view, project_view
from annotation.models import Project, Role
from correlations.forms.verifications import VerificationForm
from correlations.models import StudyVerification
from correlations.selectors.lists import AnyStudy
from correlations.selectors.verifications import MOST, PAGE, SHOWN, differing, outcome_sentence, verifications
from correlations.services.verifications import report_verification_create, study_verification_create
from correlations.tasks import verify
from correlations.views.kinds import AnyResult, Kind, StudyPage, finished_study_or_404
from correlations.views.metrics import STUDY
from correlations.views.parameters import PARAMETER_STUDY

DETAIL = "correlations:study-verification-detail"
KINDS: tuple[Kind[Any, Any], ...] = (STUDY, PARAMETER_STUDY)


def verification_or_404(project: Project, pk: int) -> StudyVerification:
    return get_in_project_or_404(verifications(project), project, pk=pk)


@takes_uploads
@require_http_methods(["GET", "POST"])
@project_view(Role.VIEWER, post=Role.MANAGER)
def verification_list(request: MemberRequest) -> HttpResponse:
    """List what was verified, and take a report to verify."""
    project, sent = request.project, request.method == "POST"
    form = VerificationForm(request.POST if sent else None, request.FILES if sent else None)
    if sent and (made := form.submit(report_verification_create, project=project, by=request.user)):
        verify.delay_on_commit(made.pk)
        return redirect(reverse(DETAIL, args=[project.slug, made.pk]))
    before, fields = whole_number(request, "before"), [StudyVerification.field_of(kind.model) for kind in KINDS]
    of_study = {field: pk for field in fields if (pk := whole_number(request, field)) is not None}
    rows, older = newest_page(verifications(project).filter(**of_study), before=before, size=PAGE)
    context = {
        "project": project,
        "here": "Verify a report",
        "trail": [(STUDY.title, STUDY.url("list", project))],
        "form": form,
        "may_manage": may_manage(project),
        "rows": [(each, outcome_sentence(each.outcome) if each.outcome else each.error) for each in rows],
        "of_study": bool(of_study),
        "older_url": f"?{urlencode(of_study | {'before': older})}" if older else "",
        "newest_url": "" if before is None else f"?{urlencode(of_study)}",
    }
    return render(request, "correlations/verification_list.html", context)


@require_POST
@object_view(finished_study_or_404, Role.MANAGER)
def study_verify(request: MemberRequest, page: StudyPage[AnyStudy, AnyResult]) -> HttpResponse:
    verification, created = study_verification_create(study=page.study, by=request.user)
    if created:
        verify.delay_on_commit(verification.pk)
    return redirect(reverse(DETAIL, args=[request.project.slug, verification.pk]))


@require_GET
@object_view(verification_or_404, Role.VIEWER)
def verification_detail(request: MemberRequest, verification: StudyVerification) -> HttpResponse:
    """Show a verification that waits or runs, and then what it found."""
    project = request.project
    context: dict[str, Any] = {
        "project": project,
        "verification": verification,
        "may_manage": may_manage(project),
        "here": "Verification",
        "trail": _trail(project, verification),
    }
    if request.htmx:
        return job_part(request, verification, "correlations/parts/verification_status.html", context)
    context["study"], context["study_url"] = verification.stored_study, _study_url(project, verification)
    if verification.outcome:
        found = differing(verification.outcome)
        context |= {
            "sentence": outcome_sentence(verification.outcome),
            "outcome": verification.outcome,
            "first": found[:SHOWN],
            "rest": found[SHOWN:],
            "most": MOST,
        }
    return render(request, "correlations/verification_detail.html", context)


def _trail(project: Project, verification: StudyVerification) -> list[tuple[str, str]]:
    studies, study = (STUDY.title, STUDY.url("list", project)), verification.stored_study
    if study is None:
        return [studies, ("Verify a report", reverse("correlations:study-verification-list", args=[project.slug]))]
    lists = [(kind.title, kind.url("list", project)) for kind in KINDS if isinstance(study, kind.model)]
    return [*dict.fromkeys([studies, *lists]), (verification.name, _study_url(project, verification))]


def _study_url(project: Project, verification: StudyVerification) -> str:
    """Return the address of the study whose stored result was compared; empty for a report that was sent."""
    study = verification.stored_study
    return next((kind.url("detail", project, study.pk) for kind in KINDS if isinstance(study, kind.model)), "")


verification_cancel = cancel_view(verification_or_404, DETAIL)
verification_retry = retry_view(verification_or_404, verify, DETAIL)
