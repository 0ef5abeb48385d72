"""Intervals of systems' mean ratings and strengths, with other items and other raters in every trial."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotation.ranking import bradley_terry, bradley_terry_certainty, system_means
from benchmarks.coverage.case import CAUTIOUS, WIDER, Case, Hits, Setting, held, rejected
from benchmarks.coverage.worlds import HIGH, LOW, Floats, Raters

Ints = npt.NDArray[np.int64]
OFFSETS = np.array([-0.5, 0.0, 0.4])  # of the systems
POPULATION = 400_000
TRIALS = 500


class World(NamedTuple):
    """How raters and items are: severities with this spread; skewed if most outputs are nearly as good as can be."""

    severity: float = 0.4
    skewed: bool = False

    def raters(self, n: int, rng: np.random.Generator) -> Raters:
        return Raters(rng.normal(0, self.severity, n), rng.uniform(0.4, 1.2, n))

    def qualities(self, n: int, rng: np.random.Generator) -> Floats:
        return HIGH + 0.4 - rng.exponential(0.9, n) if self.skewed else rng.uniform(LOW, HIGH, n)


class Campaign(NamedTuple):
    """What ``system_means`` is given."""

    system: Ints
    item: Ints
    rater: Ints
    value: Floats


def campaign(
    rng: np.random.Generator, world: World, offsets: Floats, *, n_items: int, n_raters: int, k: int
) -> Campaign:
    """Let k of the raters rate every system's output of each item."""
    people, quality = world.raters(n_raters, rng), world.qualities(n_items, rng)
    shape = (len(offsets), n_items, k)
    rater = np.broadcast_to(drawn(rng, n_items, n_raters, k), shape)
    values = people.answers(np.broadcast_to((quality + offsets[:, None])[:, :, None], shape), rater, rng)
    system, item, _ = np.indices(shape)
    return Campaign(system.ravel(), item.ravel(), rater.ravel(), values.ravel())


@cache
def true_means(world: World) -> Floats:
    """Return the mean points of each system over very many items and raters."""
    rng = np.random.default_rng(1)
    people, quality = world.raters(POPULATION, rng), world.qualities(POPULATION, rng)
    means: Floats = np.array([people.answers(quality + o, np.arange(POPULATION), rng).mean() for o in OFFSETS])
    return means


def mean(rng: np.random.Generator, *, world: World, n_items: int, n_raters: int, k: int) -> Hits:
    rated = campaign(rng, world, OFFSETS, n_items=n_items, n_raters=n_raters, k=k)
    means = system_means(*rated, rng=rng, ends=(LOW, HIGH), permutations=1)
    return held(means.low, true_means(world), means.high)


def difference(rng: np.random.Generator, *, world: World, n_items: int, n_raters: int, k: int) -> Hits:
    rated = campaign(rng, world, OFFSETS, n_items=n_items, n_raters=n_raters, k=k)
    apart = system_means(*rated, rng=rng, permutations=1).differences
    truth = true_means(world)
    pairs = np.triu_indices(len(OFFSETS), 1)
    return held(apart.low[pairs], (truth[:, None] - truth)[pairs], apart.high[pairs])


def equal(rng: np.random.Generator, *, n_items: int, test: str) -> Hits:
    """Compare two systems that are equally good, by three raters' ratings of each item."""
    rated = campaign(rng, World(), np.zeros(2), n_items=n_items, n_raters=10, k=3)
    return rejected(getattr(system_means(*rated, rng=rng, permutations=999).differences, test)[0, 1])


def equal_to_all_raters(rng: np.random.Generator, *, n_systems: int, n_items: int, n_raters: int, k: int) -> Hits:
    """Compare systems that are equally good, though each rater likes some better; the smallest corrected p."""
    apart = system_means(*_tastes(rng, np.zeros(n_systems), n_items, n_raters, k), rng=rng, permutations=1).differences
    return rejected(np.nanmin(apart.adjusted)) if np.isfinite(apart.adjusted).any() else np.array([np.nan])


def together(
    rng: np.random.Generator, *, offsets: tuple[float, ...], at_once: bool, n_items: int, n_raters: int, k: int
) -> Hits:
    """Return whether the interval of each difference holds, or whether those of all do at once."""
    truth = np.array(offsets)
    apart = system_means(*_tastes(rng, truth, n_items, n_raters, k), rng=rng, permutations=1).differences
    pairs = np.triu_indices(truth.size, 1)
    hits = held(apart.family_low[pairs], (truth[:, None] - truth)[pairs], apart.family_high[pairs])
    return np.array([np.nan if np.isnan(hits).any() else hits.min()]) if at_once else hits


def _tastes(rng: np.random.Generator, offsets: Floats, n_items: int, n_raters: int, k: int) -> Campaign:
    """Let k of the raters rate every system's output of each item on a slider; raters differ in what they like."""
    shape = (len(offsets), n_items, k)
    rater = np.broadcast_to(drawn(rng, n_items, n_raters, k), shape)
    system, item, _ = np.indices(shape)
    on_item, by_rater = rng.normal(0, 0.5, shape[:2]), rng.normal(0, 0.2, (len(offsets), n_raters))
    severity = rng.normal(0, 0.5, n_raters)
    values = offsets[system] + on_item[system, item] + by_rater[system, rater] + severity[rater]
    values += rng.normal(0, 0.7, shape)
    return Campaign(system.ravel(), item.ravel(), rater.ravel(), values.ravel())


# --- Preferences ------------------------------------------------------------------------------------------------------

STRENGTHS = np.array([0.6, 0.2, -0.2, -0.6])
TIE_WITHIN = 0.5


def preferences(rng: np.random.Generator, strengths: Floats, raters: Ints) -> tuple[Ints, ...]:
    """Let each item's raters (items, k) compare every pair of systems; tastes of items and of raters differ."""
    n, (n_items, k) = len(strengths), raters.shape
    n_pairs = n * (n - 1) // 2
    item, pair, place = (axis.ravel() for axis in np.indices((n_items, n_pairs, k)))
    rater = raters[item, place]
    first, second = (side[pair] for side in np.triu_indices(n, 1))
    swap = rng.random(item.size) < 0.5
    first, second = np.where(swap, second, first), np.where(swap, first, second)
    on_item, by_rater = rng.normal(0, 0.6, (n_items, n)), rng.normal(0, 0.3, (raters.max() + 1, n))
    liking = strengths + on_item[item] + by_rater[rater]
    each = np.arange(item.size)
    latent = liking[each, first] - liking[each, second] + rng.logistic(size=item.size)
    outcome = np.where(np.abs(latent) < TIE_WITHIN, 0, np.sign(latent)).astype(np.int64)
    return first, second, outcome, item, rater


def drawn(rng: np.random.Generator, n_items: int, n_raters: int, k: int) -> Ints:
    """Return (items, k) raters."""
    return rng.random((n_items, n_raters)).argsort(axis=1)[:, :k]


@cache
def true_strengths() -> Floats:
    """Return the strengths that very many comparisons have: tastes that differ draw them together."""
    rater = np.arange(40_000)[:, None]
    first, second, outcome, _, _ = preferences(np.random.default_rng(1), STRENGTHS, rater)
    strengths: Floats = bradley_terry(first, second, outcome, n_systems=len(STRENGTHS)).strengths
    return strengths


def strength(rng: np.random.Generator, *, n_items: int, n_raters: int, k: int, of: str) -> Hits:
    first, second, outcome, item, rater = preferences(rng, STRENGTHS, drawn(rng, n_items, n_raters, k))
    fit = bradley_terry(first, second, outcome, n_systems=len(STRENGTHS))
    certainty = bradley_terry_certainty(fit, first, second, outcome, item=item, rater=rater)
    truth = true_strengths()
    if of == "strengths":
        return held(certainty.low, truth, certainty.high)
    pairs = np.triu_indices(truth.size, 1)
    low, high = (getattr(certainty, of.replace("low", end))[pairs] for end in ("low", "high"))
    return held(low, (truth[:, None] - truth)[pairs], high)


def equal_strengths(rng: np.random.Generator, *, n_items: int, n_raters: int, k: int, corrected: bool = False) -> Hits:
    """Return whether a test of two equal systems rejects; corrected, whether any of all does."""
    n = 4 if corrected else 3
    first, second, outcome, item, rater = preferences(rng, np.zeros(n), drawn(rng, n_items, n_raters, k))
    fit = bradley_terry(first, second, outcome, n_systems=n)
    certainty = bradley_terry_certainty(fit, first, second, outcome, item=item, rater=rater)
    return rejected(np.nanmin(certainty.adjusted) if corrected else certainty.p_values[0, 1])


def order(rng: np.random.Generator, *, n_items: int, n_raters: int, k: int) -> Hits:
    """Without a true effect of the first place."""
    first, second, outcome, item, rater = preferences(rng, STRENGTHS, drawn(rng, n_items, n_raters, k))
    fit = bradley_terry(first, second, outcome, n_systems=len(STRENGTHS), order_effect=True)
    certainty = bradley_terry_certainty(fit, first, second, outcome, item=item, rater=rater)
    return held(certainty.order_low, 0.0, certainty.order_high)


PLAIN = World()
SEVERE = World(severity=1.0)
SKEWED = World(skewed=True)
DESIGNS = (
    (PLAIN, 300, 30, 3),
    (PLAIN, 50, 30, 3),
    (PLAIN, 15, 10, 3),
    (PLAIN, 50, 5, 5),
    (PLAIN, 50, 3, 3),
    (SEVERE, 300, 30, 3),
    (SEVERE, 50, 5, 5),
    (SEVERE, 50, 3, 3),
    (SKEWED, 300, 30, 3),
    (SKEWED, 20, 20, 3),
    (SKEWED, 50, 5, 5),
)
WORDS = {PLAIN: "", SEVERE: ", strong severities", SKEWED: ", most at the upper end"}
TASTED = ((300, 30, 3), (50, 30, 3), (15, 10, 3), (50, 5, 5), (50, 3, 3), (20, 4, 4))
SPREAD = {
    (0.0, 0.0, 0.0, 0.0): "4 equal systems",
    (0.0, 0.3, 0.6, 0.9): "4 systems apart",
    (0.0, 0.0, 2.0, 4.0): "2 equal systems and 2 far off",
}
COMPARED = ((30, 4, 4), (60, 20, 2), (200, 10, 2))


def _rated(n_items: int, n_raters: int, k: int, world: World = PLAIN) -> str:
    return f"{n_items} items, {k} of {n_raters} raters each{WORDS[world]}"


def _compared(of: str) -> tuple[Setting, ...]:
    tests: dict[str, Callable[..., Hits]] = {
        "order": order,
        "equal": equal_strengths,
        "all equal": partial(equal_strengths, corrected=True),
    }
    trial = tests.get(of) or partial(strength, of=of)
    return tuple(
        Setting(
            f"{n_items} items, all pairs by {k} of {n_raters} raters",
            partial(trial, n_items=n_items, n_raters=n_raters, k=k),
            1000 if "equal" in of else TRIALS if of == "order" else 300,
        )
        for n_items, n_raters, k in COMPARED
    )


def _tasted(n_systems: int) -> tuple[Setting, ...]:
    """Return settings in which raters differ in which of the equal systems they like."""
    return tuple(
        Setting(
            _rated(i, r, k),
            partial(equal_to_all_raters, n_systems=n_systems, n_items=i, n_raters=r, k=k),
            2000,
        )
        for i, r, k in TASTED
    )


def _spread(*, at_once: bool) -> tuple[Setting, ...]:
    return tuple(
        Setting(
            f"{_rated(i, r, k)}, {words}",
            partial(together, offsets=o, at_once=at_once, n_items=i, n_raters=r, k=k),
            2000,
        )
        for o, words in SPREAD.items()
        for i, r, k in TASTED[1:4:2]
    )


CASES = (
    Case(
        "Mean rating of a system",
        "annotation.ranking.means.system_means",
        ("SystemMeans.low",),
        tuple(
            Setting(_rated(i, r, k, world), partial(mean, world=world, n_items=i, n_raters=r, k=k), TRIALS)
            for world, i, r, k in DESIGNS
        ),
    ),
    Case(
        "Difference of two systems' mean ratings",
        "annotation.ranking.means.system_means",
        ("Differences.low",),
        tuple(
            Setting(_rated(i, r, k, world), partial(difference, world=world, n_items=i, n_raters=r, k=k), TRIALS)
            for world, i, r, k in DESIGNS
        ),
        WIDER,
    ),
    Case(
        "Difference of two systems' mean ratings, p",
        "annotation.ranking.means.system_means",
        ("Differences.p_values",),
        _tasted(2),
        CAUTIOUS,
    ),
    Case(
        "Any of 6 differences of equal systems' mean ratings, p corrected",
        "annotation.ranking.means.system_means",
        (),
        _tasted(4),
        CAUTIOUS,
    ),
    Case(
        "Each of several differences of mean ratings, interval corrected",
        "annotation.ranking.means.system_means",
        ("Differences.family_low", "Family.family_low"),
        _spread(at_once=False),
        WIDER,
    ),
    Case(
        "All of several differences of mean ratings at once, intervals corrected",
        "annotation.ranking.means.system_means",
        (),
        _spread(at_once=True),
        "corrected intervals",
    ),
    Case(
        "Difference of two systems' mean ratings, p over items alone",
        "annotation.ranking.means.system_means",
        ("Differences.permutation_p_values",),
        (
            Setting("20 items, 3 raters", partial(equal, n_items=20, test="permutation_p_values"), 4000, CAUTIOUS),
            Setting("100 items, 3 raters", partial(equal, n_items=100, test="permutation_p_values"), 4000),
        ),
        "p-value",
    ),
    Case(
        "Difference of two systems' mean ratings, p of Wilcoxon's test",
        "annotation.ranking.means.system_means",
        ("Differences.wilcoxon_p_values",),
        tuple(
            Setting(f"{n} items, 3 raters", partial(equal, n_items=n, test="wilcoxon_p_values"), 4000)
            for n in (20, 100)
        ),
        "p-value",
    ),
    Case(
        "Bradley-Terry strength",
        "annotation.ranking.bradley_terry.bradley_terry_certainty",
        ("Certainty.low",),
        _compared("strengths"),
    ),
    Case(
        "Difference of two strengths",
        "annotation.ranking.bradley_terry.bradley_terry_certainty",
        ("Certainty.difference_low",),
        _compared("difference_low"),
        WIDER,
    ),
    Case(
        "Difference of two strengths, p",
        "annotation.ranking.bradley_terry.bradley_terry_certainty",
        ("Certainty.p_values",),
        _compared("equal"),
        CAUTIOUS,
    ),
    Case(
        "Any of 6 differences of equal strengths, p corrected",
        "annotation.ranking.bradley_terry.bradley_terry_certainty",
        (),
        _compared("all equal"),
        CAUTIOUS,
    ),
    Case(
        "Each of several differences of strengths, interval corrected",
        "annotation.ranking.bradley_terry.bradley_terry_certainty",
        ("Certainty.family_low",),
        _compared("family_low"),
        WIDER,
    ),
    Case(
        "Effect of the first place",
        "annotation.ranking.bradley_terry.bradley_terry_certainty",
        ("Certainty.order_low",),
        _compared("order"),
    ),
)
