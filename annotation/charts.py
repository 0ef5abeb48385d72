"""The small charts of this app's pages: numbers in, Vega-Lite specification out."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, cast

import altair as alt
import numpy as np
import vl_convert

Theme = Literal["light", "dark"]
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


def weight_distribution(weights: np.ndarray, *, theme: Theme = "light", picture: bool = False) -> dict[str, Any]:
    """References per weight, in bins of 0.1, coloured by sign."""
    # Centred on -1.0, -0.9, ..., 1.0; halves go away from zero on both sides.
    bins = (np.sign(weights) * np.floor(np.abs(weights) / BIN + 0.5 + 1e-9)).astype(np.int64)
    values, counts = np.unique(bins, return_counts=True)
    rows = [
        {
            "weight": round(value * BIN, 1),
            "from": round((value - 0.42) * BIN, 3),
            "to": round((value + 0.42) * BIN, 3),
            "references": count,
            "sign": "negative" if value < 0 else "positive" if value > 0 else "zero",
        }
        for value, count in zip(values.tolist(), counts.tolist(), strict=True)
    ]
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
    return _finished(chart, theme, picture)


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
    return _finished(chart, theme, picture)


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
    return _finished(chart, theme, picture)


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
    return _finished(chart, theme, picture)


def picture_of(specification: Mapping[str, Any], kind: str) -> bytes:
    """A specification drawn as svg, png (twice the size, for print) or pdf."""
    if kind == "svg":
        return vl_convert.vegalite_to_svg(dict(specification)).encode()
    if kind == "png":
        return vl_convert.vegalite_to_png(dict(specification), scale=2)
    if kind == "pdf":
        return vl_convert.vegalite_to_pdf(dict(specification))
    raise ValueError(f"kind of picture is {kind!r}; accepted: {', '.join(PICTURE_TYPES)}")


def _share_tooltip() -> alt.Tooltip:
    return alt.Tooltip("share:Q", format=".1%")


def _signed_axis() -> alt.Axis:
    words = "datum.value == 0 ? '0' : format(datum.value, '+.1f')"
    return alt.Axis(values=[-1, -0.5, 0, 0.5, 1], labelExpr=words, grid=False)


def _criterion_colour(names: Mapping[str, object], theme: Theme) -> alt.Color:
    colours = PALETTES[theme]
    wheel = [colours["accent"], colours["second"], colours["negative"], colours["axis"]]
    ranged = [wheel[index % len(wheel)] for index in range(len(names))]
    legend = alt.Legend(title=None, orient="top", direction="horizontal") if len(names) > 1 else None
    return alt.Color("criterion:N", legend=legend, scale=alt.Scale(domain=list(names), range=ranged))


def _finished(chart: alt.Chart, theme: Theme, picture: bool) -> dict[str, Any]:
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
