"""A screen answered as a whole."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.simulation import Scale, ShownText, SimulatedRater, answer_screen

LIKERT = Scale("quality", "likert", 1, 5)
BETTER = Scale("better", "preference", -3, 3)


def exact(**traits: object) -> SimulatedRater:
    return SimulatedRater(seed=4, **{"noise": 0.0, "lapse": 0.0, **traits})


def test_every_text_gets_a_value_on_every_scale():
    said = answer_screen(exact(), [ShownText(0.2), ShownText(0.9)], [LIKERT, Scale("length", "slider", 0, 100)])
    assert said == {(0, "quality"): 2, (1, "quality"): 5, (0, "length"): 20, (1, "length"): 90}


def test_a_preference_is_asked_once_and_is_the_opposite_the_other_way_round():
    first = answer_screen(exact(), [ShownText(0.9), ShownText(0.3)], [BETTER])
    second = answer_screen(exact(), [ShownText(0.3), ShownText(0.9)], [BETTER])
    assert first == {(0, "better"): 2}
    assert second == {(0, "better"): -2}


@given(low=st.integers(1, 5), width=st.integers(0, 4))
def test_a_careful_rater_meets_every_known_answer(low, width):
    high = min(low + width, 5)
    said = answer_screen(exact(), [ShownText(expected={"quality": (low, high)})], [LIKERT])
    assert low <= said[0, "quality"] <= high


@given(known=st.integers(0, 1), value=st.sampled_from([-3, -2, -1, 1, 2, 3]), commands=st.booleans())
def test_a_known_preference_holds_for_the_text_it_is_written_on(known, value, commands):
    texts = [ShownText(), ShownText()]
    texts[known] = ShownText(expected={"better": (value, value)}, commands=commands)
    said = answer_screen(exact(), texts, [BETTER])
    assert said[0, "better"] == (value if known == 0 else -value)


def test_a_noisy_rater_obeys_a_command_and_misses_some_golds():
    noisy = exact(noise=0.5)
    commanded = [ShownText(expected={"quality": (1, 1)}, commands=True)]
    gold = [ShownText(expected={"quality": (1, 1)})]
    assert {answer_screen(noisy, commanded, [LIKERT])[0, "quality"] for _ in range(200)} == {1}
    assert len({answer_screen(noisy, gold, [LIKERT])[0, "quality"] for _ in range(200)}) > 2


def test_a_spammer_obeys_nothing():
    spammer = SimulatedRater(seed=9, spam="random")
    text = ShownText(expected={"quality": (1, 1)}, commands=True)
    said = [answer_screen(spammer, [text], [LIKERT])[0, "quality"] for _ in range(500)]
    assert said.count(1) / 500 == pytest.approx(0.2, abs=0.08)


def test_a_magnitude_is_linear_in_its_logarithm_and_no_larger_than_a_form_takes():
    scale = Scale.magnitude("informativeness", 100)
    said = answer_screen(exact(), [ShownText(0.5), ShownText(expected={"informativeness": (10, 1000)})], [scale])
    assert said[0, "informativeness"] == pytest.approx(100)
    assert said[1, "informativeness"] == pytest.approx(math.sqrt(10 * 1000))
    assert Scale.magnitude("x", 500_000).high == 1e6


def test_it_refuses_what_cannot_be_asked():
    with pytest.raises(ValueError, match="at least one"):
        answer_screen(exact(), [], [LIKERT])
    with pytest.raises(ValueError, match="1 texts; accepted: two"):
        answer_screen(exact(), [ShownText()], [BETTER])
