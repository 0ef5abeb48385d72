"""Figures of a score run: every layer has something to draw, since Vega warns of an empty one."""

from itertools import pairwise

import numpy as np
import pytest
import vl_convert

from metrics.charts import segment_distribution, system_scores

WITH = {"system": "Echo", "score": 0.25, "low": 0.2, "high": 0.3}
WITHOUT = {"system": "Quill", "score": 0.5, "low": None, "high": None}


@pytest.mark.parametrize(("rows", "layers"), [([WITH, WITHOUT], 2), ([WITHOUT], 1)])
def test_intervals_are_drawn_and_spoken_of_only_where_there_are_any(rows: list[dict], layers: int) -> None:
    spec = system_scores(rows, title="distinct-2", colour="#123456")
    assert len(spec["layer"]) == layers
    assert ("ranges of resamples" in spec["description"]) == (layers == 2)
    assert len(spec["encoding"]["tooltip"]) == 2 * layers


def test_vega_lite_has_nothing_to_warn_of(capfd: pytest.CaptureFixture[str]) -> None:
    shares = [{"system": "Echo", "low": 0.0, "high": 0.5, "share": 1.0}]
    for spec in (
        system_scores([WITH], title="BLEU", colour="#1666aa"),
        system_scores([WITHOUT], title="x", colour="#123456"),
        segment_distribution(shares, colour="#1666aa"),
    ):
        vl_convert.vegalite_to_svg(spec | {"width": 300}, show_warnings=True)
    assert "WARN" not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("edges", "ticks", "written"),
    [
        (np.linspace(0, 0.25, 6), [0, 0.05, 0.1, 0.15, 0.2, 0.25], ",.2f"),
        (np.linspace(0, 1, 21), [0, 0.2, 0.4, 0.6, 0.8, 1], ",.1f"),
        (np.arange(0.5, 6), [1, 2, 3, 4, 5], ",.0f"),  # whole numbers, each in the middle of its bin
    ],
)
def test_no_tick_is_written_as_another_number(edges: np.ndarray, ticks: list[float], written: str) -> None:
    bounds = pairwise(np.round(edges, 4).tolist())
    shares = [{"system": "Echo", "low": low, "high": high, "share": 0.2} for low, high in bounds]

    spec = segment_distribution(shares, colour="#1666aa")

    axis = spec.get("layer", [spec])[0]["encoding"]["x"]["axis"]  # few bins have a second layer, of labels
    assert axis["values"] == pytest.approx(ticks)
    assert axis["format"] == written
