"""Parameter studies: list, create, watch, read, cancel, repeat."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from annotation.core.access import may_manage
from annotation.core.job_views import cancel_view, job_part, retry_view
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, object_view, project_view
from annotation.models import JobState, Role
from annotation.references.releases.selectors.releases import finished_releases
from correlations import tasks
from correlations.forms import MetricStepForm, ParameterStudyForm
from correlations.models import ParameterStudy
from correlations.selectors import parameter_reports as reports
from correlations.selectors.lists import study_page
from correlations.selectors.methods import parameter_study_methods
from correlations.services.parameter_studies import parameter_study_create as create
from correlations.views.creating import study_from_form
from correlations.views.finding import parameter_study_or_404
from metrics.scoring.registry import METRICS
from metrics.views.runs import chosen_release


@require_GET
@project_view(Role.VIEWER)
def parameter_study_list(request: MemberRequest) -> HttpResponse:
    before = whole_number(request, "before")
    studies, older = study_page(ParameterStudy, request.project, before=before)
    context = {
        "project": request.project,
        "studies": [(study, _metric_label(study)) for study in studies],
        "older_url": f"?before={older}" if older else "",
        "newest_url": "" if before is None else "?",
        "may_create": may_manage(request.project),
    }
    return render(request, "correlations/parameter_study_list.html", context)


def _metric_label(study: ParameterStudy) -> str:
    name = study.specification["metric"]["name"]
    return METRICS[name].label if name in METRICS else name


@require_http_methods(["GET", "POST"])
@project_view(Role.MANAGER)
def parameter_study_create(request: MemberRequest) -> HttpResponse:
    project = request.project
    releases = list(finished_releases(project)[:50])
    release = chosen_release(request, releases)
    if release is None:
        context = {"project": project, "releases": releases}
        return render(request, "correlations/parameter_study_create.html", context)
    query = request.POST if request.method == "POST" else request.GET
    step = MetricStepForm(query if "metric" in query else None, release=release)
    metric = step.chosen()
    form = ParameterStudyForm(request.POST or None, release=release, metric=metric)
    if form.is_valid():
        study, created = study_from_form(form, create, tasks.execute_parameter_study, project=project, by=request.user)
        if study is not None:
            if not created:
                messages.info(request, "Opened the existing study with these settings.")
            return redirect("correlations:parameter-study-detail", project.slug, study.pk)
    context = {
        "project": project,
        "releases": releases,
        "release": release,
        "form": form,
        "step": step,
        "metric": metric,
        "about": METRICS[metric],
    }
    return render(request, "correlations/parameter_study_create.html", context)


@require_GET
@object_view(parameter_study_or_404, Role.VIEWER)
def parameter_study_detail(request: MemberRequest, study: ParameterStudy) -> HttpResponse:
    context: dict[str, Any] = {"project": request.project, "study": study, "may_manage": may_manage(request.project)}
    if request.htmx:
        return job_part(request, study, "correlations/_study_status.html", context)
    metric_label = _metric_label(study)
    context |= {"metric_label": metric_label, "eyebrow": f"Parameter study of {metric_label}"}
    if study.state == JobState.DONE:
        result = study.read_result()
        context |= {
            "result": result,
            "spec": study.specification,
            "sweeps": [reports.SweepReport(sweep, result) for sweep in result.sweeps],
            "in_use": reports.values_in_use(study),
            "cards": reports.summary_cards(study, result),
            "methods": parameter_study_methods(study, result, metric_label=metric_label),
            "few_systems": len(study.specification["systems"]) < reports.FEW_SYSTEMS,
        }
    return render(request, "correlations/parameter_study_detail.html", context)


parameter_study_cancel = cancel_view(parameter_study_or_404, "correlations:parameter-study-detail")
parameter_study_retry = retry_view(
    parameter_study_or_404, tasks.execute_parameter_study, "correlations:parameter-study-detail"
)
