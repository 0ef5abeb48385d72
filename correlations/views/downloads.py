"""Downloads of lists, and of the tables and charts of a report, for studies of either kind."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET

from annotation.core.chart_views import chart_response, chart_theme
from annotation.core.charts import Spec
from annotation.core.exports import table_response
from annotation.core.views import MemberRequest, object_view, project_view
from annotation.models import Role
from annotation.references.releases.selectors.releases import release_name
from correlations.selectors.lists import listed_studies
from correlations.views.kinds import Kind, finished_study_or_404


@require_GET
@project_view(Role.VIEWER)
def study_list_download(request: MemberRequest, file_format: str, kind: Kind) -> HttpResponseBase:
    def row(study: Any) -> tuple[object, ...]:
        cells = (column(study.specification) for column in kind.columns.values())
        names = (study.name, study.state, study.dataset.slug, release_name(study.release))
        return (study.pk, *names, *cells, study.signature, study.created_at)

    described = ("name", "state", "dataset", "release", *kind.columns, "signature", "created_at")
    return table_response(
        format=file_format,
        filename=f"{request.project.slug}-{kind.plural}",
        columns=(kind.name.replace("-", "_"), *described),
        rows=map(row, listed_studies(kind.model, request.project).iterator(100)),
    )


@require_GET
@object_view(finished_study_or_404, Role.VIEWER)
def study_download(request: MemberRequest, study: Any, table: str, file_format: str) -> HttpResponseBase:
    if (table, file_format) == ("study", "json"):
        whole = {field: getattr(study, field) for field in ("name", "signature", "specification", "result")}
        response = JsonResponse(whole, json_dumps_params={"ensure_ascii": False})
        response["Content-Disposition"] = content_disposition_header(True, f"{_file_name(request, study)}.json")
        return response
    data = study.kind.table(study.read_result(), table)
    if data is None:
        raise Http404(f"No table {table!r} in this study.")
    columns, rows = data
    filename = f"{_file_name(request, study)}-{table}"
    return table_response(format=file_format, filename=filename, columns=columns, rows=rows)


@require_GET
@object_view(finished_study_or_404, Role.VIEWER)
def study_figure(request: MemberRequest, study: Any, figure: str) -> JsonResponse:
    # The page has a heading above the chart; a file needs its own.
    return JsonResponse({key: value for key, value in _figure(request, study, figure).items() if key != "title"})


@require_GET
@object_view(finished_study_or_404, Role.VIEWER)
def study_figure_download(request: MemberRequest, study: Any, figure: str, file_format: str) -> HttpResponse:
    return chart_response(_figure(request, study, figure), file_format, f"{_file_name(request, study)}-{figure}")


def _file_name(request: MemberRequest, study: Any) -> str:
    return f"{request.project.slug}-{study.kind.name}-{study.pk}"


def _figure(request: HttpRequest, study: Any, figure: str) -> Spec:
    chart: Spec | None = study.kind.figure(study.read_result(), figure, theme=chart_theme(request))
    if chart is None:
        raise Http404(f"No chart {figure!r} in this study.")
    return chart
