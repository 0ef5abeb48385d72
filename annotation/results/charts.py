"""Charts of results, as Vega-Lite specifications."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

import altair as alt

from annotation.core.charts import Spec, Theme, finish, palette
from annotation.core.numbers import finite_or_none

if TYPE_CHECKING:
    from annotation.results.selectors.verdicts import CriterionVerdict

LINE, MARGIN = 30, 46  # height of a system's line, and of the axis
FEW_VALUES = 11  # up to here each value of the scale has a name of its own


def estimates(verdict: CriterionVerdict, *, theme: Theme = "light") -> Spec:
    """Draw each system's mean, or strength, with its interval, best first."""
    rows = [
        {
            "system": each.name,
            "estimate": each.estimate,
            "low": finite_or_none(each.low),
            "high": finite_or_none(each.high),
            "ranks": each.ranks,
            "ratings": each.ratings,
        }
        for each in verdict.systems
        if not isnan(each.estimate)
    ]
    what = f"Mean rating: {verdict.criterion}" if verdict.by_means else "Strength (log odds; all systems have mean 0)"
    what += f", 95% intervals; {max((each.items for each in verdict.systems), default=0):,} items"
    colours = palette(theme)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=_systems(verdict),
        tooltip=[
            alt.Tooltip("system:N", title="System"),
            *(alt.Tooltip(f"{name}:Q", format=".2f") for name in ("estimate", "low", "high")),
            alt.Tooltip("ranks:N", title="Ranks"),
            alt.Tooltip("ratings:Q", format=","),
        ],
    )
    axis = alt.Axis(labelFlush=True)  # else the last number is cut off
    x = alt.X("low:Q", title=what, axis=axis, scale=alt.Scale(zero=False, nice=False, padding=12))
    intervals = base.mark_rule(strokeWidth=2, opacity=0.6, color=colours.accent, aria=False).encode(x=x, x2="high:Q")
    points = base.mark_point(filled=True, size=85, opacity=1, color=colours.accent).encode(
        x=alt.X("estimate:Q", title=what, axis=axis, scale=alt.Scale(zero=False, nice=False, padding=12))
    )
    return finish(alt.LayerChart(layer=[intervals, points]), theme, height=_height(verdict))


def distribution(verdict: CriterionVerdict, *, theme: Theme = "light") -> Spec:
    """Draw how often each value was given, as shares of a bar per system; of comparisons won, tied and lost ones."""
    names, rows = _shares(verdict)
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(cornerRadius=1)
        .encode(
            y=_systems(verdict),
            x=alt.X("ratings:Q", stack="normalize", title="Share", axis=alt.Axis(format="%", grid=False)),
            color=alt.Color(
                "value:N",
                sort=names,
                scale=alt.Scale(domain=names, range=_ladder(len(names), theme)),
                legend=alt.Legend(title=None, columns=0 if len(names) <= FEW_VALUES else 8, labelLimit=120),
            ),
            order=alt.Order("place:Q"),
            tooltip=[
                alt.Tooltip("system:N", title="System"),
                alt.Tooltip("value:N", title="Value"),
                alt.Tooltip("ratings:Q", format=","),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
    )
    return finish(chart, theme, height=_height(verdict))


CHARTS = {"estimates": estimates, "distribution": distribution}


def _shares(verdict: CriterionVerdict) -> tuple[list[str], list[dict[str, Any]]]:
    if verdict.by_means:
        counted = [
            (each.name, [(f"{value:g}".replace("-", "−"), n) for value, n in each.values]) for each in verdict.systems
        ]
    else:
        counted = [
            (each.name, [("lost", each.losses), ("tied", each.ties), ("won", each.wins)]) for each in verdict.systems
        ]
    names = list(dict.fromkeys(name for _, values in counted for name, _ in values))
    rows = [
        {"system": system, "value": name, "ratings": n, "place": names.index(name), "share": n / total}
        for system, values in counted
        for total in [sum(n for _, n in values) or 1]
        for name, n in values
    ]
    return names, rows


def _systems(verdict: CriterionVerdict) -> alt.Y:
    names = [each.name for each in verdict.systems]
    return alt.Y("system:N", title=None, sort=names, axis=alt.Axis(labelLimit=150, ticks=False, domain=False))


def _height(verdict: CriterionVerdict) -> int:
    return MARGIN + LINE * max(len(verdict.systems), 2)


def _ladder(n: int, theme: Theme) -> list[str]:
    """Return colours from the worst value to the best, over a neutral middle."""
    colours = palette(theme)
    stops = (colours.negative, colours.line, colours.positive)
    if n <= 1:
        return [colours.accent]
    if n == len(("lost", "tied", "won")):
        return [colours.negative, colours.line_strong, colours.positive]
    return [_mixed(stops, place / (n - 1)) for place in range(n)]


def _mixed(stops: Sequence[str], share: float) -> str:
    """Return the colour at a share of the way over all stops."""
    at = share * (len(stops) - 1)
    left = min(int(at), len(stops) - 2)
    rest = at - left
    pairs = ((int(stops[left][i : i + 2], 16), int(stops[left + 1][i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * rest):02x}" for a, b in pairs)
