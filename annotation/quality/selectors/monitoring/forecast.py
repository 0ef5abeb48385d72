"""How many more ratings until it is known which system is better."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from annotation.allocation.topping_up import narrowing
from annotation.core.numbers import counted, decimals
from annotation.models import Campaign, Criterion
from annotation.quality.selectors.compared import OpenPair, compared
from annotation.quality.selectors.planned import Planned
from annotation.rating.selectors.ratings import IntArray, RatingColumns

MOST_PAIRS = 10  # open differences that are forecast, closest to certainty first
MOST_RATINGS = 5000  # further ratings that a forecast looks ahead
MOST_TIMES = 20  # as many ratings of a unit as it will have: so many raters are not found


@dataclass(frozen=True)
class PairForecast:
    """What tells two systems apart, the one ahead first. A chance is that of certainty then, from 0 to 1."""

    first: str
    second: str
    difference: float
    half_width: float  # of the interval now that decides, corrected for the number of pairs
    half_width_planned: float  # once the planned ratings are in
    chance_planned: float
    ratings: int | None  # further ones beyond the planned, where they decide; None if no number does
    chance: float  # with them; the best there is if no number does
    items: int | None  # more items beyond the planned, instead; None if too many
    chance_items: float
    reason: str = ""

    @property
    def percent_planned(self) -> str:
        return _percent(self.chance_planned)


@dataclass(frozen=True)
class CriterionForecast:
    """The differences of systems on one criterion: how many are certain, and what the others take."""

    criterion: str
    n_certain: int
    n_open: int
    planned: int  # ratings still to come: slots that are not filled
    pairs: list[PairForecast] = field(default_factory=list)
    reason: str = ""

    @property
    def nearest(self) -> PairForecast | None:
        """Return the open difference that takes the fewest ratings; if none is reached by ratings, the first."""
        reached = [pair for pair in self.pairs if pair.ratings is not None]
        return min(reached, key=lambda pair: pair.ratings or 0, default=self.pairs[0] if self.pairs else None)

    @property
    def sentence(self) -> str:
        """Say what it takes to know more, how sure that is, and how rough."""
        pair = self.nearest
        rough = "" if pair is None or pair.reason or self.reason else self._rough(pair)
        return f"{self._needed(pair)}{rough}"

    def _rough(self, pair: PairForecast) -> str:
        """Return what the forecast rests on, with the margin that the difference has now."""
        now = f"{decimals(pair.difference)} ± {decimals(pair.half_width)} now, corrected for the number of differences"
        return f" This is rough: it allows for the difference, {now}, to turn out smaller or larger."

    def _needed(self, pair: PairForecast | None) -> str:
        if self.reason:
            return f"Which system is better cannot be forecast: {self.reason}."
        if pair is None:
            return "The order of all systems is certain." if self.n_certain else ""
        if pair.reason:
            return f"What would tell {pair.first} from {pair.second} cannot be forecast yet: {pair.reason}."
        names = f"{pair.first} from {pair.second}"
        if pair.ratings == 0:
            how = f"The {counted(self.planned, 'planned answer')}" if self.planned else "One more answer"
            return f"{how} should tell {names}, with a chance of {_percent(pair.chance_planned)}."
        planned = f"; {self.planned:,} {'is' if self.planned == 1 else 'are'} planned" if self.planned else ""
        if pair.ratings is not None:
            total = about(pair.ratings + self.planned)
            return f"About {total} should tell {names}, with a chance of {_percent(pair.chance)}{planned}."
        if pair.items is not None:
            more = f"about {counted(_rounded(pair.items), 'more item')} should"
            chance = f"with a chance of {_percent(pair.chance_items)}"
            return f"No number of answers to these items is likely to tell {names}; {more}, {chance}."
        best = _percent(max(pair.chance, pair.chance_items))
        return f"{pair.first} and {pair.second} are too close: the best chance to tell them apart is {best}."


def about(n: int) -> str:
    """Return a forecast number of answers, each an item answered by one rater, with two figures.

    >>> about(7), about(143), about(1249)
    ('7 more answers', '140 more answers', '1,200 more answers')
    """
    return counted(_rounded(n), "more answer")


def _rounded(n: int) -> int:
    return n if n < 100 else int(float(f"{n:.2g}"))


def _percent(chance: float) -> str:
    return f"{min(max(round(100 * chance), 1), 99)} %"


def forecasts(
    campaign: Campaign, criteria: Sequence[Criterion], ratings: RatingColumns, planned: Planned
) -> list[CriterionForecast]:
    """Forecast each criterion of a campaign that compares systems; empty if it compares none, or was imported."""
    if campaign.imported or not len(ratings.rating_id):
        return []
    results = []
    for known in compared(campaign, criteria, ratings, planned):
        is_open = np.isin(known.units, planned.unit_id[planned.is_open])
        room = np.where(is_open, MOST_RATINGS, 0)
        pairs = [_forecast(pair, room, campaign.seed) for pair in known.open[:MOST_PAIRS]]
        results.append(
            CriterionForecast(known.criterion.name, known.n_certain, len(known.open), planned.left, pairs, known.reason)
        )
    return results


def _forecast(pair: OpenPair, room: IntArray, seed: int) -> PairForecast:
    if pair.known is None:
        reason, none = "too few texts have ratings of two raters", math.nan
        return PairForecast(pair.first, pair.second, none, none, none, none, None, none, None, none, reason)
    apart, means, items = pair.known
    planned, alpha = means.variance, pair.alpha
    most = min(MOST_RATINGS, MOST_TIMES * means.ratings.size)
    reductions = (taken for _, taken in islice(narrowing(means, room, seed=seed), most))
    ratings, chance = apart.ratings_needed(reductions, planned=planned, items=items, alpha=alpha)
    more_items, chance_items = apart.items_needed(planned=planned, items=items, alpha=alpha)
    return PairForecast(
        pair.first,
        pair.second,
        apart.difference,
        apart.half_width(alpha=alpha),
        pair.known.half_width(means, alpha),
        pair.known.chance(means, alpha),
        ratings,
        chance,
        more_items,
        chance_items,
    )
