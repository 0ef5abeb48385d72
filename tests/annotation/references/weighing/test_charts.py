"""Charts that check a release's weights."""

import numpy as np

from annotation.core.charts import render
from annotation.references.weighing.charts import rater_influence, weight_against, weights_against


def chart_rows(specification, data):
    return specification["datasets"][data["name"]]


def cells_of(weights: np.ndarray, other: np.ndarray) -> list[tuple[float, float, int, str]]:
    specification = weight_against(weights, other, "Median")
    assert specification["width"] == "container"
    rows = chart_rows(specification, specification["layer"][1]["data"])
    return sorted((row["own"], row["other"], row["references"], row["group"]) for row in rows)


def test_references_are_counted_per_cell_of_both_weights_and_changed_signs_are_a_group():
    few = np.array([0.52, 0.52, -0.2, 0.0, np.nan, 0.3]), np.array([0.5, 0.5, 0.2, 0.4, 0.1, np.nan])
    assert cells_of(*few) == [(-0.2, 0.2, 1, "turns"), (0.0, 0.4, 1, "keeps"), (0.52, 0.5, 2, "keeps")]
    many = np.linspace(0.46, 0.54, 100)  # all nearest to half
    assert cells_of(many, many) == [(0.5, 0.5, 100, "keeps")]


def test_the_picture_has_one_panel_per_scheme():
    weights = np.array([0.5, -0.5])
    specification = weights_against(weights, [("Median", weights), ("Z-scores", -weights)])
    assert [panel["layer"][1]["encoding"]["y"]["title"] for panel in specification["concat"]] == ["Median", "Z-scores"]
    assert render(specification, "svg").startswith(b"<svg")


def test_raters_without_a_change_have_no_mark():
    specification = rater_influence([("ann", 10, 0.5, 2), ("bob", 3, float("nan"), 0)], theme="dark")
    assert [row["rater"] for row in chart_rows(specification, specification["data"])] == ["ann"]
    assert render(rater_influence([("ann", 10, 0.5, 0)]), "png")[:4] == b"\x89PNG"
