"""How often what is forecast of preferences comes true: simulated campaigns are forecast, and rated on.

Raters compare every pair of systems for each item; tastes of items and of raters differ, as in the table of intervals
(``benchmarks.coverage.systems``). Further comparisons of a pair come from raters who have not compared it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from annotation.allocation.topping_up import narrowing
from annotation.ranking import bradley_terry, bradley_terry_certainty
from benchmarks.coverage.systems import TIE_WITHIN

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SYSTEMS, SPREAD = 4, 0.35  # of their strengths
PAIRS = list(combinations(range(SYSTEMS), 2))
MOST = 15  # comparisons of a pair at most
TRIALS, MORE_TRIALS = 150, 500  # few differences have a forecast number


class Design(NamedTuple):
    """A campaign: items, raters, comparisons of each pair before, and the spreads of tastes."""

    items: int
    raters: int
    before: int
    by_items: float
    by_raters: float


DESIGNS = (Design(100, 30, 2, 0.3, 0.15), Design(60, 20, 3, 0.6, 0.3))


@dataclass
class World:
    """All comparisons that could be drawn: (items, pairs, MOST) outcomes, whether swapped on screen, and raters."""

    outcome: Ints
    swapped: npt.NDArray[np.bool_]
    rater: Ints

    @classmethod
    def drawn(cls, rng: np.random.Generator, design: Design) -> World:
        n_items, n_raters = design.items, design.raters
        strengths = rng.normal(0, SPREAD, SYSTEMS)
        rater = rng.random((n_items, len(PAIRS), n_raters)).argsort(axis=2)[:, :, :MOST]
        on_item = rng.normal(0, design.by_items, (n_items, 1, 1, SYSTEMS))
        liking = strengths + on_item + rng.normal(0, design.by_raters, (n_raters, SYSTEMS))[rater]
        first, second = np.array(PAIRS).T
        pair = np.arange(len(PAIRS))[:, None]
        place = np.arange(MOST)
        latent = liking[:, pair, place, first[:, None]] - liking[:, pair, place, second[:, None]]
        latent += rng.logistic(size=latent.shape)
        outcome = np.where(np.abs(latent) < TIE_WITHIN, 0, np.sign(latent)).astype(np.int64)
        return cls(outcome, rng.random(outcome.shape) < 0.5, rater)

    def rows(self, k: Ints) -> Any:
        """Return the first k comparisons of each item and pair, k of shape (items, pairs), as the product reads them.

        System s of item i is 1 + s and wrote the text i * SYSTEMS + s.
        """
        from annotation.rating.selectors.outputs import Comparisons

        item, pair, place = np.nonzero(np.arange(self.outcome.shape[2]) < k[:, :, None])
        first, second = np.array(PAIRS)[pair].T
        swapped, outcome = self.swapped[item, pair, place], self.outcome[item, pair, place]
        unit = item * len(PAIRS) + pair
        texts = np.array([[i * SYSTEMS + a, i * SYSTEMS + b] for i in range(len(k)) for a, b in PAIRS]).T
        shown_first, shown_second = np.where(swapped, second, first), np.where(swapped, first, second)
        return Comparisons(
            1 + shown_first,
            1 + shown_second,
            np.where(swapped, -outcome, outcome),
            item,
            self.rater[item, pair, place],
            k.mean() / k.ravel()[unit],  # a pair of texts counts as often as the others, however often it was compared
            unit,
            texts,
            0,
        )

    def plan(self, k: Ints) -> tuple[Any, Any]:
        """Return what is planned, which is all done, and the outputs."""
        from annotation.quality.selectors.planned import Planned
        from annotation.rating.selectors.outputs import Outputs

        rows = self.rows(k)
        n_units = k.size
        unit = np.repeat(np.arange(n_units), 2)
        done = np.repeat(k.ravel(), 2)
        planned = Planned(rows.texts.T.ravel(), unit, done, done, np.ones(unit.size, dtype=bool))
        response = np.arange(len(k) * SYSTEMS)
        return planned, Outputs(response, 1 + response % SYSTEMS, response // SYSTEMS)


def forecasts(
    rng: np.random.Generator, design: Design, trials: int
) -> Iterator[tuple[World, Ints, Any, list[tuple[int, float]]]]:
    """Yield each open difference of simulated campaigns, with the further comparisons that would narrow it."""
    from annotation.quality.selectors.compared import open_strengths

    for seed in range(trials):
        world = World.drawn(rng, design)
        k = np.full((design.items, len(PAIRS)), design.before)
        room = np.full(k.size, MOST - design.before)
        _, found, _ = open_strengths(world.rows(k), *world.plan(k))
        for pair in found:
            if pair.known is not None:
                yield world, k, pair, list(islice(narrowing(pair.known.means, room, seed=seed), int(room.sum())))


def after_as_many_again(design: Design, trials: int) -> tuple[list[float], list[bool]]:
    """Return the forecast chances, and whether the differences became certain."""
    chances, certain = [], []
    for world, k, pair, steps in forecasts(np.random.default_rng(20), design, trials):
        first = steps[: k.size * design.before]
        noise = pair.known.means.variance - sum(gain for _, gain in first)
        chances.append(pair.known.separation.chance(noise=max(noise, 0.0), alpha=pair.alpha))
        certain.append(p_after(world, k, [unit for unit, _ in first], pair) <= pair.alpha)
    return chances, certain


def after_the_forecast_number(design: Design, trials: int) -> tuple[list[float], list[bool]]:
    """Return likewise, of the differences for which a number of comparisons is forecast."""
    chances, certain = [], []
    for world, k, pair, steps in forecasts(np.random.default_rng(21), design, trials):
        apart, means, _ = pair.known
        gains = [gain for _, gain in steps]
        needed, chance = apart.ratings_needed(gains, planned=means.variance, alpha=pair.alpha)
        if needed:
            chances.append(chance)
            certain.append(p_after(world, k, [unit for unit, _ in steps[:needed]], pair) <= pair.alpha)
    return chances, certain


def p_after(world: World, k: Ints, units: list[int], pair: Any) -> float:
    """Return the p of two systems' difference after a further comparison of each of these units."""
    rows = world.rows(k + np.bincount(units, minlength=k.size).reshape(k.shape))
    first, second = rows.first - 1, rows.second - 1
    fit = bradley_terry(first, second, rows.outcome, n_systems=SYSTEMS, order_effect=True, weight=rows.weight)
    certainty = bradley_terry_certainty(
        fit, first, second, rows.outcome, item=rows.item, rater=rows.rater, weight=rows.weight
    )
    return float(certainty.p_values[pair.first - 1, pair.second - 1])


def run(trials: int = TRIALS) -> list[dict[str, Any]]:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    few, many = DESIGNS
    again, number = "certain after as many comparisons again", "certain after the forecast number of comparisons"
    return [
        _share(f"Open differences {again}", few, trials, after_as_many_again(few, trials)),
        _share(f"Open differences {again}", many, trials, after_as_many_again(many, trials)),
        _share(f"Differences {number}", few, MORE_TRIALS, after_the_forecast_number(few, MORE_TRIALS)),
    ]


def _share(name: str, design: Design, trials: int, found: tuple[list[float], list[bool]]) -> dict[str, Any]:
    chances, certain = found
    share = np.mean(certain)
    error = 196 * np.sqrt(share * (1 - share) / len(certain))
    campaign = (
        f"{SYSTEMS} systems, {design.items} items, {design.before} of {design.raters} raters for each pair, tastes of "
        f"items and raters spread by {design.by_items} and {design.by_raters}, {trials:,} times"
    )
    against = f"± {error:.1f} of {len(certain)}; forecast {100 * np.mean(chances):.0f} %; {campaign}"
    return {"name": name, "value": 100 * float(share), "unit": "%", "against": against}
