"""Specifications to files, without a browser."""

from __future__ import annotations

from typing import Literal

import vl_convert

from correlations.charts.theme import COLOURS, Spec

Format = Literal["svg", "png", "pdf"]
MEDIA_TYPES: dict[str, str] = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf"}
_FILE_WIDTH = 720  # where the specification asks for its page's width
_PNG_SCALE = 2.0


def render(spec: Spec, format: Format = "svg", *, width: int = _FILE_WIDTH) -> bytes:  # noqa: A002  # the brief word
    """Draw a specification of this package.

    Parameters
    ----------
    spec : dict
        Not changed. The page's transparent background becomes the theme's own colour.
    format : {"svg", "png", "pdf"}
        PNG at twice the pixels.
    width : int
        Pixels of the plot, where the specification says "container".

    Raises
    ------
    ValueError
        For an unknown format, and where the specification cannot be drawn.

    Examples
    --------
    >>> from correlations.charts import sweep_chart
    >>> render(sweep_chart([1, 2], {"BLEU": [0.1, 0.2]}, kind="order"), "png")[1:4]
    b'PNG'
    """
    if format not in MEDIA_TYPES:
        raise ValueError(f"format is {format!r}: accepted are {', '.join(MEDIA_TYPES)}")
    theme = spec.get("usermeta", {}).get("theme", "light")
    drawn = {**spec, "config": {**spec.get("config", {}), "background": COLOURS[theme].background}}
    if drawn.get("width") == "container":
        drawn["width"] = width
        drawn["config"]["autosize"] = {"type": "pad", "contains": "padding"}
    if format == "svg":
        return vl_convert.vegalite_to_svg(drawn).encode()
    if format == "png":
        return bytes(vl_convert.vegalite_to_png(drawn, scale=_PNG_SCALE))
    return bytes(vl_convert.vegalite_to_pdf(drawn))
