from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from annotation.core.charts import THEMES, palette
from correlations.charts.sweeps import sweep_chart
from metrics.charts import LABELLED, mixed, system_scores
from metrics.scoring.colours import OF_METRICS, OF_OTHERS, colour_of, metric_colour
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


def cielab(colour: str) -> npt.NDArray[np.float64]:
    """Return CIE L*a*b* under D65 (IEC 61966-2-1, CIE 15)."""
    shares = np.array(channels(colour)) / 255
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    to_xyz = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    of_white = np.array(to_xyz) @ linear / [0.95047, 1, 1.08883]
    x, y, z = np.where(of_white > (6 / 29) ** 3, np.cbrt(of_white), of_white / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def ciede2000(one: npt.ArrayLike, other: npt.ArrayLike) -> float:
    """Return the difference of two colours in L*a*b* (Sharma, Wu and Dalal, Color Research & Application 2005)."""
    (l1, a1, b1), (l2, a2, b2) = np.asarray(one, float), np.asarray(other, float)
    mean = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    stretch = 1.5 - 0.5 * np.sqrt(mean**7 / (mean**7 + 25.0**7))
    c1, c2 = np.hypot(stretch * a1, b1), np.hypot(stretch * a2, b2)
    h1, h2 = (np.degrees(np.arctan2(b, stretch * a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    hue = (h1 + turn / 2) % 360 if c1 * c2 else h1 + h2
    light, chroma, by_hue = l2 - l1, c2 - c1, 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2))
    middle, mean = (l1 + l2) / 2 - 50, (c1 + c2) / 2
    waves = ((-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.2, 4, -63))
    t = 1 + sum(height * np.cos(np.radians(times * hue + shift)) for height, times, shift in waves)
    light /= 1 + 0.015 * middle**2 / np.sqrt(20 + middle**2)
    chroma /= 1 + 0.045 * mean
    by_hue /= 1 + 0.015 * mean * t
    turned = -2 * np.sqrt(mean**7 / (mean**7 + 25.0**7)) * np.sin(np.radians(60 * np.exp(-(((hue - 275) / 25) ** 2))))
    return float(np.sqrt(light**2 + chroma**2 + by_hue**2 + turned * chroma * by_hue))


@pytest.mark.parametrize(
    ("one", "other", "difference"),  # of table 1 of the paper
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 0, 0), (50, -1, 2), 2.3669),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((6.7747, -0.2908, -2.4247), (5.8714, -0.0985, -2.2286), 0.6377),
    ],
)
def test_the_difference_of_colours_is_the_published_one(one, other, difference) -> None:
    assert ciede2000(one, other) == pytest.approx(difference, abs=5e-5)


@pytest.mark.parametrize("theme", THEMES)
def test_every_metric_has_a_colour_of_its_own_that_can_be_read_and_told_from_any_other(theme: str) -> None:
    assert set(LABELS) == set(OF_METRICS)
    colours = [metric_colour(label, theme) for label in LABELS]
    colours += [others[THEMES.index(theme)] for others in OF_OTHERS]

    assert min(contrast(colour, palette(theme).surface) for colour in colours) >= 4.5  # WCAG's least for text
    behind = [mixed(colour, palette(theme).surface, LABELLED) for colour in colours]
    assert min(contrast(colour, palette(theme).ink) for colour in behind) >= 4.5  # of labels in a run's chart
    places = [cielab(colour) for colour in colours]
    assert min(ciede2000(*pair) for pair in combinations(places, 2)) > 14
    usual = ("COMET", "COMET-22", "BLEURT", "BLEURT-20", "BERTScore", "gpt4_judge", "Simulated judge")
    assert len({metric_colour(name, theme) for name in usual} & set(colours[len(LABELS) :])) == len(usual)


def test_a_metric_has_the_same_hue_on_a_light_and_on_a_dark_surface_and_is_grey_on_none() -> None:
    for light, dark in [*OF_METRICS.values(), *OF_OTHERS]:
        (_, a, b), (_, a2, b2) = cielab(light), cielab(dark)
        turned = (np.degrees(np.arctan2(b, a) - np.arctan2(b2, a2)) + 180) % 360 - 180
        assert abs(turned) < 10, (light, dark)
        assert np.hypot(a2, b2) > min(0.55 * np.hypot(a, b), 40), (light, dark)


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
