"""Coefficients on resampled items and systems, cut into shards that can be drawn in any order, by any worker.

Each shard draws from a seed of its own, so that the joined draws depend on the study's seed alone: not on how many
workers drew them, nor on which shard was first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.nested import over_drawn_systems
from correlations.stats.parameters import (
    ParameterValue,
    bootstrap_weights,
    system_ratings,
    system_scores,
    weighted_pearson,
)
from correlations.stats.ranks import Bools, Floats
from correlations.stats.system_level import USUAL
from correlations.stats.units import checked_ratings

SHARD = 500  # draws; another number gives other draws


@dataclass(frozen=True, eq=False)
class Drawn:
    """A metric, and the outputs (T, S) that it is correlated over: scored and rated."""

    value: ParameterValue
    outputs: Bools


@dataclass(frozen=True, eq=False)
class Draws:
    """Coefficients (E, B) of E metrics on B draws; NaN where undefined. The n-th draws of all are of the same items
    where the metrics' outputs are the same."""

    over_items: dict[str, Floats]  # over systems, by the coefficient's key
    over_items_and_systems: dict[str, Floats]
    outputs: Floats  # Pearson's r over outputs, on drawn items


def shard_sizes(n_draws: int) -> list[int]:
    """Return how many draws each shard has.

    >>> shard_sizes(1200)
    [500, 500, 200]
    """
    return [min(SHARD, n_draws - begin) for begin in range(0, n_draws, SHARD)]


def shard_draws(entries: Sequence[Drawn], human: ArrayLike, *, seed: int, number: int, size: int) -> Floats:
    """Draw one shard.

    Parameters
    ----------
    entries : sequence of E Drawn
    human : (T, S) float
        Mean ratings of T systems' outputs for S items; NaN if unrated.
    seed : int
        The study's.
    number : int
        Of the shard, from 0.
    size : int
        Draws of the shard.

    Returns
    -------
    (E, 7, size) float
        For `joined`: Pearson, Spearman and Kendall over items, the same over items and systems, Pearson over outputs.
    """
    ratings = checked_ratings(human)
    items, systems = np.random.SeedSequence(seed, spawn_key=(number,)).spawn(2)
    values = np.full((len(entries), 2 * len(USUAL) + 1, size), np.nan)
    for outputs, places in _by_outputs(entries):
        # The same seeds for each set of outputs: its draws do not depend on other metrics of the study.
        weights = bootstrap_weights(outputs, size, items)
        rated = np.where(outputs, ratings, np.nan)
        of_systems = system_ratings(rated, weights)
        for place in places:
            value = entries[place].value
            scores = system_scores(value, outputs, weights)
            rng = np.random.default_rng(systems)
            drawn = over_drawn_systems(scores, of_systems, rng=rng, n_replicates=size)
            values[place, : len(USUAL)] = [COEFFICIENTS[key].batch(scores, of_systems) for key in USUAL]
            values[place, len(USUAL) : -1] = [COEFFICIENTS[key].batch(*drawn) for key in USUAL]
            values[place, -1] = weighted_pearson(value.scores, rated, weights)
    return values


def joined(shards: Sequence[Floats]) -> Draws:
    """Join shards, in the order of their numbers."""
    values = np.concatenate(shards, axis=2)
    of_items, of_both = ({key: values[:, first + i] for i, key in enumerate(USUAL)} for first in (0, len(USUAL)))
    return Draws(of_items, of_both, values[:, -1])


def _by_outputs(entries: Sequence[Drawn]) -> list[tuple[Bools, list[int]]]:
    groups: dict[bytes, tuple[Bools, list[int]]] = {}
    for place, entry in enumerate(entries):
        groups.setdefault(entry.outputs.tobytes(), (entry.outputs, []))[1].append(place)
    return list(groups.values())
