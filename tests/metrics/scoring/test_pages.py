"""The documentation of the metrics says what the metrics say of themselves."""

import re
from pathlib import Path

import pytest

from metrics.scoring.registry import METRICS
from metrics.selectors.ranges import range_words

DOCS = Path(__file__).resolve().parents[3] / "docs"
INDEX = (DOCS / "metrics.md").read_text(encoding="utf-8")
ROW = re.compile(
    r"^\| \[(?P<label>[^]]+)\]\((?P<page>[^)#]+)[^)]*\) \| `(?P<name>\w+)` "
    r"\| [^|]+ \| (?P<range>[^|]+) \| (?P<better>[^|]+) \|",
    re.MULTILINE,
)
ENTRIES = {row["name"]: row for row in ROW.finditer(INDEX)}


def test_every_metric_has_an_entry_and_every_entry_a_metric() -> None:
    assert set(ENTRIES) == set(METRICS)


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_an_entry_has_the_metrics_own_label_range_and_direction(name: str) -> None:
    entry, metric = ENTRIES[name], METRICS[name]
    if metric.group == "external":
        pytest.skip("what is scored elsewhere has the range that its makers say")
    assert entry["label"] == metric.label
    assert entry["range"] == range_words(metric.low, metric.high)
    assert entry["better"].startswith(("higher" if metric.higher_is_better else "lower", "neither"))


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_a_metrics_page_names_each_of_its_parameters(name: str) -> None:
    text = (DOCS / ENTRIES[name]["page"]).read_text(encoding="utf-8")
    missing = [parameter.name for parameter in METRICS[name].parameter_list() if f"`{parameter.name}`" not in text]
    assert missing == []
