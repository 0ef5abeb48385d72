"""Charts of ratings, raters and weights, as Vega-Lite specifications."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import cycle
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import altair as alt
import numpy as np

from annotation.core.charts import Spec, Theme, finish, palette
from annotation.core.numbers import finite_or_none

if TYPE_CHECKING:
    from annotation.weighting.sequence import Stretch


BIN = 0.1  # of weights: the difference that five ratings on five points can show
FEW_WEIGHTS = 41  # different ones, up to which each is drawn where it is
WHOLE = alt.Axis(format=",d", tickMinStep=1)  # for counts
MOST_NAMED = 20  # raters whose names fit beside their marks
PLOT_WIDTH, PLOT_HEIGHT, LETTER_WIDTH = 300, 150, 7  # pixels of the smallest plot, and of a letter of a name
FEW_BARS, FEW_BARS_WIDTH = 4, 56  # a bar or two would otherwise fill the chart


def drawn_at(values: np.ndarray) -> np.ndarray:
    """Return where marks of weights stand: at the weights if few differ, else at tenths, halves away from zero."""
    exact: np.ndarray = np.round(values, 4) + 0.0  # no minus zero
    if np.unique(exact).size <= FEW_WEIGHTS:
        return exact
    rounded: np.ndarray = np.round(np.sign(values) * np.floor(np.abs(values) / BIN + 0.5 + 1e-9) * BIN, 1) + 0.0
    return rounded


def bars_counted(
    values: np.ndarray, name: str, side: str, sides: tuple[str, str, str]
) -> list[dict[str, float | int | str]]:
    """Count references per weight or bin, a row for each bar. ``sides`` are the words for below, at and above zero."""
    bins, counts = np.unique(drawn_at(values), return_counts=True)
    half = 0.42 * np.diff(bins, prepend=-np.inf).clip(max=BIN).min(initial=BIN)
    return [
        {
            name: value,
            "from": round(value - half, 4),
            "to": round(value + half, 4),
            "references": count,
            side: sides[1 + (value > 0) - (value < 0)],
        }
        for value, count in zip(bins.tolist(), counts.tolist(), strict=True)
    ]


def weight_distribution(weights: np.ndarray, *, theme: Theme = "light") -> Spec:
    """Draw the references per weight, or in bins of 0.1 if many weights differ, coloured by sign."""
    rows = bars_counted(weights, "weight", "sign", ("negative", "zero", "positive"))
    colours = palette(theme)
    signs = {"negative": colours.negative, "zero": colours.line_strong, "positive": colours.positive}
    chart = _bars(rows).encode(
        x=alt.X("from:Q", title="Weight", scale=alt.Scale(domain=[-1.05, 1.05], nice=False), axis=_signed_axis()),
        x2="to:Q",
        y=alt.Y("references:Q", title="References", axis=WHOLE),
        y2=alt.datum(0),
        color=alt.Color("sign:N", legend=None, scale=_scale(signs)),
        tooltip=[alt.Tooltip("weight:Q", format="+.2f"), _count("references")],
    )
    return finish(chart, theme)


def value_distribution(counts: Mapping[str, Sequence[tuple[float, int]]], *, theme: Theme = "light") -> Spec:
    """Draw the ratings per point of the scale, one bar per criterion."""
    rows = [
        {"criterion": name, "value": value, "ratings": count, "share": count / (sum(n for _, n in points) or 1)}
        for name, points in counts.items()
        for value, count in points
    ]
    chart = _bars(rows).encode(
        x=alt.X("value:O", title="Rating", axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("criterion:N", sort=list(counts)),
        y=alt.Y("share:Q", title="Share of ratings", axis=alt.Axis(format="%")),
        color=_criterion_colour(counts, theme),
        tooltip=["criterion:N", "value:O", _count("ratings"), alt.Tooltip("share:Q", format=".1%")],
    )
    return finish(chart, theme)


def ratings_per_hour(hours: Sequence[tuple[datetime, int]], *, theme: Theme = "light") -> Spec:
    """Draw the ratings per hour with ratings."""
    rows = [{"hour": hour.isoformat(), "ratings": count} for hour, count in hours]
    # A single hour on an axis of time is a block from edge to edge, below ticks for its minutes.
    is_short = len(rows) <= FEW_BARS
    axis = alt.Axis(format="%d %b, %H:00", labelAngle=0) if is_short else alt.Undefined
    chart = _bars(rows, color=palette(theme).accent, size=FEW_BARS_WIDTH if is_short else alt.Undefined).encode(
        x=alt.X(f"hour:{'O' if is_short else 'T'}", timeUnit="yearmonthdatehours", title="Hour (your time)", axis=axis),
        y=alt.Y("ratings:Q", title="Ratings", axis=WHOLE),
        tooltip=[alt.Tooltip("hour:T", format="%d %b %Y, %H:00"), _count("ratings")],
    )
    return finish(chart, theme)


def ratings_per_response(counts: Sequence[tuple[int, int]], *, theme: Theme = "light") -> Spec:
    """Draw the responses per number of judgements."""
    rows = [{"judgements": n, "responses": count} for n, count in counts]
    size = FEW_BARS_WIDTH if len(rows) <= FEW_BARS else alt.Undefined
    chart = _bars(rows, color=palette(theme).accent, size=size).encode(
        x=alt.X("judgements:O", title="Judgements of a response", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("responses:Q", title="Responses", axis=WHOLE),
        tooltip=[alt.Tooltip("judgements:O"), _count("responses")],
    )
    return finish(chart, theme)


def drift(parts: Mapping[str, Sequence["Stretch"]], *, over: str, theme: Theme = "light") -> Spec:
    """Draw ratings less their rater's mean. ``over`` is the title of the horizontal axis."""
    rows = [
        {
            "criterion": name,
            "at": round((part.start + part.end) / 2, 3),
            "stretch": f"{part.start:.4g} to {part.end:.4g}",
            "difference": part.mean,
            "low": finite_or_none(part.low),
            "high": finite_or_none(part.high),
            "ratings": part.n,
        }
        for name, stretches in parts.items()
        for part in stretches
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("at:Q", title=over, axis=alt.Axis(grid=False)), color=_criterion_colour(parts, theme)
    )
    points = base.mark_line(aria=False, point=alt.OverlayMarkDef(filled=True, size=55)).encode(
        y=alt.Y("difference:Q", title="Rating less the rater's mean"),
        tooltip=[
            "criterion:N",
            "stretch:N",
            *(alt.Tooltip(f"{number}:Q", format="+.2f") for number in ("difference", "low", "high")),
            _count("ratings"),
        ],
    )
    bars = base.mark_rule(opacity=0.45, aria=False).encode(y="low:Q", y2="high:Q")
    zero = (
        alt.Chart(alt.InlineData(values=[{"zero": 0}]))
        .mark_rule(strokeDash=[4, 4], aria=False)
        .encode(y=alt.Y("zero:Q", title="Rating less the rater's mean"), color=alt.value(palette(theme).line_strong))
    )
    return finish(alt.LayerChart(layer=[zero, bars, points]), theme)


def raters_by_time(raters: Sequence[Mapping[str, Any]], *, theme: Theme = "light") -> Spec:
    """Draw one mark per rater: median seconds against agreement with the others, by state; few have their names."""
    colours = palette(theme)
    states = {"at work": colours.accent, "flagged": colours.gold, "excluded": colours.negative}
    base = alt.Chart(alt.InlineData(values=list(raters))).encode(
        x=alt.X("seconds:Q", title="Median seconds", scale=alt.Scale(zero=True), axis=alt.Axis(grid=False)),
        y=alt.Y("agreement:Q", title="Agreement with the others", scale=alt.Scale(zero=False)),
    )
    chart = base.mark_point(filled=True, size=80, opacity=0.85).encode(
        color=alt.Color(
            "state:N",
            title=None,
            scale=_scale(states),
            legend=alt.Legend(direction="horizontal"),
        ),
        shape=alt.Shape(
            "state:N", title=None, scale=alt.Scale(domain=list(states), range=["circle", "triangle-up", "cross"])
        ),
        tooltip=[
            "rater:N",
            alt.Tooltip("seconds:Q", format=".1f"),
            alt.Tooltip("agreement:Q", format=".2f"),
            _count("ratings"),
            "state:N",
        ],
    )
    if len(raters) > MOST_NAMED:
        return finish(chart, theme)
    layers = [
        alt.Chart(alt.InlineData(values=named))
        .mark_text(align=side.align, dx=side.dx, dy=side.dy, aria=False)
        .encode(x="seconds:Q", y="agreement:Q", text="rater:N", color=alt.value(palette(theme).muted))
        for side, named in names_by_side(raters)
    ]
    return finish(alt.LayerChart(layer=[chart, *layers]), theme)


class Side(NamedTuple):
    """Where a name stands beside its mark, in pixels, and where it begins, in widths of the name."""

    align: Literal["left", "right", "center"]
    dx: int
    dy: int
    begins: float


SIDES = (Side("left", 8, 0, 0.0), Side("right", -8, 0, 1.0), Side("center", 0, -13, 0.5), Side("center", 0, 14, 0.5))


def names_by_side(raters: Sequence[Mapping[str, Any]]) -> list[tuple[Side, list[Mapping[str, Any]]]]:
    """Return the raters whose names have room on each side of their mark; a name without room is in its tooltip."""
    if not raters:
        return []
    across = max(rater["seconds"] for rater in raters) or 1
    agreements = [rater["agreement"] for rater in raters]
    height = (max(agreements) - min(agreements)) or 1
    marks = [
        (PLOT_WIDTH * rater["seconds"] / across, PLOT_HEIGHT * (max(agreements) - rater["agreement"]) / height)
        for rater in raters
    ]
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in marks]
    sides: dict[Side, list[Mapping[str, Any]]] = {side: [] for side in SIDES}
    for (x, y), rater in zip(marks, raters, strict=True):
        width = LETTER_WIDTH * len(rater["rater"])
        for side in SIDES:
            left, top = x + side.dx - side.begins * width, y + side.dy - 7
            box = (left, top, left + width, top + 14)
            if left >= 0 and box[2] <= PLOT_WIDTH + width / 4 and not any(_overlap(box, other) for other in taken):
                sides[side].append(rater)
                taken.append(box)
                break
    return [(side, named) for side, named in sides.items() if named]


Box = tuple[float, float, float, float]


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _bars(rows: Sequence[Mapping[str, Any]], **options: Any) -> alt.Chart:
    chart: alt.Chart = alt.Chart(alt.InlineData(values=list(rows))).mark_bar(cornerRadiusEnd=2, **options)
    return chart


def _count(name: str) -> alt.Tooltip:
    return alt.Tooltip(f"{name}:Q", format=",")


def _scale(colours: Mapping[str, str]) -> alt.Scale:
    return alt.Scale(domain=list(colours), range=list(colours.values()))


def _signed_axis() -> alt.Axis:
    words = "datum.value == 0 ? '0' : format(datum.value, '+.1f')"
    return alt.Axis(values=[-1, -0.5, 0, 0.5, 1], labelExpr=words, grid=False)


def _criterion_colour(names: Mapping[str, object], theme: Theme) -> alt.Color:
    colours = palette(theme)
    wheel = [colours.accent, colours.gold, colours.negative, colours.line_strong]
    legend = alt.Legend(title=None) if len(names) > 1 else None
    return alt.Color("criterion:N", legend=legend, scale=_scale(dict(zip(names, cycle(wheel), strict=False))))
