"""Charts that check a release's weights: numbers in, Vega-Lite specification out."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from annotation.core.charts import Spec, Theme, finish, palette, themed

CELL = 0.1  # of weights, as in the distribution
SMALL = 210
TURNED, KEPT = "turns", "keeps"


def _cells(own: np.ndarray, other: np.ndarray) -> list[dict[str, Any]]:
    """Count references per cell of both weights, centred on tenths, halves away from zero."""
    both = np.isfinite(own) & np.isfinite(other)
    columns = [np.sign(one) * np.floor(np.abs(one) / CELL + 0.5 + 1e-9) for one in (own[both], other[both])]
    turned = (own[both] > 1e-9) & (other[both] < -1e-9) | (own[both] < -1e-9) & (other[both] > 1e-9)
    cells, counts = np.unique(np.stack([*columns, turned], axis=1), axis=0, return_counts=True)
    return [
        {
            "own": round(x * CELL, 1) + 0.0,
            "other": round(y * CELL, 1) + 0.0,
            "references": count,
            "sign": TURNED if sign else KEPT,
        }
        for (x, y, sign), count in zip(cells.tolist(), counts.tolist(), strict=True)
    ]


def _against(rows: Sequence[Mapping[str, Any]], label: str, theme: Theme, *, most: int) -> alt.LayerChart:
    colours = palette(theme)
    scale = alt.Scale(domain=[-1.08, 1.08], nice=False)
    axis = alt.Axis(values=[-1, -0.5, 0, 0.5, 1], format="+.1f", grid=True)
    same = (
        alt.Chart(alt.InlineData(values=[{"own": -1, "other": -1}, {"own": 1, "other": 1}]))
        .mark_line(color=colours.line_strong, strokeDash=[4, 3], strokeWidth=1)
        .encode(x=alt.X("own:Q"), y=alt.Y("other:Q"))
    )
    points = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_circle(opacity=0.75)
        .encode(
            x=alt.X("own:Q", title="This release", scale=scale, axis=axis),
            y=alt.Y("other:Q", title=label, scale=scale, axis=axis),
            size=alt.Size("references:Q", legend=None, scale=alt.Scale(type="sqrt", domain=[0, most], range=[4, 260])),
            color=alt.Color(
                "sign:N",
                legend=None,
                scale=alt.Scale(domain=[KEPT, TURNED], range=[colours.accent, colours.negative]),
            ),
            tooltip=[
                alt.Tooltip("own:Q", title="this release", format="+.1f"),
                alt.Tooltip("other:Q", title=label, format="+.1f"),
                alt.Tooltip("references:Q", format=","),
                alt.Tooltip("sign:N"),
            ],
        )
    )
    chart: alt.LayerChart = same + points
    return chart


def weight_against(own: np.ndarray, other: np.ndarray, label: str, *, theme: Theme = "light") -> Spec:
    """Draw a release's weights against those of another scheme; the area of a circle counts references."""
    rows = _cells(own, other)
    most = max((row["references"] for row in rows), default=1)
    return finish(_against(rows, label, theme, most=most), theme)


def weights_against(own: np.ndarray, others: Sequence[tuple[str, np.ndarray]], *, theme: Theme = "light") -> Spec:
    """Draw the same for several schemes side by side."""
    cells = [(label, _cells(own, other)) for label, other in others]
    most = max((row["references"] for _, rows in cells for row in rows), default=1)
    small = [_against(rows, label, theme, most=most).properties(width=SMALL, height=SMALL) for label, rows in cells]
    return themed(alt.concat(*small, columns=3).to_dict(), theme)


def rater_influence(raters: Sequence[tuple[str, int, float, int]], *, theme: Theme = "light") -> Spec:
    """Draw one mark per rater: number of ratings, and the largest change of a weight without the rater."""
    colours = palette(theme)
    rows = [
        {"rater": name, "ratings": n, "change": change, "turned": turned, "turns": "some" if turned else "none"}
        for name, n, change, turned in raters
        if np.isfinite(change)
    ]
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_circle(size=70, opacity=0.7)
        .encode(
            x=alt.X("ratings:Q", title="Ratings that count", axis=alt.Axis(format=",d", tickMinStep=1)),
            y=alt.Y("change:Q", title="Largest change of a weight", axis=alt.Axis(format=".1f")),
            color=alt.Color(
                "turns:N",
                legend=alt.Legend(title="Signs turn without them", titleLimit=0),
                scale=alt.Scale(domain=["none", "some"], range=[colours.accent, colours.negative]),
            ),
            tooltip=[
                alt.Tooltip("rater:N"),
                alt.Tooltip("ratings:Q", format=","),
                alt.Tooltip("change:Q", title="largest change", format=".2f"),
                alt.Tooltip("turned:Q", title="signs that turn", format=","),
            ],
        )
    )
    return finish(chart, theme)
