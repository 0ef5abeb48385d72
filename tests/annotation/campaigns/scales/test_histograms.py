"""Each value stands at its true place: the highest rating is never drawn below the end of the scale."""

from types import SimpleNamespace

import numpy as np
import pytest

from annotation.campaigns.scales.likert import Likert
from annotation.campaigns.scales.magnitude import Magnitude
from annotation.campaigns.scales.slider import Slider


def settings(low: int, high: int) -> SimpleNamespace:
    return SimpleNamespace(scale_min=low, scale_max=high, step=0.0, standard_value=100.0)


@pytest.mark.parametrize("kind", [Slider, Likert])
@pytest.mark.parametrize("values", [[1, 4, 6, 6], [1, 3.5, 5.5, 6], [1, 4 / 3, 5.67, 6], [1.25, 6, 6, 5.75]], ids=str)
def test_medians_and_means_of_ratings_have_bars_of_their_own(kind: type, values: list[float]) -> None:
    bars = dict(kind(settings(1, 6)).histogram(np.array(values)))

    expected, counts = np.unique(np.round(values, 2), return_counts=True)
    assert {value: n for value, n in bars.items() if n} == dict(zip(expected.tolist(), counts.tolist(), strict=True))
    assert (min(bars), max(bars)) == (1, 6)


def test_any_numbers_lie_nearest_to_their_bar_and_the_ends_at_their_own() -> None:
    bars = dict(Slider(settings(0, 100)).histogram(np.array([0.0, 12.4, 12.6, 99.0, 100.0])))

    assert {value: n for value, n in bars.items() if n} == {0: 1, 10: 1, 15: 1, 100: 2}
    assert len(bars) == 21


def test_systems_share_their_bars() -> None:
    for scale, everything in ((Slider(settings(1, 6)), [1, 2.5, 6]), (Magnitude(settings(1, 1)), [1.0, 40, 900])):
        among = np.array(everything)
        ones = [[value for value, _ in scale.histogram(among[[place]], among)] for place in range(3)]
        assert ones[0] == ones[1] == ones[2]
        assert (ones[0][0], ones[0][-1]) == (everything[0], everything[-1])
