"""The colour of each metric: the same on every page and in every chart.

It follows from the metric's place in the registry, so a new metric has one without a line of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from zlib import crc32

from metrics.scoring.registry import BUILT_IN, METRICS

# Lightness and chroma in OKLCH. Neighbours in the registry differ in lightness, too, which every eye sees; on the
# surface of its theme each is dark or light enough for small text.
SHADES: dict[str, tuple[tuple[float, float], ...]] = {
    "light": ((0.5, 0.13), (0.42, 0.12), (0.54, 0.12)),
    "dark": ((0.78, 0.11), (0.86, 0.1), (0.72, 0.12), (0.68, 0.11)),
}
FIRST_HUE, GOLDEN_ANGLE = 250.0, 137.508  # BLEU is blue; hues of any number of metrics stay apart
PLACES = {metric.label: place for place, metric in enumerate(BUILT_IN)}


@cache
def metric_colour(label: str, theme: str) -> str:
    """Return the colour of a metric by its label, with or without what tells two variants of it apart.

    Scorers of imported scores and metrics of other packages get one by their name.

    Examples
    --------
    >>> metric_colour("ΔBLEU (galley2015)", "light") == metric_colour("ΔBLEU", "light")
    True
    """
    if theme not in SHADES:
        raise ValueError(f"theme: found {theme!r}; accepted: {', '.join(SHADES)}")
    name = label.partition(" (")[0]
    slot = PLACES.get(name)
    if slot is None:
        slot = len(BUILT_IN) + crc32(name.encode()) % 997
    lightness, chroma = SHADES[theme][slot % len(SHADES[theme])]
    return _hex(lightness, chroma, math.radians((FIRST_HUE + slot * GOLDEN_ANGLE) % 360))


def metric_colours(labels: Iterable[str], theme: str) -> dict[str, str]:
    """Return the colour of each metric of a chart, by label."""
    return {label: metric_colour(label, theme) for label in labels}


def colour_of(name: str, theme: str) -> str:
    """Return the colour of a metric by its name in the registry."""
    return metric_colour(METRICS[name].label if name in METRICS else name, theme)


def _hex(lightness: float, chroma: float, hue: float) -> str:
    """Convert OKLCH to sRGB, less colourful where sRGB cannot show it (Ottosson, A perceptual color space, 2020)."""
    while True:
        red, green, blue = _linear(lightness, chroma * math.cos(hue), chroma * math.sin(hue))
        if min(red, green, blue) >= -1e-4 and max(red, green, blue) <= 1 + 1e-4:
            return "#" + "".join(f"{_byte(channel):02x}" for channel in (red, green, blue))
        chroma *= 0.95


def _linear(lightness: float, a: float, b: float) -> tuple[float, float, float]:
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )


def _byte(channel: float) -> int:
    value = min(1.0, max(0.0, channel))
    encoded = 12.92 * value if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055
    return round(255 * encoded)
