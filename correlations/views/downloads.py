"""Every table and figure of a report, for machines and for papers."""

from typing import cast

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.views.decorators.http import require_GET

from annotation.access import get_project_or_404
from annotation.exports import table_response
from annotation.models import User
from annotation.selectors.releases import release_name
from correlations.charts import render
from correlations.charts.render import MEDIA_TYPES
from correlations.charts.theme import Spec, Theme
from correlations.models import Study
from correlations.selectors import reports
from correlations.views.finding import get_result_or_404

STUDY_COLUMNS = (
    "study", "name", "state", "dataset", "release", "systems", "campaigns", "unit_size", "assignments", "signature",
    "created_at",
)  # fmt: skip


@login_required
@require_GET
def study_list_download(request: HttpRequest, project_slug: str, file_format: str) -> HttpResponseBase:
    project = get_project_or_404(cast(User, request.user), project_slug)
    studies = Study.objects.filter(project=project).defer("result", "release__report")
    rows = map(_study_row, studies.select_related("release__reference_set", "dataset").iterator(100))
    name = f"{project.slug}-studies"
    return table_response(format=file_format, filename=name, columns=STUDY_COLUMNS, rows=rows)


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
    if (table, file_format) == ("study", "json"):
        whole = {"name": study.name, "signature": study.signature, "specification": study.specification}
        response = JsonResponse(whole | {"result": study.result}, json_dumps_params={"ensure_ascii": False})
        response["Content-Disposition"] = f'attachment; filename="{project.slug}-study-{study.pk}.json"'
        return response
    found = reports.table(study, table)
    if found is None:
        raise Http404(f"No table {table!r} in this study.")
    columns, rows = found
    name = f"{project.slug}-study-{study.pk}-{table}"
    return table_response(format=file_format, filename=name, columns=columns, rows=rows)


@login_required
@require_GET
def study_figure(request: HttpRequest, project_slug: str, pk: int, figure: str) -> JsonResponse:
    project = get_project_or_404(cast(User, request.user), project_slug)
    spec = dict(_figure(request, get_result_or_404(Study, project, pk), figure))
    spec.pop("title", None)  # the page has its own heading above the figure; a file must bring one
    return JsonResponse(spec)


@login_required
@require_GET
def study_figure_download(
    request: HttpRequest, project_slug: str, pk: int, figure: str, file_format: str
) -> HttpResponse:
    project = get_project_or_404(cast(User, request.user), project_slug)
    study = get_result_or_404(Study, project, pk)
    if file_format not in MEDIA_TYPES:
        raise Http404(f"No figure as {file_format!r}; there are {', '.join(MEDIA_TYPES)}.")
    content = render(_figure(request, study, figure), file_format)  # type: ignore[arg-type] # checked above
    response = HttpResponse(content, content_type=MEDIA_TYPES[file_format])
    response["Content-Disposition"] = f'attachment; filename="{project.slug}-study-{study.pk}-{figure}.{file_format}"'
    return response


def _figure(request: HttpRequest, study: Study, name: str) -> Spec:
    theme: Theme = "dark" if request.GET.get("theme") == "dark" else "light"
    found = reports.figure(study, name, theme=theme)
    if found is None:
        raise Http404(f"No figure {name!r} in this study.")
    return found
