"""How coefficients move with one parameter of a metric: lines, a band, the value in use and the best one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import ArrayLike

from annotation.core.charts import DASHES, SHAPES, Palette, Spec, Theme, Width, finish, palette
from correlations.charts import data
from correlations.charts.data import Floats, inline, signed

_HEIGHT = 280
_MANY_FOLD = 20  # from this ratio of largest to smallest on, whole numbers are shown on a logarithmic axis


@dataclass(frozen=True)
class ParameterAxis:
    """The parameter, its values in order, and the indices of the value in use and of the best."""

    label: str
    values: Sequence[Any]  # numbers, or anything that has a name
    shown: Sequence[str]
    chosen: int | None = None
    best: int | None = None

    @property
    def numeric(self) -> bool:
        return all(isinstance(value, int | float) and not isinstance(value, bool) for value in self.values)


def parameter_chart(
    axis: ParameterAxis,
    series: Mapping[str, ArrayLike],
    *,
    intervals: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
    title: str,
    theme: Theme = "light",
    width: Width = "container",
) -> Spec:
    """Draw a line for each coefficient along the values of a parameter.

    Parameters
    ----------
    axis : ParameterAxis
        At least two values; numbers strictly increasing.
    series : mapping from a coefficient's name to array of shape (n,)
        In [-1, 1]; NaN leaves a gap.
    intervals : mapping from a coefficient's name to two arrays of shape (n,), optional
        Low and high ends, drawn as a band.

    Raises
    ------
    ValueError
        If there are fewer than two values, numbers do not increase, a series has another length or leaves [-1, 1].

    Examples
    --------
    >>> axis = ParameterAxis("k", [1, 2, 5], ["1", "2", "5"], chosen=1, best=2)
    >>> parameter_chart(axis, {"Pearson’s r": [0.1, 0.4, 0.5]}, title="Systems")["description"]
    'Systems. k from 1 to 5. Pearson’s r: 0.100 at 1, 0.500 at 5. In use: 2. Best: 5.'
    """
    values, ends = _checked(axis, series, intervals or {})
    colours, x = palette(theme), _x(axis)
    colour, shape, dash = _channels(list(values), colours)
    domain = data.correlation_domain(
        [*values.values(), *(end for pair in ends.values() for end in pair)], room=0.12, least=0.02
    )
    scale = alt.Scale(domain=domain)
    y = alt.Y("value:Q", title="correlation", scale=scale, axis=alt.Axis(tickCount=6, format=".2f"))
    base = alt.Chart(_points(axis, values, ends)).encode(x=x, color=colour)
    drawn = data.zero_line(domain, colours.muted, y)
    if intervals:
        band = base.mark_area(opacity=0.12, aria=False)
        drawn.append(band.encode(y=alt.Y("low:Q", scale=scale), y2="high:Q"))
    drawn += _marked(axis, x, domain, colours)
    tooltip = data.tooltips(
        {"coefficient": "Coefficient", "name": axis.label, "shown": "Value", "interval": "Range of resamples"}
    )
    drawn += [
        base.mark_line(strokeWidth=2.2, aria=False).encode(y=y, strokeDash=dash),
        base.mark_point(filled=True, size=50, opacity=1).encode(y=y, shape=shape, tooltip=tooltip),
    ]
    return finish(
        data.layers(*drawn),
        theme,
        title=title,
        subtitle="Band: the middle 95% of resamples of the items" if intervals else "No interval",
        description=_in_words(axis, values),
        width=width,
        height=_HEIGHT,
    )


def _checked(
    axis: ParameterAxis, series: Mapping[str, ArrayLike], intervals: Mapping[str, tuple[ArrayLike, ArrayLike]]
) -> tuple[dict[str, Floats], dict[str, tuple[Floats, ...]]]:
    """Return each coefficient's values, and the ends of its intervals: NaN if it has none."""
    n = len(axis.values)
    if n < 2 or len(axis.shown) != n:
        raise ValueError(f"values are {list(axis.values)}: at least two, each with its name, are expected")
    if axis.numeric and (np.diff(np.asarray(axis.values, dtype=np.float64)) <= 0).any():
        raise ValueError(f"values are {list(axis.values)}: strictly increasing numbers are expected")
    if not 0 < len(series) <= len(SHAPES):
        raise ValueError(f"series holds {len(series)} coefficients: 1 to {len(SHAPES)} are expected")
    values = {name: data.checked_correlations(name, each, n) for name, each in series.items()}
    ends = {
        name: tuple(data.checked_correlations(f"interval of {name}", end, n) for end in intervals.get(name, _gaps(n)))
        for name in values
    }
    return values, ends


def _channels(names: Sequence[str], colours: Palette) -> tuple[alt.Color, alt.Shape, alt.StrokeDash]:
    """Return colour, shape and dash of each coefficient, with one legend: Vega merges only equal ones."""
    legend = alt.Legend(title=None, direction="vertical", symbolOpacity=1)

    def scale(values: Sequence[Any]) -> alt.Scale:
        return alt.Scale(domain=names, range=list(values[: len(names)]))

    return (
        alt.Color("coefficient:N", sort=names, scale=scale(colours.categories), legend=legend),
        alt.Shape("coefficient:N", sort=names, scale=scale(SHAPES), legend=legend),
        alt.StrokeDash("coefficient:N", scale=scale(DASHES), legend=legend),
    )


def _gaps(n: int) -> tuple[Floats, Floats]:
    return np.full(n, np.nan), np.full(n, np.nan)


def _x(axis: ParameterAxis) -> alt.X:
    if not axis.numeric:
        names = list(axis.shown)
        return alt.X("name:N", title=axis.label, sort=names, axis=alt.Axis(labelAngle=0, labelLimit=110, grid=False))
    low, high = axis.values[0], axis.values[-1]
    log = low > 0 and high / low >= _MANY_FOLD
    return alt.X(
        "point:Q",
        title=f"{axis.label} (logarithmic)" if log else axis.label,
        scale=alt.Scale(type="log" if log else "linear", domain=[low, high], nice=False),
        axis=alt.Axis(values=list(axis.values), format="~g", grid=False, labelOverlap="greedy", labelSeparation=6),
    )


def _points(
    axis: ParameterAxis, values: Mapping[str, Floats], ends: Mapping[str, tuple[Floats, ...]]
) -> alt.InlineData:
    points = list(axis.values) if axis.numeric else [0] * len(axis.values)
    low = np.concatenate([ends[name][0] for name in values])
    high = np.concatenate([ends[name][1] for name in values])
    value = np.concatenate(list(values.values()))
    return data.records(
        {
            "coefficient": [name for name in values for _ in axis.values],
            "point": points * len(values),
            "name": list(axis.shown) * len(values),
            "value": value.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
            "shown": [signed(each) for each in value],
            "interval": [
                "none" if math.isnan(a) else f"{signed(a)} to {signed(b)}" for a, b in zip(low, high, strict=True)
            ],
        }
    )


def _marked(axis: ParameterAxis, x: alt.X, domain: tuple[float, float], colours: Palette) -> list[alt.Chart]:
    """Return upright lines at the value in use and at the best one, named at their feet."""
    styles = [(axis.chosen, "in use", [1, 0]), (axis.best, "best", [4, 3])]
    marks = [(index, name, dash) for index, name, dash in styles if index is not None]
    if axis.chosen is not None and axis.chosen == axis.best:
        marks = [(axis.chosen, "in use, and best", [1, 0])]
    drawn = []
    for row, (index, name, dash) in enumerate(marks):
        last = index > (len(axis.values) - 1) / 2
        height = domain[0] + (0.03 + 0.07 * row) * (domain[1] - domain[0])
        point, shown = axis.values[index] if axis.numeric else 0, axis.shown[index]
        text_at = inline([{"point": point, "name": shown, "text": f"{name}: {shown}", "value": height}])
        chart = alt.Chart(text_at).encode(x=x)
        drawn.append(chart.mark_rule(color=colours.muted, strokeDash=dash, aria=False))
        text = chart.mark_text(
            align="right" if last else "left", dx=-6 if last else 6, color=colours.ink, fontSize=12, fontWeight=600
        )
        drawn.append(text.encode(y=alt.Y("value:Q", scale=alt.Scale(domain=domain)), text="text:N"))
    return drawn


def _in_words(axis: ParameterAxis, values: Mapping[str, Floats]) -> str:
    first, last = axis.shown[0], axis.shown[-1]
    named = {"In use": axis.chosen, "Best": axis.best}
    marks = [f"{name}: {axis.shown[index]}." for name, index in named.items() if index is not None]
    return " ".join([f"{axis.label} from {first} to {last}.", data.ends_in_words(values, first, last), *marks])
