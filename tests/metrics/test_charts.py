"""Figures of a score run: every layer has something to draw, since Vega warns of an empty one."""

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
