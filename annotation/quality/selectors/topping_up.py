"""What a number of further ratings would narrow, and which units would get them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from annotation.allocation.topping_up import RatedMeans, further_ratings
from annotation.campaigns.fields.table import MOST_RATINGS
from annotation.core.errors import AnnotationError
from annotation.models import Campaign, Criterion
from annotation.quality.selectors.compared import Compared, Narrowing, OpenPair, compared
from annotation.quality.selectors.decisions import excluded_rater_ids
from annotation.quality.selectors.planned import Planned, planned_ratings
from annotation.rating.selectors.ratings import RatingColumns, rating_columns

USUAL_TIMES = 3  # of the campaign's ratings per item: what one item gets at most by default


class Question(NamedTuple):
    """What further ratings are to narrow: one difference, every open one, or, without a criterion, all weights."""

    criterion: str = ""
    systems: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        if not self.criterion:
            return "The weights of all texts"
        what = " and ".join(self.systems) if self.systems else "every difference that is open"
        return f"{self.criterion}: {what}"


@dataclass(frozen=True, eq=False)
class TopUp:
    """Further ratings by unit, and what they do to the intervals that decide."""

    question: Question
    further: dict[int, int]  # unit id -> how many more
    n_units: int  # that are handed out
    floor: int
    most: int
    seed: int
    n_ratings: int  # that it was computed from
    pairs: list[tuple[OpenPair, Narrowing, RatedMeans]]  # open differences with their means by the plan, and afterwards
    narrowing: float  # share that it takes off the half-widths of weights

    @property
    def total(self) -> int:
        return sum(self.further.values())


def top_up_plan(
    campaign: Campaign,
    *,
    ratings: int,
    question: Question,
    floor: int | None = None,
    most: int | None = None,
    seed: int | None = None,
) -> TopUp:
    """Return which units get the ratings; raise if they cannot be spent so."""
    k = campaign.ratings_per_unit
    floor, most = floor or k, most or usual_most(k)
    _check(k, ratings, floor, most)
    criteria = list(campaign.criteria.all())
    counted = _counted(campaign)
    planned = planned_ratings(campaign)
    units, first = np.unique(planned.unit_id, return_index=True)
    chosen, means = _chosen(campaign, criteria, counted, planned, question)
    if not means.variance > 0:
        raise AnnotationError.at("question", "More ratings narrow nothing: raters agree on every item.")
    wanted, is_open = planned.wanted[first], planned.is_open[first]
    seed = campaign.seed if seed is None else seed
    least = int(np.maximum(floor - wanted[is_open], 0).sum())
    if ratings < least:
        message = f"Found {ratings:,}; accepted: {least:,} or more, to bring every item to {floor} ratings."
        raise AnnotationError.at("ratings", message)
    further = further_ratings(means, ratings, wanted=wanted, floor=floor, most=most, seed=seed, open_units=is_open)
    if further.sum() < ratings:
        message = f"Found {ratings:,}; accepted: up to {int(further.sum()):,}, with at most {most} ratings of an item."
        raise AnnotationError.at("ratings", message)
    after = means.with_more(further)
    return TopUp(
        question,
        {int(unit): int(n) for unit, n in zip(units, further, strict=True) if n},
        int(is_open.sum()),
        floor,
        most,
        seed,
        len(counted.rating_id),
        [(pair, pair.known, pair.known.means.with_more(further)) for pair in chosen if pair.known is not None],
        1 - float(np.sqrt(after.variance / means.variance)) if means.variance else 0.0,
    )


def usual_most(k: int) -> int:
    """Return what one item gets at most by default."""
    return min(max(USUAL_TIMES * k, k + 1), MOST_RATINGS)


def questions(campaign: Campaign) -> list[Question]:
    """Return what a campaign's further ratings can narrow now: open differences, or weights if it compares nothing."""
    planned, criteria = planned_ratings(campaign), list(campaign.criteria.all())
    known = compared(campaign, criteria, _counted(campaign), planned)
    if not known:
        return [Question()]
    offered = []
    for each in known:
        name, left = each.criterion.name, [pair for pair in each.open if pair.known is not None]
        pairs = [Question(name, (pair.first, pair.second)) for pair in left]
        offered += [Question(name), *pairs] if len(pairs) > 1 else pairs
    return offered


def _check(k: int, ratings: int, floor: int, most: int) -> None:
    if isinstance(ratings, bool) or ratings < 1:
        raise AnnotationError.at("ratings", f"Found {ratings}; accepted: 1 or more.")
    if not k <= floor <= MOST_RATINGS:
        raise AnnotationError.at("floor", f"Found {floor}; accepted: {k}, which every item has, to {MOST_RATINGS}.")
    if not max(floor, k + 1) <= most <= MOST_RATINGS:
        raise AnnotationError.at("most", f"Found {most}; accepted: {max(floor, k + 1)} to {MOST_RATINGS}.")


def _counted(campaign: Campaign) -> RatingColumns:
    ratings = rating_columns([campaign], timed=False)
    return ratings.select(~np.isin(ratings.rater_id, excluded_rater_ids([campaign])))


def _chosen(
    campaign: Campaign, criteria: Sequence[Criterion], ratings: RatingColumns, planned: Planned, question: Question
) -> tuple[list[OpenPair], RatedMeans]:
    """Return the open differences that the question names, and the means behind them."""
    if not question.criterion:
        return [], _of_texts(ratings, planned)
    known = compared(campaign, criteria, ratings, planned)
    of_criterion = next((each for each in known if each.criterion.name == question.criterion), None)
    if of_criterion is None:
        names = ", ".join(each.criterion.name for each in known) or "none: the campaign compares no systems"
        raise AnnotationError.at("criterion", f"Found {question.criterion!r}; accepted: {names}.")
    pairs = _named(of_criterion, question.systems)
    return pairs, _together([pair.known.means for pair in pairs if pair.known is not None])


def _named(known: Compared, systems: Sequence[str]) -> list[OpenPair]:
    left = [pair for pair in known.open if pair.known is not None]
    chosen = [pair for pair in left if not systems or {pair.first, pair.second} == set(systems)]
    if not chosen:
        offered = "; ".join(f"{pair.first}, {pair.second}" for pair in left) or "none: no difference is open"
        found = ", ".join(systems) or "no systems"
        raise AnnotationError.at("systems", f"Found {found}; accepted are two whose order is open: {offered}.")
    return chosen


def _together(every: Sequence[RatedMeans]) -> RatedMeans:
    """Return the means of several differences as one: each counts by the share of its variance that is taken away."""
    starts = np.cumsum([0, *(means.ratings.size for means in every)])
    return RatedMeans(
        np.concatenate([means.unit for means in every]),
        np.concatenate([means.mean + start for means, start in zip(every, starts, strict=False)]),
        np.concatenate([means.ratings for means in every]),
        np.concatenate([means.spread / (means.variance or 1.0) for means in every]),
    )


def _of_texts(ratings: RatingColumns, planned: Planned) -> RatedMeans:
    """Return each shown text's mean: all weigh the same, so that those with the fewest ratings come first."""
    texts, mean = np.unique(planned.response_id, return_inverse=True)
    unit = np.unique(planned.unit_id, return_inverse=True)[1]
    judged = np.unique(np.stack([ratings.presentation_id, ratings.response_id]), axis=1)[1]
    by_plan = np.bincount(np.searchsorted(texts, judged[np.isin(judged, texts)]), minlength=texts.size).astype(float)
    by_plan += np.bincount(mean, planned.wanted - planned.done, minlength=texts.size)
    kept = by_plan > 0
    inside = kept[mean]
    return RatedMeans(unit[inside], (np.cumsum(kept) - 1)[mean[inside]], by_plan[kept], np.ones(int(kept.sum())))
