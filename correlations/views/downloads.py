"""Downloads of lists, and of the tables and charts of a report, for studies of either kind."""

from collections.abc import Mapping

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET

from annotation.core.chart_views import chart_response, chart_theme
from annotation.core.charts import Spec
from annotation.core.exports import table_response
from annotation.core.views import MemberRequest, object_view, project_view
from annotation.models import Role
from correlations.models import ParameterStudy, Study
from correlations.selectors.lists import AnyStudy, listed_studies
from correlations.views.kinds import AnyResult, Column, Kind, StudyPage, finished_study_or_404


@require_GET
@project_view(Role.VIEWER)
def study_list_download(request: MemberRequest, file_format: str, kind: Kind[AnyStudy, AnyResult]) -> HttpResponseBase:
    return table_response(
        format=file_format,
        filename=f"{request.project.slug}-{kind.plural}",
        columns=_columns(kind.name, kind.columns),
        rows=(_listed(study, kind.columns) for study in listed_studies(kind.model, request.project).iterator(100)),
    )


def _columns(kind: str, columns: Mapping[str, Column]) -> tuple[str, ...]:
    return (kind.replace("-", "_"), "name", "state", "dataset", "release", *columns, "signature", "created_at")


def _listed(study: Study | ParameterStudy, columns: Mapping[str, Column]) -> tuple[object, ...]:
    """Return the study's row in the list."""
    described = (study.name, study.state, study.dataset.slug, study.specification["release"])
    cells = (column(study.specification) for column in columns.values())
    return (study.pk, *described, *cells, study.signature, study.created_at)


@require_GET
@object_view(finished_study_or_404, Role.VIEWER)
def study_download(
    request: MemberRequest, page: StudyPage[AnyStudy, AnyResult], table: str, file_format: str
) -> HttpResponseBase:
    if (table, file_format) == ("study", "json"):
        whole = {field: getattr(page.study, field) for field in ("name", "signature", "specification", "result")}
        response = JsonResponse(whole, json_dumps_params={"ensure_ascii": False})
        response["Content-Disposition"] = content_disposition_header(True, f"{_file_name(request, page)}.json")
        return response
    data = page.kind.table(page.result, table)
    if data is None:
        raise Http404(f"No table {table!r} in this study.")
    columns, rows = data
    filename = f"{_file_name(request, page)}-{table}"
    return table_response(format=file_format, filename=filename, columns=columns, rows=rows)


@require_GET
@object_view(finished_study_or_404, Role.VIEWER)
def study_figure(request: MemberRequest, page: StudyPage[AnyStudy, AnyResult], figure: str) -> JsonResponse:
    # The page has a heading above the chart; a file needs its own.
    return JsonResponse({key: value for key, value in _figure(request, page, figure).items() if key != "title"})


@require_GET
@object_view(finished_study_or_404, Role.VIEWER)
def study_figure_download(
    request: MemberRequest, page: StudyPage[AnyStudy, AnyResult], figure: str, file_format: str
) -> HttpResponse:
    return chart_response(_figure(request, page, figure), file_format, f"{_file_name(request, page)}-{figure}")


def _file_name(request: MemberRequest, page: StudyPage[AnyStudy, AnyResult]) -> str:
    return f"{request.project.slug}-{page.kind.name}-{page.study.pk}"


def _figure(request: HttpRequest, page: StudyPage[AnyStudy, AnyResult], figure: str) -> Spec:
    chart = page.kind.figure(page.result, figure, theme=chart_theme(request))
    if chart is None:
        raise Http404(f"No chart {figure!r} in this study.")
    return chart
