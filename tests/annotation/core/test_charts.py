import re

import numpy as np
import pytest

from annotation.core.charts import render, themed
from annotation.quality.charts import weight_distribution


def labels(spec) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", render(spec).decode())


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5])
def test_an_axis_of_counts_has_each_whole_number_once(most: int) -> None:
    drawn = labels(weight_distribution(np.array([0.5] * most)))

    assert [label for label in drawn if label.isdigit()][1:] == [
        str(n) for n in range(most + 1)
    ]  # the first 0 is a weight


def test_an_axis_of_counts_in_a_layer_has_whole_numbers_and_one_of_shares_has_its_own() -> None:
    axis = {"field": "n", "type": "quantitative", "axis": {"format": ",d"}}
    layer = {"mark": "point", "encoding": {"x": {**axis, "axis": {"format": "%"}}, "y": axis}}
    spec = themed({"data": {"values": [{"n": 2}]}, "layer": [layer]}, "light")

    drawn = spec["layer"][0]["encoding"]
    assert drawn["y"]["axis"] == {"format": ",d", "tickMinStep": 1, "tickCount": 2}
    assert drawn["x"]["axis"] == {"format": "%"}
    assert axis["axis"] == {"format": ",d"}


def test_a_file_names_systems_in_full_in_the_font_of_pages() -> None:
    name = "a-system-with-a-name − another-system-with-a-longer-name"
    encoding = {
        "y": {"field": "pair", "type": "nominal", "axis": {"labelLimit": 150}},
        "x": {"field": "n", "type": "quantitative"},
    }
    layer = {"mark": "point", "encoding": encoding}
    spec = themed({"width": "container", "data": {"values": [{"pair": name, "n": 1}]}, "layer": [layer]}, "light")
    assert name in labels(spec)
    assert b"SourceSans3Variable" in render(spec, "pdf")


def test_a_sign_that_the_font_of_files_lacks_turns_no_label_into_another_font() -> None:
    encoding = {"y": {"field": "row", "type": "nominal"}, "x": {"field": "n", "type": "quantitative"}}
    values = [{"row": "BLEU · w ≥ 0.6", "n": 1}, {"row": "BLEU · w ≤ 0.6", "n": 2}]
    spec = themed({"width": 300, "data": {"values": values}, "mark": "point", "encoding": encoding}, "light")
    drawn = render(spec, "pdf")
    assert b"SourceSans3Variable" in drawn
    assert b"Liberation" not in drawn
