"""The observations behind one coefficient."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
from numpy.typing import ArrayLike

from annotation.core.charts import Palette, Spec, Theme, Width, finish, palette
from correlations.charts.data import checked, inline, layers, records, signed, tooltips
from metrics.scoring.colours import metric_colour


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
    x = checked("human", human, finite=False)
    y = checked("metric", metric, length=x.size, finite=False)
    if pairs is not None and len(pairs) != x.size:
        raise ValueError(f"pairs has {len(pairs)} names: {x.size} are expected, one for each unit")
    names = np.asarray(pairs if pairs is not None else [""] * x.size, dtype=object)
    defined = np.isfinite(x) & np.isfinite(y)
    if not defined.any():
        raise ValueError("no unit has both a metric and a rating difference: there is nothing to draw")
    x, y, names = x[defined], y[defined], names[defined]
    data = {
        "human": x.tolist(),
        "metric": y.tolist(),
        "pair": names.tolist(),
        "human_shown": [signed(each) for each in x],
        "metric_shown": [signed(each) for each in y],
    }
    titles = {"human_shown": "Rating difference", "metric_shown": f"{metric_name} difference"}
    tooltip = tooltips(titles if pairs is None else {"pair": "Systems", **titles})
    reach = tuple(1.08 * float(np.abs(each).max()) or 1.0 for each in (x, y))
    agree = int((x * y > 0).sum())
    left_out = f"; {(~defined).sum()} undefined units left out" if not defined.all() else ""
    return finish(
        layers(*_drawn(records(data), reach, metric_name, tooltip, palette(theme), metric_colour(metric_name, theme))),
        theme,
        title=f"{metric_name} against human ratings",
        subtitle=[line for line in (subtitle, f"Shaded: metric and raters prefer the same system{left_out}") if line],
        description=f"{x.size} units; in {agree} of them metric and raters prefer the same system{left_out}.",
        width=width,
        height=360,
    )


def _drawn(
    data: alt.InlineData,
    reach: tuple[float, ...],
    metric_name: str,
    tooltip: list[alt.Tooltip],
    colours: Palette,
    colour: str,
) -> list[alt.Chart]:
    right, top = reach
    x_scale, y_scale = (alt.Scale(domain=[-end, end], nice=False) for end in reach)
    agreeing = inline([{"x": 0, "x2": right, "y": 0, "y2": top}, {"x": -right, "x2": 0, "y": -top, "y2": 0}])
    quadrants = alt.Chart(agreeing).mark_rect(color=colours.positive, opacity=0.07, aria=False)
    zero = alt.Chart(inline([{"zero": 0}])).mark_rule(color=colours.muted, strokeDash=[3, 3], aria=False)
    x_ticks = alt.Axis(grid=False, tickCount=7, format="~g", labelOverlap=True)
    x_axis = alt.X("human:Q", title="difference of mean ratings", scale=x_scale, axis=x_ticks)
    y_ticks = alt.Axis(tickCount=6, format="~g")
    y_axis = alt.Y("metric:Q", title=f"difference of {metric_name}", scale=y_scale, axis=y_ticks)
    points = alt.Chart(data).mark_circle(size=44, color=colour, opacity=0.6)
    return [
        quadrants.encode(x=alt.X("x:Q", scale=x_scale), x2="x2:Q", y=alt.Y("y:Q", scale=y_scale), y2="y2:Q"),
        zero.encode(x=alt.X("zero:Q", scale=x_scale)),
        zero.encode(y=alt.Y("zero:Q", scale=y_scale)),
        points.encode(x=x_axis, y=y_axis, tooltip=tooltip),
    ]
