from itertools import combinations

import pytest

from annotation.core.charts import THEMES, palette
from correlations.charts.sweeps import sweep_chart
from metrics.charts import system_scores
from metrics.scoring.colours import colour_of, metric_colour
from metrics.scoring.registry import BUILT_IN

LABELS = [metric.label for metric in BUILT_IN]


def channels(colour: str) -> list[int]:
    return [int(colour[start : start + 2], 16) for start in (1, 3, 5)]


def luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2.2."""
    shares = [value / 255 for value in channels(colour)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted(map(luminance, (one, other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("theme", THEMES)
def test_every_metric_has_a_colour_of_its_own_that_can_be_read(theme: str) -> None:
    colours = [metric_colour(label, theme) for label in LABELS]

    assert min(contrast(colour, palette(theme).surface) for colour in colours) >= 4.5  # WCAG's least for text
    nearest = min(
        sum((a - b) ** 2 for a, b in zip(channels(one), channels(other), strict=True)) ** 0.5
        for one, other in combinations(colours, 2)
    )
    assert nearest > 20


def test_a_metric_keeps_its_colour_in_any_chart_and_variant() -> None:
    blue = metric_colour("BLEU", "light")
    alone = sweep_chart([1, 2], {"BLEU": [0.2, 0.3]}, kind="order", coefficient="ρ")
    among = sweep_chart([1, 2], {"ΔBLEU (galley2015)": [0.1, 0.2], "BLEU": [0.2, 0.3]}, kind="order", coefficient="ρ")
    scores = system_scores([{"system": "A", "score": 1, "low": None, "high": None}], title="BLEU", colour=blue)

    assert blue == colour_of("bleu", "light")
    for chart in (alone, among, scores):
        assert blue in str(chart)
    assert metric_colour("ΔBLEU", "light") in str(among)


def test_an_unknown_theme_is_refused() -> None:
    with pytest.raises(ValueError, match="theme: found 'sepia'"):
        metric_colour("BLEU", "sepia")
