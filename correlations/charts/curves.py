"""A metric's coefficient as ratings or references get fewer: a line for each metric, with a band over draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
from numpy.typing import ArrayLike

from annotation.core.charts import DASHES, SHAPES, Spec, Theme, Width, finish, palette
from correlations.charts import data
from correlations.charts.data import Floats, signed
from metrics.scoring.colours import metric_colours

BANDS = 2  # lines that have one: more would cover each other
_HEIGHT = 260


@dataclass(frozen=True)
class CurveLine:
    """A metric's mean coefficient at each point, and the middle 95% of the draws; NaN where it is undefined."""

    name: str
    mean: ArrayLike
    low: ArrayLike
    high: ArrayLike


def curve_chart(
    points: Sequence[int],
    lines: Sequence[CurveLine],
    *,
    axis: str,
    title: str,
    coefficient: str,
    theme: Theme = "light",
    width: Width = "container",
) -> Spec:
    """Draw the lines, the first two with their bands.

    Parameters
    ----------
    points : sequence of int
        How many were kept; strictly increasing.
    lines : sequence of CurveLine
        Up to as many as differ in mark and colour; the best first.
    axis, title, coefficient : str
        What the horizontal axis, the chart and the vertical axis are called.

    Raises
    ------
    ValueError
        If points do not increase, or a line has another length or leaves [-1, 1].

    Examples
    --------
    >>> line = CurveLine("BLEU", [0.2, 0.3], [0.1, 0.3], [0.3, 0.3])
    >>> spec = curve_chart([1, 3], [line], axis="ratings", title="Fewer", coefficient="Spearman’s ρ")
    >>> spec["description"]
    'Fewer. Spearman’s ρ of 1 metrics at 2 points. BLEU: 0.200 at 1, 0.300 at 3.'
    """
    at, values, bands = _checked(points, lines)
    sides = [side for band in bands.values() for side in band]
    domain = data.correlation_domain([*values.values(), *sides], room=0.08, least=0.01)
    names = list(values)
    colours = alt.Scale(domain=names, range=list(metric_colours(names, theme).values()))
    colour = alt.Color("metric:N", scale=colours, legend=alt.Legend(title=None, orient="top", columns=2, labelLimit=0))
    shape = alt.Shape("metric:N", scale=alt.Scale(domain=names, range=SHAPES[: len(names)]), legend=None)
    dash = alt.StrokeDash("metric:N", scale=alt.Scale(domain=names, range=DASHES[: len(names)]), legend=None)
    x = alt.X(
        "point:Q",
        title=axis,
        scale=alt.Scale(domain=[at[0], at[-1]], nice=False, padding=8),
        axis=alt.Axis(values=at.tolist(), format="d", grid=False, labelOverlap=True),
    )
    y = alt.Y("value:Q", title=coefficient, scale=alt.Scale(domain=domain), axis=alt.Axis(tickCount=6, format=".2f"))
    low = alt.Y("low:Q", scale=alt.Scale(domain=domain), title=coefficient)
    tooltip = [
        alt.Tooltip("metric:N", title="Metric"),
        alt.Tooltip("point:Q", title=axis.capitalize(), format="d"),
        alt.Tooltip("shown:N", title=coefficient),
    ]
    line, band = (alt.Chart(each).encode(x=x, color=colour) for each in (_points(at, values), _bands(at, bands)))
    layers = [
        *data.zero_line(domain, palette(theme).muted, y),
        band.mark_area(opacity=0.18, aria=False).encode(y=low, y2="high:Q"),
        line.mark_line(strokeWidth=2.2, aria=False).encode(y=y, strokeDash=dash),
        line.mark_point(filled=True, size=60).encode(y=y, shape=shape, tooltip=tooltip),
    ]
    words = f"{coefficient} of {len(names)} metrics at {at.size} points. "
    return finish(
        data.layers(*layers),
        theme,
        title=title,
        subtitle="Mean over draws; band: the middle 95% of them",
        description=words + data.ends_in_words(values, f"{at[0]:g}", f"{at[-1]:g}"),
        width=width,
        height=_HEIGHT,
    )


def _checked(
    points: Sequence[int], lines: Sequence[CurveLine]
) -> tuple[Floats, dict[str, Floats], dict[str, tuple[Floats, Floats]]]:
    """Return the points, each line's means, and the bands of those that have one."""
    at = data.checked("points", points)
    if (np.diff(at) <= 0).any():
        raise ValueError(f"points are {at.tolist()}: strictly increasing values are expected")

    def side(line: CurveLine, values: ArrayLike) -> Floats:
        return data.checked_correlations(f"line {line.name!r}", values, at.size)

    means = {line.name: side(line, line.mean) for line in lines}
    return at, means, {line.name: (side(line, line.low), side(line, line.high)) for line in lines[:BANDS]}


def _points(at: Floats, values: Mapping[str, Floats]) -> alt.InlineData:
    flat = np.concatenate(list(values.values()))
    return data.records(
        {
            "metric": [name for name in values for _ in range(at.size)],
            "point": np.tile(at, len(values)).tolist(),
            "value": flat.tolist(),
            "shown": [signed(each) for each in flat],
        }
    )


def _bands(at: Floats, bands: Mapping[str, tuple[Floats, Floats]]) -> alt.InlineData:
    low, high = (np.concatenate(sides).tolist() for sides in zip(*bands.values(), strict=True))
    names = [name for name in bands for _ in range(at.size)]
    return data.records({"metric": names, "point": np.tile(at, len(bands)).tolist(), "low": low, "high": high})
