"""The items that decide a result: where two systems differ most, or where raters of one disagree most."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.models import Campaign, Item, Response
from annotation.rating.selectors.duplicates import as_one, named_in
from annotation.results.selectors.counted import counted_ratings
from annotation.results.selectors.verdicts import shared_criteria

MOST = 50


@dataclass(frozen=True)
class Rated:
    """A text of an item with its ratings, lowest first."""

    response: Response
    systems: list[str]
    values: list[float]
    mean: float


@dataclass(frozen=True)
class DecidingItem:
    """An item with the texts in question; ``size`` is their difference, or the spread of ratings."""

    item: Item
    texts: list[Rated]
    size: float


def deciding_items(
    campaigns: Sequence[Campaign],
    criterion: str,
    systems: Sequence[str],
    *,
    filters: Mapping[str, Any] | None = None,
    most: int = MOST,
) -> list[DecidingItem]:
    """Return the items on which two systems differ most, or on which raters disagree most about one system's text."""
    criteria = next((each for each in shared_criteria(campaigns) if each[0].name == criterion), None)
    if criteria is None or not 1 <= len(systems) <= 2:
        return []
    rated = counted_ratings(campaigns, filters)
    outputs, names, groups = as_one(rated.outputs, rated.names)
    systems = [named_in(groups, name) for name in systems]
    ratings = rated.of([each.pk for each in criteria])
    row, output = outputs.credited(ratings.response_id)
    name = np.array([names[pk] for pk in outputs.system[output].tolist()], dtype=object)
    item, response, value = outputs.item[output], ratings.response_id[row], ratings.value[row]
    scaled = criteria[0].scale.weighed(value)
    by_system = [name == system for system in systems]
    means = []
    for mine in by_system:
        items, codes = np.unique(item[mine], return_inverse=True)
        n = np.bincount(codes)
        mean = np.bincount(codes, scaled[mine]) / np.maximum(n, 1)
        squares = np.bincount(codes, (scaled[mine] - mean[codes]) ** 2)
        spread = np.sqrt(np.divide(squares, n - 1, out=np.zeros(n.size), where=n > 1))
        means.append((items, mean, spread))
    if len(systems) == 2:
        shared, left, right = np.intersect1d(means[0][0], means[1][0], return_indices=True)
        size = means[0][1][left] - means[1][1][right]
    else:
        shared, size = means[0][0], means[0][2]
    order = np.argsort(-np.abs(size), kind="stable")[:most]
    chosen = {int(shared[index]): float(size[index]) for index in order if size[index] != 0}
    texts: dict[int, list[tuple[int, int]]] = {pk: [] for pk in chosen}
    for place, mine in enumerate(by_system):
        for pk, text in set(zip(item[mine].tolist(), response[mine].tolist(), strict=True)):
            if pk in texts:
                texts[pk].append((place, text))
    responses = Response.objects.in_bulk([text for pairs in texts.values() for _, text in pairs])
    items_by_pk = Item.objects.select_related("dataset").in_bulk(list(chosen))
    return [
        DecidingItem(
            items_by_pk[pk],
            [
                _rated(responses[text], [systems[place]], value[by_system[place] & (response == text)])
                for place, text in sorted(texts[pk])
            ],
            apart,
        )
        for pk, apart in chosen.items()
    ]


def _rated(response: Response, systems: list[str], values: np.ndarray[Any, np.dtype[np.float64]]) -> Rated:
    return Rated(response, systems, sorted(values.tolist()), float(values.mean()))
