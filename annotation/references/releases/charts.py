"""Charts of two sets of weights of the same references: numbers in, Vega-Lite specification out."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np

from annotation.core.charts import Spec, Theme, finish, palette
from annotation.quality.charts import bars_counted, drawn_at

SIGNED = "datum.value == 0 ? '0' : format(datum.value, '+.1f')"


def moves_of_weights(moves: np.ndarray, *, theme: Theme = "light") -> Spec:
    """Draw references per move of their weight, or in steps of 0.1 if many differ, coloured by direction."""
    rows = bars_counted(moves, "move", "direction", ("down", "hardly", "up"))
    colours = palette(theme)
    furthest = max([0.5, *(abs(float(row["move"])) for row in rows)]) + 0.1
    domain, colour = ["down", "hardly", "up"], [colours.negative, colours.line_strong, colours.positive]
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(cornerRadiusEnd=2)
        .encode(
            x=alt.X(
                "from:Q",
                title="Move of the weight",
                scale=alt.Scale(domain=[-furthest, furthest], nice=False),
                axis=alt.Axis(labelExpr=SIGNED, grid=False),
            ),
            x2="to:Q",
            y=alt.Y("references:Q", title="References", axis=alt.Axis(format=",d", tickMinStep=1)),
            y2=alt.datum(0),
            color=alt.Color("direction:N", legend=None, scale=alt.Scale(domain=domain, range=colour)),
            tooltip=[alt.Tooltip("move:Q", format="+.2f"), alt.Tooltip("references:Q", format=",")],
        )
    )
    return finish(chart, theme)


class ScatterAxis(NamedTuple):
    field: str
    title: str


def weight_scatter(
    rows: Sequence[Mapping[str, Any]],
    x: ScatterAxis,
    y: ScatterAxis,
    colours: Mapping[str, str],
    *,
    most: int,
    theme: Theme,
) -> alt.LayerChart:
    """Draw cells of two weights, coloured by ``group``; the area of a dot counts references, up to ``most``."""
    scale = alt.Scale(domain=[-1.08, 1.08], nice=False)
    axis = alt.Axis(values=[-1, -0.5, 0, 0.5, 1], labelExpr=SIGNED)
    equal = alt.InlineData(values=[{x.field: end, y.field: end} for end in (-1, 1)])
    diagonal = (
        alt.Chart(equal)
        .mark_line(color=palette(theme).muted, strokeDash=[4, 4], strokeWidth=1)
        .encode(x=alt.X(f"{x.field}:Q", scale=scale), y=alt.Y(f"{y.field}:Q", scale=scale))
    )
    sizes = alt.Scale(type="sqrt", domain=[0, most], range=[6, 260])
    group = alt.Scale(domain=list(colours), range=list(colours.values()))
    dots = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_circle(opacity=0.75)
        .encode(
            x=alt.X(f"{x.field}:Q", title=x.title, scale=scale, axis=axis),
            y=alt.Y(f"{y.field}:Q", title=y.title, scale=scale, axis=axis),
            size=alt.Size("references:Q", legend=None, scale=sizes),
            color=alt.Color("group:N", legend=None, scale=group),
            tooltip=[
                alt.Tooltip(f"{x.field}:Q", title=x.title, format="+.2f"),
                alt.Tooltip(f"{y.field}:Q", title=y.title, format="+.2f"),
                alt.Tooltip("references:Q", format=","),
                alt.Tooltip("group:N"),
            ],
        )
    )
    chart: alt.LayerChart = diagonal + dots
    return chart


def weights_then_and_now(before: np.ndarray, after: np.ndarray, *, theme: Theme = "light") -> Spec:
    """Draw shared references by their two weights, each where it is, or in cells of 0.1 if many differ."""
    cells, counts = np.unique(np.stack([drawn_at(before), drawn_at(after)], axis=1), axis=0, return_counts=True)
    rows = [
        {"before": x, "after": y, "references": count, "group": _direction(x, y)}
        for (x, y), count in zip(cells.tolist(), counts.tolist(), strict=True)
    ]
    shades = palette(theme)
    colours = {"down": shades.negative, "same": shades.line_strong, "up": shades.positive}
    axes = ScatterAxis("before", "Weight before"), ScatterAxis("after", "Weight after")
    return finish(weight_scatter(rows, *axes, colours, most=int(counts.max(initial=1)), theme=theme), theme)


def _direction(before: float, after: float) -> str:
    return "up" if after > before else "down" if after < before else "same"
