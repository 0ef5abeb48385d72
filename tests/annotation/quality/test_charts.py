from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
import pytest

from annotation.core.charts import render
from annotation.quality import charts


def rows_of(specification):
    (rows,) = specification["datasets"].values()
    return rows


def test_few_weights_are_drawn_where_they_are_and_many_in_tenths_symmetrically_around_zero():
    weights = np.array([-1, -0.35, -0.25, -0.04, 0, 0.04, 0.25, 0.35, 1])
    rows = rows_of(charts.weight_distribution(weights))
    assert {row["weight"]: row["references"] for row in rows} == dict.fromkeys(weights.tolist(), 1)
    assert all(row["from"] < row["weight"] < row["to"] for row in rows)
    assert all(before["to"] <= after["from"] for before, after in pairwise(rows))
    assert {row["sign"] for row in rows if row["weight"] < 0} == {"negative"}

    many = [*weights, *np.linspace(-0.049, 0.049, 61)]
    binned = {row["weight"]: row["references"] for row in rows_of(charts.weight_distribution(np.array(many)))}
    assert binned == {-1: 1, -0.4: 1, -0.3: 1, 0: 64, 0.3: 1, 0.4: 1, 1: 1}


def test_values_are_shares_of_each_criterion():
    specification = charts.value_distribution({"relevance": [(1, 3), (2, 1)], "charm": [(1, 0), (2, 0)]})
    assert [row["share"] for row in rows_of(specification)] == [0.75, 0.25, 0, 0]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("kind", "beginning"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_charts_render_as_image_files(theme, kind, beginning):
    specification = charts.ratings_per_hour([(datetime(2026, 3, 1, 12, tzinfo=UTC), 7)], theme=theme)
    assert render(specification, kind).startswith(beginning)


def test_a_few_hours_are_bars_of_their_own_with_their_hours_below():
    start = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert charts.ratings_per_hour([(start, 7)])["encoding"]["x"]["type"] == "ordinal"
    many = [(start + timedelta(hours=hour), 7) for hour in range(9)]
    assert charts.ratings_per_hour(many)["encoding"]["x"]["type"] == "temporal"


def test_names_of_raters_do_not_cover_each_other():
    """Three marks nearly at one place have their names on different sides; those of a crowd are left to tooltips."""
    near = [{"rater": name, "seconds": 3 + n / 50, "agreement": 0.2, "ratings": 9} for n, name in enumerate("abc")]
    far = {"rater": "far", "seconds": 6.0, "agreement": 0.9, "ratings": 9}
    sides = charts.names_by_side([*near, far])
    assert sorted(rater["rater"] for _, named in sides for rater in named) == ["a", "b", "c", "far"]
    assert len(sides) == 3
    crowd = [{**far, "rater": str(n)} for n in range(9)]
    assert sum(len(named) for _, named in charts.names_by_side(crowd)) < 9
