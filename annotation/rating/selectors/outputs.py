"""Which outputs of systems ratings count for, and the comparisons of systems that ratings of pairs are."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from django.db.models import QuerySet

from annotation.models import Campaign, Item, Rating, ResponseSource, UnitResponse
from annotation.rating.selectors.ratings import FloatArray, IntArray, RatingColumns


class Outputs(NamedTuple):
    """One entry per output of a system, ordered by response; a text of several systems is there once for each."""

    response: IntArray
    system: IntArray
    item: IntArray

    def credited(self, responses: IntArray) -> tuple[IntArray, IntArray]:
        """Return, for responses that may repeat, the row of each credit and the output that it goes to."""
        first = np.searchsorted(self.response, responses, side="left")
        n = np.searchsorted(self.response, responses, side="right") - first
        row = np.repeat(np.arange(responses.size), n)
        within = np.arange(row.size) - np.repeat(np.cumsum(n) - n, n)
        return row, first[row] + within


def outputs_of_datasets(dataset_ids: Collection[int]) -> tuple[Outputs, dict[int, str]]:
    """Return the outputs of the systems of data sets, and the systems' names."""
    rows = (
        ResponseSource.objects.filter(system__dataset__in=dataset_ids)
        .order_by("response_id", "system_id")
        .values_list("response_id", "system_id", "item_id", "system__name")
    )
    table = list(rows)
    columns = np.array([row[:3] for row in table], dtype=np.int64).reshape(-1, 3).T
    return Outputs(*columns), {row[1]: row[3] for row in table}


class Comparisons(NamedTuple):
    """Paired comparisons of systems; a comparison of texts counts for every pair of systems that gave them."""

    first: IntArray
    second: IntArray
    outcome: IntArray  # 1 the first is better, 0 a tie, -1 the second is better
    item: IntArray
    rater: IntArray  # -1 for a tie by construction
    weight: FloatArray
    unit: IntArray  # which two texts, a column of ``texts``; -1 for a tie by construction
    texts: IntArray  # (2, C) ids of responses, the lower first
    identical: int  # pairs of outputs that are one text: tied without a rater


def comparisons(
    ratings: RatingColumns,
    outputs: Outputs,
    names: Mapping[int, str],
    campaigns: Sequence[Campaign],
    *,
    by_points: bool = False,
) -> Comparisons:
    """Return comparisons from ratings of pairs on one criterion, the first on screen first.

    A preference says itself which text is better; if each text has a rating of its own, ``by_points``, it is the one
    with the higher rating.

    Two texts of an item count as often as the others do on average, however often they were compared: what raters were
    asked more often weighs no more. Two systems that gave the same text for an item are tied there by construction,
    with that same weight.
    """
    position = dict(Rating.objects.filter(pk__in=ratings.rating_id.tolist()).values_list("pk", "position"))
    place = np.array([position[pk] or 0 for pk in ratings.rating_id.tolist()], dtype=np.int64)
    order = np.lexsort((place, ratings.criterion_id, ratings.presentation_id))
    ratings = RatingColumns._make(column[order] for column in ratings)
    same = (ratings.presentation_id[1:] == ratings.presentation_id[:-1]) & (
        ratings.criterion_id[1:] == ratings.criterion_id[:-1]
    )
    left = np.flatnonzero(same)  # the second text stands right after the first
    at_first, first_output = outputs.credited(ratings.response_id[left])
    at_second, second_output = outputs.credited(ratings.response_id[left + 1])
    # Every system of the first text against every system of the second.
    starts, ends = np.searchsorted(at_second, at_first, "left"), np.searchsorted(at_second, at_first, "right")
    row = np.repeat(np.arange(at_first.size), ends - starts)
    within = np.arange(row.size) - np.repeat(np.cumsum(ends - starts) - (ends - starts), ends - starts)
    first, second = outputs.system[first_output[row]], outputs.system[second_output[starts[row] + within]]
    judged = left[at_first[row]]
    wanted = _wanted_pairs(campaigns, names)
    kept = np.array([frozenset(pair) in wanted for pair in zip(first.tolist(), second.tolist(), strict=True)], bool)
    first, second, judged = first[kept], second[kept], judged[kept]
    item_of = outputs.item[np.searchsorted(outputs.response, ratings.response_id)]
    ahead = ratings.value[judged] - ratings.value[judged + 1] if by_points else ratings.value[judged]
    outcome = np.sign(ahead).astype(np.int64)
    ties = _identical(outputs, wanted, campaigns)
    share = _times_compared(left.size, campaigns)
    texts = np.sort(np.stack([ratings.response_id[left], ratings.response_id[left + 1]]), axis=0)
    different, unit, times = np.unique(texts, axis=1, return_inverse=True, return_counts=True)
    unit = unit.ravel()
    weight = times.mean() / times[unit] if unit.size else np.zeros(0)
    of_row = at_first[row][kept]
    n = len(ties)
    return Comparisons(
        np.concatenate([first, ties[:, 0]]),
        np.concatenate([second, ties[:, 1]]),
        np.concatenate([outcome, np.zeros(n, dtype=np.int64)]),
        np.concatenate([item_of[judged], ties[:, 2]]),
        np.concatenate([ratings.rater_id[judged], np.full(n, -1, dtype=np.int64)]),
        np.concatenate([weight[of_row], np.full(n, share)]),
        np.concatenate([unit[of_row], np.full(n, -1, dtype=np.int64)]),
        different,
        n,
    )


def _wanted_pairs(campaigns: Sequence[Campaign], names: Mapping[int, str]) -> set[frozenset[int]]:
    """Return the pairs of systems that the campaigns compare: those that they name, or all of their systems."""
    wanted: set[frozenset[int]] = set()
    for campaign in campaigns:
        systems = {system.name: system.pk for system in campaign.dataset.systems.all()}
        chosen = {system.pk for system in campaign.systems.all()} or set(systems.values())
        if campaign.pairs:
            wanted |= {frozenset((systems[a], systems[b])) for a, b in campaign.pairs if a in systems and b in systems}
        else:
            ids = sorted(chosen & set(names))
            wanted |= {frozenset((a, b)) for place, a in enumerate(ids) for b in ids[place + 1 :]}
    return wanted


def _identical(outputs: Outputs, wanted: set[frozenset[int]], campaigns: Sequence[Campaign]) -> IntArray:
    """Return rows of (first, second, item) where two compared systems gave the same text."""
    items = {pk for campaign in campaigns for pk in _items_of(campaign)}
    by_response: dict[int, list[int]] = {}
    item_of: dict[int, int] = {}
    shared = outputs.response[1:][outputs.response[1:] == outputs.response[:-1]]
    for index in np.flatnonzero(np.isin(outputs.response, shared)).tolist():
        response = int(outputs.response[index])
        by_response.setdefault(response, []).append(int(outputs.system[index]))
        item_of[response] = int(outputs.item[index])
    rows = [
        (a, b, item_of[response])
        for response, systems in by_response.items()
        if item_of[response] in items
        for place, a in enumerate(systems)
        for b in systems[place + 1 :]
        if frozenset((a, b)) in wanted
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def _items_of(campaign: Campaign) -> QuerySet[Item, int]:
    """Return the items that a campaign asks about, also those whose texts are all the same and have no unit."""
    items = campaign.dataset.items.filter(split=campaign.split) if campaign.split else campaign.dataset.items.all()
    if campaign.item_limit:
        items = items.filter(units__campaign=campaign)
    return items.values_list("pk", flat=True)


def _times_compared(n: int, campaigns: Sequence[Campaign]) -> float:
    """Return how often a unit was compared, on average, and not 0."""
    units = UnitResponse.objects.filter(unit__campaign__in=campaigns, number=0).count()
    return max(n / units if units else 1.0, 1e-6)
