"""The one figure of a score run, as a Vega-Lite specification, and its rendering."""

from collections.abc import Sequence
from typing import Any

import vl_convert

CONTENT_TYPES = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf"}


def segment_distribution(histogram: Sequence[dict[str, Any]], *, dark: bool = False) -> dict[str, Any]:
    """Share of each system's segments per bin of segment score: one row per system, darker where more."""
    systems = len({entry["system"] for entry in histogram})
    shades = ["#1d3338", "#8fd3cf"] if dark else ["#dcebe9", "#0b5358"]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "description": "Share of segments by segment score, for each system",
        "width": "container",
        "height": max(60, 26 * systems),
        "data": {"values": list(histogram)},
        "mark": {"type": "rect", "cornerRadius": 2},
        "encoding": {
            "x": {
                "field": "low", "bin": {"binned": True, "step": 0.05}, "type": "quantitative",
                "title": "Segment score",
                "axis": {"format": ".1f", "grid": False, "values": [0, 0.2, 0.4, 0.6, 0.8, 1]},
            },
            "x2": {"field": "high"},
            "y": {"field": "system", "type": "nominal", "title": None},
            "color": {
                "field": "share", "type": "quantitative", "title": "Share of segments",
                "scale": {"range": shades, "type": "sqrt"},
                "legend": {"format": ".0%", "orient": "bottom", "gradientLength": 160, "tickCount": 3},
            },
            "tooltip": [
                {"field": "system", "title": "System"},
                {"field": "low", "title": "From", "format": ".2f"},
                {"field": "high", "title": "To", "format": ".2f"},
                {"field": "share", "title": "Share", "format": ".1%"},
            ],
        },
    }  # fmt: skip


def render(spec: dict[str, Any], kind: str) -> bytes:
    """The figure as a file. ``kind``: svg, png or pdf."""
    fixed = {**spec, "width": 560, "background": "white"}
    if kind == "svg":
        return vl_convert.vegalite_to_svg(fixed).encode()
    if kind == "png":
        return bytes(vl_convert.vegalite_to_png(fixed, scale=2))
    return bytes(vl_convert.vegalite_to_pdf(fixed))
