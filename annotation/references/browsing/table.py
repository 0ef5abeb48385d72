"""References as a table for print, in LaTeX and in Markdown.

The layout is that of Galley et al. 2015 ("deltaBLEU: A Discriminative Metric for Generation Tasks with Intrinsically
Diverse Targets"), Table 1: the original first and boxed, then the other references, best first, each after the context
and message that it was mined from, in italics. Weights have two
decimals, as on every page.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from django.template.defaultfilters import floatformat

from annotation.core.markdown import plain
from annotation.core.one_line import one_line

MINUS = "−"


class TableRow(NamedTuple):
    context: str
    message: str
    response: str
    weight: float | None  # None for the row of an item without an original
    is_seed: bool = False  # its context and message are the item's
    is_mined: bool = False  # its context and message are of another conversation
    n: int = 0  # ratings

    @property
    def written(self) -> str:
        """Return the weight with its sign and two decimals, a half away from zero as in its badge; never −0.00."""
        if self.weight is None:
            return ""
        text = floatformat(abs(self.weight), "2u")
        return f"{MINUS if self.weight < 0 else '+'}{text}" if float(text) else text


class TableItem(NamedTuple):
    external_id: str
    rows: list[TableRow]


# --- LaTeX -----------------------------------------------------------------------------------------------------------

LATEX_SIGNS = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "[": "{[}",
    "]": "{]}",
}
LATEX_HEAD = r"""% Made by Assay from {name}. Needs \usepackage{{booktabs}} and \usepackage{{longtable}};
% texts beyond Latin script need XeLaTeX or LuaLaTeX and a font that has them.
\begin{{longtable}}{{p{{0.25\linewidth}}p{{0.24\linewidth}}p{{0.27\linewidth}}rr}}
\toprule
Context $c$ & Message $m$ & Response $r$ & Weight & $n$ \\
\endhead
"""
LATEX_FOOT = r"""\bottomrule
\end{longtable}
"""
BOX = r"\fbox{\parbox{\dimexpr\linewidth-2\fboxsep-2\fboxrule\relax}{\raggedright %s}}"


def latex_lines(items: Iterable[TableItem], *, name: str) -> Iterator[str]:
    yield LATEX_HEAD.format(name=one_line(name))
    for item in items:
        yield "\\midrule\n"
        for row in item.rows:
            yield (
                " & ".join(_cells(row, _latex, BOX, r"\textit{%s}")) + f" & {_latex_weight(row)} & {row.n or ''} \\\\\n"
            )
    yield LATEX_FOOT


def _latex(text: str) -> str:
    return "".join(LATEX_SIGNS.get(sign, sign) for sign in one_line(text))


def _latex_weight(row: TableRow) -> str:
    return f"${row.written.replace(MINUS, '-')}$" if row.written else ""


# --- Markdown --------------------------------------------------------------------------------------------------------


def markdown_lines(items: Iterable[TableItem]) -> Iterator[str]:
    yield "| Context *c* | Message *m* | Response *r* | Weight | n |\n| --- | --- | --- | ---: | ---: |\n"
    for item in items:
        for row in item.rows:
            yield f"| {' | '.join(_cells(row, _markdown, '**%s**', '*%s*'))} | {row.written} | {row.n or ''} |\n"


def _markdown(text: str) -> str:
    return plain(one_line(text))


def _cells(row: TableRow, escape: Callable[[str], str], box: str, italic: str) -> list[str]:
    """Return context, message and response; an empty text is neither boxed nor set in italics."""
    texts = [escape(row.context), escape(row.message), escape(row.response)]
    if row.is_seed:
        return [box % text if text else "" for text in texts]
    if row.is_mined:
        texts[:2] = [italic % text if text else "" for text in texts[:2]]
    return texts
