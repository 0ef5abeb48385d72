"""On which scale imported scores may lie."""

import numpy as np
import pytest

from metrics.selectors.score_scales import (
    RatersScale,
    ScoresSummary,
    bounds_text,
    points_of,
    proposed_scale,
    raters_scales,
    stated_scale,
)
from tests.metrics.world import World

POINTS = RatersScale(1, 5, ("quality",))
NARROW, WIDE = RatersScale(1, 3), RatersScale(0, 100)


def summary(*values: float) -> ScoresSummary:
    return ScoresSummary(np.array([[*values, np.nan]]))


@pytest.mark.parametrize(
    ("name", "values", "raters", "proposed"),
    [
        ("x", (1, 3, 5), [POINTS], POINTS),
        ("x", (2.5, 4, 4.5), [POINTS], POINTS),
        ("x", (1, 2, 3), [NARROW, POINTS], NARROW),
        ("x", (2, 4, 5), [NARROW, POINTS], POINTS),
        ("x", (1, 3, 5), [], None),
        ("x", (1, 5, 6), [POINTS], None),  # on another scale
        ("x", (1.2, 3, 5), [POINTS], None),  # no points
        ("x", (3, 3), [POINTS], None),
        ("x", (4, 5), [POINTS], None),  # too little of the scale to know it by the values alone
        ("gpt4_judge", (4, 5), [POINTS], POINTS),  # generous, as judges are
        ("gpt4_judge", (1, 5), [WIDE], None),
        ("x", (0, 1), [WIDE], None),
        ("BLEU", (1, 2, 5), [POINTS], None),
    ],
)
def test_the_raters_scale_is_proposed_for_points_of_it(name, values, raters, proposed) -> None:
    assert proposed_scale(name, summary(*values), raters) == proposed
    assert proposed_scale(name, summary(*values), raters, lower_is_better=True) is None


def test_scores_are_described_by_their_extremes_and_steps() -> None:
    described = [summary(*values).words for values in ((1, 5), (1, 2.5), (-0.25, 0.98765), (3,), ())]
    assert described == ["1 to 5, whole numbers", "1 to 2.5, halves", "−0.25 to 0.9877", "3, whole numbers", "no score"]


def test_ends_keep_all_their_digits() -> None:
    texts = [bounds_text(*ends) for ends in ((1.0, 5), (-0.5, None), (None, 1234567.0), (0.1234567, 1e22))]
    assert texts == ["1..5", "-0.5..", "..1234567", "0.1234567..1e+22"]
    assert stated_scale(texts[-1], summary(1), []) == (0.1234567, 1e22)


def test_points_are_those_of_a_judge_by_name_and_none_of_a_metric_or_an_error_rate() -> None:
    points = summary(1, 3, 5)
    assert [points_of(name, points) for name in ("gpt4_judge", "x", "BLEU")] == ["judge", "unnamed", ""]
    assert points_of("gpt4_judge", points, lower_is_better=True) == ""
    assert points_of("gpt4_judge", summary(0.31, 0.7)) == ""


@pytest.mark.parametrize(
    ("text", "ends"),
    [("raters", (1, 3)), ("none", (None, None)), ("0..10", (0, 10)), ("-1.5..", (-1.5, None)), ("..1e2", (None, 100))],
)
def test_a_scale_is_stated_in_a_few_characters(text: str, ends: tuple[float | None, float | None]) -> None:
    assert stated_scale(text, summary(1, 3), [NARROW, POINTS]) == ends
    assert stated_scale("raters", summary(1, 4), [NARROW, POINTS]) == (1, 5)


@pytest.mark.parametrize(("text", "raters"), [("", [POINTS]), ("..", [POINTS]), ("1-5", [POINTS]), ("raters", [])])
def test_another_text_is_refused(text: str, raters: list[RatersScale]) -> None:
    with pytest.raises(ValueError, match="accepted: "):
        stated_scale(text, summary(1, 3), raters)


@pytest.mark.django_db
def test_scales_with_ratings_come_first_and_those_without_ends_not_at_all(world: World) -> None:
    first, second = world.output_campaign.criteria.all()
    newest = type(world.output_campaign).objects.create(
        project=world.project, dataset=world.dataset, name="Planned", instructions="."
    )
    newest.criteria.create(name="fluency", question="?", kind="likert", scale_min=1, scale_max=3)
    newest.criteria.create(name="worth", question="?", kind="magnitude", scale_min=1, scale_max=100, position=1)

    assert raters_scales(world.dataset) == [
        RatersScale(1, 5, (first.name, second.name)),
        RatersScale(1, 3, ("fluency",)),
    ]
