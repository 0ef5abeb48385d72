"""Charts of results, as Vega-Lite specifications."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

import altair as alt

from annotation.core.charts import SHAPES, Spec, Theme, finish, palette
from annotation.core.numbers import counted, finite_or_none

if TYPE_CHECKING:
    from annotation.results.selectors.verdicts import CriterionVerdict, PairVerdict

LINE, MARGIN = 30, 60  # height of a system's line, and of the axis
PAIR_LINE, PAIR_LINES = 26, 34  # of a pair with its names in one line, or in two
LONG_PAIR = 18  # characters, from which on a phone has no room for the line beside both names
MINUS = " − "
MUCH_WIDER = 1.6  # than single intervals: from here on those of all differences together would stretch the axis
IN_A_ROW = 7  # values for which a phone has room
CERTAIN, OPEN = "certain", "not certain"  # differences
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
    what = [
        _of("Mean rating", verdict) if verdict.by_means else "Strength (log odds; all systems have mean 0)",
        f"95% intervals; {_items(verdict)}",
    ]
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
    n = sum(row["ratings"] for row in rows)
    noun = "rating" if verdict.by_means else "comparison"
    what = [_of(f"Share of {noun}s", verdict), f"{counted(n, noun)} by system; {_items(verdict)}"]
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(cornerRadius=1)
        .encode(
            y=_systems(verdict),
            x=alt.X(
                "ratings:Q",
                stack="normalize",
                title=what,
                axis=alt.Axis(format="%", grid=False, values=[0, 0.25, 0.5, 0.75, 1], labelFlush=True),
            ),
            color=alt.Color(
                "value:N",
                sort=names,
                scale=alt.Scale(domain=names, range=_ladder(len(names), theme)),
                legend=alt.Legend(title=None, columns=_legend_columns(len(names)), labelLimit=120),
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


def differences(verdict: CriterionVerdict, *, theme: Theme = "light") -> Spec:
    """Draw the difference of each pair of systems, the largest first, and a line at no difference.

    The thick line is its 95% interval; the thin one is that of all differences together, which decides whether it is
    certain. Thin lines that would stretch the axis are left to the table.
    """
    rows = _difference_rows(verdict)
    has_together, x = _axis_of_differences(verdict, rows)
    is_long = any(len(_named(pair)) > LONG_PAIR for pair in verdict.pairs)
    in_two_lines: Any = f"split(replace(datum.label, '{MINUS}', '\\n−\u00a0'), '\\n')" if is_long else alt.Undefined
    colours = palette(theme)
    kinds = [kind for kind in (CERTAIN, OPEN) if any(row["sure"] == kind for row in rows)]
    looks = {CERTAIN: colours.accent, OPEN: colours.muted}
    legend = alt.Legend(title=None, labelLimit=220)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y(
            "pair:N",
            title=None,
            sort=[_named(pair) for pair in verdict.pairs],
            axis=alt.Axis(labelLimit=190, labelPadding=6, ticks=False, domain=False, labelExpr=in_two_lines),
        ),
        color=alt.Color(
            "sure:N",
            sort=kinds,
            scale=alt.Scale(domain=kinds, range=[looks[kind] for kind in kinds]),
            legend=legend,
        ),
        tooltip=_tooltip_of_differences(len(rows)),
    )
    no_difference = (
        alt.Chart(alt.InlineData(values=[{"at": 0}]))
        .mark_rule(color=colours.line_strong, strokeDash=[4, 3], aria=False)
        .encode(x=alt.X("at:Q", **x))
    )
    together = base.mark_rule(strokeWidth=1.5, opacity=0.75, aria=False)
    single = base.mark_rule(strokeWidth=5, opacity=0.5, aria=False)
    points = base.mark_point(filled=True, size=85, opacity=1).encode(
        x=alt.X("difference:Q", **x),
        shape=alt.Shape(
            "sure:N",
            sort=kinds,
            scale=alt.Scale(domain=kinds, range=list(SHAPES[: len(kinds)])),
            legend=legend,
        ),
    )
    intervals = [single.encode(x=alt.X("single_low:Q", **x), x2="single_high:Q")]
    if has_together:
        intervals.insert(0, together.encode(x=alt.X("low:Q", **x), x2="high:Q"))
    height = MARGIN + (PAIR_LINES if is_long else PAIR_LINE) * max(len(rows), 2)
    return finish(alt.LayerChart(layer=[no_difference, *intervals, points]), theme, height=height)


def _difference_rows(verdict: CriterionVerdict) -> list[dict[str, Any]]:
    return [
        {
            "pair": _named(pair),
            "difference": pair.difference,
            "low": finite_or_none(pair.low),
            "high": finite_or_none(pair.high),
            "single_low": finite_or_none(pair.low if isnan(pair.single_low) else pair.single_low),
            "single_high": finite_or_none(pair.high if isnan(pair.single_high) else pair.single_high),
            "p": finite_or_none(pair.adjusted),
            "sure": CERTAIN if pair.is_certain else OPEN,
        }
        for pair in verdict.pairs
        if not isnan(pair.difference)
    ]


def _axis_of_differences(verdict: CriterionVerdict, rows: Sequence[Mapping[str, Any]]) -> tuple[bool, dict[str, Any]]:
    """Return whether the axis has room for the intervals of all differences together; and title, axis and scale."""
    narrow = _ends(rows, "difference", "single_low", "single_high")
    wide = _ends(rows, "difference", "single_low", "single_high", "low", "high")
    is_cut = wide[1] - wide[0] > MUCH_WIDER * (narrow[1] - narrow[0])
    has_together = len(rows) > 1 and not is_cut
    low, high = narrow if is_cut else wide
    room = 0.04 * (high - low)
    title = [
        _of(f"Difference in {'points' if verdict.by_means else 'log odds'}", verdict),
        f"thick: 95% interval; thin: all {len(rows)} together" if has_together else _alone(is_cut),
    ]
    scale = alt.Scale(domain=[low - room, high + room], nice=False)
    return has_together, {"title": title, "axis": alt.Axis(labelFlush=True), "scale": scale}


def _alone(is_cut: bool) -> str:
    """Return what the intervals are that are drawn without those of all differences together."""
    return "95% intervals, each difference alone" if is_cut else "95% intervals"


def _ends(rows: Sequence[Mapping[str, Any]], *names: str) -> tuple[float, float]:
    values = [0.0, *(row[name] for row in rows for name in names if row[name] is not None)]
    return min(values), max(values) if max(values) > min(values) else min(values) + 1.0


def _tooltip_of_differences(n: int) -> list[alt.Tooltip]:
    numbers = {"difference": "difference", "single_low": "low", "single_high": "high"}
    if n > 1:
        numbers |= {"low": "low, all together", "high": "high, all together"}
    return [
        alt.Tooltip("pair:N", title="Difference"),
        *(alt.Tooltip(f"{name}:Q", title=title, format=".2f") for name, title in numbers.items()),
        alt.Tooltip("p:Q", title="p, corrected", format=".3f"),
        alt.Tooltip("sure:N", title="It is"),
    ]


CHARTS = {"estimates": estimates, "distribution": distribution, "differences": differences}


def _items(verdict: CriterionVerdict) -> str:
    """Return how many items the systems' outputs were rated for; from fewest to most if they differ."""
    fewest, most = (end((each.items for each in verdict.systems), default=0) for end in (min, max))
    return counted(most, "item") if fewest == most else f"{fewest:,} to {most:,} items a system"


def _legend_columns(n: int) -> int | alt.ExprRef:
    """Return in how many columns the values stand: 0 is one row, for which a phone has no room."""
    return alt.ExprRef(f"width > 380 ? {0 if n <= FEW_VALUES else 8} : 4") if n > IN_A_ROW else 0


def _named(pair: PairVerdict) -> str:
    return f"{pair.first}{MINUS}{pair.second}"


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
    return alt.Y(
        "system:N", title=None, sort=names, axis=alt.Axis(labelLimit=150, labelPadding=6, ticks=False, domain=False)
    )


def _of(measure: str, verdict: CriterionVerdict) -> str:
    """Return what an axis shows, with its criterion: one that is called "rating" adds nothing to "mean rating"."""
    return measure if verdict.criterion.casefold() in ("rating", "ratings") else f"{measure}: {verdict.criterion}"


def _height(verdict: CriterionVerdict) -> int:
    return MARGIN + LINE * max(len(verdict.systems), 2)


def _ladder(n: int, theme: Theme) -> list[str]:
    """Return colours from the worst value to the best, over a neutral middle."""
    colours = palette(theme)
    # On a dark card the line's colour is hardly lighter than the card.
    middle = colours.line_strong if theme == "dark" else colours.line
    stops = (colours.negative, middle, colours.positive)
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
