import pytest

from metrics.models import ScoreRun, SystemScore
from metrics.selectors.zeros import zero_reason

MEANS = {"aggregate": {"kind": "mean"}}


@pytest.mark.parametrize(
    ("metric", "score", "numerators", "reason"),
    [
        ("bleu", 0.0, [3.0, 0.0], "no 2-gram matches"),
        ("delta_bleu", 0.0, [3.0, 0.0], "no 2-gram match has a weight"),
        ("delta_bleu", 0.0, [3.0, -0.5], "matched 2-grams weigh less than 0 in all, which counts as 0"),
        ("delta_bleu", 0.1, [3.0, -0.5], ""),  # smoothed
        ("no-such-metric", 0.0, [3.0, 0.0], ""),
    ],
)
def test_a_zero_is_explained_by_the_order_that_was_clamped(metric, score, numerators, reason) -> None:
    run = ScoreRun(metric=metric, report={})
    row = SystemScore(run=run, score=score, clamped_orders=[2], details={"numerators": numerators})

    assert zero_reason(row, run) == reason


@pytest.mark.parametrize(("metric", "reason"), [("rouge_l", "every item scores 0"), ("length", "every item scores 0")])
def test_a_mean_of_0_is_one_of_zeros_if_no_segment_can_score_less(metric: str, reason: str) -> None:
    run = ScoreRun(metric=metric, report=MEANS)

    assert zero_reason(SystemScore(run=run, score=0.0), run) == reason
    assert zero_reason(SystemScore(run=run, score=None), run) == ""
