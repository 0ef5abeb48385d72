"""The files of a report: of a study, or of a study over several data sets."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.core.cache import cache
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from annotation.core.charts import THEMES, Theme, render
from annotation.core.zips import zip_chunks
from correlations.documents.latex import latex_document, latex_table
from correlations.documents.model import Chart, Document
from correlations.documents.pdf import chart_pdf, pdf_document
from correlations.models import JointStudy, ParameterStudy, Study
from correlations.results.parameters import ParameterResult
from correlations.results.study import StudyResult
from correlations.selectors.compared import Compared
from correlations.selectors.documents import parameter_document, study_document
from correlations.selectors.joint import joint_document, printed_joint_report
from correlations.selectors.printed import printed_report
from correlations.selectors.printed_parameters import printed_parameter_report

README = """\
report.tex       the whole report; compile it where figures/ is: pdflatex report.tex, twice
tables/*.tex     each table alone, for \\input into a paper with \\usepackage{array,booktabs}
figures/*.pdf    each chart

Names in other scripts than Latin and Greek need XeLaTeX or LuaLaTeX and a font that has them.
"""
SIZES_KEPT_SECONDS = 30 * 24 * 3600
NAMED = re.compile(r'(\bid="|url\(#|href="#)')


@dataclass(frozen=True)
class ReportFile:
    """A file of the report: its ending and type, and for its menu what it is and what it is good for."""

    ending: str
    content_type: str
    label: str
    purpose: str
    icon: str
    write: Callable[["Printable"], bytes]


@dataclass(frozen=True)
class Printable:
    """A report before it is a file: ``printed`` for reading, ``data`` for computing; each is made when it is needed."""

    printed: Callable[[], Document]
    data: Callable[[], Mapping[str, Any]]
    made_at: datetime | None


def report_file(study: Study, result: StudyResult, ending: str) -> bytes:
    """Return the report of a finished study as a file of ``FILES``."""
    document = study_document(study, result)
    printed = partial(printed_report, study, result, document)
    content = FILES[ending].write(Printable(printed, document.to_json, study.finished_at))
    cache.set(_size_key(study, ending), len(content), SIZES_KEPT_SECONDS)
    return content


def parameter_report_file(study: ParameterStudy, result: ParameterResult, ending: str) -> bytes:
    """Return the report of a finished parameter study as a file of ``FILES``."""
    printed, document = partial(printed_parameter_report, study, result), parameter_document(study, result)
    content = FILES[ending].write(Printable(printed, document.to_json, study.finished_at))
    cache.set(_size_key(study, ending), len(content), SIZES_KEPT_SECONDS)
    return content


def report_sizes(study: Study | ParameterStudy) -> dict[str, int]:
    """Return how many bytes each file has that was made lately."""
    keys = {_size_key(study, ending): ending for ending in FILES}
    return {keys[key]: size for key, size in cache.get_many(keys).items()}


def _size_key(study: Study | ParameterStudy, ending: str) -> str:
    return f"report-size:{study.signature}:{ending}"


def joint_report_file(joint: JointStudy, compared: Compared, ending: str) -> bytes:
    """Return the report of a study over several data sets as a file of ``FILES``."""
    printed = partial(printed_joint_report, joint, compared)

    def data() -> Mapping[str, Any]:
        return joint_document(joint, compared).to_json()

    return FILES[ending].write(Printable(printed, data, max(filter(None, (s.finished_at for s in compared.studies)))))


def _pdf(report: Printable) -> bytes:
    return pdf_document(report.printed(), made_at=int(report.made_at.timestamp()) if report.made_at else 0)


def _html(report: Printable) -> bytes:
    printed = report.printed()
    figures = {chart.name: {theme: _inline(chart, theme) for theme in THEMES} for chart in printed.charts()}
    page: str = render_to_string("correlations/report_file.html", {"document": printed, "figures": figures})
    return page.encode()


def _inline(chart: Chart, theme: Theme) -> SafeString:
    """Return a chart as SVG within a page: its names are its own, and its size follows the page."""
    drawn = render(chart.light if theme == "light" else chart.dark).decode()
    prefix = f"{chart.name}-{theme}-"
    named = NAMED.sub(lambda match: match[1] + prefix, drawn)
    return mark_safe(named)  # noqa: S308  # drawn by Vega, which escapes texts


def _latex(report: Printable) -> bytes:
    printed = report.printed()
    members = [("README.txt", README.encode()), ("report.tex", latex_document(printed).encode())]
    members += [(f"tables/{grid.name}.tex", latex_table(grid).encode()) for grid in printed.grids()]
    members += [(f"figures/{chart.name}.pdf", chart_pdf(chart)) for chart in printed.charts()]
    return b"".join(zip_chunks((name, [content]) for name, content in members))


def _json(report: Printable) -> bytes:
    return json.dumps(report.data(), ensure_ascii=False, indent=1).encode()


_TABLE = "file-earmark-spreadsheet"
_TEXT = "file-earmark-text"
_PDF = "file-earmark-pdf"
_HTML = "text/html; charset=utf-8"
_FILES = (
    ReportFile("pdf", "application/pdf", "PDF", "to print, and to attach to a paper", _PDF, _pdf),
    ReportFile("html", _HTML, "HTML", "one file to read offline, light and dark", _TEXT, _html),
    ReportFile("zip", "application/zip", "LaTeX", "tables and charts for a paper", _TABLE, _latex),
    ReportFile("json", "application/json", "JSON", "every number, to verify and compute with", "braces", _json),
)
FILES = {each.ending: each for each in _FILES}
