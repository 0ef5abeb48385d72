"""One look for all charts, in light and dark, and the last steps every chart shares."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt
import numpy as np
from numpy.typing import ArrayLike, NDArray

Theme = Literal["light", "dark"]
Width = int | Literal["container"]
Spec = dict[str, Any]
Floats = NDArray[np.float64]

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif"


@dataclass(frozen=True)
class Colours:
    background: str  # of downloads; pages shine through
    text: str
    muted: str
    grid: str
    categories: tuple[str, ...]  # told apart with every common colour blindness (after Okabe and Ito)
    negative: str
    positive: str


COLOURS: Mapping[str, Colours] = {
    "light": Colours(
        background="#ffffff",
        text="#212529",
        muted="#5c636a",
        grid="#e4e7ea",
        categories=("#0072b2", "#d55e00", "#00815f", "#aa4499", "#8a6d00", "#3b3f44"),
        negative="#d55e00",
        positive="#0072b2",
    ),
    "dark": Colours(
        background="#212529",
        text="#f1f3f5",
        muted="#b4bcc4",
        grid="#3a4148",
        categories=("#56b4e9", "#ff9248", "#3fd0a4", "#e69bcb", "#f0e442", "#ced4da"),
        negative="#ff9248",
        positive="#56b4e9",
    ),
}
# A second and third way to tell series apart, for print in grey and for eyes that see no colour.
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES: tuple[list[int], ...] = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [4, 4], [12, 4])


def colours(theme: str) -> Colours:
    if theme not in COLOURS:
        raise ValueError(f'theme is {theme!r}: accepted are "light" and "dark"')
    return COLOURS[theme]


def finish(
    chart: alt.LayerChart,
    *,
    title: str,
    subtitle: str | Sequence[str],
    description: str,
    theme: Theme,
    width: Width,
    height: int,
) -> Spec:
    """Give a chart its size, title, description and theme; check it against the Vega-Lite schema."""
    palette = colours(theme)
    if width != "container" and (isinstance(width, str) or width < 100):
        raise ValueError(f'width is {width!r}: accepted are "container" and pixels from 100')
    heading = alt.TitleParams(text=title, subtitle=[subtitle] if isinstance(subtitle, str) else list(subtitle))
    sized = chart.properties(width=width, height=height, title=heading, description=f"{title}. {description}")
    themed = (
        sized.configure(
            background="transparent",
            font=FONT,
            padding={"left": 4, "top": 4, "right": 8, "bottom": 4},
            autosize=alt.AutoSizeParams(type="fit-x" if width == "container" else "pad", contains="padding"),
        )
        .configure_view(stroke=None)
        .configure_title(
            anchor="start", frame="bounds", color=palette.text, subtitleColor=palette.muted,
            fontSize=16, fontWeight=600, subtitleFontSize=12, subtitlePadding=5, subtitleLineHeight=16, offset=14,
        )
        .configure_axis(
            labelColor=palette.muted, titleColor=palette.text, gridColor=palette.grid, domainColor=palette.muted,
            tickColor=palette.muted, labelFontSize=12, titleFontSize=12, titleFontWeight=500, titlePadding=10,
            labelPadding=5, labelFlush=False, domain=False, ticks=False,
        )
        .configure_legend(
            labelColor=palette.text, titleColor=palette.muted, labelFontSize=12, titleFontSize=12,
            titleFontWeight=500, orient="top", direction="horizontal", symbolSize=90, offset=8,
        )
    )  # fmt: skip
    spec: Spec = themed.to_dict()
    spec["usermeta"] = {"theme": theme}
    return spec


def records(columns: Mapping[str, Sequence[Any]]) -> alt.InlineData:
    """Inline data from equally long columns; NaN becomes null, which Vega leaves out."""
    names = list(columns)
    rows = zip(*columns.values(), strict=True)
    return inline([{name: _plain(value) for name, value in zip(names, row, strict=True)} for row in rows])


def inline(values: list[dict[str, Any]]) -> alt.InlineData:
    return alt.InlineData(values=values)


def layers(*charts: alt.Chart) -> alt.LayerChart:
    layered = alt.layer(*charts)
    if not isinstance(layered, alt.LayerChart):  # altair answers a facet only for faceted layers
        raise TypeError(f"layers made a {type(layered).__name__}")
    return layered


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def checked(name: str, values: ArrayLike, *, length: int | None = None, finite: bool = True) -> Floats:
    """A flat, non-empty array of numbers; ``length`` is that of the arrays it goes with."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} has shape {array.shape}: a flat list of at least one number is expected")
    if length is not None and array.size != length:
        raise ValueError(f"{name} has {array.size} values: {length} are expected, one for each point")
    if finite and not np.isfinite(array).all():
        index = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(f"{name}[{index}] is {array[index]}: a finite number is expected")
    return array


def signed(value: float) -> str:
    """Three decimals with a true minus sign; a dash where undefined."""
    return "–" if math.isnan(value) else f"{value:.3f}".replace("-", "−")
