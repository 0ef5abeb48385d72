"""The small charts of this app's pages: numbers in, Vega-Lite specification out."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol, cast

import altair as alt
import numpy as np
import vl_convert

from annotation.numbers import finite_or_none

Theme = Literal["light", "dark"]


class Stretch(Protocol):
    """Ratings of a stretch of time or of screens, less what their raters give on average."""

    @property
    def start(self) -> float: ...
    @property
    def end(self) -> float: ...
    @property
    def n(self) -> int: ...
    @property
    def mean(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


PICTURE_TYPES = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf"}
PICTURE_WIDTH = 640
BIN = 0.1  # of weights: what five ratings on five points can tell apart

FEW_BARS, FEW_BARS_WIDTH = 4, 56  # a bar or two would otherwise fill the figure

PALETTES: dict[str, dict[str, str]] = {
    "light": {
        "paper": "#ffffff", "ink": "#1d2125", "muted": "#5b6168", "line": "#e3dfd6", "axis": "#8a8b86",
        "accent": "#0b5a63", "second": "#b07a1e", "positive": "#0b7a6b", "negative": "#c2410c", "zero": "#8a8b86",
    },
    "dark": {
        "paper": "#1a1e21", "ink": "#e9e6df", "muted": "#a5aab0", "line": "#30363a", "axis": "#72797f",
        "accent": "#6fc7cb", "second": "#e0b25c", "positive": "#2bb5a0", "negative": "#ef7a45", "zero": "#72797f",
    },
}  # fmt: skip


def tenths(values: np.ndarray) -> np.ndarray:
    """To the nearest tenth, in tenths; halves go away from zero on both sides."""
    return (np.sign(values) * np.floor(np.abs(values) / BIN + 0.5 + 1e-9)).astype(np.int64)


def tenths_counted(
    values: np.ndarray, name: str, side: str, sides: tuple[str, str, str]
) -> list[dict[str, float | int | str]]:
    """References per tenth, a row for each bar. ``sides`` are the words for below, at and above zero."""
    found, counts = np.unique(tenths(values), return_counts=True)
    return [
        {
            name: round(value * BIN, 1),
            "from": round((value - 0.42) * BIN, 3),
            "to": round((value + 0.42) * BIN, 3),
            "references": count,
            side: sides[1 + (value > 0) - (value < 0)],
        }
        for value, count in zip(found.tolist(), counts.tolist(), strict=True)
    ]


def weight_distribution(weights: np.ndarray, *, theme: Theme = "light", picture: bool = False) -> dict[str, Any]:
    """References per weight, in bins of 0.1, coloured by sign."""
    rows = tenths_counted(weights, "weight", "sign", ("negative", "zero", "positive"))
    colours = PALETTES[theme]
    signs = ["negative", "zero", "positive"]
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(cornerRadiusEnd=2)
        .encode(
            x=alt.X("from:Q", title="Weight", scale=alt.Scale(domain=[-1.05, 1.05], nice=False), axis=_signed_axis()),
            x2="to:Q",
            y=alt.Y("references:Q", title="References", axis=alt.Axis(format=",d", tickMinStep=1)),
            y2=alt.datum(0),
            color=alt.Color(
                "sign:N", legend=None, scale=alt.Scale(domain=signs, range=[colours[sign] for sign in signs])
            ),
            tooltip=[alt.Tooltip("weight:Q", format="+.1f"), alt.Tooltip("references:Q", format=",")],
        )
    )
    return finished(chart, theme, picture)


def value_distribution(
    counts: Mapping[str, Sequence[tuple[float, int]]], *, theme: Theme = "light", picture: bool = False
) -> dict[str, Any]:
    """Ratings per point of the scale, one bar per criterion."""
    rows = [
        {"criterion": name, "value": value, "ratings": count, "share": count / (sum(n for _, n in points) or 1)}
        for name, points in counts.items()
        for value, count in points
    ]
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(cornerRadiusEnd=2)
        .encode(
            x=alt.X("value:O", title="Rating", axis=alt.Axis(labelAngle=0)),
            xOffset=alt.XOffset("criterion:N", sort=list(counts)),
            y=alt.Y("share:Q", title="Share of ratings", axis=alt.Axis(format="%")),
            color=_criterion_colour(counts, theme),
            tooltip=[
                "criterion:N",
                "value:O",
                alt.Tooltip("ratings:Q", format=","),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
    )
    return finished(chart, theme, picture)


def ratings_per_hour(
    hours: Sequence[tuple[datetime, int]], *, theme: Theme = "light", picture: bool = False
) -> dict[str, Any]:
    """Ratings per hour, over the hours in which there was any."""
    rows = [{"hour": hour.isoformat(), "ratings": count} for hour, count in hours]
    colours = PALETTES[theme]
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(cornerRadiusEnd=2, color=colours["accent"])
        .encode(
            x=alt.X("hour:T", timeUnit="yearmonthdatehours", title="Hour (your time)"),
            y=alt.Y("ratings:Q", title="Ratings", axis=alt.Axis(format=",d", tickMinStep=1)),
            tooltip=[alt.Tooltip("hour:T", format="%d %b %Y, %H:00"), alt.Tooltip("ratings:Q", format=",")],
        )
    )
    return finished(chart, theme, picture)


def ratings_per_response(
    counts: Sequence[tuple[int, int]], *, theme: Theme = "light", picture: bool = False
) -> dict[str, Any]:
    """Responses per number of judgements they have."""
    rows = [{"judgements": n, "responses": count} for n, count in counts]
    size = FEW_BARS_WIDTH if len(rows) <= FEW_BARS else alt.Undefined
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(cornerRadiusEnd=2, color=PALETTES[theme]["accent"], size=size)
        .encode(
            x=alt.X("judgements:O", title="Judgements of a response", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("responses:Q", title="Responses", axis=alt.Axis(format=",d", tickMinStep=1)),
            tooltip=[alt.Tooltip("judgements:O"), alt.Tooltip("responses:Q", format=",")],
        )
    )
    return finished(chart, theme, picture)


def drift_over_hours(
    parts: Mapping[str, Sequence[Stretch]], *, theme: Theme = "light", picture: bool = False
) -> dict[str, Any]:
    """Ratings less their rater's own mean, over the hours since the first."""
    return _drift(parts, "Hours since the first rating", theme, picture)


def drift_over_screens(
    parts: Mapping[str, Sequence[Stretch]], *, theme: Theme = "light", picture: bool = False
) -> dict[str, Any]:
    """The same, over the screens of each rater."""
    return _drift(parts, "Screen in the rater's own sequence", theme, picture)


def _drift(parts: Mapping[str, Sequence[Stretch]], title: str, theme: Theme, picture: bool) -> dict[str, Any]:
    rows = [
        {
            "criterion": name,
            "at": round((one.start + one.end) / 2, 3),
            "stretch": f"{one.start:.4g} to {one.end:.4g}",
            "difference": one.mean,
            "low": finite_or_none(one.low),
            "high": finite_or_none(one.high),
            "ratings": one.n,
        }
        for name, stretches in parts.items()
        for one in stretches
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("at:Q", title=title, axis=alt.Axis(grid=False)), color=_criterion_colour(parts, theme)
    )
    points = base.mark_line(point=alt.OverlayMarkDef(filled=True, size=55)).encode(
        y=alt.Y("difference:Q", title="Rating less own mean"),
        tooltip=[
            "criterion:N", "stretch:N", alt.Tooltip("difference:Q", format="+.2f"),
            alt.Tooltip("low:Q", format="+.2f"), alt.Tooltip("high:Q", format="+.2f"),
            alt.Tooltip("ratings:Q", format=","),
        ],
    )  # fmt: skip
    bars = base.mark_rule(opacity=0.45).encode(y="low:Q", y2="high:Q")
    zero = alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(strokeDash=[4, 4]).encode(
        y=alt.Y("zero:Q", title="Rating less own mean"), color=alt.value(PALETTES[theme]["zero"])
    )  # fmt: skip
    return finished(alt.layer(zero, bars, points), theme, picture)


def raters_by_time(
    raters: Sequence[Mapping[str, Any]], *, theme: Theme = "light", picture: bool = False
) -> dict[str, Any]:
    """One mark per rater: median seconds against agreement with the others, by state."""
    colours = PALETTES[theme]
    states = {"at work": colours["accent"], "flagged": colours["second"], "excluded": colours["negative"]}
    chart = (
        alt.Chart(alt.InlineData(values=list(raters)))
        .mark_point(filled=True, size=80, opacity=0.85)
        .encode(
            x=alt.X("seconds:Q", title="Median seconds", scale=alt.Scale(zero=True), axis=alt.Axis(grid=False)),
            y=alt.Y("agreement:Q", title="Agreement with the others", scale=alt.Scale(zero=False)),
            color=alt.Color(
                "state:N", title=None, scale=alt.Scale(domain=list(states), range=list(states.values())),
                legend=alt.Legend(orient="top", direction="horizontal"),
            ),
            shape=alt.Shape(
                "state:N", title=None, scale=alt.Scale(domain=list(states), range=["circle", "triangle-up", "cross"])
            ),
            tooltip=[
                "rater:N", alt.Tooltip("seconds:Q", format=".1f"), alt.Tooltip("agreement:Q", format=".2f"),
                alt.Tooltip("ratings:Q", format=","), "state:N",
            ],
        )
    )  # fmt: skip
    return finished(chart, theme, picture)


def picture_of(specification: Mapping[str, Any], kind: str) -> bytes:
    """A specification drawn as svg, png (twice the size, for print) or pdf."""
    if kind == "svg":
        return vl_convert.vegalite_to_svg(dict(specification)).encode()
    if kind == "png":
        return vl_convert.vegalite_to_png(dict(specification), scale=2)
    if kind == "pdf":
        return vl_convert.vegalite_to_pdf(dict(specification))
    raise ValueError(f"kind of picture is {kind!r}; accepted: {', '.join(PICTURE_TYPES)}")


def _signed_axis() -> alt.Axis:
    words = "datum.value == 0 ? '0' : format(datum.value, '+.1f')"
    return alt.Axis(values=[-1, -0.5, 0, 0.5, 1], labelExpr=words, grid=False)


def _criterion_colour(names: Mapping[str, object], theme: Theme) -> alt.Color:
    colours = PALETTES[theme]
    wheel = [colours["accent"], colours["second"], colours["negative"], colours["axis"]]
    ranged = [wheel[index % len(wheel)] for index in range(len(names))]
    legend = alt.Legend(title=None, orient="top", direction="horizontal") if len(names) > 1 else None
    return alt.Color("criterion:N", legend=legend, scale=alt.Scale(domain=list(names), range=ranged))


def finished(chart: alt.Chart | alt.LayerChart, theme: Theme, picture: bool) -> dict[str, Any]:
    colours = PALETTES[theme]
    words = {"labelColor": colours["muted"], "titleColor": colours["ink"], "labelFontSize": 12, "titleFontSize": 12}
    themed = (
        chart.properties(width=PICTURE_WIDTH if picture else "container", height=220)
        .configure(background=colours["paper"] if picture else "transparent", padding=12 if picture else 4)
        .configure_view(stroke=None)
        .configure_axis(
            **words,
            titleFontWeight=600,
            domainColor=colours["axis"],
            tickColor=colours["axis"],
            gridColor=colours["line"],
        )
        .configure_legend(labelColor=colours["muted"], labelFontSize=12)
    )
    return cast(dict[str, Any], themed.to_dict())
