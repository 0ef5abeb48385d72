"""Studies side by side."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET

from annotation.core.access import may_manage
from annotation.core.chart_views import chart_response, chart_theme, chart_urls
from annotation.core.exports import file_response, table_response
from annotation.core.parameters import whole_numbers
from annotation.core.views import MemberRequest, project_view
from annotation.models import Dataset, Project, Role
from correlations.models import Study
from correlations.selectors import compared_words as words
from correlations.selectors.compared import MOST_STUDIES, Compared, Line, compared_studies, finished_studies
from correlations.selectors.compared import shared_coefficients as shared_by
from correlations.selectors.lists import other_datasets
from correlations.views.metrics import STUDY

BY_DATASET = "data-sets"  # of the query: a study is called by its data set
MOST_LISTED = 200  # studies to choose from
NONE_SHARED = "These studies have no coefficient in common, or not this one."


@require_GET
@project_view(Role.VIEWER)
def study_compare(request: MemberRequest) -> HttpResponse:
    """Show the chosen studies side by side, and those to choose from."""
    project, studies = request.project, _studies(request)
    compared = _compared(request, studies) if len(studies) > 1 else None
    context: dict[str, Any] = {
        "project": project,
        "here": "Compare",
        "trail": [(STUDY.title, STUDY.url("list", project))],
        "choices": [(study, study in studies) for study in finished_studies(project)[:MOST_LISTED]],
        "chosen": studies,
        "most": MOST_STUDIES,
        "compared": compared,
        "others": _others(project, studies) if may_manage(project) else [],
        "may_join": may_manage(project) and compared is not None and compared.is_independent,
    }
    if compared is not None:
        context |= comparison_context(request, compared)
    return render(request, "correlations/study_compare.html", context)


def comparison_context(request: MemberRequest, compared: Compared) -> dict[str, Any]:
    """Return what the page of a comparison shows."""
    query = _query(compared)
    slug = request.project.slug
    has_chart = words.figure(compared, theme="light") is not None
    download = {
        f"{kind}_url": reverse("correlations:study-compare-download", args=[slug, kind]) + query
        for kind in ("csv", "json", "tex")
    }
    return {
        "headline": words.lead_sentences(compared),
        "assumption": words.assumption(compared),
        "rank_note": words.rank_note(compared),
        "columns": list(zip(compared.studies, compared.names, strict=True)),
        "rows": [_row(compared, line) for line in compared.shared],
        "rest": [_row(compared, line) for line in compared.only_some],
        "chart": chart_urls("correlations:study-compare-chart", [slug], query) if has_chart else None,
        "coefficients": shared_by(compared.results),
        "download": download,
        "n_different": sum(setting.differs for setting in compared.settings),
    }


def _row(compared: Compared, line: Line) -> dict[str, Any]:
    cells = zip(compared.studies, compared.names, line.cells, strict=True)
    rank = compared.ranked.of(line) if compared.ranked else None
    return {"line": line, "cells": list(cells), "rank": rank and rank[0], "leads": rank and rank[1]}


@require_GET
@project_view(Role.VIEWER)
def study_compare_download(request: MemberRequest, file_format: str) -> HttpResponseBase:
    """Return the comparison as a table, as JSON with all that the page says, or as LaTeX."""
    compared = _compared_or_404(request)
    stem = f"{request.project.slug}-studies-{'-'.join(str(study.pk) for study in compared.studies[:5])}"
    if file_format == "tex":
        return file_response(words.latex_table(compared), "application/x-tex", f"{stem}.tex")
    if file_format == "json":
        answer = JsonResponse(words.plain(compared), json_dumps_params={"ensure_ascii": False})
        answer["Content-Disposition"] = content_disposition_header(True, f"{stem}.json")
        return answer
    return table_response(format=file_format, filename=stem, columns=words.COLUMNS, rows=words.table_rows(compared))


@require_GET
@project_view(Role.VIEWER)
def study_compare_chart(request: MemberRequest, file_format: str) -> HttpResponse:
    chart = words.figure(_compared_or_404(request), theme=chart_theme(request))
    if chart is None:
        raise Http404("These studies have no row in common.")
    if file_format == "json":  # the page has a heading above the chart; a file needs its own
        chart = {key: value for key, value in chart.items() if key != "title"}
    return chart_response(chart, file_format, f"{request.project.slug}-studies")


def _studies(request: HttpRequest) -> list[Study]:
    """Return the finished studies that the address names, in its order."""
    wanted = whole_numbers(request.GET, "study")
    known = finished_studies(request.project).in_bulk(wanted)  # type: ignore[attr-defined] # a member's request
    order = dict.fromkeys(int(text) for text in request.GET.getlist("study") if text.isdecimal())
    return [known[pk] for pk in order if pk in known][:MOST_STUDIES]


def _compared(request: HttpRequest, studies: Sequence[Study]) -> Compared:
    compared = compared_studies(studies, request.GET.get("coefficient") or None)
    if compared is None:
        raise Http404(NONE_SHARED)
    return replace(compared, by_dataset=request.GET.get("names") == BY_DATASET)


def _compared_or_404(request: MemberRequest) -> Compared:
    studies = _studies(request)
    if len(studies) < 2:
        raise Http404("Name two or more finished studies as study=….")
    return _compared(request, studies)


def _query(compared: Compared) -> str:
    named: list[tuple[str, object]] = [("study", study.pk) for study in compared.studies]
    named += [("names", BY_DATASET)] if compared.by_dataset else []
    return "?" + urlencode([*named, ("coefficient", compared.coefficient.key)])


def _others(project: Project, studies: Sequence[Study]) -> list[tuple[Dataset, str]]:
    """Return the data sets that could have the first chosen study, too, with the address of its form there."""
    if not studies:
        return []
    create = STUDY.url("create", project)
    return [
        (dataset, f"{create}?{urlencode({'dataset': dataset.pk, 'like': studies[0].pk})}")
        for dataset in other_datasets(project, [study.dataset_id for study in studies])
    ]
