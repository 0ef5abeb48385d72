"""The chart of a seed selection: numbers in, Vega-Lite specification out."""

from collections.abc import Sequence

import altair as alt

from annotation.core.charts import Spec, Theme, finish, palette

WIDTH = 0.018  # of a bar, as a share of the scale, where a mean is a point


def seed_means(
    bars: Sequence[Sequence[float]], *, threshold: float, scale: Sequence[float], theme: Theme = "light"
) -> Spec:
    """Seeds by their mean rating, those at the threshold or above in another colour; ``bars`` are [from, to, seeds]."""
    low, high = scale
    half = WIDTH * (high - low) / 2
    rows = [
        {
            "from": first - half if first == last else first,
            "to": first + half if first == last else last,
            "mean": f"{first:.4g}" if first == last else f"{first:.4g} to {last:.4g}",
            "seeds": n,
            "fate": "kept" if first >= threshold - 1e-9 else "left out",
        }
        for first, last, n in bars
    ]
    colours = palette(theme)
    fates = ["kept", "left out"]
    domain = [low - 2 * half, high + 2 * half]
    drawn = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(cornerRadiusEnd=2)
        .encode(
            x=alt.X("from:Q", title="Mean rating", scale=alt.Scale(domain=domain, nice=False)),
            x2="to:Q",
            y=alt.Y("seeds:Q", title="Seeds", axis=alt.Axis(format=",d", tickMinStep=1)),
            y2=alt.datum(0),
            color=alt.Color(
                "fate:N",
                legend=alt.Legend(title=None),
                scale=alt.Scale(domain=fates, range=[colours.accent, colours.line_strong]),
            ),
            tooltip=["mean:N", alt.Tooltip("seeds:Q", format=","), "fate:N"],
        )
    )
    rule = (
        alt.Chart(alt.InlineData(values=[{"threshold": threshold - 1.6 * half}]))
        .mark_rule(color=colours.gold, strokeWidth=1.5, strokeDash=[4, 3])
        .encode(x="threshold:Q")
    )
    return finish(drawn + rule, theme)
