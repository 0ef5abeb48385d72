"""Screens that a simulated rater answers, on every kind of scale."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.dry_runs.simulation.raters import SimulatedRater
from annotation.dry_runs.simulation.screens import ShownText
from annotation.models import Criterion

LIKERT = Criterion(name="quality", kind="likert", scale_min=1, scale_max=5).scale
LENGTH = Criterion(name="length", kind="slider", scale_min=0, scale_max=100).scale
BETTER = Criterion(name="better", kind="preference", scale_min=-3, scale_max=3).scale


def exact(**traits: object) -> SimulatedRater:
    return SimulatedRater(seed=4, **{"noise": 0.0, "lapse": 0.0, **traits})


def test_every_text_gets_a_value_on_every_scale():
    texts = [ShownText(0.2), ShownText(0.9)]
    assert LIKERT.simulate(exact(), texts) == {0: 2, 1: 5}
    assert LENGTH.simulate(exact(), texts) == {0: 20, 1: 90}


def test_a_preference_is_one_answer_and_changes_sign_with_the_order():
    first = BETTER.simulate(exact(), [ShownText(0.9), ShownText(0.3)])
    second = BETTER.simulate(exact(), [ShownText(0.3), ShownText(0.9)])
    assert first == {0: 2}
    assert second == {0: -2}


@given(low=st.integers(1, 5), width=st.integers(0, 4))
def test_a_careful_rater_meets_every_known_answer(low, width):
    high = min(low + width, 5)
    answers = LIKERT.simulate(exact(), [ShownText(expected={"quality": (low, high)})])
    assert low <= answers[0] <= high


@given(known=st.integers(0, 1), value=st.sampled_from([-3, -2, -1, 1, 2, 3]), commands=st.booleans())
def test_a_known_preference_belongs_to_its_text(known, value, commands):
    texts = [ShownText(), ShownText()]
    texts[known] = ShownText(expected={"better": (value, value)}, commands=commands)
    answers = BETTER.simulate(exact(), texts)
    assert answers[0] == (value if known == 0 else -value)


def test_a_noisy_rater_obeys_a_command_and_misses_some_golds():
    noisy = exact(noise=0.5)
    commanded = [ShownText(expected={"quality": (1, 1)}, commands=True)]
    gold = [ShownText(expected={"quality": (1, 1)})]
    assert {LIKERT.simulate(noisy, commanded)[0] for _ in range(200)} == {1}
    assert len({LIKERT.simulate(noisy, gold)[0] for _ in range(200)}) > 2


def test_a_spammer_obeys_nothing():
    spammer = SimulatedRater(seed=9, spam="random")
    text = ShownText(expected={"quality": (1, 1)}, commands=True)
    answers = [LIKERT.simulate(spammer, [text])[0] for _ in range(500)]
    assert answers.count(1) / 500 == pytest.approx(0.2, abs=0.08)


def test_a_magnitude_is_linear_in_its_logarithm_and_within_the_forms_limit():
    scale = Criterion(name="informativeness", kind="magnitude", standard_value=100).scale
    answers = scale.simulate(exact(), [ShownText(0.5), ShownText(expected={"informativeness": (10, 1000)})])
    assert answers[0] == pytest.approx(100)
    assert answers[1] == pytest.approx(math.sqrt(10 * 1000))
    assert Criterion(kind="magnitude", standard_value=500_000).scale.ladder.high == 1e6


def test_a_preference_needs_two_texts():
    with pytest.raises(ValueError, match="1 texts; accepted: two"):
        BETTER.simulate(exact(), [ShownText()])
