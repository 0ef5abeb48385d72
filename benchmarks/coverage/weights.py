"""Intervals of weights."""

from __future__ import annotations

from functools import partial

import numpy as np

from annotation.weighting.enough import sufficiency
from annotation.weighting.schemes import SCHEMES
from benchmarks.coverage.case import Case, Hits, Setting, held
from benchmarks.coverage.worlds import HIGH, LOW, qualities, raters

RESPONSES, RATERS, PANELS = 100, 30, 40
WORLDS = 8


def trial(rng: np.random.Generator, *, scheme: str, k: int) -> Hits:
    """Weigh the same responses by panel after panel; the truth is what panels give on average."""
    quality = qualities(RESPONSES, rng)
    results = [SCHEMES[scheme].weights(raters(RATERS, rng).table(quality, k, rng), LOW, HIGH) for _ in range(PANELS)]
    truth = np.nanmean([result.weights for result in results], axis=0)
    return np.concatenate([held(result.low, truth, result.high) for result in results])


def margin_trial(rng: np.random.Generator, *, k: int) -> Hits:
    quality = qualities(RESPONSES, rng)
    tables = [raters(RATERS, rng).table(quality, k, rng) for _ in range(PANELS)]
    means = np.array([table.means() / 2 - 1.5 for table in tables])
    truth = means.mean(axis=0)
    halves = [sufficiency(table, LOW, HIGH, target=0.25).half_widths for table in tables]
    return np.concatenate([held(mean - half, truth, mean + half) for mean, half in zip(means, halves, strict=True)])


CASES = (
    *(
        Case(
            f"Weight, {scheme.label.lower()}",
            f"annotation.weighting.schemes: {scheme.key}",
            ("WeightResult.low", "WeightResult.standard_error"),
            tuple(
                Setting(f"{k} ratings of each of {RESPONSES} responses", partial(trial, scheme=scheme.key, k=k), WORLDS)
                for k in (2, 3, 5, 10, 20)
            ),
        )
        for scheme in SCHEMES.values()
    ),
    Case(
        "Margin of error of weights",
        "annotation.weighting.enough.sufficiency",
        ("Sufficiency.half_width", "Sufficiency.half_widths"),
        (Setting(f"3 ratings of each of {RESPONSES} responses", partial(margin_trial, k=3), WORLDS),),
    ),
)
