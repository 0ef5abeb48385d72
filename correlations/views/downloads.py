"""Every table and figure of a report, of studies of either kind, for machines and for papers."""

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
    """What differs between studies of metrics and those of a metric's parameters."""

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
    study, name = _found(request, pk, kind)
    if (table, file_format) == ("study", "json"):
        whole = {field: getattr(study, field) for field in ("name", "signature", "specification", "result")}
        return _named(JsonResponse(whole, json_dumps_params={"ensure_ascii": False}), f"{name}.json")
    found = kind.table(study.read_result(), table)
    if found is None:
        raise Http404(f"No table {table!r} in this study.")
    columns, rows = found
    return table_response(format=file_format, filename=f"{name}-{table}", columns=columns, rows=rows)


@require_GET
@project_view(Role.VIEWER)
def study_figure(request: MemberRequest, pk: int, figure: str, kind: Kind) -> JsonResponse:
    study, _ = _found(request, pk, kind)
    # The page has its own heading above the figure; a file must bring one.
    return JsonResponse({key: value for key, value in _figure(request, study, figure, kind).items() if key != "title"})


@require_GET
@project_view(Role.VIEWER)
def study_figure_download(request: MemberRequest, pk: int, figure: str, file_format: str, kind: Kind) -> HttpResponse:
    study, name = _found(request, pk, kind)
    return chart_response(_figure(request, study, figure, kind), file_format, f"{name}-{figure}")


def _found(request: MemberRequest, pk: int, kind: Kind) -> tuple[Study | ParameterStudy, str]:
    """Return the study, and what names of its files begin with."""
    study = finished_of_kind_or_404(kind.model, request.project, pk)
    return study, f"{request.project.slug}-{kind.name}-{pk}"


def _figure(request: HttpRequest, study: Study | ParameterStudy, figure: str, kind: Kind) -> Spec:
    found = kind.figure(study.read_result(), figure, theme=chart_theme(request))
    if found is None:
        raise Http404(f"No figure {figure!r} in this study.")
    return found


def _named(response: HttpResponse, filename: str) -> HttpResponse:
    response["Content-Disposition"] = content_disposition_header(True, filename)
    return response
