"""From arrays to the inline data and layers of a chart."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def records(columns: Mapping[str, Sequence[Any]]) -> alt.InlineData:
    """Return inline data from equally long columns; NaN becomes null, which Vega leaves out."""
    names = list(columns)
    rows = zip(*columns.values(), strict=True)
    return inline([{name: _plain(value) for name, value in zip(names, row, strict=True)} for row in rows])


def tooltips(titles: Mapping[str, str]) -> list[alt.Tooltip]:
    """Return tooltips of text columns, by their names."""
    return [alt.Tooltip(f"{name}:N", title=title) for name, title in titles.items()]


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
    """Return a flat, non-empty array of numbers; ``length`` is the length of the matching arrays."""
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
    """Return three decimals with a true minus sign; a dash if undefined."""
    return "–" if math.isnan(value) else f"{value:z.3f}".replace("-", "−")


def in_lines(names: Sequence[str], width: int = 20) -> str:
    """Return an expression that writes long names of an axis in two lines or more, so that none is cut.

    >>> in_lines(["BLEU", "Ridge regression, cross-validated"])
    '({"Ridge regression, cross-validated": ["Ridge regression,", "cross-validated"]})[datum.label] || datum.label'
    """
    long = {name: wrap(name, width, break_on_hyphens=False) for name in names if len(name) > width}
    return f"({json.dumps(long)})[datum.label] || datum.label"


def ends_in_words(lines: Mapping[str, Floats], first: str, last: str) -> str:
    """Return each line's first and last value, as sentences; ``first`` and ``last`` name those two points."""
    return " ".join(f"{name}: {signed(y[0])} at {first}, {signed(y[-1])} at {last}." for name, y in lines.items())


def checked_correlations(name: str, values: ArrayLike, length: int) -> Floats:
    """Check coefficients as ``checked`` does; NaN leaves a gap."""
    array = checked(name, values, length=length, finite=False)
    if (np.abs(array) > 1).any():
        raise ValueError(f"{name} holds {array[np.abs(array) > 1][0]}: correlations lie in [-1, 1]")
    return array


def correlation_domain(groups: Sequence[Floats], *, room: float, least: float) -> tuple[float, float]:
    """Return a range for all values, with ``room`` as a share of it, at least ``least``, within [-1, 1]."""
    everything = np.concatenate(groups)
    defined = everything[np.isfinite(everything)]
    if defined.size == 0:
        return (-1.0, 1.0)
    low, high = float(defined.min()), float(defined.max())
    beyond = max(room * (high - low), least)
    return (max(-1.0, low - beyond), min(1.0, high + beyond))


def zero_line(domain: tuple[float, float], colour: str, y: alt.Y) -> list[alt.Chart]:
    """Return a line at 0, if 0 lies inside the range."""
    if not domain[0] < 0 < domain[1]:
        return []
    zero = alt.Chart(inline([{"value": 0}])).mark_rule(color=colour, strokeDash=[3, 3], aria=False)
    return [zero.encode(y=y)]
