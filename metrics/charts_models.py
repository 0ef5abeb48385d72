"""The chart of a space's singular values, and its summary."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from annotation.core.charts import Spec, Theme, finish, palette


def spectrum_points(values: Sequence[float]) -> list[dict[str, float]]:
    """Return each dimension with its singular value and the share of the squares up to it."""
    squares = np.square(np.asarray(values, dtype=np.float64))
    shares = np.cumsum(squares) / squares.sum()
    return [
        {"dimension": dimension, "value": float(value), "share": float(share)}
        for dimension, (value, share) in enumerate(zip(values, shares, strict=True), start=1)
    ]


def spectrum_summary(facts: Mapping[str, Any]) -> dict[str, float] | None:
    """Return how many dimensions hold half and nine tenths of the squares; None for a model without such values."""
    values = facts.get("singular_values")
    if not values:
        return None
    shares = [point["share"] for point in spectrum_points(values)]
    half, most = (1 + int(np.searchsorted(shares, share - 1e-12)) for share in (0.5, 0.9))
    return {"n": len(values), "half": half, "most": most, "last": values[-1] / values[0]}


def spectrum(values: Sequence[float], *, theme: Theme = "light") -> Spec:
    """Draw the falling singular values; where the line is flat, further dimensions add little."""
    chart = (
        alt.Chart(alt.InlineData(values=spectrum_points(values)))
        .mark_line(color=palette(theme).accent, point=alt.OverlayMarkDef(size=18, color=palette(theme).accent))
        .encode(
            x=alt.X("dimension:Q", title="Dimension", axis=alt.Axis(format="d", tickMinStep=1)),
            y=alt.Y("value:Q", title="Singular value", scale=alt.Scale(type="log"), axis=alt.Axis(format="~s")),
            tooltip=[
                alt.Tooltip("dimension:Q", title="Dimension"),
                alt.Tooltip("value:Q", title="Singular value", format=".4g"),
                alt.Tooltip("share:Q", title="Share up to here", format=".1%"),
            ],
        )
    )
    return finish(chart, theme)
