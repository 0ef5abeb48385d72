"""The study's table as a picture: each metric's coefficients with both of their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import altair as alt

from annotation.core.charts import Spec, Theme, Width, finish, palette
from annotation.core.prose import capitalised
from correlations.charts.data import in_lines, inline, layers, records, signed, tooltips
from metrics.scoring.colours import metric_colours

_NOWHERE = (math.nan, math.nan)
_LINE_HEIGHT, _TIGHT_HEIGHT, _MANY_LINES = 32, 24, 24
ANOTHER_GROUP = "another group of as many raters, estimated"
_SHAPES = ("circle", "diamond", "square", "triangle-up", "cross", "triangle-down")


@dataclass(frozen=True)
class ForestRow:
    """One coefficient of one metric on one reference subset; values in [-1, 1], NaN where undefined."""

    metric: str
    subset: str
    coefficient: str  # its label
    mean: float
    honest: tuple[float, float] = _NOWHERE  # bootstrap over items (and raters)
    paper: tuple[float, float] = _NOWHERE  # Fisher z with mirrored observations counted
    ceiling: float = math.nan  # how far another group of raters is estimated to agree
    reason: str = ""  # why the mean is undefined


def forest_plot(
    rows: Sequence[ForestRow],
    *,
    title: str = "Correlation with human ratings",
    settings: str = "",
    about: Sequence[str] = (),
    series: str = "Coefficient",
    bar: str = ANOTHER_GROUP,
    theme: Theme = "light",
    width: Width = "container",
) -> Spec:
    """Draw coefficients with their intervals: a whisker for the bootstrap, a band for the paper's Fisher interval.

    Parameters
    ----------
    rows : sequence of ForestRow
        In the order to show; rows of one metric and subset share a line.
    settings : str
        Of the metrics, where their names leave them out.
    about : sequence of str
        Lines below the title; by default what the line, the band and the bar of a study's rows are.
    series : str
        What ``coefficient`` of the rows names: coefficients, or, say, studies.
    bar : str
        Whose agreement ``ceiling`` of the rows is.

    Raises
    ------
    ValueError
        If there are no rows, one is given twice, or a value lies outside [-1, 1].

    Examples
    --------
    >>> row = ForestRow("ΔBLEU", "all", "Spearman’s ρ", 0.484, honest=(0.38, 0.57), paper=(0.415, 0.546))
    >>> forest_plot([row])["title"]["text"]
    'Correlation with human ratings'
    """
    _check(rows)
    lines = list(dict.fromkeys(_line(row) for row in rows))
    return finish(
        layers(*_drawn(rows, lines, (series, bar), theme)),
        theme,
        title=title,
        subtitle=[*([settings] if settings else []), *(about or _legend(rows, bar))],
        description=_in_words(rows, bar),
        width=width,
        height=(_LINE_HEIGHT if len(lines) <= _MANY_LINES else _TIGHT_HEIGHT) * len(lines),
    )


def _legend(rows: Sequence[ForestRow], bar: str) -> Iterator[str]:
    if any(_has_interval(row) for row in rows):
        yield "Line: 95% interval, bootstrap over items"
    if any(_has_paper(row) for row in rows):
        yield "Band: Fisher’s z as in Galley et al. (2015)"
    if any(_has_ceiling(row) for row in rows):
        yield f"Upright bar: {bar}"


def _drawn(rows: Sequence[ForestRow], lines: list[str], names: tuple[str, str], theme: Theme) -> list[alt.Chart]:
    colours, (series, bar) = palette(theme), names
    metrics = list(dict.fromkeys(row.metric for row in rows))
    shown = list(dict.fromkeys(row.coefficient for row in rows))
    x_title = shown[0] if len(shown) == 1 else "correlation"
    y_axis = alt.Axis(labelLimit=200, labelColor=colours.ink, grid=False, labelExpr=in_lines(lines))
    y = alt.Y("line:N", sort=lines, title=None, scale=alt.Scale(paddingInner=0.25), axis=y_axis)
    offset = alt.YOffset("coefficient:N", sort=shown, scale=alt.Scale(paddingOuter=0.15))
    shades = alt.Scale(domain=metrics, range=list(metric_colours(metrics, theme).values()))
    colour = alt.Color("metric:N", sort=metrics, scale=shades, legend=None)
    ends = [
        value
        for row in rows
        for value in (row.mean, *row.honest, *row.paper, row.ceiling, 0.0)
        if not math.isnan(value)
    ]
    scale = alt.Scale(domain=[min(ends), max(ends)], nice=True)
    x_axis = alt.Axis(tickCount=8, format=".2~f", labelOverlap="greedy", labelSeparation=8)
    tooltip = tooltips(
        {
            "metric": "Metric",
            "subset": "References",
            "coefficient": series,
            "shown": "Value",
            "honest": "95% interval",
            "paper": "Fisher’s z (Galley et al., 2015)",
            "human": capitalised(bar),
        }
    )
    shape = alt.Shape(
        "coefficient:N",
        sort=shown,
        scale=alt.Scale(domain=shown, range=[_SHAPES[index % len(_SHAPES)] for index in range(len(shown))]),
        legend=alt.Legend(
            title=None, symbolFillColor=colours.muted, symbolStrokeColor=colours.muted, direction="vertical"
        )
        if len(shown) > 1
        else None,
    )
    base = alt.Chart(_data(rows)).encode(y=y, yOffset=offset)
    zero = alt.Chart(inline([{"x": 0}])).mark_rule(color=colours.muted, strokeDash=[3, 3], aria=False)
    band = base.mark_rule(strokeWidth=8, opacity=0.26, strokeCap="round", aria=False)
    whisker = base.mark_rule(strokeWidth=1.6, aria=False)
    tick = base.mark_tick(thickness=1.6, size=9, aria=False)
    point = base.mark_point(filled=True, size=80, opacity=1, stroke=colours.surface, strokeWidth=1)
    ceiling = base.mark_tick(thickness=2.5, size=14, color=colours.ink, aria=False)
    undefined = base.mark_text(align="left", dx=6, color=colours.muted, fontStyle="italic").transform_filter(
        alt.datum.undefined != ""
    )
    return [
        zero.encode(x=alt.X("x:Q", scale=scale)),
        band.encode(x=alt.X("paper_low:Q", scale=scale, title=x_title), x2="paper_high:Q", color=colour),
        whisker.encode(x=alt.X("honest_low:Q", scale=scale), x2="honest_high:Q", color=colour),
        tick.encode(x=alt.X("honest_low:Q", scale=scale), color=colour),
        tick.encode(x=alt.X("honest_high:Q", scale=scale), color=colour),
        ceiling.transform_filter("isValid(datum.ceiling)").encode(x=alt.X("ceiling:Q", scale=scale), tooltip=tooltip),
        point.encode(
            x=alt.X("mean:Q", scale=scale, title=x_title, axis=x_axis), color=colour, shape=shape, tooltip=tooltip
        ),
        undefined.encode(x=alt.datum(0, scale=scale), text="undefined:N", tooltip="undefined:N"),
    ]


def _has_paper(row: ForestRow) -> bool:
    return not math.isnan(row.paper[0])


def _has_interval(row: ForestRow) -> bool:
    return not math.isnan(row.honest[0])


def _has_ceiling(row: ForestRow) -> bool:
    return not math.isnan(row.ceiling)


def _line(row: ForestRow) -> str:
    return f"{row.metric} · {row.subset}" if row.subset else row.metric


def _data(rows: Sequence[ForestRow]) -> alt.InlineData:
    return records(
        {
            "line": [_line(row) for row in rows],
            "metric": [row.metric for row in rows],
            "subset": [row.subset or "none read here" for row in rows],
            "coefficient": [row.coefficient for row in rows],
            "mean": [row.mean for row in rows],
            "honest_low": [row.honest[0] for row in rows],
            "honest_high": [row.honest[1] for row in rows],
            "paper_low": [row.paper[0] for row in rows],
            "paper_high": [row.paper[1] for row in rows],
            "ceiling": [row.ceiling for row in rows],
            "human": [signed(row.ceiling) if _has_ceiling(row) else "not known" for row in rows],
            "shown": [signed(row.mean) for row in rows],
            "honest": [f"{signed(row.honest[0])} to {signed(row.honest[1])}" for row in rows],
            "paper": [f"{signed(row.paper[0])} to {signed(row.paper[1])}" for row in rows],
            "undefined": [
                f"undefined: {row.reason or 'no reason given'}" if math.isnan(row.mean) else "" for row in rows
            ],
        }
    )


def _in_words(rows: Sequence[ForestRow], bar: str) -> str:
    undefined = "".join(
        f" {_line(row)}, {row.coefficient} is undefined: {row.reason}." for row in rows if math.isnan(row.mean)
    )
    defined = [row for row in rows if not math.isnan(row.mean)]
    if not defined:
        return f"No coefficient is defined.{undefined}"
    best = max(defined, key=lambda row: row.mean)
    ceiling = f" Beside it, {bar}: {signed(best.ceiling)}." if _has_ceiling(best) else ""
    return (
        f"{len(rows)} coefficients with {'two intervals' if any(map(_has_paper, rows)) else 'an interval'} each. "
        f"Highest: {_line(best)}, {best.coefficient} {signed(best.mean)}.{ceiling}{undefined}"
    )


def _check(rows: Sequence[ForestRow]) -> None:
    if not rows:
        raise ValueError("rows is empty: a forest plot needs at least one coefficient")
    keys = [(row.metric, row.subset, row.coefficient) for row in rows]
    for index, row in enumerate(rows):
        if keys[index] in keys[:index]:
            raise ValueError(f"rows[{index}] gives {_line(row)}, {row.coefficient}, a second time")
        for value in (row.mean, *row.honest, *row.paper, row.ceiling):
            if abs(value) > 1:
                raise ValueError(f"rows[{index}] holds {value}: correlations and their intervals lie in [-1, 1]")
