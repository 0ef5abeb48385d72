"""Downloads of the tables and charts of a report, for studies of either kind."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET

from annotation.core.chart_views import chart_response, chart_theme
from annotation.core.charts import Spec
from annotation.core.exports import table_response
from annotation.core.views import MemberRequest, project_view
from annotation.models import Role
from annotation.references.releases.selectors.releases import release_name
from correlations.models import ParameterStudy, Study
from correlations.selectors import parameter_reports, reports
from correlations.selectors.lists import listed_studies
from correlations.views.finding import finished_of_kind_or_404


@dataclass(frozen=True)
class Kind:
    """The differences between studies of metrics and studies of parameters."""

    model: type[Any]
    name: str
    plural: str
    columns: Sequence[str]
    row: Callable[[Any], Sequence[object]]
    table: Callable[[Any, str], reports.Table | None]
    figure: Callable[..., Spec | None]


def _study_row(study: Study) -> tuple[object, ...]:
    spec = study.specification
    return (
        study.pk,
        study.name,
        study.state,
        study.dataset.slug,
        release_name(study.release),
        spec["systems"],
        spec["campaigns"],
        spec["unit_size"],
        spec["assignments"],
        study.signature,
        study.created_at,
    )


def _parameter_study_row(study: ParameterStudy) -> tuple[object, ...]:
    spec = study.specification
    return (
        study.pk,
        study.name,
        study.state,
        study.dataset.slug,
        release_name(study.release),
        spec["metric"]["name"],
        [sweep["parameter"] for sweep in spec["sweeps"]],
        spec["systems"],
        spec["campaigns"],
        study.signature,
        study.created_at,
    )


STUDY = Kind(
    Study,
    "study",
    "studies",
    (
        "study",
        "name",
        "state",
        "dataset",
        "release",
        "systems",
        "campaigns",
        "unit_size",
        "assignments",
        "signature",
        "created_at",
    ),
    _study_row,
    reports.table,
    reports.figure,
)
PARAMETER_STUDY = Kind(
    ParameterStudy,
    "parameter-study",
    "parameter-studies",
    (
        "parameter_study",
        "name",
        "state",
        "dataset",
        "release",
        "metric",
        "parameters",
        "systems",
        "campaigns",
        "signature",
        "created_at",
    ),
    _parameter_study_row,
    parameter_reports.table,
    parameter_reports.figure,
)


@require_GET
@project_view(Role.VIEWER)
def study_list_download(request: MemberRequest, file_format: str, kind: Kind) -> HttpResponseBase:
    rows = map(kind.row, listed_studies(kind.model, request.project).iterator(100))
    return table_response(
        format=file_format, filename=f"{request.project.slug}-{kind.plural}", columns=kind.columns, rows=rows
    )


@require_GET
@project_view(Role.VIEWER)
def study_download(request: MemberRequest, pk: int, table: str, file_format: str, kind: Kind) -> HttpResponseBase:
    study, name = _study_and_name(request, pk, kind)
    if (table, file_format) == ("study", "json"):
        whole = {field: getattr(study, field) for field in ("name", "signature", "specification", "result")}
        return _named(JsonResponse(whole, json_dumps_params={"ensure_ascii": False}), f"{name}.json")
    data = kind.table(study.read_result(), table)
    if data is None:
        raise Http404(f"No table {table!r} in this study.")
    columns, rows = data
    return table_response(format=file_format, filename=f"{name}-{table}", columns=columns, rows=rows)


@require_GET
@project_view(Role.VIEWER)
def study_figure(request: MemberRequest, pk: int, figure: str, kind: Kind) -> JsonResponse:
    study, _ = _study_and_name(request, pk, kind)
    # The page has a heading above the chart; a file needs its own.
    return JsonResponse({key: value for key, value in _figure(request, study, figure, kind).items() if key != "title"})


@require_GET
@project_view(Role.VIEWER)
def study_figure_download(request: MemberRequest, pk: int, figure: str, file_format: str, kind: Kind) -> HttpResponse:
    study, name = _study_and_name(request, pk, kind)
    return chart_response(_figure(request, study, figure, kind), file_format, f"{name}-{figure}")


def _study_and_name(request: MemberRequest, pk: int, kind: Kind) -> tuple[Study | ParameterStudy, str]:
    """Return the study, and the beginning of its files' names."""
    study = finished_of_kind_or_404(kind.model, request.project, pk)
    return study, f"{request.project.slug}-{kind.name}-{pk}"


def _figure(request: HttpRequest, study: Study | ParameterStudy, figure: str, kind: Kind) -> Spec:
    chart = kind.figure(study.read_result(), figure, theme=chart_theme(request))
    if chart is None:
        raise Http404(f"No chart {figure!r} in this study.")
    return chart


def _named(response: HttpResponse, filename: str) -> HttpResponse:
    response["Content-Disposition"] = content_disposition_header(True, filename)
    return response
