"""The one figure of a score run, as a Vega-Lite specification."""

from collections.abc import Sequence
from typing import Any

PICTURE = {"width": 560, "background": "white"}


def segment_distribution(
    histogram: Sequence[dict[str, Any]], *, dark: bool = False, picture: bool = False
) -> dict[str, Any]:
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
                "legend": {
                    "format": ".0%", "orient": "bottom", "gradientLength": 220, "tickCount": 3,
                    "labelOverlap": "greedy", "labelSeparation": 6,
                },
            },
            "tooltip": [
                {"field": "system", "title": "System"},
                {"field": "low", "title": "From", "format": ".2f"},
                {"field": "high", "title": "To", "format": ".2f"},
                {"field": "share", "title": "Share", "format": ".1%"},
            ],
        },
        **(PICTURE if picture else {}),
    }  # fmt: skip
