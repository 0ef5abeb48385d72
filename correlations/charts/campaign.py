"""Charts of a rating campaign: what was given, how fast, and what weights came out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise

import altair as alt
import numpy as np
from numpy.typing import ArrayLike

from correlations.charts.theme import Spec, Theme, Width, checked, colours, finish, layers, records

_HEIGHT = 240
_MAX_STEPS = 21  # more distinct values than this are binned
_CLOCK = {"hours": "%H:%M", "minutes": "%H:%M", "day": "%d %b", "date": "%d %b", "month": "%b", "year": "%Y"}


def rating_histogram(
    ratings: ArrayLike,
    *,
    low: float,
    high: float,
    title: str = "Ratings",
    theme: Theme = "light",
    width: Width = "container",
) -> Spec:
    """Draw how often each point of a rating scale was given.

    Parameters
    ----------
    ratings : array of shape (n,)
        Single ratings in [low, high]. Whole numbers get one bar for each point of the scale, unused ones included.
    low, high : float
        Ends of the scale.

    Raises
    ------
    ValueError
        If the scale is empty or a rating lies outside it.

    Examples
    --------
    >>> rating_histogram([1, 2, 2, 5], low=1, high=5)["description"]
    'Ratings. 4 ratings, mean 2.50. 1: 1, 2: 2, 3: 0, 4: 0, 5: 1.'
    """
    palette = colours(theme)
    if not low < high:
        raise ValueError(f"the scale runs from {low} to {high}: low must be below high")
    values = checked("ratings", ratings)
    outside = np.flatnonzero((values < low) | (values > high))
    if outside.size:
        raise ValueError(f"ratings[{outside[0]}] is {values[outside[0]]:g}: the scale runs from {low:g} to {high:g}")
    steps = np.arange(low, high + 0.5)
    if np.isin(values, steps).all() and steps.size <= _MAX_STEPS:
        counts = (values[:, None] == steps).sum(axis=0)
        names = [f"{step:g}" for step in steps]
    else:
        counts, edges = np.histogram(values, bins=10, range=(low, high))
        names = [f"{a:.3g}–{b:.3g}" for a, b in pairwise(edges)]
    shares = [f"{count / values.size:.1%}" for count in counts]
    data = records({"rating": names, "count": counts.tolist(), "share": shares})
    x = alt.X("rating:N", sort=names, title="rating", axis=alt.Axis(labelAngle=0, labelOverlap=True))
    y = alt.Y("count:Q", title="ratings", axis=alt.Axis(tickMinStep=1, tickCount=5))
    tooltip = [
        alt.Tooltip("rating:N", title="Rating"),
        alt.Tooltip("count:Q", title="Given"),
        alt.Tooltip("share:N", title="Share"),
    ]
    base = alt.Chart(data).encode(x=x)
    bars = base.mark_bar(color=palette.positive, cornerRadiusTopLeft=3, cornerRadiusTopRight=3)
    labels = base.mark_text(dy=-7, color=palette.muted, fontSize=12, aria=False)
    shown = ", ".join(f"{name}: {count}" for name, count in zip(names, counts, strict=True))
    return finish(
        layers(bars.encode(y=y, tooltip=tooltip), labels.encode(y=y, text="share:N")),
        title=title,
        subtitle=f"{values.size:,} ratings, mean {values.mean():.2f}",
        description=f"{values.size} ratings, mean {values.mean():.2f}. {shown}.",
        theme=theme,
        width=width,
        height=_HEIGHT,
    )


def weight_histogram(weights: ArrayLike, *, theme: Theme = "light", width: Width = "container") -> Spec:
    """Draw the distribution of reference weights, negative ones set apart.

    Parameters
    ----------
    weights : array of shape (n,)
        In [-1, 1]; counted in steps of 0.1.

    Raises
    ------
    ValueError
        If a weight lies outside [-1, 1].

    Examples
    --------
    >>> weight_histogram([-0.8, 0.0, 0.6, 0.6])["description"]
    'Reference weights. 4 references: 1 negative, 1 zero, 2 positive; mean 0.10.'
    """
    palette = colours(theme)
    values = checked("weights", weights)
    outside = np.flatnonzero(np.abs(values) > 1)
    if outside.size:
        raise ValueError(f"weights[{outside[0]}] is {values[outside[0]]:g}: weights lie in [-1, 1]")
    # One bar for each tenth, centred on it; a small weight keeps the sign of its bar's side of zero.
    tenths = np.rint(values * 10).astype(int)
    tenths[(tenths == 0) & (values > 0)] = 1
    tenths[(tenths == 0) & (values < 0)] = -1
    steps = np.arange(-10, 11)
    counts = (tenths[:, None] == steps).sum(axis=0)
    groups = ["negative" if step < 0 else "positive" if step > 0 else "zero" for step in steps]
    names = ["negative", "zero", "positive"]
    totals = [int((values < 0).sum()), int((values == 0).sum()), int((values > 0).sum())]
    data = records(
        {
            "low": [(step - 0.42) / 10 for step in steps],
            "high": [(step + 0.42) / 10 for step in steps],
            "weight": [f"{step / 10:+.1f}".replace("-", "−") if step else "0" for step in steps],
            "count": counts.tolist(),
            "sign": groups,
        }
    )
    colour = alt.Color(
        "sign:N",
        scale=alt.Scale(domain=names, range=[palette.negative, palette.muted, palette.positive]),
        legend=None,
    )
    x = alt.X(
        "low:Q",
        title="weight",
        scale=alt.Scale(domain=[-1.05, 1.05], nice=False),
        axis=alt.Axis(values=[-1, -0.5, 0, 0.5, 1], format=".1f", grid=False),
    )
    tooltip = [
        alt.Tooltip("weight:N", title="Weight"),
        alt.Tooltip("count:Q", title="References"),
        alt.Tooltip("sign:N", title="Sign"),
    ]
    y = alt.Y("count:Q", title="references", axis=alt.Axis(tickMinStep=1, tickCount=5))
    bars = alt.Chart(data).mark_bar(cornerRadiusTopLeft=2, cornerRadiusTopRight=2)
    shares = [f"{total:,} {name} ({total / values.size:.0%})" for total, name in zip(totals, names, strict=True)]
    in_words = ", ".join(f"{total} {name}" for total, name in zip(totals, names, strict=True))
    return finish(
        layers(bars.encode(x=x, x2="high:Q", y=y, y2=alt.datum(0), color=colour, tooltip=tooltip)),
        title="Reference weights",
        subtitle=" · ".join(shares),
        description=f"{values.size} references: {in_words}; mean {values.mean():.2f}.",
        theme=theme,
        width=width,
        height=_HEIGHT,
    )


def completion_chart(
    times: Sequence[datetime], done: ArrayLike, *, total: int, theme: Theme = "light", width: Width = "container"
) -> Spec:
    """Draw ratings received over time against the number wanted.

    Parameters
    ----------
    times : sequence of n aware datetimes, increasing
    done : array of shape (n,)
        Ratings received up to each time; never decreasing.
    total : int
        Ratings wanted, at least 1.

    Raises
    ------
    ValueError
        If a time is naive or out of order, or a count falls.

    Examples
    --------
    >>> times = [datetime(2025, 3, 1, hour, tzinfo=UTC) for hour in (9, 10, 12)]
    >>> completion_chart(times, [0, 40, 90], total=120)["description"]
    'Completion. 90 of 120 ratings received, 75%.'
    """
    palette = colours(theme)
    stamps = _checked_times(times)
    counts = checked("done", done, length=len(stamps))
    if (np.diff(counts) < 0).any():
        index = int(np.flatnonzero(np.diff(counts) < 0)[0]) + 1
        raise ValueError(f"done[{index}] is {counts[index]:g}, less than the one before: the ratings received so far")
    if total < 1:
        raise ValueError(f"total is {total}: at least 1 is expected")
    shares = [f"{count / total:.1%}" for count in counts]
    data = records({"time": stamps, "done": counts.tolist(), "share": shares})
    x = _time_axis()
    top = max(float(total), float(counts[-1]))
    y = alt.Y("done:Q", title="ratings", scale=alt.Scale(domain=[0, 1.06 * top]), axis=alt.Axis(tickCount=5))
    tooltip = [
        alt.Tooltip("time:T", title="Time", format="%d %b %Y, %H:%M"),
        alt.Tooltip("done:Q", title="Ratings", format=",d"),
        alt.Tooltip("share:N", title="Complete"),
    ]
    base = alt.Chart(data).encode(x=x, y=y)
    target = alt.Chart(records({"time": [stamps[0]], "done": [total], "name": [f"wanted: {total:,}"]}))
    chart = layers(
        base.mark_area(interpolate="step-after", color=palette.positive, opacity=0.13, aria=False),
        base.mark_line(interpolate="step-after", color=palette.positive, strokeWidth=2.2, aria=False),
        target.mark_rule(color=palette.muted, strokeDash=[5, 4], aria=False).encode(y=y),
        target.mark_text(align="left", dy=-8, color=palette.muted, aria=False).encode(x=x, y=y, text="name:N"),
        base.mark_point(filled=True, size=70, opacity=0, color=palette.positive).encode(tooltip=tooltip),
    )
    summary = f"{int(counts[-1]):,} of {total:,} ratings received, {counts[-1] / total:.0%}"
    return finish(
        chart,
        title="Completion",
        subtitle=summary,
        description=f"{summary}.",
        theme=theme,
        width=width,
        height=_HEIGHT,
    )


def ratings_per_hour_chart(
    hours: Sequence[datetime], counts: ArrayLike, *, theme: Theme = "light", width: Width = "container"
) -> Spec:
    """Draw how many ratings came in each hour.

    Parameters
    ----------
    hours : sequence of n aware datetimes, increasing
        When each hour starts; hours without ratings should be there, with 0.
    counts : array of shape (n,)

    Raises
    ------
    ValueError
        If a time is naive or out of order, or a count is negative.

    Examples
    --------
    >>> hours = [datetime(2025, 3, 1, hour, tzinfo=UTC) for hour in (9, 10, 11)]
    >>> ratings_per_hour_chart(hours, [12, 40, 5])["description"]
    'Ratings per hour. 57 ratings in 3 hours; most in one hour: 40.'
    """
    palette = colours(theme)
    stamps = _checked_times(hours)
    values = checked("counts", counts, length=len(stamps))
    if (values < 0).any():
        raise ValueError(f"counts[{int(np.flatnonzero(values < 0)[0])}] is negative: a number of ratings is expected")
    x = _time_axis()
    y = alt.Y("count:Q", title="ratings per hour", axis=alt.Axis(tickMinStep=1, tickCount=5))
    tooltip = [
        alt.Tooltip("time:T", title="Hour from", format="%d %b %Y, %H:%M"),
        alt.Tooltip("count:Q", title="Ratings", format=",d"),
    ]
    base = alt.Chart(records({"time": stamps, "count": values.tolist()})).encode(x=x, y=y)
    chart = layers(
        base.mark_area(color=palette.positive, opacity=0.13, aria=False),
        base.mark_line(color=palette.positive, strokeWidth=2.2, aria=False),
        base.mark_point(filled=True, size=45, opacity=1, color=palette.positive).encode(tooltip=tooltip),
    )
    total, most = int(values.sum()), int(values.max())
    return finish(
        chart,
        title="Ratings per hour",
        subtitle=f"{total:,} ratings in {len(stamps)} hours, at most {most:,} in one",
        description=f"{total} ratings in {len(stamps)} hours; most in one hour: {most}.",
        theme=theme,
        width=width,
        height=_HEIGHT,
    )


def _time_axis() -> alt.X:
    # UTC everywhere: the page and the downloaded file then say the same.
    return alt.X(
        "time:T", title="time (UTC)", scale=alt.Scale(type="utc"), axis=alt.Axis(grid=False, tickCount=6, format=_CLOCK)
    )


def _checked_times(times: Sequence[datetime]) -> list[str]:
    if not times:
        raise ValueError("no times are given: at least one is expected")
    for index, time in enumerate(times):
        if time.tzinfo is None:
            raise ValueError(
                f"times[{index}] is {time.isoformat()}, without a time zone: an aware datetime is expected"
            )
        if index and time <= times[index - 1]:
            raise ValueError(f"times[{index}] is {time.isoformat()}, not after the one before")
    return [time.astimezone(UTC).isoformat(timespec="seconds") for time in times]
