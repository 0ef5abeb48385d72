"""Simulated raters and ratings: responses of any quality on five points, raters of different severity and care."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotation.weighting.table import RatingTable

LOW, HIGH = 1, 5
Floats = npt.NDArray[np.float64]


class Raters(NamedTuple):
    bias: Floats
    noise: Floats

    def answers(self, quality: Floats, rater: npt.NDArray[np.int64], rng: np.random.Generator) -> Floats:
        """Return points for responses of this quality (any shape) by these raters (the same shape)."""
        latent = quality + self.bias[rater] + self.noise[rater] * rng.normal(size=rater.shape)
        points: Floats = np.rint(latent).clip(LOW, HIGH)
        return points

    def table(self, quality: Floats, k: int, rng: np.random.Generator) -> RatingTable:
        """Return k ratings of each response, by raters drawn for it."""
        n_raters = len(self.bias)
        rater = rng.random((len(quality), n_raters)).argsort(axis=1)[:, :k]
        value = self.answers(np.repeat(quality[:, None], k, axis=1), rater, rng)
        response = np.repeat(np.arange(len(quality)), k)
        return RatingTable(response, rater.ravel(), value.ravel(), len(quality), n_raters)


def raters(n: int, rng: np.random.Generator) -> Raters:
    return Raters(rng.normal(0, 0.4, n), rng.uniform(0.4, 1.2, n))


def qualities(n: int, rng: np.random.Generator) -> Floats:
    return rng.uniform(LOW, HIGH, n)
