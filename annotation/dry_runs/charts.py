"""The charts of a dry run: numbers in, Vega-Lite specification out."""

from collections.abc import Sequence

import altair as alt

from annotation.core.charts import Spec, Theme, finish, palette


def slots_filled(curve: Sequence[Sequence[float]], *, theme: Theme = "light") -> Spec:
    """Draw the share of slots filled over time."""
    rows = [{"hours": hours, "filled": share} for hours, share in curve]
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_area(
            interpolate="step-after",
            line={"color": palette(theme).accent, "strokeWidth": 2},
            color=palette(theme).accent,
            fillOpacity=0.15,
        )
        .encode(
            x=alt.X("hours:Q", title="Hours since the start", scale=alt.Scale(nice=False)),
            y=alt.Y("filled:Q", title="Slots filled", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")),
            tooltip=[alt.Tooltip("hours:Q", format=".2f"), alt.Tooltip("filled:Q", format=".0%")],
        )
    )
    return finish(chart, theme)


def widths_by_ratings(
    expected: Sequence[Sequence[float | None]],
    without_excluded: Sequence[Sequence[float | None]],
    *,
    target: float,
    planned: int,
    theme: Theme = "light",
) -> Spec:
    """Draw the half-width of the weights' intervals by ratings of each item, with the target."""
    colours = palette(theme)
    lines = {"all raters": expected}
    if list(map(list, without_excluded)) != list(map(list, expected)):
        lines["without excluded raters"] = without_excluded
    names, shades = list(lines), [colours.accent, colours.gold][: len(lines)]
    rows = [
        {"ratings": k, "half": half, "who": name, "planned": k == planned}
        for name, points in lines.items()
        for k, half in points
        if half is not None
    ]
    encoded = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("ratings:Q", title="Ratings of each response", axis=alt.Axis(tickMinStep=1, format="d")),
        y=alt.Y("half:Q", title="Margin of error of weights", scale=alt.Scale(zero=True)),
        color=alt.Color(
            "who:N",
            legend=alt.Legend(title=None) if len(names) > 1 else None,
            scale=alt.Scale(domain=names, range=shades),
        ),
        strokeDash=alt.StrokeDash(
            "who:N", legend=None, scale=alt.Scale(domain=names, range=[[1, 0], [4, 3]][: len(names)])
        ),
        tooltip=["who:N", alt.Tooltip("ratings:Q", format="d"), alt.Tooltip("half:Q", format=".2f")],
    )
    rule = alt.Chart(alt.InlineData(values=[{"target": target}])).mark_rule(color=colours.negative, strokeWidth=1.5)
    here = encoded.mark_point(filled=True, size=80).transform_filter("datum.planned")
    return finish(encoded.mark_line() + here + rule.encode(y="target:Q"), theme)
