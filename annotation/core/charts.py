"""The look of every chart, in light and dark, and its drawing without a browser.

A chart is a Vega-Lite specification that any runtime draws, Vega's CSP-safe expression interpreter included. Its width
is the page's element, or pixels. Colours and font are read from the page's stylesheet.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import altair as alt
import vl_convert
from altair.utils import schemapi

Theme = Literal["light", "dark"]
Width = int | Literal["container"]
Spec = dict[str, Any]
Rows = Sequence[Mapping[str, Any]]

# Each part of a chart would be checked as it is made, for every reader of a page: the tests check every chart instead.
schemapi.disable_debug_mode()

STYLESHEET = Path(__file__).resolve().parents[2] / "static" / "css" / "assay.css"
# For files: the pages' font, and letters of scripts that the fonts within vl-convert do not have.
FONTS = Path(__file__).with_name("fonts")
vl_convert.register_font_directory(str(FONTS))
LACKING = {"≥": ">=", "≤": "<="}  # in that font
THEMES: tuple[Theme, ...] = ("light", "dark")
MEDIA_TYPES = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf"}
HEIGHT = 220
TICKS = 6  # on an axis of numbers, at most about
FILE_WIDTH = 720  # of the plot, if the specification has its page's width
PADDING = {"left": 12, "right": 4, "top": 4, "bottom": 4}  # names are drawn wider than browsers measure them
FILE_PADDING = 12
FILE_LABELS = 420  # pixels that a name on an axis may take in a file; on a page it is cut earlier
PNG_SCALE = 2

# Can be told apart with every common colour blindness (after Okabe and Ito).
CATEGORIES: Mapping[str, tuple[str, ...]] = {
    "light": ("#006fae", "#d55e00", "#00815f", "#aa4499", "#8a6d00", "#3b3f44"),
    "dark": ("#56b4e9", "#ff9248", "#3fd0a4", "#e69bcb", "#f0e442", "#ced4da"),
}
# A second and third way to tell series apart, for print in grey and for eyes that see no colour.
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES: tuple[list[int], ...] = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [4, 4], [12, 4])


@dataclass(frozen=True)
class Palette:
    """Colours of one theme, named as in the stylesheet."""

    surface: str  # behind a downloaded chart
    ink: str
    muted: str
    line: str
    line_strong: str
    accent: str
    accent_soft: str
    gold: str
    positive: str
    negative: str
    categories: tuple[str, ...]


@cache
def palette(theme: str) -> Palette:
    """Return the colours of a theme; raise ValueError for an unknown one."""
    if theme not in THEMES:
        raise ValueError(f'theme is {theme!r}: accepted are "light" and "dark"')
    block = re.search(rf'\[data-bs-theme="{theme}"\] {{(.*?)}}', _stylesheet(), re.DOTALL)
    tokens = dict(re.findall(r"--assay-([a-z-]+): (#[0-9a-f]{6});", block[1] if block else ""))
    names = [name for name in Palette.__dataclass_fields__ if name != "categories"]
    return Palette(**{name: tokens[name.replace("_", "-")] for name in names}, categories=CATEGORIES[theme])


@cache
def _stylesheet() -> str:
    return STYLESHEET.read_text(encoding="utf-8")


def _in_letters_of_the_font(spec: Mapping[str, Any]) -> Spec:
    """Write signs that the files' font lacks with others: for one sign, a whole label is drawn in another font."""
    text = json.dumps(spec, ensure_ascii=False)
    for sign, letters in LACKING.items():
        text = text.replace(sign, letters)
    written: Spec = json.loads(text)
    return written


@cache
def _font() -> str:
    match = re.search(r"--assay-sans: (.+);", _stylesheet())
    return match[1].replace('"', "'") if match else "sans-serif"


def finish(
    chart: alt.Chart | alt.LayerChart,
    theme: Theme,
    *,
    width: Width = "container",
    height: int = HEIGHT,
    title: str = "",
    subtitle: str | Sequence[str] = "",
    description: str = "",
) -> Spec:
    """Give a chart its size, title, description and theme."""
    if width != "container" and (isinstance(width, str) or width < 100):
        raise ValueError(f'width is {width!r}: accepted are "container" and pixels from 100')
    # Altair's own way to set these copies the chart with all its rows, twice.
    spec = chart.to_dict(validate=False) | {"width": width, "height": height}
    if title:
        lines = [subtitle] if isinstance(subtitle, str) else list(subtitle)
        spec |= {"title": {"text": title, "subtitle": lines}, "description": f"{title}. {description}"}
    return themed(spec, theme)


def themed(spec: Mapping[str, Any], theme: Theme) -> Spec:
    """Return the specification with the look of a theme."""
    looks = {"config": _config(palette(theme), spec.get("width")), "usermeta": {"theme": theme}}
    return {**_with_whole_ticks(spec, [], spec.get("datasets", {})), **looks}


def _with_whole_ticks(part: Mapping[str, Any], rows: Rows, datasets: Mapping[str, Rows]) -> Spec:
    """Return a view, or a part of it, with no more ticks than whole numbers on axes that are written without decimals.

    Vega draws 0, 0.5, 1, 1.5 and 2, labelled 0, 1, 1, 2 and 2, even if ``tickMinStep`` is 1.
    """
    data = part.get("data") or {}
    rows = data.get("values") or datasets.get(str(data.get("name")), rows)
    changed = dict(part)
    if "layer" in part:
        changed["layer"] = [_with_whole_ticks(layer, rows, datasets) for layer in part["layer"]]
    if "encoding" in part:
        changed["encoding"] = {
            channel: _whole(encoding, rows) if channel in ("x", "y") else encoding
            for channel, encoding in part["encoding"].items()
        }
    return changed


def _whole(encoding: Mapping[str, Any], rows: Rows) -> Mapping[str, Any]:
    axis = encoding.get("axis") or {}
    if encoding.get("type") != "quantitative" or not str(axis.get("format", "")).endswith("d"):
        return encoding
    field = str(encoding.get("field"))
    values = [row[field] for row in rows if row.get(field) is not None]
    if not values:
        return encoding
    ends = values if (encoding.get("scale") or {}).get("zero") is False else [0, *values]
    ticks = max(1, min(TICKS, round(max(ends) - min(ends))))
    return {**encoding, "axis": {**axis, "tickMinStep": 1, "tickCount": ticks}}


def _config(colours: Palette, width: object) -> Spec:
    words = {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": 600}
    return {
        "background": "transparent",  # pages shine through
        "font": _font(),
        "padding": PADDING,
        "autosize": {"type": "fit-x" if width == "container" else "pad", "contains": "padding"},
        "view": {"stroke": None},
        "title": {
            "anchor": "start",
            "frame": "bounds",
            "color": colours.ink,
            "subtitleColor": colours.muted,
            "fontSize": 16,
            "fontWeight": 600,
            "subtitleFontSize": 12,
            "subtitlePadding": 5,
            "subtitleLineHeight": 16,
            "offset": 14,
        },
        "axis": {
            **words,
            "labelColor": colours.muted,
            "titleColor": colours.ink,
            "gridColor": colours.line,
            "domainColor": colours.line_strong,
            "tickColor": colours.line_strong,
            "titlePadding": 10,
            "labelSeparation": 10,
        },
        "axisQuantitative": {"tickCount": TICKS},
        "legend": {
            **words,
            "labelColor": colours.ink,
            "titleColor": colours.muted,
            "orient": "top",
            "direction": "horizontal",
            "symbolSize": 90,
            "offset": 8,
        },
    }


def render(spec: Spec, format: str = "svg", *, width: int = FILE_WIDTH) -> bytes:  # noqa: A002 - the brief word
    """Draw a themed specification as a file.

    Parameters
    ----------
    spec : dict
        Not changed. The page's transparent background becomes the theme's colour.
    format : {"svg", "png", "pdf"}
        PNG at twice the pixels.
    width : int
        Pixels of the plot, if the specification says "container".

    Raises
    ------
    ValueError
        For an unknown format, and for a specification that cannot be drawn.
    """
    if format not in MEDIA_TYPES:
        raise ValueError(f"format is {format!r}: accepted are {', '.join(MEDIA_TYPES)}")
    background = palette(spec["usermeta"]["theme"]).surface
    drawn = {**spec, "config": {**spec["config"], "background": background, "padding": FILE_PADDING}}
    if drawn.get("width") == "container":
        drawn["width"] = width
        drawn["config"]["autosize"] = {"type": "pad", "contains": "padding"}
        drawn = _with_whole_names(drawn)
    if format == "svg":
        return vl_convert.vegalite_to_svg(drawn).encode()
    drawn = _in_letters_of_the_font(drawn)
    if format == "png":
        return bytes(vl_convert.vegalite_to_png(drawn, scale=PNG_SCALE))
    return bytes(vl_convert.vegalite_to_pdf(drawn))


def _with_whole_names(part: Spec) -> Spec:
    """Return a view, or a part of it, whose axes do not cut names."""
    changed = dict(part)
    if "layer" in part:
        changed["layer"] = [_with_whole_names(layer) for layer in part["layer"]]
    for channel in ("x", "y"):
        axis = part.get("encoding", {}).get(channel, {}).get("axis")
        if axis and "labelLimit" in axis:
            room = {"labelLimit": FILE_LABELS, "maxExtent": 2 * FILE_LABELS}  # else a title stands upon long names
            encoding = {**changed["encoding"][channel], "axis": {**axis, **room}}
            changed["encoding"] = {**changed["encoding"], channel: encoding}
    return changed
