"""The learning curve of a quality estimator: how well each pass predicts outputs that it does not learn from."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from annotation.core.charts import DASHES, Spec, Theme, finish, palette
from metrics.selectors.predictions import WHOLE

Curves = Mapping[str, Sequence[Mapping[str, Any]]]
COEFFICIENTS = {"pearson": "Pearson’s r", "spearman": "Spearman’s ρ"}


def curve_points(curves: Curves) -> list[dict[str, Any]]:
    """Return a row for each training, pass and coefficient that is defined."""
    return [
        {"training": name, "pass": point["number"], "coefficient": label, "value": point[key]}
        for name, points in curves.items()
        for point in points
        for key, label in COEFFICIENTS.items()
        if point[key] is not None
    ]


def learning_curve(curves: Curves, *, theme: Theme = "light") -> Spec:
    """Draw both coefficients of the model's own training, and Pearson's of each fold, thin and grey."""
    colours = palette(theme)
    rows = curve_points(curves)
    x = alt.X("pass:Q", title="Pass over the data", axis=alt.Axis(format="d", tickMinStep=1))
    y = alt.Y("value:Q", title="Coefficient on outputs set aside", scale=alt.Scale(zero=False))
    tooltip = [
        alt.Tooltip("training:N", title="Training"),
        alt.Tooltip("pass:Q", title="Pass"),
        alt.Tooltip("coefficient:N", title="Coefficient"),
        alt.Tooltip("value:Q", title="Value", format=".3f"),
    ]
    labels = list(COEFFICIENTS.values())
    folds = (
        alt.Chart(alt.InlineData(values=[row for row in rows if _is_of_fold(row, labels[0])]))
        .mark_line(color=colours.line_strong, strokeWidth=1)
        .encode(x=x, y=y, detail="training:N", tooltip=tooltip)
    )
    whole = (
        alt.Chart(alt.InlineData(values=[row for row in rows if row["training"] == WHOLE]))
        .mark_line(strokeWidth=2)
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "coefficient:N",
                title=None,
                scale=alt.Scale(domain=labels, range=list(colours.categories[: len(labels)])),
            ),
            strokeDash=alt.StrokeDash(
                "coefficient:N", title=None, scale=alt.Scale(domain=labels, range=list(DASHES[: len(labels)]))
            ),
            tooltip=tooltip,
        )
    )
    return finish(folds + whole, theme)


def _is_of_fold(row: Mapping[str, Any], label: str) -> bool:
    return bool(row["training"] != WHOLE and row["coefficient"] == label)


def best_pass(curves: Curves) -> dict[str, Any] | None:
    """Return the pass of the model's own training with the highest sum of coefficients; None for one without passes."""
    points = curves.get(WHOLE, ())
    return max(points, key=lambda point: (point["pearson"] or 0) + (point["spearman"] or 0), default=None)  # type: ignore[return-value]
