"""The observations behind one coefficient."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
from numpy.typing import ArrayLike

from annotation.core.charts import Spec, Theme, Width, finish, palette
from correlations.charts.data import checked, inline, layers, records, signed


def observation_scatter(
    human: ArrayLike,
    metric: ArrayLike,
    *,
    metric_name: str,
    pairs: Sequence[str] | None = None,
    subtitle: str = "",
    theme: Theme = "light",
    width: Width = "container",
) -> Spec:
    """Draw each unit's metric difference against its rating difference.

    Points in the shaded quadrants are units where metric and raters prefer the same system.

    Parameters
    ----------
    human, metric : arrays of shape (n,)
        Differences between the two systems of a pair; units where the metric is NaN are left out and counted.
    metric_name : str
    pairs : sequence of n names, optional
        Which systems each unit compares, for the tooltip.
    subtitle : str
        Such as the coefficients.

    Raises
    ------
    ValueError
        If lengths differ, or nothing is left to draw.

    Examples
    --------
    >>> observation_scatter([0.1, -0.2, 0.3], [0.01, -0.01, -0.02], metric_name="BLEU")["description"]
    'BLEU against human ratings. 3 units; in 2 of them metric and raters prefer the same system.'
    """
    colours = palette(theme)
    x = checked("human", human, finite=False)
    y = checked("metric", metric, length=x.size, finite=False)
    if pairs is not None and len(pairs) != x.size:
        raise ValueError(f"pairs has {len(pairs)} names: {x.size} are expected, one for each unit")
    names = np.asarray(pairs if pairs is not None else [""] * x.size, dtype=object)
    kept = np.isfinite(x) & np.isfinite(y)
    if not kept.any():
        raise ValueError("no unit has both a metric and a rating difference: there is nothing to draw")
    x, y, names = x[kept], y[kept], names[kept]
    reach_x, reach_y = (1.08 * float(np.abs(v).max()) or 1.0 for v in (x, y))
    x_scale = alt.Scale(domain=[-reach_x, reach_x], nice=False)
    y_scale = alt.Scale(domain=[-reach_y, reach_y], nice=False)

    agreeing = inline(
        [{"x": 0, "x2": reach_x, "y": 0, "y2": reach_y}, {"x": -reach_x, "x2": 0, "y": -reach_y, "y2": 0}]
    )
    quadrants = alt.Chart(agreeing).mark_rect(color=colours.positive, opacity=0.07, aria=False)
    axes = alt.Chart(inline([{"zero": 0}])).mark_rule(color=colours.muted, strokeDash=[3, 3], aria=False)
    tooltip = [
        alt.Tooltip("human_shown:N", title="Rating difference"),
        alt.Tooltip("metric_shown:N", title=f"{metric_name} difference"),
    ]
    if pairs is not None:
        tooltip.insert(0, alt.Tooltip("pair:N", title="Systems"))
    data = records(
        {
            "human": x.tolist(),
            "metric": y.tolist(),
            "pair": names.tolist(),
            "human_shown": [signed(each) for each in x],
            "metric_shown": [signed(each) for each in y],
        }
    )
    x_axis = alt.X(
        "human:Q",
        title="difference of mean ratings",
        scale=x_scale,
        axis=alt.Axis(grid=False, tickCount=7, format="~g", labelOverlap=True),
    )
    y_axis = alt.Y(
        "metric:Q", title=f"difference of {metric_name}", scale=y_scale, axis=alt.Axis(tickCount=6, format="~g")
    )
    points = alt.Chart(data).mark_circle(size=44, color=colours.positive, opacity=0.6)
    chart = layers(
        quadrants.encode(x=alt.X("x:Q", scale=x_scale), x2="x2:Q", y=alt.Y("y:Q", scale=y_scale), y2="y2:Q"),
        axes.encode(x=alt.X("zero:Q", scale=x_scale)),
        axes.encode(y=alt.Y("zero:Q", scale=y_scale)),
        points.encode(x=x_axis, y=y_axis, tooltip=tooltip),
    )
    agree = int((x * y > 0).sum())
    left_out = f"; {(~kept).sum()} undefined units left out" if not kept.all() else ""
    return finish(
        chart,
        theme,
        title=f"{metric_name} against human ratings",
        subtitle=[line for line in (subtitle, f"Shaded: metric and raters prefer the same system{left_out}") if line],
        description=f"{x.size} units; in {agree} of them metric and raters prefer the same system{left_out}.",
        width=width,
        height=360,
    )
