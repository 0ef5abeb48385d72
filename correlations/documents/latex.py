"""A document as LaTeX: one that compiles as it is, and each table alone, to be read into a paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import wrap
from typing import Any

from annotation.core.latex import escape
from correlations.documents.model import Block, Bullets, Chart, Code, Column, Document, Facts, Grid, Paragraph

#: Greek letters and signs that a coefficient, a metric or a sentence has; the rest is what LaTeX knows by itself.
SIGNS = {
    "ρ": r"$\rho$",
    "τ": r"$\tau$",
    "ε": r"$\epsilon$",
    "κ": r"$\kappa$",
    "λ": r"$\lambda$",
    "β": r"$\beta$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "|": r"\textbar{}\allowbreak{}",
    "’": "'",
    "‘": "`",
    "\u202f": r"\,",
    "\u00a0": "~",
    "\u200b": r"\allowbreak{}",  # see _breaking
}
OTHER = re.compile("|".join(map(re.escape, SIGNS)))
#: Beyond these letters pdfLaTeX needs packages that no TeX has at first; XeLaTeX and LuaLaTeX need a font.
FOREIGN = re.compile("[^\u0000-\u017f\u2010-\u2026\u20ac]")
PREAMBLE = r"""\documentclass[a4paper,10pt]{article}
\usepackage[margin=22mm]{geometry}
\usepackage{booktabs,longtable,array,float,graphicx,iftex}
\ifPDFTeX\usepackage[utf8]{inputenc}\else\usepackage{fontspec}%(fonts)s\fi
\setlength{\tabcolsep}{2.5pt}
\setlength{\LTcapwidth}{\textwidth}
\setlength{\parindent}{0pt}
\setlength{\parskip}{6pt}
\renewcommand{\labelitemi}{$\bullet$}
"""
WIDE = {"Metric": 34, "Compared": 40, "References": 21, "stands in": 24}  # millimetres of columns of text
CODE_WIDTH = 92
PART = 12  # characters of a long word that stay together
LONG = re.compile(r"[\w:+=.-]{25,}")
KEPT: dict[str, Any] = {"drop_whitespace": False, "replace_whitespace": False, "break_on_hyphens": False}
NEEDS = r"\ifPDFTeX\errmessage{Names in other scripts: compile with XeLaTeX or LuaLaTeX}\fi" + "\n"


def latex_document(document: Document, fonts: str = "") -> str:
    """Return the whole report; ``fonts`` are the commands by which other scripts find their font."""
    body = "\n\n".join(part for section in document.sections for part in _section(section.title, section.blocks))
    numbers = "; ".join(f"{label}: {value} ({hint})" for label, value, hint in document.numbers)
    needs = NEEDS if FOREIGN.search(body + document.title + document.about) else ""
    return "\n".join(
        [
            PREAMBLE.replace("%(fonts)s", fonts) + needs + r"\begin{document}",
            rf"{{\LARGE\bfseries {text(document.title)}\par}}\smallskip",
            rf"{text(document.about)}" + "\n",
            rf"{{\large\bfseries {text(document.lead[0])}\par}}",
            *(rf"{{\large {text(sentences)}\par}}" for sentences in document.lead[1:]),
            *([_block(Bullets(document.notes))] if document.notes else []),
            text(numbers) + ".\n",
            body,
            "\n" + rf"{{\small {text(document.foot)}}}",
            r"\end{document}",
            "",
        ]
    )


def latex_table(grid: Grid) -> str:
    """Return a table that a paper reads with ``\\input``; it needs booktabs."""
    head, rows = _cells(grid)
    lines = [
        "% needs \\usepackage{array,booktabs}",
        r"\begin{table}[t]",
        r"\centering\small",
        rf"\caption{{{text(grid.caption)}}}",
        rf"\label{{tab:{grid.name}}}",
        rf"\begin{{tabular}}{{{_alignment(grid.columns)}}}",
        r"\toprule",
        head,
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
        *(rf"\par\footnotesize {text(note)}" for note in grid.notes),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _breaking(plain: str) -> str:
    """Let long words, such as hashes, be broken.

    >>> text(_breaking("a" * 30))
    'aaaaaaaaaaaa\\\\allowbreak{}aaaaaaaaaaaa\\\\allowbreak{}aaaaaa'
    """
    return LONG.sub(lambda match: "\u200b".join(wrap(match.group(), PART)), plain)


def text(plain: str) -> str:
    """Return plain text as LaTeX.

    >>> text("Spearman’s ρ of ΔBLEU_2: 50 %")
    "Spearman's $\\\\rho$ of $\\\\Delta$BLEU\\\\_2: 50 \\\\%"
    """
    pieces, start = [], 0
    for match in OTHER.finditer(plain):
        pieces += [escape(plain[start : match.start()]), SIGNS[match.group()]]
        start = match.end()
    return "".join([*pieces, escape(plain[start:])])


def _section(title: str, blocks: tuple[Block, ...]) -> Iterator[str]:
    yield rf"\section*{{{text(title)}}}"
    for block in blocks:
        yield _block(block)


def _block(block: Block) -> str:
    match block:
        case Paragraph():
            return text(block.text)
        case Bullets():
            return "\n".join(
                [r"\begin{itemize}", *(rf"\item {text(_breaking(each))}" for each in block.texts), r"\end{itemize}"]
            )
        case Facts():
            entries = (rf"\item[{text(name)}] {text(_breaking(value))}" for name, value in block.entries)
            return "\n".join([r"\begin{description}\small", *entries, r"\end{description}"])
        case Code():
            lines = [part for line in block.text.split("\n") for part in wrap(line, CODE_WIDTH, **KEPT) or [""]]
            return "\n".join([r"\begin{small}\begin{verbatim}", *lines, r"\end{verbatim}\end{small}"])
        case Chart():
            return _figure(block)
        case Grid():
            return _long_table(block)


def _figure(chart: Chart) -> str:
    return "\n".join(
        [
            r"\begin{figure}[H]",
            r"\centering",
            rf"\includegraphics[width=.85\linewidth,height=.6\textheight,keepaspectratio]{{figures/{chart.name}.pdf}}",
            rf"\caption{{{text(chart.caption)}}}",
            rf"\label{{fig:{chart.name}}}",
            r"\end{figure}",
        ]
    )


def _long_table(grid: Grid) -> str:
    """Return a table that may go over several pages."""
    head, rows = _cells(grid)
    return "\n".join(
        [
            rf"{{\scriptsize\begin{{longtable}}{{{_alignment(grid.columns)}}}",
            rf"\caption{{{text(grid.caption)}}}\label{{tab:{grid.name}}}\\",
            r"\toprule",
            head,
            r"\midrule\endfirsthead",
            r"\toprule",
            head,
            r"\midrule\endhead",
            r"\bottomrule\endfoot",
            *rows,
            r"\end{longtable}",
            *(rf"{text(note)}\par" for note in grid.notes),
            "}",
        ]
    )


def _cells(grid: Grid) -> tuple[str, list[str]]:
    head = " & ".join(text(column.label) for column in grid.columns) + r" \\"
    rows = []
    for index, row in enumerate(grid.rows):
        cells = [text(cell) for cell in row]
        if index == grid.best:
            cells = [rf"\textbf{{{cell}}}" for cell in cells]
        rows.append(" & ".join(cells) + r" \\")
    return head, rows


def _alignment(columns: tuple[Column, ...]) -> str:
    """Return the kinds of columns; names of metrics and of references may be long."""
    widths = {label: rf">{{\raggedright\arraybackslash}}p{{{mm}mm}}" for label, mm in WIDE.items()}
    return "".join("r" if column.is_number else widths.get(column.label, "l") for column in columns)
