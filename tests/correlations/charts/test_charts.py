import json
import math

import altair as alt
import numpy as np
import pytest

from annotation.core.charts import palette, render
from correlations.charts.curves import CurveLine, curve_chart
from correlations.charts.forest import ForestRow, forest_plot
from correlations.charts.observations import observation_scatter
from correlations.charts.sweeps import sweep_chart

NAN = math.nan
RHO = "Spearman’s ρ"


def all_charts(**options):
    rng = np.random.default_rng(1)
    return {
        "forest": forest_plot(
            [
                ForestRow("BLEU", "all", RHO, 0.318, honest=(0.2, 0.42), paper=(0.239, 0.392)),
                ForestRow("BLEU", "all", "Kendall’s τ", 0.212, honest=(0.12, 0.3), paper=(0.129, 0.292)),
                ForestRow("ΔBLEU", "w ≥ 0.6", RHO, NAN, reason="2 units"),
            ],
            **options,
        ),
        "threshold": sweep_chart(
            [-1, 0, 1],
            {"BLEU": [0.3, 0.4, NAN], "ΔBLEU": [0.5, 0.4, 0.3]},
            kind="threshold",
            coefficient=RHO,
            **options,
        ),
        "unit size": sweep_chart([1, 10, 100], {"BLEU": [0.1, 0.2, 0.3]}, kind="unit_size", coefficient=RHO, **options),
        "curves": curve_chart(
            [1, 2, 5],
            [CurveLine(name, [0.2, 0.3, NAN], [0.1, 0.2, NAN], [0.3, 0.4, NAN]) for name in ("BLEU", "ΔBLEU")],
            axis="ratings of each output",
            title="With fewer ratings",
            coefficient=RHO,
            **options,
        ),
        "scatter": observation_scatter(
            rng.normal(size=9), rng.normal(size=9), metric_name="BLEU", pairs=["A, B"] * 9, **options
        ),
    }


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_chart_is_valid_vega_lite_plain_json_and_described(theme):
    for spec in all_charts(theme=theme).values():
        alt.LayerChart.from_dict(spec, validate=True)
        assert json.loads(json.dumps(spec, allow_nan=False)) == spec
        assert spec["width"] == "container"
        assert spec["description"].startswith(spec["title"]["text"])
        assert len(spec["description"]) > len(spec["title"]["text"]) + 20
        assert '"tooltip"' in json.dumps(spec)


def test_themes_differ_in_colours_only():
    light, dark = all_charts(theme="light"), all_charts(theme="dark")
    for name, spec in light.items():
        assert spec["config"]["title"]["color"] != dark[name]["config"]["title"]["color"]
        assert spec["description"] == dark[name]["description"]
        assert spec.get("datasets") == dark[name].get("datasets")


def test_a_fixed_width_is_kept():
    for spec in all_charts(width=480).values():
        assert spec["width"] == 480


@pytest.mark.parametrize(("kind", "start"), [("svg", b"<svg"), ("png", b"\x89PNG\r\n\x1a\n"), ("pdf", b"%PDF-")])
def test_every_chart_renders_to_a_real_file(kind, start):
    for spec in all_charts().values():
        before = json.dumps(spec)
        assert render(spec, kind)[: len(start)] == start
        assert json.dumps(spec) == before


def test_rendered_charts_hold_their_texts_and_the_themes_background():
    svg = render(all_charts(theme="dark")["forest"], "svg").decode()
    for words in ("BLEU · all", "Spearman’s ρ", "undefined: 2 units", palette("dark").surface):
        assert words in svg
    with pytest.raises(ValueError, match="format is 'gif': accepted are svg, png, pdf"):
        render(all_charts()["scatter"], "gif")


def drawn_values(spec, field):
    return [row[field] for rows in spec["datasets"].values() for row in rows if field in row]


def test_labels_at_line_ends_do_not_overlap():
    series = {"BLEU": [0.1, 0.30], "sBLEU": [0.1, 0.301], "ΔBLEU": [0.2, 0.302], "chrF": [0.2, 0.8]}
    spec = sweep_chart([1, 2], series, kind="order", coefficient=RHO)
    ends = next(rows for rows in spec["datasets"].values() if len(rows) == 4)
    heights = sorted(row["value"] for row in ends)
    low, high = next(layer["encoding"]["y"]["scale"]["domain"] for layer in spec["layer"] if "y" in layer["encoding"])
    assert min(np.diff(heights)) >= 16 / spec["height"] * (high - low)  # a line of text is 16 pixels
    assert [row["metric"] for row in sorted(ends, key=lambda row: row["value"])] == list(series)


def test_series_differ_in_mark_and_dash_not_only_in_colour():
    spec = sweep_chart([1, 2], {"BLEU": [0.1, 0.2], "ΔBLEU": [0.2, 0.3]}, kind="order", coefficient=RHO)
    encodings = [layer["encoding"] for layer in spec["layer"]]
    for channel in ("color", "shape", "strokeDash"):
        scale = next(encoding[channel]["scale"] for encoding in encodings if channel in encoding)
        assert scale["domain"] == ["BLEU", "ΔBLEU"]
        assert scale["range"][0] != scale["range"][1]


def test_undefined_observations_are_not_drawn():
    scatter = observation_scatter([0.1, NAN, 0.2], [1, 2, -3], metric_name="BLEU")
    assert drawn_values(scatter, "human") == [0.1, 0.2]
    assert "1 undefined units left out" in scatter["description"]


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: forest_plot([]), "rows is empty"),
        (
            lambda: forest_plot([ForestRow("B", "all", "kendall", 0.1)] * 2),
            r"rows\[1\] gives B · all, kendall, a second",
        ),
        (lambda: forest_plot([ForestRow("B", "all", "kendall", 1.5)]), r"rows\[0\] holds 1.5"),
        (lambda: sweep_chart([1, 2], {"B": [0.1, 0.2]}, kind="temperature", coefficient=RHO), "kind is 'temperature'"),
        (lambda: sweep_chart([2, 1], {"B": [0.1, 0.2]}, kind="order", coefficient=RHO), "strictly increasing"),
        (
            lambda: sweep_chart([1, 2], {"B": [0.1]}, kind="order", coefficient=RHO),
            "series 'B' has 1 values: 2 are expected",
        ),
        (lambda: sweep_chart([0, 2], {"B": [0.1, 0.2]}, kind="unit_size", coefficient=RHO), "unit sizes start at 1"),
        (lambda: sweep_chart([1, 2], {"B": [0.1, 7]}, kind="order", coefficient=RHO), "series 'B' holds 7"),
        (lambda: observation_scatter([NAN], [1.0], metric_name="B"), "nothing to draw"),
        (
            lambda: sweep_chart([1, 2], {"B": [0.1, 0.2]}, kind="order", coefficient=RHO, theme="sepia"),
            "theme is 'sepia'",
        ),
        (
            lambda: sweep_chart([1, 2], {"B": [0.1, 0.2]}, kind="order", coefficient=RHO, width="wide"),
            "width is 'wide'",
        ),
    ],
)
def test_bad_input_is_named(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


def test_curves_have_a_band_for_the_first_two_and_gaps_where_nothing_is_defined():
    lines = [CurveLine(name, [0.2, np.nan, 0.4], [0.1, np.nan, 0.4], [0.3, np.nan, 0.4]) for name in ("a", "b", "c")]
    spec = curve_chart([1, 2, 5], lines, axis="ratings", title="With fewer ratings", coefficient="Spearman’s ρ")
    band, line = (next(each for each in spec["layer"] if each["mark"]["type"] == kind) for kind in ("area", "line"))
    values = spec["datasets"]
    assert [row["metric"] for row in values[band["data"]["name"]]] == ["a"] * 3 + ["b"] * 3
    assert [row["value"] for row in values[line["data"]["name"]]][:3] == [0.2, None, 0.4]
    assert "c: 0.200 at 1, 0.400 at 5." in spec["description"]
    with pytest.raises(ValueError, match="strictly increasing"):
        curve_chart([2, 1], lines, axis="ratings", title="", coefficient="")
