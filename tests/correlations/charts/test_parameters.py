"""Charts along a parameter."""

import json

import pytest
import vl_convert

from annotation.core.charts import render
from correlations.charts.parameters import ParameterAxis, parameter_chart

NUMBERS = ParameterAxis("λ", [0, 0.5, 1], ["0", "0.5", "1"], chosen=1, best=2)
WORDS = ParameterAxis("Tokeniser", ["13a", "zh"], ["13a", "zh"], chosen=0, best=0)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("axis", [NUMBERS, WORDS])
def test_a_curve_is_drawn_with_its_band_and_its_marks(axis: ParameterAxis, theme: str) -> None:
    n = len(axis.values)
    spec = parameter_chart(
        axis,
        {"r": [0.1] * n, "ρ": [float("nan")] * n},
        intervals={"r": ([0.0] * n, [0.2] * n)},
        title="Systems",
        theme=theme,
    )
    drawn = json.dumps(spec, ensure_ascii=False)
    assert ("in use: 0.5" in drawn) == (axis is NUMBERS)
    assert ("in use, and best: 13a" in drawn) == (axis is WORDS)
    assert render(spec, "svg").startswith(b"<svg")


@pytest.mark.parametrize("axis", [NUMBERS, WORDS])
def test_rendering_gives_no_warnings(axis: ParameterAxis, capfd: pytest.CaptureFixture[str]) -> None:
    n = len(axis.values)
    values, band = {"r": [0.1] * n, "ρ": [0.2] * n}, {"r": ([0.0] * n, [0.2] * n)}
    vl_convert.vegalite_to_svg(parameter_chart(axis, values, intervals=band, title="Systems"), show_warnings=True)
    assert "WARN" not in capfd.readouterr().err


def test_dimensions_of_very_different_sizes_are_on_a_logarithmic_axis() -> None:
    def scale(values: list[int]) -> str:
        axis = ParameterAxis("k", values, list(map(str, values)))
        spec = parameter_chart(axis, {"r": [0.1] * len(values)}, title="Systems")
        return next(layer["encoding"]["x"]["scale"]["type"] for layer in spec["layer"] if "x" in layer["encoding"])

    assert [scale([1, 10, 300]), scale([1, 2, 3])] == ["log", "linear"]


@pytest.mark.parametrize(
    ("values", "series", "message"),
    [
        ([1], {"r": [0.1]}, "at least two"),
        ([2, 1], {"r": [0.1, 0.2]}, "strictly increasing"),
        ([1, 2], {"r": [0.1]}, "1 values: 2 are expected"),
        ([1, 2], {"r": [0.1, 1.2]}, "correlations lie in"),
        ([1, 2], {}, "series holds 0"),
    ],
)
def test_invalid_data_is_named(values: list[int], series: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parameter_chart(ParameterAxis("k", values, list(map(str, values))), series, title="Systems")
