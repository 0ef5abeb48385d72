"""Intervals of correlations over systems, with other items, systems, raters, or several of them at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks.coverage.case import INTERVAL, WIDER, Case, Hits, Setting, held
from benchmarks.coverage.worlds import Floats
from correlations.stats import system_intervals
from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.draws import Drawn, joined, shard_draws
from correlations.stats.intervals import Interval
from correlations.stats.parameters import ParameterValue
from correlations.stats.resampling import RaterRatings
from correlations.stats.system_draws import SystemDraws, system_draws
from correlations.stats.system_level import USUAL

SPREAD = 0.4  # of systems' qualities
DIFFICULTY, OUTPUT, NOISE = 0.5, 0.5, 0.8  # of items, of single outputs, and of a metric's scores of these
SEVERITY, TASTE, CARE = 0.3, 0.2, 0.7  # of raters: in general, for a system, and from rating to rating
DRAWS, TRIALS, MANY = 200, 800, 3200
OF_STUDY = 500  # draws that a study has unless it is asked for others; the ends of fewer lie further in


class Design(NamedTuple):
    """A study: k of the raters rate each output; ``own`` is how far the metric thinks otherwise of systems."""

    systems: int
    items: int
    raters: int
    k: int
    own: float = 0.3
    skewed: bool = False

    def __str__(self) -> str:
        rated = f"a panel of {self.k}" if self.k == self.raters else f"{self.k} of {self.raters} raters each"
        kind = ", most systems alike" if self.skewed else ", nearly perfect metric" if self.own < SPREAD / 2 else ""
        return f"{self.systems} systems, {self.items} items, {rated}{kind}"


class World(NamedTuple):
    """Scores and mean ratings (T, S), single ratings, and of what these are noisy measurements."""

    scores: Floats
    human: Floats
    ratings: RaterRatings
    thought: Floats  # (T,) of systems by the metric
    quality: Floats  # (T,) of systems
    liked: Floats  # (T,) quality, with the tastes of these raters
    good: Floats  # (T, S) of outputs


def world(rng: np.random.Generator, design: Design) -> World:
    n, items, raters, k, own, skewed = design
    quality = rng.exponential(SPREAD, n) if skewed else rng.normal(0, SPREAD, n)
    thought = quality + rng.normal(0, own, n)
    outputs = rng.normal(0, DIFFICULTY, items) + rng.normal(0, OUTPUT, (n, items))
    good = quality[:, None] + outputs
    rater = rng.random((n, items, raters)).argsort(axis=-1)[..., :k]
    severity, taste = rng.normal(0, SEVERITY, raters), rng.normal(0, TASTE, (raters, n))
    system, item, _ = np.indices(rater.shape)
    values = good[..., None] + severity[rater] + taste[rater, system] + rng.normal(0, CARE, rater.shape)
    ratings = RaterRatings(rater.ravel(), system.ravel(), item.ravel(), values.ravel())
    scores = thought[:, None] + outputs + rng.normal(0, NOISE, (n, items))
    return World(scores, values.mean(axis=-1), ratings, thought, quality, quality + taste.mean(axis=0), good)


def over_these(key: str, first: Floats, second: Floats) -> float:
    return float(COEFFICIENTS[key].batch(first, second))


def over_endless(key: str, covariance: float, first: float, second: float) -> float:
    """Return the coefficient of endless systems whose values are normal, or whose coefficient is Pearson's."""
    return COEFFICIENTS[key].from_pearson(covariance / np.sqrt(first * second))


# --- What is drawn, the truth that its interval is of, and the interval -----------------------------------------------


def other_items(key: str, made: World, design: Design, draws: Floats) -> tuple[float, Interval]:
    return over_these(key, made.thought, made.liked), system_intervals.over_items(observed(key, made), draws)


def other_systems(key: str, made: World, design: Design, draws: Floats) -> tuple[float, Interval]:
    of_metric = SPREAD**2 + design.own**2 + (OUTPUT**2 + NOISE**2) / design.items
    differ = (SEVERITY**2 + TASTE**2) * (1 - (design.k - 1) / (design.raters - 1)) + CARE**2
    of_raters = SPREAD**2 + TASTE**2 / design.raters + (OUTPUT**2 + differ / design.k) / design.items
    truth = over_endless(key, SPREAD**2 + OUTPUT**2 / design.items, of_metric, of_raters)
    return truth, system_intervals.over_systems(observed(key, made), draws, design.systems, alone=True)


def other_items_and_systems(key: str, made: World, design: Design, draws: Floats) -> tuple[float, Interval]:
    truth = over_endless(key, SPREAD**2, SPREAD**2 + design.own**2, SPREAD**2 + TASTE**2 / design.raters)
    return truth, system_intervals.over_systems(observed(key, made), draws, design.systems, alone=False)


def other_raters(key: str, made: World, design: Design, draws: Floats) -> tuple[float, Interval]:
    truth = over_these(key, made.scores.mean(axis=1), made.good.mean(axis=1))
    reach = system_intervals.reach_over_raters(made.ratings)
    return truth, system_intervals.over_raters(observed(key, made), draws, reach)


def other_everything(key: str, made: World, design: Design, draws: Floats) -> tuple[float, Interval]:
    truth = over_endless(key, SPREAD**2, SPREAD**2 + design.own**2, SPREAD**2)
    return truth, system_intervals.over_systems(observed(key, made), draws, design.systems, alone=False)


def observed(key: str, made: World) -> float:
    return over_these(key, made.scores.mean(axis=1), made.human.mean(axis=1))


Of = Callable[[str, World, Design, Floats], tuple[float, Interval]]


def trial(rng: np.random.Generator, *, design: Design, key: str, of: Of, n_draws: int = DRAWS) -> Hits:
    made, seed = world(rng, design), int(rng.integers(2**31))
    truth, interval = of(key, made, design, drawn(key, made, seed, of, n_draws))
    return held([interval.low], truth, [interval.high])


def drawn(key: str, made: World, seed: int, of: Of, n_draws: int = DRAWS) -> Floats:
    value, everything = ParameterValue(made.scores[..., None], _only, made.scores), np.ones(made.human.shape, bool)
    if of in (other_items, other_items_and_systems):
        draws = joined([shard_draws([Drawn(value, everything)], made.human, seed=seed, number=0, size=n_draws)])
        both = draws.over_items if of is other_items else draws.over_items_and_systems
        return np.asarray(both[key][0], np.float64)
    raters = None if of is other_systems else made.ratings
    (found,) = system_draws([value], made.human, everything, raters=raters, seed=seed, n_draws=n_draws)
    return _of_raters(found, of)[key]


def _of_raters(found: SystemDraws, of: Of) -> dict[str, Floats]:
    if of is other_systems:
        return found.over_systems
    return (found.over_raters if of is other_raters else found.over_items_systems_and_raters) or {}


def _only(sums: Floats) -> Floats:
    return sums[..., 0]


USUAL_DESIGNS = (Design(10, 100, 10, 3), Design(20, 400, 30, 3))
PERFECT = Design(10, 100, 10, 3, own=0.1)
OTHER_DESIGNS = (
    Design(6, 100, 10, 3),
    Design(10, 50, 4, 4),
    PERFECT,
    Design(10, 100, 10, 3, skewed=True),  # for Pearson's r alone: the truth of the others is of normal values
)
KINDS: tuple[tuple[str, str, Of, str], ...] = (
    ("items", "over_items", other_items, INTERVAL),
    ("systems", "over_systems", other_systems, INTERVAL),
    ("items and systems", "over_systems", other_items_and_systems, INTERVAL),
    ("raters", "over_raters", other_raters, WIDER),
    ("items, systems and raters", "over_systems", other_everything, INTERVAL),
)


def _settings(of: Of) -> tuple[Setting, ...]:
    usual = [(key, design) for design in USUAL_DESIGNS for key in USUAL]
    return tuple(
        _setting(key, design, of) for key, design in (*usual, *(("pearson", design) for design in OTHER_DESIGNS))
    )


def _setting(key: str, design: Design, of: Of) -> Setting:
    of_study = of is other_everything and key == "pearson" and design is USUAL_DESIGNS[1]
    n_draws = OF_STUDY if of_study else DRAWS
    many = of is other_everything or (of is other_items_and_systems and design.skewed)
    cautious = of is other_everything and design.systems == 6
    return Setting(
        f"{COEFFICIENTS[key].symbol}, {design}" + f", {n_draws} draws" * of_study,
        partial(trial, design=design, key=key, of=of, n_draws=n_draws),
        1400 if of_study else MANY if many else TRIALS,
        WIDER
        if cautious or (of is other_systems and key != "pearson") or (of is other_items and design is PERFECT)
        else "",
    )


CASES = tuple(
    Case(
        f"Coefficient over systems, other {name}",
        f"correlations.stats.system_intervals.{function}",
        (),
        _settings(of),
        claims,
    )
    for name, function, of, claims in KINDS
)
