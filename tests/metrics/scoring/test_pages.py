from pathlib import Path

import pytest

from metrics.scoring.registry import METRICS

DOCS = Path(__file__).resolve().parents[3] / "docs" / "metrics"
PAGES = {
    "bleu-family": ("bleu", "sbleu", "delta_bleu", "ibleu"),
    "chrf-ter": ("chrf", "ter"),
    "text": ("length", "distinct", "entropy", "self_bleu"),
}


@pytest.mark.parametrize(("page", "name"), [(page, name) for page, names in PAGES.items() for name in names])
def test_a_metrics_page_names_each_of_its_parameters(page: str, name: str) -> None:
    told = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    missing = [one.name for one in METRICS[name].parameter_list() if f"`{one.name}`" not in told]
    assert missing == []
