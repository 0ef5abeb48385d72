"""Charts of two releases side by side: numbers in, Vega-Lite specification out."""

import altair as alt
import numpy as np

from annotation.core.charts import Spec, Theme, finish, palette
from annotation.quality.charts import BIN, tenths, tenths_counted


def moves_of_weights(moves: np.ndarray, *, theme: Theme = "light") -> Spec:
    """References per move of their weight, in steps of 0.1, coloured by direction."""
    rows = tenths_counted(moves, "move", "direction", ("down", "hardly", "up"))
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
                axis=alt.Axis(labelExpr="datum.value == 0 ? '0' : format(datum.value, '+.1f')", grid=False),
            ),
            x2="to:Q",
            y=alt.Y("references:Q", title="References", axis=alt.Axis(format=",d", tickMinStep=1)),
            y2=alt.datum(0),
            color=alt.Color("direction:N", legend=None, scale=alt.Scale(domain=domain, range=colour)),
            tooltip=[alt.Tooltip("move:Q", format="+.1f"), alt.Tooltip("references:Q", format=",")],
        )
    )
    return finish(chart, theme)


def weights_then_and_now(before: np.ndarray, after: np.ndarray, *, theme: Theme = "light") -> Spec:
    """Shared references by their two weights, in cells of 0.1: a dot's area is how many; on the diagonal none moved."""
    cells = np.stack([tenths(before), tenths(after)], axis=1)
    places, counts = np.unique(cells, axis=0, return_counts=True)
    rows = [
        {"before": round(x * BIN, 1), "after": round(y * BIN, 1), "references": count, "moved": _direction(x, y)}
        for (x, y), count in zip(places.tolist(), counts.tolist(), strict=True)
    ]
    colours = palette(theme)
    domain, colour = ["down", "same", "up"], [colours.negative, colours.line_strong, colours.positive]
    scale = alt.Scale(domain=[-1.08, 1.08], nice=False)
    words = "datum.value == 0 ? '0' : format(datum.value, '+.1f')"
    axis = alt.Axis(values=[-1, -0.5, 0, 0.5, 1], labelExpr=words)
    dots = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_circle(opacity=0.75)
        .encode(
            x=alt.X("before:Q", title="Weight before", scale=scale, axis=axis),
            y=alt.Y("after:Q", title="Weight after", scale=scale, axis=axis),
            size=alt.Size("references:Q", legend=None, scale=alt.Scale(type="sqrt", range=[8, 260], domainMin=0)),
            color=alt.Color("moved:N", legend=None, scale=alt.Scale(domain=domain, range=colour)),
            tooltip=[
                alt.Tooltip("before:Q", format="+.1f"),
                alt.Tooltip("after:Q", format="+.1f"),
                alt.Tooltip("references:Q", format=","),
            ],
        )
    )
    ends = alt.InlineData(values=[{"before": -1, "after": -1}, {"before": 1, "after": 1}])
    diagonal = (
        alt.Chart(ends)
        .mark_line(color=colours.muted, strokeDash=[4, 4], strokeWidth=1)
        .encode(x=alt.X("before:Q", scale=scale), y=alt.Y("after:Q", scale=scale))
    )
    return finish(diagonal + dots, theme)


def _direction(before: int, after: int) -> str:
    return "up" if after > before else "down" if after < before else "same"
