"""What a campaign knows of the differences of its systems, and which ratings would narrow them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isnan
from typing import NamedTuple

import numpy as np

from annotation.allocation.topping_up import RatedMeans
from annotation.models import Campaign, Criterion
from annotation.quality.selectors.planned import Planned
from annotation.ranking.bradley_terry import bradley_terry, bradley_terry_certainty, influences
from annotation.ranking.clustered import Clusters, two_way_variance
from annotation.ranking.forecast import Separation, pooled_spread
from annotation.ranking.holm import holm_adjusted
from annotation.ranking.means import system_means
from annotation.rating.selectors.duplicates import as_one
from annotation.rating.selectors.outputs import Comparisons, Outputs, comparisons, outputs_of_datasets
from annotation.rating.selectors.ratings import BoolArray, FloatArray, IntArray, RatingColumns

SEED = 12345  # that of the results: both pages call the same differences certain
ALPHA = 0.05


class Narrowing(NamedTuple):
    """A difference, the means that ratings of it make up by the plan, and how many times the items there are then."""

    separation: Separation
    means: RatedMeans
    items: float

    def half_width(self, means: RatedMeans, alpha: float) -> float:
        return self.separation.half_width(noise=means.variance, items=self.items, alpha=alpha)

    def chance(self, means: RatedMeans, alpha: float) -> float:
        return self.separation.chance(noise=means.variance, items=self.items, alpha=alpha)


@dataclass(frozen=True, eq=False)
class OpenPair:
    """Two systems whose order is not certain, the one ahead first.

    ``alpha`` is the p that makes it certain: Holm's, if the pairs that are closer to certainty become so before.
    """

    first: str
    second: str
    alpha: float
    known: Narrowing | None  # None while the spread of ratings is not known


@dataclass(frozen=True, eq=False)
class Compared:
    """A criterion's systems: how many differences are certain, and those that are open, closest to certainty first."""

    criterion: Criterion
    n_certain: int
    open: list[OpenPair]
    units: IntArray  # ids, in the order of the codes of units in ``RatedMeans``
    reason: str = ""


class _World(NamedTuple):
    """The counted ratings of one criterion, the plan, the outputs, and the names of their systems."""

    campaign: Campaign
    ratings: RatingColumns
    planned: Planned
    outputs: Outputs
    names: dict[int, str]


def compared(
    campaign: Campaign, criteria: Sequence[Criterion], ratings: RatingColumns, planned: Planned
) -> list[Compared]:
    """Return what is known on each criterion from counted ratings; nothing if fewer than two systems have some."""
    outputs, names, _ = as_one(*outputs_of_datasets([campaign.dataset_id]))
    rated = ratings.select(np.isin(ratings.response_id, outputs.response))
    if len(np.unique(outputs.system[np.isin(outputs.response, rated.response_id)])) < 2:
        return []
    by_kind = {"means": _by_means, "comparisons": _by_comparisons}
    results = []
    for criterion in criteria:
        mine = rated.select(rated.criterion_id == criterion.pk)
        world = _World(campaign, mine, planned, outputs, names)
        results.append(by_kind[criterion.scale.ranked](criterion, world))
    return results


def _open(pairs: Sequence[tuple[int, int]], p_values: FloatArray) -> tuple[int, list[tuple[tuple[int, int], float]]]:
    """Return how many differences are certain, and the open ones, each with the p that makes it certain."""
    adjusted = holm_adjusted(p_values)
    order = [int(index) for index in np.argsort(p_values, kind="stable") if adjusted[index] > ALPHA]
    left = [(pairs[index], ALPHA / (len(order) - place)) for place, index in enumerate(order)]
    return int((adjusted <= ALPHA).sum()), left


# --- Means ------------------------------------------------------------------------------------------------------------


class _Rated(NamedTuple):
    """Ratings of outputs, a row for each credit; systems and items as codes."""

    system: IntArray
    item: IntArray
    value: FloatArray
    presentation: IntArray


class _Shown(NamedTuple):
    """Outputs as units show them, a row for each credit; ``left`` are the unit's slots that are not filled."""

    system: IntArray
    item: IntArray
    unit: IntArray
    response: IntArray
    left: IntArray


def _by_means(criterion: Criterion, world: _World) -> Compared:
    _, ratings, planned, outputs, names = world
    units, unit = np.unique(planned.unit_id, return_inverse=True)
    row, output = outputs.credited(ratings.response_id)
    at, credit = outputs.credited(planned.response_id)
    systems = np.unique(outputs.system[output])
    among = np.isin(outputs.system[credit], systems)
    at, credit = at[among], credit[among]
    items = np.unique(outputs.item[np.concatenate([output, credit])])
    values = criterion.scale.weighed(ratings.value)[row]
    if not values.size or np.ptp(values) == 0:
        return Compared(criterion, 0, [], units, "all ratings are equal")
    rated = _Rated(
        np.searchsorted(systems, outputs.system[output]),
        np.searchsorted(items, outputs.item[output]),
        values,
        ratings.presentation_id[row],
    )
    shown = _Shown(
        np.searchsorted(systems, outputs.system[credit]),
        np.searchsorted(items, outputs.item[credit]),
        unit[at],
        planned.response_id[at],
        (planned.wanted - planned.done)[at],
    )
    means = system_means(
        rated.system,
        rated.item,
        np.unique(ratings.rater_id, return_inverse=True)[1][row],
        values,
        rng=np.random.default_rng(SEED),
        n_systems=len(systems),
        ends=criterion.scale.ends,
    )
    of_items = np.full((len(systems), len(items)), np.nan)
    of_items[:, : means.of_items.shape[1]] = means.of_items
    pairs = list(combinations(range(len(systems)), 2))
    n_certain, left = _open(pairs, np.array([means.differences.p_values[pair] for pair in pairs]))
    found = []
    for (i, j), alpha in left:
        ahead, behind = (i, j) if means.differences.mean[i, j] >= 0 else (j, i)
        raters = float(means.differences.of_raters[i, j]), float(means.differences.n_raters[i, j])
        known = _of_two(rated, shown, of_items[ahead] - of_items[behind], ahead, behind, raters)
        found.append(OpenPair(names[int(systems[ahead])], names[int(systems[behind])], alpha, known))
    return Compared(criterion, n_certain, found, units)


def _of_two(
    rated: _Rated, shown: _Shown, differences: FloatArray, first: int, second: int, raters: tuple[float, float]
) -> Narrowing | None:
    """Return what is known of two systems' difference, given that of each item (NaN if unrated).

    ``raters`` are its variance over raters and their number in effect.
    """
    now = np.isfinite(differences)
    if now.sum() < 2 or isnan(raters[0]):
        return None
    rated = _Rated._make(column[np.isin(rated.system, (first, second))] for column in rated)
    shown = _Shown._make(column[np.isin(shown.system, (first, second))] for column in shown)
    n_items = differences.size
    together = _are_shown_together(shown, first, second)
    if together:  # a unit's rating is one of the difference
        value, cell = _of_presentations(rated, second)
        kind, shown_in = np.zeros(n_items, dtype=np.int64), shown.item
    else:
        value, cell = rated.value, (rated.system == second) * n_items + rated.item
        kind, shown_in = np.repeat([0, 1], n_items), (shown.system == second) * n_items + shown.item
    spread = pooled_spread(value, cell, kind)
    if np.isnan(spread).any():
        return None
    ratings = np.bincount(cell, minlength=kind.size)
    unit, mean, left = np.unique(np.stack([shown.unit, shown_in, shown.left]), axis=1)
    by_plan = (ratings + np.bincount(mean, left, minlength=kind.size)).astype(np.float64)
    then = by_plan > 0 if together else (by_plan[:n_items] > 0) & (by_plan[n_items:] > 0)
    n_now, n_then = int(now.sum()), int(then.sum())
    apart = _have_different_texts(shown, first, second, n_items)
    # In both halves of the cells, if each system has its own.
    counted, kept = (np.tile(items & apart, kind.size // n_items) for items in (now, then))
    noise = float((spread[counted] / np.maximum(ratings[counted], 1)).sum()) / n_now**2
    variance = float(differences[now].var(ddof=1)) / n_now
    inside, code = kept[mean], np.cumsum(kept) - 1
    means = RatedMeans(unit[inside], code[mean[inside]], by_plan[kept], spread[kept] / (n_now * n_then))
    between_raters, n_raters = raters
    beside = max(between_raters - noise, 0.0)
    separation = Separation.of(float(differences[now].mean()), variance, noise, float(n_now), beside, n_raters)
    return Narrowing(separation, means, n_then / n_now)


def _are_shown_together(shown: _Shown, first: int, second: int) -> bool:
    """Return whether each item has one unit that shows the systems, and it shows both."""
    units = [np.unique(shown.unit[shown.system == system]) for system in (first, second)]
    n_items = len(np.unique(shown.item))
    return np.array_equal(units[0], units[1]) and units[0].size == n_items


def _of_presentations(rated: _Rated, second: int) -> tuple[FloatArray, IntArray]:
    """Return the difference of the two systems within each presentation that rates both, and its item."""
    (item, _), code = np.unique(np.stack([rated.item, rated.presentation]), axis=1, return_inverse=True)
    means, both = [], np.ones(item.size, dtype=bool)
    for mine in (rated.system != second, rated.system == second):
        n = np.bincount(code.ravel()[mine], minlength=item.size)
        means.append(np.bincount(code.ravel()[mine], rated.value[mine], minlength=item.size) / np.maximum(n, 1))
        both &= n > 0
    return (means[0] - means[1])[both], item[both]


def _have_different_texts(shown: _Shown, first: int, second: int, n_items: int) -> BoolArray:
    """Return the items for which the systems gave different texts: of one text, no rating moves the difference of 0."""
    first_texts, second_texts = (
        set(zip(shown.item[mine].tolist(), shown.response[mine].tolist(), strict=True))
        for mine in (shown.system == first, shown.system == second)
    )
    different = np.zeros(n_items, dtype=bool)
    different[[item for item, _ in first_texts ^ second_texts]] = True
    return different


# --- Comparisons ------------------------------------------------------------------------------------------------------


class OpenStrengths(NamedTuple):
    """Two systems by their ids whose order is not certain, the one ahead first; as ``OpenPair``."""

    first: int
    second: int
    alpha: float
    known: Narrowing | None


def _by_comparisons(criterion: Criterion, world: _World) -> Compared:
    rows = comparisons(world.ratings, world.outputs, world.names, [world.campaign])
    n_certain, left, reason = open_strengths(rows, world.planned, world.outputs)
    found = [OpenPair(world.names[pair.first], world.names[pair.second], pair.alpha, pair.known) for pair in left]
    return Compared(criterion, n_certain, found, np.unique(world.planned.unit_id), reason)


def open_strengths(rows: Comparisons, planned: Planned, outputs: Outputs) -> tuple[int, list[OpenStrengths], str]:
    """Return how many differences of strengths are certain, and the open ones; or why there are no strengths."""
    systems = np.unique(np.concatenate([rows.first, rows.second]))
    first, second = np.searchsorted(systems, rows.first), np.searchsorted(systems, rows.second)
    n, weight = len(systems), rows.weight
    fit = bradley_terry(first, second, rows.outcome, n_systems=n, order_effect=True, weight=weight)
    if fit.reason:
        fit = bradley_terry(first, second, rows.outcome, n_systems=n, weight=weight)
    if fit.reason:
        return 0, [], fit.reason
    certainty = bradley_terry_certainty(
        fit, first, second, rows.outcome, item=rows.item, rater=rows.rater, weight=weight
    )
    pairs = list(combinations(range(n), 2))
    n_certain, left = _open(pairs, np.array([certainty.p_values[pair] for pair in pairs]))
    moved = influences(fit, np.stack([first, second, rows.outcome], axis=1), weight)
    clusters = Clusters.of(rows.item, rows.rater)
    found = []
    for (i, j), alpha in left:
        ahead, behind = (i, j) if fit.strengths[i] >= fit.strengths[j] else (j, i)
        adds = moved[:, ahead] - moved[:, behind]
        share = np.isin(np.stack([first, second]), (ahead, behind)).any(axis=0) * weight
        variance = two_way_variance(adds, clusters, share)
        of_units = None if isnan(variance.items) else _of_units(rows, adds, planned, outputs)
        known = None
        if of_units is not None:
            means, noise, growth = of_units
            apart = float(fit.strengths[ahead] - fit.strengths[behind])
            by_raters = variance.raters, variance.n_raters
            known = Narrowing(Separation.of(apart, variance.items, noise, variance.n_items, *by_raters), means, growth)
        found.append(OpenStrengths(int(systems[ahead]), int(systems[behind]), alpha, known))
    return n_certain, found, ""


def _of_units(
    rows: Comparisons, adds: FloatArray, planned: Planned, outputs: Outputs
) -> tuple[RatedMeans, float, float] | None:
    """Return what ratings of units add to an estimate by the plan, what they add now, and how many times the units.

    A unit adds the mean over its raters of ``adds`` times their number.
    """
    texts, judged = rows.texts, rows.unit >= 0
    (which, _), code = np.unique(np.stack([rows.unit[judged], rows.rater[judged]]), axis=1, return_inverse=True)
    n = np.bincount(which, minlength=texts.shape[1])
    value = np.bincount(code.ravel(), adds[judged]) * n[which]
    # Units are known by their two texts.
    units = np.unique(planned.unit_id)
    order = np.lexsort((planned.response_id, planned.unit_id))
    shown, left, unit = (
        column[order].reshape(-1, 2) for column in (planned.response_id, planned.wanted - planned.done, planned.unit_id)
    )
    different, cell = np.unique(np.concatenate([texts.T, shown]), axis=0, return_inverse=True)
    of_texts, of_plan = np.split(cell.ravel(), [texts.shape[1]])
    by = outputs.system[np.searchsorted(outputs.response, different).clip(max=outputs.response.size - 1)]
    kind = np.unique(np.sort(by, axis=1), axis=0, return_inverse=True)[1].ravel()  # the two systems
    spread = pooled_spread(value, of_texts[which], kind)
    if np.isnan(spread).any():
        return None
    rated = np.bincount(of_texts, n, minlength=len(different))
    by_plan = (rated + np.bincount(of_plan, left[:, 0], minlength=len(different))).astype(np.float64)
    kept, growth = by_plan > 0, float((by_plan > 0).sum() / (rated > 0).sum())
    inside, code = kept[of_plan], np.cumsum(kept) - 1
    means = RatedMeans(
        np.searchsorted(units, unit[:, 0])[inside], code[of_plan[inside]], by_plan[kept], spread[kept] / growth
    )
    return means, float((spread / np.maximum(rated, 1))[rated > 0].sum()), growth
