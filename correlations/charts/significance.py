"""Metric against metric: a matrix of who is significantly closer to the raters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from annotation.core.charts import Spec, Theme, Width, finish, palette
from correlations.charts.data import in_lines, inline, layers, signed, tooltips

ALPHA = 0.05
CLOSER, FARTHER = "significantly closer (p ≤ .05)", "significantly farther (p ≤ .05)"
OPEN, NONE = "cannot be told apart", "not tested"
SIGNS = {CLOSER: "+", FARTHER: "−", OPEN: "·", NONE: ""}
CELL, HEAD = 28, 60  # pixels of a line, which has two lines of a name, and of what is above


@dataclass(frozen=True)
class Cell:
    """A row less a column: the difference in the coefficient, the corrected p, and why there is none."""

    difference: float | None
    p: float | None
    reason: str = ""

    @property
    def kind(self) -> str:
        if self.p is None or self.difference is None:
            return NONE
        if self.p > ALPHA or self.difference == 0:
            return OPEN
        return CLOSER if self.difference > 0 else FARTHER


def comparison_matrix(
    names: Sequence[str],
    cells: Sequence[Sequence[Cell | None]],
    *,
    coefficient: str,
    over: str,
    settings: str = "",
    places: Sequence[int] = (),
    theme: Theme = "light",
    width: Width = "container",
) -> Spec:
    """Draw who of each two is closer to the raters; columns are numbered as the rows are.

    Parameters
    ----------
    names : sequence of n names
        Closest to the raters first.
    cells : (n, n) cells
        None on the diagonal.
    coefficient, over : str
        What is compared, and over what.
    settings : str
        Of the metrics, where their names leave them out.
    places : n numbers
        Of the names and of the columns; by default from 1 on.

    Raises
    ------
    ValueError
        If there are fewer than two names, or cells of another shape.

    Examples
    --------
    >>> better, worse = Cell(0.2, 0.01), Cell(-0.2, 0.01)
    >>> comparison_matrix(["A", "B"], [[None, better], [worse, None]], coefficient="r", over="9 systems")["description"]
    'Metric against metric. r over 9 systems. A is significantly closer to the raters than 1 of 1 others, B than 0.'
    """
    if len(names) < 2 or [len(line) for line in cells] != [len(names)] * len(names):
        raise ValueError(f"cells have {len(cells)} lines for {len(names)} names: n lines of n cells, of 2 names up")
    columns = [str(place) for place in places or range(1, len(names) + 1)]
    lines = [f"{place}  {name}" for place, name in zip(columns, names, strict=True)]
    rows = _rows(names, lines, columns, cells)
    colours = palette(theme)
    looks = {CLOSER: colours.positive, FARTHER: colours.negative, OPEN: colours.line, NONE: colours.surface}
    kinds = [kind for kind in looks if any(row["kind"] == kind for row in rows)]
    y_axis = alt.Axis(labelLimit=220, labelPadding=8, ticks=False, domain=False, labelExpr=in_lines(lines))
    y = alt.Y("line:N", sort=lines, title=None, axis=y_axis)
    x_axis = alt.Axis(orient="top", labelAngle=0, ticks=False, domain=False, labelOverlap=False)
    x = alt.X("column:N", sort=columns, title=None, axis=x_axis)
    tooltip = tooltips(
        {"pair": "Compared", "difference": f"Difference in {coefficient}", "p": "p, corrected", "why": "It is"}
    )
    legend = alt.Legend(title=None, columns=alt.ExprRef("width > 380 ? 4 : 1"), columnPadding=16, labelLimit=220)
    scale = alt.Scale(domain=kinds, range=[looks[kind] for kind in kinds])
    base = alt.Chart(inline(rows)).encode(x=x, y=y)
    squares = base.mark_rect(stroke=colours.surface, strokeWidth=1.5).encode(
        color=alt.Color("kind:N", sort=kinds, scale=scale, legend=legend), tooltip=tooltip
    )
    on_colour = alt.condition(
        alt.FieldOneOfPredicate(field="kind", oneOf=[CLOSER, FARTHER]),
        alt.value(colours.surface),
        alt.value(colours.muted),
    )
    signs = base.mark_text(fontWeight=700, aria=False).encode(text="sign:N", color=on_colour)
    return finish(
        layers(squares, signs),
        theme,
        title="Metric against metric",
        subtitle=[f"{coefficient} over {over}; each line against each column", *([settings] if settings else [])],
        description=f"{coefficient} over {over}. {_in_words(names, cells)}",
        width=width,
        height=HEAD + CELL * len(names),
    )


def _rows(
    names: Sequence[str], lines: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[Cell | None]]
) -> list[dict[str, str]]:
    """Return what each square shows."""
    return [
        {
            "line": lines[a],
            "column": columns[b],
            "kind": cell.kind,
            "sign": SIGNS[cell.kind],
            "pair": f"{names[a]} less {names[b]}",
            "difference": "–" if cell.difference is None else signed(cell.difference),
            "p": "–" if cell.p is None else f"{cell.p:.3f}",
            "why": cell.reason or cell.kind,
        }
        for a, line in enumerate(cells)
        for b, cell in enumerate(line)
        if cell is not None
    ]


def _in_words(names: Sequence[str], cells: Sequence[Sequence[Cell | None]]) -> str:
    ahead = [sum(cell is not None and cell.kind == CLOSER for cell in line) for line in cells]
    first = f"{names[0]} is significantly closer to the raters than {ahead[0]} of {len(names) - 1} others"
    others = [f"{name} than {n}" for name, n in zip(names[1:], ahead[1:], strict=True)]
    return f"{', '.join([first, *others])}."
