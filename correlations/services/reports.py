"""The files of a study's report."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from annotation.core.charts import THEMES, Theme, render
from annotation.core.zips import zip_chunks
from correlations.documents.latex import latex_document, latex_table
from correlations.documents.model import Chart
from correlations.documents.pdf import chart_pdf, pdf_document
from correlations.models import Study
from correlations.results.report import StudyDocument
from correlations.results.study import StudyResult
from correlations.selectors.documents import study_document
from correlations.selectors.printed import printed_report
from correlations.selectors.reports import sweeps_to_draw

README = """\
report.tex       the whole report; compile it where figures/ is: pdflatex report.tex, twice
tables/*.tex     each table alone, for \\input into a paper with \\usepackage{array,booktabs}
figures/*.pdf    each chart

Names in other scripts than Latin and Greek need XeLaTeX or LuaLaTeX and a font that has them.
"""
ALWAYS_DRAWN = 2  # charts besides those of sweeps
NAMED = re.compile(r'(\bid="|url\(#|href="#)')


@dataclass(frozen=True)
class ReportFile:
    """A file of the report: its ending and type, and for its menu what it is and what it is good for.

    It has about ``base`` bytes, and ``for_chart`` for each chart.
    """

    ending: str
    content_type: str
    label: str
    purpose: str
    icon: str
    write: Callable[[Study, StudyResult, StudyDocument], bytes]
    base: int = 0
    for_chart: int = 0


def report_file(study: Study, result: StudyResult, ending: str) -> bytes:
    """Return the report of a finished study as a file of ``FILES``."""
    return FILES[ending].write(study, result, study_document(study, result))


def report_sizes(study: Study, result: StudyResult) -> dict[str, int]:
    """Return about how many bytes each file has, without making it."""
    n_charts = len(sweeps_to_draw(result)) + ALWAYS_DRAWN
    whole = len(json.dumps(study.result, ensure_ascii=False, indent=1).encode())
    return {
        ending: each.base + each.for_chart * n_charts + (whole if ending == "json" else 0)
        for ending, each in FILES.items()
    }


def _pdf(study: Study, result: StudyResult, document: StudyDocument) -> bytes:
    printed = printed_report(study, result, document)
    return pdf_document(printed, made_at=int(study.finished_at.timestamp()) if study.finished_at else 0)


def _html(study: Study, result: StudyResult, document: StudyDocument) -> bytes:
    printed = printed_report(study, result, document)
    figures = {chart.name: {theme: _inline(chart, theme) for theme in THEMES} for chart in printed.charts()}
    page: str = render_to_string("correlations/report_file.html", {"document": printed, "figures": figures})
    return page.encode()


def _inline(chart: Chart, theme: Theme) -> SafeString:
    """Return a chart as SVG within a page: its names are its own, and its size follows the page."""
    drawn = render(chart.light if theme == "light" else chart.dark).decode()
    prefix = f"{chart.name}-{theme}-"
    named = NAMED.sub(lambda match: match[1] + prefix, drawn)
    return mark_safe(named)  # noqa: S308  # drawn by Vega, which escapes texts


def _latex(study: Study, result: StudyResult, document: StudyDocument) -> bytes:
    printed = printed_report(study, result, document)
    members = [("README.txt", README.encode()), ("report.tex", latex_document(printed).encode())]
    members += [(f"tables/{grid.name}.tex", latex_table(grid).encode()) for grid in printed.grids()]
    members += [(f"figures/{chart.name}.pdf", chart_pdf(chart)) for chart in printed.charts()]
    return b"".join(zip_chunks((name, [content]) for name, content in members))


def _json(_: Study, __: StudyResult, document: StudyDocument) -> bytes:
    return json.dumps(document.to_json(), ensure_ascii=False, indent=1).encode()


_TABLE = "file-earmark-spreadsheet"
_TEXT = "file-earmark-text"
_PDF = "file-earmark-pdf"
_FILES = (
    ReportFile("pdf", "application/pdf", "PDF", "to print, and to attach to a paper", _PDF, _pdf, 80_000, 50_000),
    ReportFile(
        *("html", "text/html; charset=utf-8", "HTML", "one file to read offline, light and dark"),
        *(_TEXT, _html, 30_000, 45_000),
    ),
    ReportFile("zip", "application/zip", "LaTeX", "tables and charts for a paper", _TABLE, _latex, 15_000, 17_000),
    ReportFile("json", "application/json", "JSON", "every number, to verify and compute with", "braces", _json, 5_000),
)
FILES = {each.ending: each for each in _FILES}
