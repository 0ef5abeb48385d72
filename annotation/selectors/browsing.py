"""Reads behind the browser of a release's references."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from django.db.models import Count, Prefetch, Q, QuerySet

from annotation.models import Item, ReferenceSet, Release, ReleaseWeight, ResponseSource
from annotation.selectors.releases import release_judgements


class WeightFilter(NamedTuple):
    """What the browser of a release can be narrowed to."""

    low: float | None = None
    high: float | None = None
    source: str = ""  # a kind, or the name of a system
    min_ratings: int | None = None
    no_positive: bool = False
    text: str = ""


EVERYTHING = WeightFilter()


EVERYTHING = WeightFilter()


def _matching_weights(release: Release, chosen: WeightFilter) -> QuerySet[ReleaseWeight]:
    weights = release.weights.all()
    if chosen.low is not None:
        weights = weights.filter(weight__gte=chosen.low)
    if chosen.high is not None:
        weights = weights.filter(weight__lte=chosen.high)
    if chosen.min_ratings is not None:
        weights = weights.filter(n_ratings__gte=chosen.min_ratings)
    if chosen.source:
        named = Q(kind=chosen.source) | Q(system__name=chosen.source)
        sources = ResponseSource.objects.filter(named, item__dataset=release.reference_set.dataset_id)
        weights = weights.filter(response__in=sources.values("response_id"))
    if chosen.text:
        weights = weights.filter(Q(response__text__icontains=chosen.text) | Q(item__message__icontains=chosen.text))
    if chosen.no_positive:
        weights = weights.exclude(item__in=release.weights.filter(weight__gt=0).values("item_id"))
    return weights


class ItemPage(NamedTuple):
    """Some items with their references, and the positions the pages before and after start from."""

    items: list[Item]  # each with ``shown_weights`` (those that match) and ``n_weights`` (all it has)
    before: int | None
    after: int | None
    n_items: int
    n_weights: int


def release_items(
    release: Release,
    chosen: WeightFilter,
    *,
    after: int | None = None,
    before: int | None = None,
    size: int = 10,
) -> ItemPage:
    """One page of items in their own order, each with the references that match, by weight."""
    matching = _matching_weights(release, chosen)
    totals = matching.aggregate(items=Count("item", distinct=True), weights=Count("id"))
    items = Item.objects.filter(pk__in=matching.values("item_id"))
    if before is not None:
        found = list(items.filter(position__lt=before).order_by("-position")[: size + 1])
        more_before, more_after = len(found) > size, True
        page = found[:size][::-1]
    else:
        start = -1 if after is None else after
        found = list(items.filter(position__gt=start).order_by("position")[: size + 1])
        more_before, more_after = after is not None, len(found) > size
        page = found[:size]
    _attach_weights(release, matching, page)
    return ItemPage(
        items=page,
        before=page[0].position if page and more_before else None,
        after=page[-1].position if page and more_after else None,
        n_items=totals["items"],
        n_weights=totals["weights"],
    )


def _attach_weights(release: Release, matching: QuerySet[ReleaseWeight], items: Sequence[Item]) -> None:
    sources = Prefetch("response__sources", ResponseSource.objects.select_related("system"))
    weights = (
        matching.filter(item__in=[item.pk for item in items])
        .select_related("response")
        .prefetch_related(sources)
        .order_by("-weight", "response_id")
    )
    n_weights = dict(
        release.weights.filter(item__in=[item.pk for item in items])
        .order_by()
        .values_list("item_id")
        .annotate(n=Count("id"))
    )
    shown: dict[int, list[ReleaseWeight]] = {item.pk: [] for item in items}
    for weight in weights:
        shown[weight.item_id].append(weight)
    for item in items:
        item.shown_weights = shown[item.pk]  # type: ignore[attr-defined] # for templates
        item.n_weights = n_weights.get(item.pk, 0)  # type: ignore[attr-defined]


def value_histograms(release: Release, response_ids: Sequence[int]) -> dict[int, list[tuple[float, int, int]]]:
    """Per response, (value, judgements, percent of its most frequent value) over the points of the scale."""
    table = release_judgements(release)
    wanted = np.isin(table.response_id, response_ids)
    points = np.arange(table.low, table.high + 1)
    result = {}
    nearest = np.floor(table.value + 0.5)  # means over criteria fall between points: halves go up
    for number in response_ids:
        mine = nearest[wanted & (table.response_id == number)]
        counts = [int((mine == point).sum()) for point in points]
        tallest = max(counts, default=0) or 1
        result[number] = [
            (float(point), count, 100 * count // tallest) for point, count in zip(points, counts, strict=True)
        ]
    return result


def source_names(reference_set: ReferenceSet) -> list[str]:
    """What the source filter offers: the set's own kinds and systems."""
    return [*reference_set.source_kinds, *reference_set.source_systems]


WEIGHT_COLUMNS = (
    "item",
    "response_id",
    "text",
    "weight",
    "rating_mean",
    "n_ratings",
    "standard_error",
    "low",
    "high",
    "is_original",
    "sources",
)


WEIGHT_COLUMNS = (
    "item",
    "response_id",
    "text",
    "weight",
    "rating_mean",
    "n_ratings",
    "standard_error",
    "low",
    "high",
    "is_original",
    "sources",
)


def weight_rows(release: Release, chosen: WeightFilter = EVERYTHING) -> QuerySet[ReleaseWeight]:
    """Weights in the order of the items, highest first, with what a download needs."""
    sources = Prefetch("response__sources", ResponseSource.objects.select_related("system"))
    return (
        _matching_weights(release, chosen)
        .select_related("item", "response")
        .prefetch_related(sources)
        .order_by("item__position", "-weight", "response_id")
    )


def distribution(release: Release) -> np.ndarray:
    """All weights of a release."""
    return np.array(release.weights.order_by().values_list("weight", flat=True), dtype=np.float64)
