"""Charts that check a release's weights: numbers in, Vega-Lite specification out."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from annotation.core.charts import Spec, Theme, finish, palette, themed
from annotation.quality.charts import drawn_at
from annotation.references.releases.charts import ScatterAxis, weight_scatter
from annotation.weighting.standing import signs

SMALL = 210
TURNED, KEPT = "turns", "keeps"


def _cells(weights: np.ndarray, other: np.ndarray) -> list[dict[str, Any]]:
    """Count references per cell of both weights: at the weights themselves, or at tenths if many differ."""
    both = np.isfinite(weights) & np.isfinite(other)
    weights, other = weights[both], other[both]
    turned = signs(weights) * signs(other) < 0
    cells, counts = np.unique(
        np.stack([drawn_at(weights), drawn_at(other), turned], axis=1), axis=0, return_counts=True
    )
    return [
        {
            "own": x,
            "other": y,
            "references": count,
            "group": TURNED if is_turned else KEPT,
        }
        for (x, y, is_turned), count in zip(cells.tolist(), counts.tolist(), strict=True)
    ]


def _against(rows: Sequence[Mapping[str, Any]], label: str, theme: Theme, *, most: int) -> alt.LayerChart:
    colours = {KEPT: palette(theme).accent, TURNED: palette(theme).negative}
    axes = ScatterAxis("own", "This release"), ScatterAxis("other", label)
    return weight_scatter(rows, *axes, colours, most=most, theme=theme)


def weight_against(weights: np.ndarray, other: np.ndarray, label: str, *, theme: Theme = "light") -> Spec:
    """Draw a release's weights against those of another scheme; the area of a circle counts references."""
    rows = _cells(weights, other)
    most = max((row["references"] for row in rows), default=1)
    return finish(_against(rows, label, theme, most=most), theme)


def weights_against(weights: np.ndarray, others: Sequence[tuple[str, np.ndarray]], *, theme: Theme = "light") -> Spec:
    """Draw the same for several schemes side by side."""
    cells = [(label, _cells(weights, other)) for label, other in others]
    most = max((row["references"] for _, rows in cells for row in rows), default=1)
    small = [_against(rows, label, theme, most=most).properties(width=SMALL, height=SMALL) for label, rows in cells]
    return themed(alt.concat(*small, columns=3).to_dict(validate=False), theme)


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
