"""Charts of a score run, as Vega-Lite specifications."""

from collections.abc import Sequence
from typing import Any

from annotation.core.charts import Spec, Theme, palette, themed

MOST_TICKS = 7  # on the axis of segment scores
MOST_LABELLED = 11  # bins whose cells have room for their share
LABELLED = 0.35  # of a colour behind labels, so that they can be read on each
MIN_HEIGHT, LEGEND = 84, 62  # pixels; on the page the neighbouring chart has a legend below it


def segment_distribution(histogram: Sequence[dict[str, Any]], *, colour: str, theme: Theme = "light") -> Spec:
    """Draw the share of each system's segments per bin of segment score: a row per system, in the histogram's order.

    More colour is for more; in a few bins the share itself stands, too.
    """
    systems = len({entry["system"] for entry in histogram})
    step = histogram[0]["high"] - histogram[0]["low"] if histogram else 0.05
    ticks = _ticks(sorted({entry[end] for entry in histogram for end in ("low", "high")}))
    names = list(dict.fromkeys(entry["system"] for entry in histogram))
    is_labelled = len(histogram) <= MOST_LABELLED * systems
    strongest = mixed(colour, palette(theme).surface, LABELLED) if is_labelled else colour
    shades: dict[str, Any] = {
        "field": "share",
        "type": "quantitative",
        "title": "Share of items",
        "scale": {"range": [palette(theme).surface, strongest], "type": "sqrt", "interpolate": "rgb"},
        "legend": {
            "format": ".0%",
            "orient": "bottom",
            "gradientLength": 180,
            "tickCount": 3,
            "labelOverlap": "greedy",
            "labelSeparation": 6,
        },
    }
    cells: dict[str, Any] = {"mark": {"type": "rect", "cornerRadius": 2}, "encoding": {"color": shades}}
    spec: dict[str, Any] = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "description": "Share of items by their score, for each system",
        "width": "container",
        "height": max(MIN_HEIGHT, 26 * systems),
        "data": {"values": list(histogram)},
        "encoding": {
            "x": {
                "field": "low",
                "bin": {"binned": True, "step": step},
                "type": "quantitative",
                "title": "Score of an item",
                "axis": {"grid": False, "values": ticks, "format": f",.{_decimals(ticks)}f"},
            },
            "x2": {"field": "high"},
            "y": {"field": "system", "type": "nominal", "title": None, "sort": names},
            "tooltip": [
                {"field": "system", "title": "System"},
                {"field": "low", "title": "From", "format": ".3~f"},
                {"field": "high", "title": "To", "format": ".3~f"},
                {"field": "share", "title": "Share", "format": ".1%"},
            ],
        },
    }
    if not is_labelled:
        spec["mark"] = cells["mark"]
        spec["encoding"] |= cells["encoding"]
    else:
        shades["legend"] = None  # each cell has its share
        cells["encoding"] |= {side: spec["encoding"].pop(side) for side in ("x", "x2")}
        spec["layer"] = [cells, _shares(theme)]
    return themed(spec, theme)


def mixed(colour: str, other: str, share: float) -> str:
    """Return this share of a colour with the rest of another.

    >>> mixed("#000000", "#ffffff", 0.2)
    '#cccccc'
    """
    pairs = ((int(colour[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


def _shares(theme: Theme) -> dict[str, Any]:
    """Return the layer of the shares in the middle of their cells."""
    return {
        "transform": [{"calculate": "(datum.low + datum.high) / 2", "as": "middle"}],
        "mark": {"type": "text", "fontSize": 12},
        "encoding": {
            "x": {"field": "middle", "type": "quantitative", "title": "Score of an item"},
            "text": {"field": "share", "type": "quantitative", "format": ".0%"},
            "color": {"value": palette(theme).ink},
        },
    }


def _ticks(edges: Sequence[float]) -> list[float]:
    """Return about six of the bins' bounds; the middles of bins of whole numbers, which are centred on them."""
    if len(edges) > 1 and edges[1] - edges[0] == 1 and edges[0] % 1 == 0.5:
        edges = [edge + 0.5 for edge in edges[:-1]]
    every = next((n for n in (1, 2, 4, 5, 10) if (len(edges) - 1) / n <= MOST_TICKS), len(edges))
    return list(edges[::every])


def _decimals(ticks: Sequence[float]) -> int:
    """Return how many decimals show each tick at its value.

    >>> _decimals([0, 0.25, 0.5]), _decimals([1, 2]), _decimals([])
    (2, 0, 0)
    """
    written = [f"{tick:.6f}".rstrip("0").partition(".")[2] for tick in ticks]
    return max(map(len, written), default=0)


def system_scores(rows: Sequence[dict[str, Any]], *, title: str, colour: str, theme: Theme = "light") -> Spec:
    """Draw each system's score with its interval in the metric's colour; rows hold ``system``, ``score``, ``low``,
    ``high``."""
    y = {"field": "system", "type": "nominal", "title": None, "sort": [row["system"] for row in rows]}
    places = f".{2 if max((abs(row['score']) for row in rows), default=0.0) >= 2 else 4}f"  # points of a judge have two
    tooltip = [
        {"field": "system", "title": "System"},
        {"field": "score", "title": title, "format": places},
        {"field": "low", "title": "From", "format": places},
        {"field": "high", "title": "To", "format": places},
    ]
    scale = {"zero": False, "nice": True, "padding": 8}  # so that no interval ends at the frame
    has_intervals = any(row["low"] is not None for row in rows)
    if not has_intervals:
        tooltip = tooltip[:2]
    intervals = {
        "transform": [{"filter": "isValid(datum.low)"}],
        "mark": {"type": "rule", "strokeWidth": 3, "opacity": 0.45, "color": colour},
        "encoding": {
            "x": {"field": "low", "type": "quantitative", "title": title, "scale": scale},
            "x2": {"field": "high"},
        },
    }
    points = {
        "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1, "color": colour},
        "encoding": {"x": {"field": "score", "type": "quantitative", "title": title, "scale": scale}},
    }
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "description": f"{title} of each system" + ", with ranges of resamples" * has_intervals,
        "width": "container",
        "height": max(MIN_HEIGHT, 26 * len(rows)) + LEGEND,
        "data": {"values": list(rows)},
        "encoding": {"y": y, "tooltip": tooltip},
        # Vega warns about a layer whose filter leaves no data.
        "layer": [intervals, points] if has_intervals else [points],
    }
    return themed(spec, theme)
