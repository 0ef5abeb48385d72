"""A document as PDF: tagged, with its fonts, and the same bytes for the same document."""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typst

from annotation.core.charts import FONTS, render
from correlations.documents.model import Chart, Document

TEMPLATE = Path(__file__).with_name("report.typ")
# Besides the fonts within typst, which have Latin, Greek and Cyrillic letters; those of this computer are not used, so
# that the file is the same everywhere.
FAMILIES = (
    *("Noto Sans SC", "Noto Sans JP", "Noto Sans KR", "Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans Devanagari"),
    *("Noto Sans Bengali", "Noto Sans Tamil", "Noto Sans Thai"),
)


def pdf_document(document: Document, *, made_at: int) -> bytes:
    """Return the PDF; ``made_at`` are the seconds since 1970 that it names as its time."""
    charts = {chart.name: chart_pdf(chart) for chart in document.charts()}
    with tempfile.TemporaryDirectory(prefix="assay-report-") as folder:
        for name, content in charts.items():
            (Path(folder) / f"{name}.pdf").write_bytes(content)
        (Path(folder) / TEMPLATE.name).write_bytes(TEMPLATE.read_bytes())
        compiled = typst.compile(
            str(Path(folder) / TEMPLATE.name),
            root=folder,
            sys_inputs={"document": json.dumps(_plain(document), ensure_ascii=False)},
            timestamp=made_at,
            format="pdf",
            font_paths=[str(FONTS)],
            ignore_system_fonts=True,
        )
    return bytes(compiled)


def chart_pdf(chart: Chart) -> bytes:
    """Return a chart in light colours as PDF, its letters as text."""
    return render(chart.light, "pdf")


def _plain(document: Document) -> dict[str, Any]:
    plain = asdict(document) | {"fonts": FAMILIES}
    for section in plain["sections"]:
        for block in section["blocks"]:
            if block["kind"] == "chart":
                del block["light"], block["dark"]
    return plain
