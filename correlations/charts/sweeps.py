"""Figure 2 of the ΔBLEU paper: correlation against reference threshold, unit size, or n-gram order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt
import numpy as np
from numpy.typing import ArrayLike

from annotation.core.charts import DASHES, SHAPES, Spec, Theme, Width, finish, palette
from correlations.charts import data
from correlations.charts.data import Floats, signed
from metrics.scoring.colours import metric_colours

Kind = Literal["threshold", "unit_size", "order"]
_HEIGHT = 300
MOST_LINES_NAMED = 10  # of more only those in colour are named, or the names would not fit beside each other
_LABEL_GAP = 20 / _HEIGHT  # of the height between two lines' labels, with room for lower charts in print


@dataclass(frozen=True)
class SweepAxis:
    title: str
    chart_title: str
    form: str
    scale: Literal["linear", "log"] = "linear"
    reverse: bool = False


AXES: Mapping[Kind, SweepAxis] = {
    "threshold": SweepAxis("lowest reference weight kept", "References of lower weight", ".1f", reverse=True),
    "unit_size": SweepAxis("unit size M (items, logarithmic)", "Larger observation units", "d", scale="log"),
    "order": SweepAxis("highest n-gram order N", "Longer n-grams", "d"),
}


def sweep_chart(
    points: ArrayLike,
    series: Mapping[str, ArrayLike],
    *,
    kind: Kind,
    in_colour: Sequence[str] | None = None,
    coefficient: str,
    settings: str = "",
    theme: Theme = "light",
    width: Width = "container",
) -> Spec:
    """Draw one line per metric, its name at its end.

    Parameters
    ----------
    points : array of shape (n,)
        Thresholds in [-1, 1], unit sizes or orders; strictly increasing.
    series : mapping from metric name to array of shape (n,)
        Coefficients in [-1, 1]; NaN leaves a gap. The order of the names fixes mark and dash.
    kind : {"threshold", "unit_size", "order"}
    in_colour : sequence of metric names, optional
        Those in colour, the others grey; all by default. Of more than 10 lines these alone are named.
    coefficient : str
        What the vertical axis is called.
    settings : str
        Of the metrics, where their names leave them out.

    Raises
    ------
    ValueError
        If points do not increase, a series has another length or leaves [-1, 1], or an option is unknown.

    Examples
    --------
    >>> spec = sweep_chart([1, 2, 3, 4], {"BLEU": [0.2, 0.3, 0.25, 0.2]}, kind="order", coefficient="Spearman’s ρ")
    >>> spec["description"]
    'Longer n-grams. Spearman’s ρ of 1 metrics at 4 points. BLEU: 0.200 at 1, 0.200 at 4.'
    """
    axis, points_at, values = _checked(points, series, kind)
    domain = data.correlation_domain(list(values.values()), room=0.08, least=0.01)
    named, muted = _named_series(values, in_colour), palette(theme).muted
    colour, shape, dash = _channels(named, [name for name in values if name not in named], muted, theme)
    faint = alt.condition(alt.FieldOneOfPredicate(field="metric", oneOf=named), alt.value(1), alt.value(0.35))
    x = _x(axis, points_at)
    y = alt.Y("value:Q", title=coefficient, scale=alt.Scale(domain=domain), axis=alt.Axis(tickCount=6, format=".2f"))
    base = alt.Chart(_points(points_at, values)).encode(x=x, color=colour)
    drawn = data.zero_line(domain, muted, y)
    tooltip = [
        alt.Tooltip("metric:N", title="Metric"),
        alt.Tooltip("point:Q", title=axis.title.capitalize(), format=axis.form),
        alt.Tooltip("shown:N", title=coefficient),
    ]
    labelled = values if len(values) <= MOST_LINES_NAMED else {name: values[name] for name in named}
    ends = alt.Chart(_line_ends(points_at, labelled, domain, axis)).encode(x=x, y=y, color=colour)
    drawn += [
        base.mark_line(strokeWidth=2.2, aria=False).encode(y=y, strokeDash=dash, opacity=faint),
        base.mark_point(filled=True, size=60).encode(y=y, shape=shape, opacity=faint, tooltip=tooltip),
        ends.mark_text(align="left", dx=11, fontSize=13, fontWeight=600).encode(text="metric:N"),
    ]
    return finish(
        data.layers(*drawn),
        theme,
        title=axis.chart_title,
        subtitle=["Mean over assignments", *([settings] if settings else [])],
        description=_in_words(coefficient, points_at, values),
        width=width,
        height=_HEIGHT,
    )


def _checked(
    points: ArrayLike, series: Mapping[str, ArrayLike], kind: Kind
) -> tuple[SweepAxis, Floats, dict[str, Floats]]:
    """Return the axis, the points on it and the coefficients of each metric."""
    if kind not in AXES:
        raise ValueError(f"kind is {kind!r}: accepted are {', '.join(AXES)}")
    points_at = data.checked("points", points)
    if (np.diff(points_at) <= 0).any():
        raise ValueError(f"points are {points_at.tolist()}: strictly increasing values are expected")
    if AXES[kind].scale == "log" and points_at[0] <= 0:
        raise ValueError(f"points[0] is {points_at[0]:g}: unit sizes start at 1")
    if not series:
        raise ValueError("series is empty: at least one metric is expected")
    values = {
        name: data.checked_correlations(f"series {name!r}", each, points_at.size) for name, each in series.items()
    }
    return AXES[kind], points_at, values


def _channels(
    named: Sequence[str], others: Sequence[str], muted: str, theme: Theme
) -> tuple[alt.Color, alt.Shape, alt.StrokeDash]:
    """Return colour, shape and dash of each metric: those that are named, and the others in grey."""

    def scale(values: Iterable[Any], of_others: Any) -> alt.Scale:
        return alt.Scale(domain=[*named, *others], range=[*values, *[of_others] * len(others)])

    return (
        alt.Color("metric:N", scale=scale(metric_colours(named, theme).values(), muted), legend=None),
        alt.Shape("metric:N", scale=scale(SHAPES[: len(named)], "circle"), legend=None),
        alt.StrokeDash("metric:N", scale=scale(DASHES[: len(named)], [1, 0]), legend=None),
    )


def _named_series(values: Mapping[str, Floats], in_colour: Sequence[str] | None) -> list[str]:
    named = list(values) if in_colour is None else list(in_colour)
    unknown = set(named) - set(values)
    if unknown:
        raise ValueError(f"in_colour names {sorted(unknown)[0]!r}, which is no series")
    if len(named) > len(SHAPES):
        raise ValueError(f"{len(named)} metrics are to be in colour: at most {len(SHAPES)} differ in mark and colour")
    return named


def _x(axis: SweepAxis, points_at: Floats) -> alt.X:
    ticks = points_at.tolist()
    if len(ticks) > 9:
        ticks = [tick for tick in ticks if math.isclose(tick * 4, round(tick * 4), abs_tol=1e-9) or axis.scale == "log"]
    scale = alt.Scale(type=axis.scale, domain=[points_at[0], points_at[-1]], nice=False, reverse=axis.reverse)
    return alt.X(
        "point:Q",
        title=axis.title,
        scale=scale,
        axis=alt.Axis(values=ticks, format=axis.form, grid=False, labelOverlap=True),
    )


def _points(points_at: Floats, values: Mapping[str, Floats]) -> alt.InlineData:
    value = np.concatenate(list(values.values()))
    return data.records(
        {
            "metric": [name for name in values for _ in range(points_at.size)],
            "point": np.tile(points_at, len(values)).tolist(),
            "value": value.tolist(),
            "shown": [signed(each) for each in value],
        }
    )


def _line_ends(
    points_at: Floats, values: Mapping[str, Floats], domain: tuple[float, float], axis: SweepAxis
) -> alt.InlineData:
    """Put each name beside its line's last value, moved apart if names would overlap."""
    last = 0 if axis.reverse else -1
    ends: dict[str, float] = {}
    for name, each in values.items():
        defined = each[np.isfinite(each)]
        if defined.size:
            ends[name] = float(defined[last])
    gap = _LABEL_GAP * (domain[1] - domain[0])
    order = sorted(ends, key=lambda name: ends[name])
    heights = np.array([ends[name] for name in order])
    for index in range(1, heights.size):
        heights[index] = max(heights[index], heights[index - 1] + gap)
    if heights.size:
        # Pushed upwards only so far: shift the whole column back to sit around where the lines end.
        heights -= np.mean(heights - [ends[name] for name in order])
    return data.records({"metric": order, "point": [float(points_at[last])] * len(order), "value": heights.tolist()})


def _in_words(coefficient: str, points_at: Floats, values: Mapping[str, Floats]) -> str:
    ends = data.ends_in_words(values, f"{points_at[0]:g}", f"{points_at[-1]:g}")
    return f"{coefficient} of {len(values)} metrics at {points_at.size} points. {ends}"
