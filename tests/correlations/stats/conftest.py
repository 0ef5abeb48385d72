"""A small study with ties, unrated outputs, segments without a reference, and outputs without a score."""

from dataclasses import dataclass

import numpy as np
import pytest

from correlations.stats.units import StudyMetric

N_SYSTEMS, N_SEGMENTS = 4, 53


def ratio(sums):
    """Return matches over length, NaN for a unit without length."""
    return np.where(sums[..., 1] > 0, np.maximum(sums[..., 0], 0) / sums[..., 1], np.nan)


def mean(sums):
    return sums[..., 0] / sums[..., 1]


def first(sums):
    return sums[..., 0]


@dataclass(frozen=True)
class Inputs:
    metrics: list[StudyMetric]
    human: np.ndarray
    pairs: list[tuple[int, int]]


@pytest.fixture(scope="session")
def inputs() -> Inputs:
    rng = np.random.default_rng(11)
    human = np.round(5 * (3 + rng.normal(size=(N_SYSTEMS, N_SEGMENTS)))) / 5
    length = rng.integers(4, 12, size=human.shape).astype(float)
    matches = np.round(human + rng.normal(size=human.shape))
    scores = human + 2 * rng.normal(size=human.shape)
    human[0, 5:14] = np.nan
    human[2, 1] = np.nan
    valid = rng.random(N_SEGMENTS) < 0.7
    scored = rng.random(human.shape) < 0.8  # an output each: a metric from elsewhere, or systems that answer in part
    return Inputs(
        metrics=[
            StudyMetric("precision", np.stack([matches, length], axis=2), ratio),
            StudyMetric(
                "weighted",
                np.stack([10 * matches - 30 - 2 * np.arange(N_SYSTEMS)[:, None], 10 * length], axis=2),
                ratio,
                valid=valid,
                clamped=lambda sums: sums[..., 0] < 0,
            ),
            StudyMetric("mean score", np.stack([scores, np.ones_like(scores)], axis=2), mean, valid=valid),
            StudyMetric("in part", np.stack([np.where(scored, scores, np.nan)] * 2, axis=2), first, valid=scored),
        ],
        human=human,
        pairs=[(0, 1), (0, 2), (1, 3), (3, 2)],
    )
