"""Every table and figure of a report, of studies of either kind, for machines and for papers."""

from collections.abc import Callable, Sequence
from typing import cast

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET

from annotation.access import get_project_or_404
from annotation.exports import table_response
from annotation.models import Project, User
from annotation.selectors.releases import release_name
from correlations.charts import render
from correlations.charts.render import MEDIA_TYPES
from correlations.charts.theme import Spec, Theme
from correlations.models import ParameterStudy, Study
from correlations.selectors import parameter_reports, reports
from correlations.selectors.lists import AnyStudy, listed_studies
from correlations.views.finding import get_result_or_404

STUDY_COLUMNS = (
    "study", "name", "state", "dataset", "release", "systems", "campaigns", "unit_size", "assignments", "signature",
    "created_at",
)  # fmt: skip
PARAMETER_STUDY_COLUMNS = (
    "parameter_study", "name", "state", "dataset", "release", "metric", "parameters", "systems", "campaigns",
    "signature", "created_at",
)  # fmt: skip


# --- Studies ----------------------------------------------------------------------------------------------------------


@login_required
@require_GET
def study_list_download(request: HttpRequest, project_slug: str, file_format: str) -> HttpResponseBase:
    project = get_project_or_404(cast(User, request.user), project_slug)
    return _list(Study, project, f"{project.slug}-studies", file_format, STUDY_COLUMNS, _study_row)


def _study_row(study: Study) -> tuple[object, ...]:
    spec = study.specification
    return (
        study.pk, study.name, study.state, study.dataset.slug, release_name(study.release), spec["systems"],
        spec["campaigns"], spec["unit_size"], spec["assignments"], study.signature, study.created_at,
    )  # fmt: skip


@login_required
@require_GET
def study_download(request: HttpRequest, project_slug: str, pk: int, table: str, file_format: str) -> HttpResponseBase:
    project = get_project_or_404(cast(User, request.user), project_slug)
    study = get_result_or_404(Study, project, pk)
    name = f"{project.slug}-study-{study.pk}"
    if (table, file_format) == ("study", "json"):
        return _whole(study, name)
    return _table(reports.table(study, table), name, table, file_format)


@login_required
@require_GET
def study_figure(request: HttpRequest, project_slug: str, pk: int, figure: str) -> JsonResponse:
    project = get_project_or_404(cast(User, request.user), project_slug)
    study = get_result_or_404(Study, project, pk)
    return _drawn_by_the_page(reports.figure(study, figure, theme=_theme(request)), figure)


@login_required
@require_GET
def study_figure_download(
    request: HttpRequest, project_slug: str, pk: int, figure: str, file_format: str
) -> HttpResponse:
    project = get_project_or_404(cast(User, request.user), project_slug)
    study = get_result_or_404(Study, project, pk)
    spec = reports.figure(study, figure, theme=_theme(request))
    return _drawn(spec, f"{project.slug}-study-{study.pk}", figure, file_format)


# --- Parameter studies ------------------------------------------------------------------------------------------------


@login_required
@require_GET
def parameter_study_list_download(request: HttpRequest, project_slug: str, file_format: str) -> HttpResponseBase:
    project = get_project_or_404(cast(User, request.user), project_slug)
    name = f"{project.slug}-parameter-studies"
    return _list(ParameterStudy, project, name, file_format, PARAMETER_STUDY_COLUMNS, _parameter_study_row)


def _parameter_study_row(study: ParameterStudy) -> tuple[object, ...]:
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
        return _whole(study, name)
    return _table(parameter_reports.table(study, table), name, table, file_format)


@login_required
@require_GET
def parameter_study_figure(request: HttpRequest, project_slug: str, pk: int, figure: str) -> JsonResponse:
    project = get_project_or_404(cast(User, request.user), project_slug)
    study = get_result_or_404(ParameterStudy, project, pk)
    return _drawn_by_the_page(parameter_reports.figure(study, figure, theme=_theme(request)), figure)


@login_required
@require_GET
def parameter_study_figure_download(
    request: HttpRequest, project_slug: str, pk: int, figure: str, file_format: str
) -> HttpResponse:
    project = get_project_or_404(cast(User, request.user), project_slug)
    study = get_result_or_404(ParameterStudy, project, pk)
    spec = parameter_reports.figure(study, figure, theme=_theme(request))
    return _drawn(spec, f"{project.slug}-parameter-study-{study.pk}", figure, file_format)


# --- Files ------------------------------------------------------------------------------------------------------------


def _list(
    kind: type[AnyStudy], project: Project, name: str, file_format: str, columns: Sequence[str],
    row: Callable[[AnyStudy], Sequence[object]],
) -> HttpResponseBase:  # fmt: skip
    rows = map(row, listed_studies(kind, project).iterator(100))
    return table_response(format=file_format, filename=name, columns=columns, rows=rows)


def _whole(study: Study | ParameterStudy, name: str) -> HttpResponse:
    found = {field: getattr(study, field) for field in ("name", "signature", "specification", "result")}
    return _named(JsonResponse(found, json_dumps_params={"ensure_ascii": False}), f"{name}.json")


def _table(found: reports.Table | None, name: str, table: str, file_format: str) -> HttpResponseBase:
    if found is None:
        raise Http404(f"No table {table!r} in this study.")
    columns, rows = found
    return table_response(format=file_format, filename=f"{name}-{table}", columns=columns, rows=rows)


def _theme(request: HttpRequest) -> Theme:
    return "dark" if request.GET.get("theme") == "dark" else "light"


def _drawn_by_the_page(spec: Spec | None, figure: str) -> JsonResponse:
    if spec is None:
        raise Http404(f"No figure {figure!r} in this study.")
    # The page has its own heading above the figure; a file must bring one.
    return JsonResponse({key: value for key, value in spec.items() if key != "title"})


def _drawn(spec: Spec | None, name: str, figure: str, file_format: str) -> HttpResponse:
    if file_format not in MEDIA_TYPES:
        raise Http404(f"No figure as {file_format!r}; there are {', '.join(MEDIA_TYPES)}.")
    if spec is None:
        raise Http404(f"No figure {figure!r} in this study.")
    content = render(spec, file_format)  # type: ignore[arg-type] # checked above
    return _named(HttpResponse(content, content_type=MEDIA_TYPES[file_format]), f"{name}-{figure}.{file_format}")


def _named(response: HttpResponse, filename: str) -> HttpResponse:
    response["Content-Disposition"] = content_disposition_header(True, filename)
    return response
