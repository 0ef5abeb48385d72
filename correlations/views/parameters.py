"""Parameter studies: list, create, watch, read, download, cancel, repeat."""

from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRefresh

from annotation.access import get_project_or_404, may_manage
from annotation.errors import AnnotationError
from annotation.exports import table_response
from annotation.models import JobState, Project, Role, User
from annotation.parameters import whole_number
from annotation.selectors.releases import finished_releases, release_name
from annotation.services.jobs import job_request_cancel
from annotation.views.jobs import start_over
from correlations import tasks
from correlations.charts import render as draw
from correlations.charts.render import MEDIA_TYPES
from correlations.charts.theme import Spec, Theme
from correlations.forms import MetricStepForm, ParameterStudyForm
from correlations.models import ParameterStudy
from correlations.selectors import parameter_reports as reports
from correlations.services.parameter_studies import parameter_study_create as create
from correlations.views.finding import get_result_or_404, get_study_or_404
from metrics.scoring.registry import METRICS
from metrics.views.runs import chosen_release


@login_required
@require_GET
def parameter_study_list(request: HttpRequest, project_slug: str) -> HttpResponse:
    project = get_project_or_404(cast(User, request.user), project_slug)
    before = whole_number(request, "before")
    studies, more = reports.parameter_study_page(project, before=before)
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
    project = get_project_or_404(cast(User, request.user), project_slug, role=Role.MANAGER)
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
        study, created = _create(project, form, cast(User, request.user))
        if study is not None:
            if not created:
                messages.info(request, "This very study had been computed before: here it is.")
            return redirect("correlations:parameter-study-detail", project.slug, study.pk)
    context = {
        "project": project, "releases": releases, "release": release, "form": form, "step": step, "metric": metric,
        "about": METRICS[metric],
    }  # fmt: skip
    return render(request, "correlations/parameter_study_create.html", context)


def _create(project: Project, form: ParameterStudyForm, by: User) -> tuple[ParameterStudy | None, bool]:
    try:
        with transaction.atomic():
            name = form.cleaned_data["name"]
            study, created = create(project=project, name=name, specification=form.specification(), by=by)
            if created:
                tasks.execute_parameter_study.delay_on_commit(study.pk)
    except AnnotationError as error:
        for field, problems in (error.fields or {"": [error.message]}).items():
            for problem in problems:
                form.add_error(form.field_of(field), problem)
        return None, False
    return study, created


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
            "coefficient": reports.NAMES[study.specification["coefficient"]],
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


# --- Files ------------------------------------------------------------------------------------------------------------

STUDY_COLUMNS = (
    "parameter_study", "name", "state", "dataset", "release", "metric", "parameters", "systems", "campaigns",
    "signature", "created_at",
)  # fmt: skip


@login_required
@require_GET
def parameter_study_list_download(request: HttpRequest, project_slug: str, file_format: str) -> HttpResponseBase:
    project = get_project_or_404(cast(User, request.user), project_slug)
    studies = ParameterStudy.objects.filter(project=project).defer("result", "release__report")
    rows = map(_study_row, studies.select_related("release__reference_set", "dataset").iterator(100))
    name = f"{project.slug}-parameter-studies"
    return table_response(format=file_format, filename=name, columns=STUDY_COLUMNS, rows=rows)


def _study_row(study: ParameterStudy) -> tuple[object, ...]:
    spec = study.specification
    return (
        study.pk, study.name, study.state, study.dataset.slug, release_name(study.release), spec["metric"]["name"],
        [sweep["parameter"] for sweep in spec["sweeps"]], spec["systems"], spec["campaigns"], study.signature,
        study.created_at,
    )  # fmt: skip


@login_required
@require_GET
def parameter_study_download(
    request: HttpRequest, project_slug: str, pk: int, table: str, file_format: str
) -> HttpResponseBase:
    project = get_project_or_404(cast(User, request.user), project_slug)
    study = get_result_or_404(ParameterStudy, project, pk)
    name = f"{project.slug}-parameter-study-{study.pk}"
    if (table, file_format) == ("study", "json"):
        whole = {"name": study.name, "signature": study.signature, "specification": study.specification}
        response = JsonResponse(whole | {"result": study.result}, json_dumps_params={"ensure_ascii": False})
        response["Content-Disposition"] = f'attachment; filename="{name}.json"'
        return response
    found = reports.table(study, table)
    if found is None:
        raise Http404(f"No table {table!r} in this study.")
    columns, rows = found
    return table_response(format=file_format, filename=f"{name}-{table}", columns=columns, rows=rows)


@login_required
@require_GET
def parameter_study_figure(request: HttpRequest, project_slug: str, pk: int, figure: str) -> JsonResponse:
    project = get_project_or_404(cast(User, request.user), project_slug)
    spec = dict(_figure(request, get_result_or_404(ParameterStudy, project, pk), figure))
    spec.pop("title", None)  # the page has its own heading above the figure; a file must bring one
    return JsonResponse(spec)


@login_required
@require_GET
def parameter_study_figure_download(
    request: HttpRequest, project_slug: str, pk: int, figure: str, file_format: str
) -> HttpResponse:
    project = get_project_or_404(cast(User, request.user), project_slug)
    study = get_result_or_404(ParameterStudy, project, pk)
    if file_format not in MEDIA_TYPES:
        raise Http404(f"No figure as {file_format!r}; there are {', '.join(MEDIA_TYPES)}.")
    content = draw(_figure(request, study, figure), file_format)  # type: ignore[arg-type] # checked above
    response = HttpResponse(content, content_type=MEDIA_TYPES[file_format])
    name = f"{project.slug}-parameter-study-{study.pk}-{figure}.{file_format}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _figure(request: HttpRequest, study: ParameterStudy, name: str) -> Spec:
    theme: Theme = "dark" if request.GET.get("theme") == "dark" else "light"
    found = reports.figure(study, name, theme=theme)
    if found is None:
        raise Http404(f"No figure {name!r} in this study.")
    return found
