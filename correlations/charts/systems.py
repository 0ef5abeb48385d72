"""Systems by their raters' mean and their score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import altair as alt
import numpy as np
from numpy.typing import ArrayLike

from annotation.core.charts import Spec, Theme, Width, finish, palette
from correlations.charts.data import checked, inline, layers, records, signed, tooltips
from metrics.scoring.colours import metric_colour

SIDES: dict[Literal["left", "right"], int] = {"left": 8, "right": -8}  # of the chart, and how far names lie off there
NAMED = 25  # systems; more names would lie upon each other


def system_scatter(
    rating: ArrayLike,
    score: ArrayLike,
    systems: Sequence[str],
    *,
    metric_name: str,
    subtitle: str = "",
    theme: Theme = "light",
    width: Width = "container",
) -> Spec:
    """Draw each system's score against its mean rating, with its name.

    Parameters
    ----------
    rating, score : arrays of shape (n,)
        Finite.
    systems : sequence of n names
    metric_name : str
    subtitle : str
        Such as the coefficients.

    Raises
    ------
    ValueError
        If lengths differ or a value is not finite.

    Examples
    --------
    >>> system_scatter([3.1, 2.5], [0.4, 0.2], ["A", "B"], metric_name="BLEU")["description"]
    'BLEU and mean rating, system by system. A: 0.400 and 3.100; B: 0.200 and 2.500.'
    """
    x = checked("rating", rating)
    y = checked("score", score, length=x.size)
    if len(systems) != x.size:
        raise ValueError(f"systems has {len(systems)} names: {x.size} are expected, one for each point")
    shown = {"rating_shown": [signed(each) for each in x], "score_shown": [signed(each) for each in y]}
    data = records({"system": list(systems), "rating": x.tolist(), "score": y.tolist(), **shown})
    colours = palette(theme)
    x_axis = alt.X("rating:Q", title="mean rating", scale=_scale(x), axis=alt.Axis(grid=False, tickCount=7))
    y_axis = alt.Y("score:Q", title=metric_name, scale=_scale(y), axis=alt.Axis(tickCount=6, format="~g"))
    tooltip = tooltips({"system": "System", "score_shown": metric_name, "rating_shown": "Mean rating"})
    points = alt.Chart(data).mark_circle(size=80, color=metric_colour(metric_name, theme), opacity=0.85)
    each = "; ".join(f"{name}: {signed(b)} and {signed(a)}" for name, a, b in zip(systems, x, y, strict=True))
    drawn = [points.encode(x=x_axis, y=y_axis, tooltip=tooltip)]
    if x.size <= NAMED:
        right = x > (x.min() + x.max()) / 2  # there, names stand before their points, so that none is cut
        for side, apart in SIDES.items():
            kept = [row for row, on_right in zip(data.values, right, strict=True) if on_right == (side == "right")]
            names = alt.Chart(inline(kept)).mark_text(align=side, dx=apart, dy=-6, color=colours.muted, aria=False)
            drawn.append(names.encode(x=x_axis, y=y_axis, text="system:N"))
    return finish(
        layers(*drawn),
        theme,
        title=f"{metric_name} and mean rating, system by system",
        subtitle=[subtitle] if subtitle else [],
        description=f"{each}.",
        width=width,
        height=360,
    )


def _scale(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> alt.Scale:
    """Return a scale with room at both ends."""
    span = float(np.ptp(values)) or 1.0
    return alt.Scale(domain=[float(values.min()) - 0.08 * span, float(values.max()) + 0.12 * span], nice=False)
