"""Intervals and tests of a campaign: drift, and position on the screen."""

from __future__ import annotations

from functools import partial

import numpy as np

from annotation.weighting.position import list_position_bias, pair_position_bias, preference_position_bias
from annotation.weighting.sequence import drift, stretches
from benchmarks.coverage.case import CAUTIOUS, Case, Hits, Setting, held, rejected
from benchmarks.coverage.worlds import HIGH, LOW

SLOPE, SLOPES = -0.01, 0.01  # mean and spread of raters' changes per item
LONGEST = 60  # items of a rater


def work(rng: np.random.Generator, n_raters: int, mean: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ratings, raters and positions: raters who stay for 15 to 60 items and drift differently."""
    length = rng.integers(15, LONGEST + 1, n_raters)
    rater = np.repeat(np.arange(n_raters), length)
    position = np.concatenate([np.arange(count) for count in length]).astype(np.float64)
    slope = rng.normal(mean, SLOPES, n_raters)
    level = rng.normal(3, 0.5, n_raters)
    return level[rater] + slope[rater] * position + rng.normal(0, 0.8, len(rater)), rater, position


def drift_interval(rng: np.random.Generator, *, n_raters: int) -> Hits:
    result = drift(*work(rng, n_raters, SLOPE))
    return held([result.low], SLOPE, [result.high])


def drift_null(rng: np.random.Generator, *, n_raters: int) -> Hits:
    return rejected([drift(*work(rng, n_raters, 0.0)).pvalue])


def stretch_interval(rng: np.random.Generator, *, n_raters: int) -> Hits:
    """Hold the mean deviation of stretches of equal length: ratings that drift by the same slope, all raters alike."""
    position = np.tile(np.arange(48.0), n_raters)
    rater = np.repeat(np.arange(n_raters), 48)
    value = 3 + SLOPE * position + rng.normal(0, 0.8, len(rater))
    parts = stretches(value, rater, position)
    truth = [SLOPE * ((part.start + part.end) / 2 - 23.5) for part in parts]
    return held([part.low for part in parts], truth, [part.high for part in parts])


def pairs(rng: np.random.Generator, *, n: int, measure: str) -> Hits:
    first, second = np.rint(rng.normal(3, 1, (2, n))).clip(LOW, HIGH)
    result = pair_position_bias(first, second)
    return held([result.low], 0.0, [result.high]) if measure == "low" else rejected([getattr(result, measure)])


def choices(rng: np.random.Generator, *, n: int, measure: str) -> Hits:
    share = 0.5 if measure == "pvalue" else rng.uniform(0.2, 0.8)
    first = int(rng.binomial(n, share))
    result = preference_position_bias(first, n - first)
    return held([result.low], share, [result.high]) if measure == "low" else rejected([result.pvalue])


def lists(rng: np.random.Generator, *, n: int, measure: str) -> Hits:
    value = np.rint(rng.normal(3, 1, (n, 5))).clip(LOW, HIGH)
    result = list_position_bias(np.repeat(np.arange(n), 5), np.tile(np.arange(5), n), value.ravel(), n_permutations=199)
    return held(result.low, 0.0, result.high) if measure == "low" else rejected([result.pvalue])


DRIFT = "annotation.weighting.sequence.drift"
POSITION = "annotation.weighting.position"
PAIR, CHOICE, LIST = (f"{POSITION}.{name}_position_bias" for name in ("pair", "preference", "list"))
CASES = (
    Case(
        "Drift",
        DRIFT,
        ("DriftResult.low", "DriftResult.standard_error"),
        tuple(
            Setting(f"{n} raters of 15 to {LONGEST} items", partial(drift_interval, n_raters=n), 2000)
            for n in (5, 10, 30)
        ),
    ),
    Case(
        "Drift, p",
        DRIFT,
        ("DriftResult.pvalue",),
        tuple(
            Setting(
                f"{n} raters of 15 to {LONGEST} items",
                partial(drift_null, n_raters=n),
                4000,
                CAUTIOUS if n < 10 else "",
            )
            for n in (5, 10, 30)
        ),
        "p-value",
    ),
    Case(
        "Ratings along the sequence or over time, chart",
        "annotation.weighting.sequence.stretches",
        ("Stretch.low",),
        (Setting("20 raters, 48 items each", partial(stretch_interval, n_raters=20), 200),),
    ),
    *(
        Case(
            shown,
            PAIR,
            (field,),
            tuple(Setting(f"{n} pairs", partial(pairs, n=n, measure=name), 2000) for n in (40, 100)),
            claims,
        )
        for shown, field, name, claims in (
            ("First less second of a pair", "PairBias.low", "low", "95% interval"),
            ("First less second of a pair, p of the t-test", "PairBias.pvalue", "pvalue", "p-value"),
            ("First less second of a pair, p of Wilcoxon's test", "PairBias.rank_pvalue", "rank_pvalue", "p-value"),
        )
    ),
    *(
        Case(
            shown,
            CHOICE,
            (field,),
            tuple(Setting(f"{n} choices", partial(choices, n=n, measure=name), 4000) for n in (20, 100, 1000)),
            claims,
        )
        for shown, field, name, claims in (
            ("Share of choices of the first position", "PreferenceBias.low", "low", "95% interval"),
            ("Share of choices of the first position, p", "PreferenceBias.pvalue", "pvalue", CAUTIOUS),
        )
    ),
    *(
        Case(shown, LIST, (field,), (Setting("30 lists of five", partial(lists, n=30, measure=name), 1000),), claims)
        for shown, field, name, claims in (
            ("Position in a list", "ListBias.low", "low", "95% interval"),
            ("Position in a list, p", "ListBias.pvalue", "pvalue", "p-value"),
        )
    ),
)
