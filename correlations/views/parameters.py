"""Parameter studies: list, create, watch, read, cancel, repeat."""

from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRefresh

from annotation.access import get_project_or_404, may_manage
from annotation.models import JobState, Role, User
from annotation.parameters import whole_number
from annotation.selectors.releases import finished_releases
from annotation.services.jobs import job_request_cancel
from annotation.views.jobs import start_over
from correlations import tasks
from correlations.forms import MetricStepForm, ParameterStudyForm
from correlations.models import ParameterStudy
from correlations.selectors import parameter_reports as reports
from correlations.selectors.lists import study_page
from correlations.services.parameter_studies import parameter_study_create as create
from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.views.asking import study_asked_for
from correlations.views.finding import get_study_or_404
from metrics.scoring.registry import METRICS
from metrics.views.runs import chosen_release


@login_required
@require_GET
def parameter_study_list(request: HttpRequest, project_slug: str) -> HttpResponse:
    project = get_project_or_404(cast(User, request.user), project_slug)
    before = whole_number(request, "before")
    studies, more = study_page(ParameterStudy, project, before=before)
    context = {
        "project": project,
        "studies": [(study, _metric_label(study)) for study in studies],
        "older_url": f"?before={studies[-1].pk}" if more else "",
        "newest_url": "" if before is None else "?",
        "may_create": may_manage(project),
    }
    return render(request, "correlations/parameter_study_list.html", context)


def _metric_label(study: ParameterStudy) -> str:
    name = study.specification["metric"]["name"]
    return METRICS[name].label if name in METRICS else name


@login_required
@require_http_methods(["GET", "POST"])
def parameter_study_create(request: HttpRequest, project_slug: str) -> HttpResponse:
    user = cast(User, request.user)
    project = get_project_or_404(user, project_slug, role=Role.MANAGER)
    releases = list(finished_releases(project)[:50])
    release = chosen_release(request, releases)
    if release is None:
        context = {"project": project, "releases": releases}
        return render(request, "correlations/parameter_study_create.html", context)
    asked = request.POST if request.method == "POST" else request.GET
    step = MetricStepForm(asked if "metric" in asked else None, release=release)
    metric = step.chosen()
    form = ParameterStudyForm(request.POST or None, release=release, metric=metric)
    if form.is_valid():
        study, created = study_asked_for(form, create, tasks.execute_parameter_study, project=project, by=user)
        if study is not None:
            if not created:
                messages.info(request, "This very study had been computed before: here it is.")
            return redirect("correlations:parameter-study-detail", project.slug, study.pk)
    context = {
        "project": project, "releases": releases, "release": release, "form": form, "step": step, "metric": metric,
        "about": METRICS[metric],
    }  # fmt: skip
    return render(request, "correlations/parameter_study_create.html", context)


@login_required
@require_GET
def parameter_study_detail(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(cast(User, request.user), project_slug)
    study = get_study_or_404(ParameterStudy, project, pk)
    context: dict[str, Any] = {"project": project, "study": study, "may_manage": may_manage(project)}
    if request.htmx:  # type: ignore[attr-defined] # set by django_htmx's middleware
        if study.is_finished:
            return HttpResponseClientRefresh()
        return render(request, "correlations/_parameter_study_status.html", context)
    context["metric_label"] = _metric_label(study)
    if study.state == JobState.DONE and study.result:
        context |= {
            "result": study.result,
            "spec": study.specification,
            "sweeps": reports.swept(study),
            "in_use": reports.values_in_use(study),
            "few_systems": len(study.specification["systems"]) < reports.FEW_SYSTEMS,
            "coefficient": COEFFICIENTS[study.specification["coefficient"]].label,
            "left_out": sum(entry["count"] for entry in study.result["items"]["dropped"]),
        }
    return render(request, "correlations/parameter_study_detail.html", context)


@login_required
@require_POST
def parameter_study_cancel(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(cast(User, request.user), project_slug, role=Role.MANAGER)
    study = get_study_or_404(ParameterStudy, project, pk)
    job_request_cancel(study)
    return redirect("correlations:parameter-study-detail", project.slug, study.pk)


@login_required
@require_POST
def parameter_study_retry(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(cast(User, request.user), project_slug, role=Role.MANAGER)
    study = get_study_or_404(ParameterStudy, project, pk)
    start_over(study, tasks.execute_parameter_study)
    return redirect("correlations:parameter-study-detail", project.slug, study.pk)
