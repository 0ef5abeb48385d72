"""Reads behind the browser of a release's references: what fits a filter, a page at a time, and how it is distributed.

A page starts after (before, at) one row of the release and reads on in the order of an index: the hundredth costs what
the first does. Nothing is counted beyond ``COUNTED``; totals of everything are in the release's report.
"""

import hashlib
import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from django.contrib.postgres.search import SearchQuery
from django.core.cache import cache
from django.db.models import (
    BooleanField,
    Count,
    Exists,
    F,
    FloatField,
    Func,
    Max,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Value,
)
from django.db.models.expressions import Combinable
from django.db.models.functions import Abs, Coalesce, Floor, Sign

from annotation.core.searching import read_as_words
from annotation.models import Item, ReferenceSet, Release, ReleaseWeight, Response, ResponseSource
from annotation.models.datasets import searched
from annotation.models.releases import NO_SPREAD, NO_WIDTH
from annotation.references.releases.selectors.seeds import fallen_seeds

PAGE = 48  # references
COUNTED = 1000
KEPT_SECONDS = 600


class WeightFilter(NamedTuple):
    """What the browser of a release can be narrowed to."""

    low: float | None = None
    high: float | None = None
    source: str = ""  # a kind, or the name of a system
    min_ratings: int | None = None
    no_positive: bool = False
    text: str = ""
    max_ratings: int | None = None
    min_width: float | None = None  # of the interval
    max_width: float | None = None
    min_spread: float | None = None  # standard deviation of the judgements
    max_spread: float | None = None
    split: str = ""
    sign: str = ""  # positive, zero or negative
    original: str = ""  # yes or no
    spans_zero: bool = False
    fallen: bool = False  # seeds below the threshold at which they were selected


EVERYTHING = WeightFilter()
_SIGNS = {"positive": Q(weight__gt=0), "zero": Q(weight=0), "negative": Q(weight__lt=0)}
_BOUNDS = {
    "low": "weight__gte",
    "high": "weight__lte",
    "min_ratings": "n_ratings__gte",
    "max_ratings": "n_ratings__lte",
    "min_spread": "rating_spread__gte",
    "max_spread": "rating_spread__lte",
    "min_width": "width__gte",
    "max_width": "width__lte",
}
WIDTH = Coalesce(F("high") - F("low"), Value(NO_WIDTH), output_field=FloatField())
SPREAD = Coalesce(F("rating_spread"), Value(NO_SPREAD), output_field=FloatField())


def _matching_weights(release: Release, chosen: WeightFilter) -> QuerySet[ReleaseWeight]:
    """Those that fit. Every condition can be answered row by row, so that a page need not look at all rows."""
    weights = release.weights.alias(width=F("high") - F("low"))
    asked = chosen._asdict()
    weights = weights.filter(**{lookup: asked[name] for name, lookup in _BOUNDS.items() if asked[name] is not None})
    if chosen.sign:
        weights = weights.filter(_SIGNS[chosen.sign])
    if chosen.original:
        weights = weights.filter(is_original=chosen.original == "yes")
    if chosen.spans_zero:
        weights = weights.filter(low__lte=0, high__gte=0)
    if chosen.fallen:
        weights = weights.filter(response__in=fallen_response_ids(release))
    if chosen.split:
        weights = weights.filter(item__split=chosen.split)
    if chosen.source:
        named = Q(kind=chosen.source) | Q(system__name=chosen.source)
        weights = weights.filter(Exists(ResponseSource.objects.filter(named, response=OuterRef("response"))))
    if chosen.text:
        weights = weights.filter(_found(chosen.text))
    if chosen.no_positive:
        of_item = ReleaseWeight.objects.filter(release=release, item_position=OuterRef("item_position"))
        weights = weights.filter(~Exists(of_item.filter(weight__gt=0)))
    return weights


def fallen_response_ids(release: Release) -> set[int]:
    """Kept for a minute: each page asks."""
    key = f"release-fallen-{release.pk}"
    found: set[int] | None = cache.get(key)
    if found is None:
        found = fallen_seeds(release)
        cache.set(key, found, 60)
    return found


def _found(text: str) -> Q:
    """The reference's text or the item's message fits the search, each by itself."""
    if not read_as_words(text):
        return Q(response__text__icontains=text) | Q(item__message__icontains=text)
    query = SearchQuery(text, config="simple", search_type="websearch")
    responses = Response.objects.alias(words=searched("text")).filter(words=query)
    items = Item.objects.alias(words=searched("message")).filter(words=query)
    return Q(response__in=responses.order_by().values("pk")) | Q(item__in=items.order_by().values("pk"))


# --- Pages -----------------------------------------------------------------------------------------------------------


class Start(NamedTuple):
    """Where a page starts: after or before a weight, or at a response, by id; nowhere: at the beginning."""

    after: int | None = None
    before: int | None = None
    at: int | None = None


BEGINNING = Start()


class ReferencePage(NamedTuple):
    """Some references in the order asked for, and the weights that the pages before and after start from."""

    references: list[ReleaseWeight]
    before: int | None
    after: int | None
    continues: bool = False  # its first item began on the page before


class _Order(NamedTuple):
    key: Combinable
    descending: bool


# By reference. Ties are broken by id in the same direction, so that one index serves both.
ORDERS = {
    "-weight": _Order(F("weight"), True),
    "weight": _Order(F("weight"), False),
    "-width": _Order(WIDTH, True),
    "width": _Order(WIDTH, False),
    "-spread": _Order(SPREAD, True),
    "spread": _Order(SPREAD, False),
    "-n": _Order(F("n_ratings"), True),
    "n": _Order(F("n_ratings"), False),
}


class _RowIs(Func):
    """(a, b) < (c, d), which an index over both can answer; two conditions joined by OR it cannot."""

    output_field = BooleanField()
    conditional = True

    def as_sql(self, compiler: Any, connection: Any, *_: Any, **extra: Any) -> tuple[str, tuple[Any, ...]]:
        sides = [compiler.compile(side) for side in self.source_expressions]
        (a, b, c, d), parameters = [sql for sql, _ in sides], [value for _, values in sides for value in values]
        return f"({a}, {b}) {self.extra['comparison']} ({c}, {d})", tuple(parameters)


def references_by_value(
    release: Release, chosen: WeightFilter, *, sort: str = "-weight", start: Start = BEGINNING, size: int = PAGE
) -> ReferencePage:
    """One page of references, whatever their items, sorted by a value of theirs (``ORDERS``)."""
    order = ORDERS[sort]
    matching = _matching_weights(release, chosen).annotate(key=order.key)
    row = _row(release, start)
    start = start if row else BEGINNING
    backward = start.before is not None

    def beyond(down: bool, inclusive: bool = False) -> QuerySet[ReleaseWeight]:
        if row is None:
            return matching
        comparison = ("<" if down else ">") + ("=" if inclusive else "")
        key = release.weights.annotate(key=order.key).values_list("key", flat=True).get(pk=row.pk)
        bound = Value(key, output_field=FloatField())
        return matching.filter(_RowIs(order.key, F("id"), bound, Value(row.pk), comparison=comparison))

    def sorted_(rows: QuerySet[ReleaseWeight], down: bool) -> QuerySet[ReleaseWeight]:
        return rows.order_by("-key" if down else "key", "-id" if down else "id")

    down = order.descending != backward
    found = _rows(sorted_(beyond(down, inclusive=start.at is not None), down), size)
    page = found[:size][::-1] if backward else found[:size]
    more = len(found) > size
    earlier = start.at is not None and row is not None and sorted_(beyond(not down), not down).exists()
    return _page(page, more, start, earlier=earlier)


def references_by_item(
    release: Release, chosen: WeightFilter, *, start: Start = BEGINNING, size: int = PAGE
) -> ReferencePage:
    """One page of references, items in their order, the references of each by weight.

    A page ends where an item does, unless that item alone has more references than a page holds.
    """
    matching = _matching_weights(release, chosen)
    row = _row(release, start)
    start = start if row else BEGINNING
    backward = start.before is not None
    if row is not None and start.at is None:
        within = Q(weight__gt=row.weight) if backward else Q(weight__lt=row.weight)
        tied = Q(weight=row.weight, id__lt=row.pk) if backward else Q(weight=row.weight, id__gt=row.pk)
        same, side = Q(item_position=row.item_position), "lt" if backward else "gt"
        beyond = Q(**{f"item_position__{side}": row.item_position}) | (same & (within | tied))
        # What the index can begin at stands by itself.
        rows = matching.filter(beyond, **{f"item_position__{side}e": row.item_position})
    else:
        rows = matching if row is None else matching.filter(item_position__gte=row.item_position)
    order = ("-item_position", "weight", "-id") if backward else ("item_position", "-weight", "id")
    found = _rows(rows.order_by(*order), size)
    more = len(found) > size
    page = found[:size]
    if more:
        whole = [one for one in page if one.item_position != found[size].item_position]
        page = whole or page
    if backward:
        page.reverse()
    earlier = start.at is not None and row is not None and matching.filter(item_position__lt=row.item_position).exists()
    continues = bool(
        not backward and start.after is not None and row and page and page[0].item_position == row.item_position
    )
    return _page(page, more, start, earlier=earlier)._replace(continues=continues)


def _row(release: Release, start: Start) -> ReleaseWeight | None:
    """The row that a page starts from; None: it starts at the beginning, as where the release has no such row."""
    chosen = {"response_id": start.at} if start.at is not None else {"pk": start.after or start.before}
    if start == BEGINNING:
        return None
    return release.weights.filter(**chosen).only("weight", "item_position").order_by().first()


def has_response(release: Release, response_id: int) -> bool:
    """Whether it is a reference of the release."""
    return release.weights.filter(response=response_id).exists()


def _rows(weights: QuerySet[ReleaseWeight], size: int) -> list[ReleaseWeight]:
    sources = Prefetch("response__sources", ResponseSource.objects.select_related("system").order_by("id"))
    return list(weights.select_related("item", "response").prefetch_related(sources)[: size + 1])


def _page(page: list[ReleaseWeight], more: bool, start: Start, *, earlier: bool) -> ReferencePage:
    backward = start.before is not None
    has_before = (more if backward else start.after is not None or earlier) and bool(page)
    has_after = (True if backward else more) and bool(page)
    return ReferencePage(page, page[0].pk if has_before else None, page[-1].pk if has_after else None)


class ItemReferences(NamedTuple):
    """An item with those of its references that are on the page."""

    item: Item
    references: list[ReleaseWeight]
    n_references: int  # all it has in the release
    continues: bool


def grouped(release: Release, page: ReferencePage) -> list[ItemReferences]:
    """The references of a page under their items."""
    totals = item_totals(release, {weight.item_position for weight in page.references})
    groups = [(item, list(rows)) for item, rows in groupby(page.references, key=lambda weight: weight.item)]
    return [
        ItemReferences(item, rows, totals[item.position], page.continues and number == 0)
        for number, (item, rows) in enumerate(groups)
    ]


def item_totals(release: Release, positions: Iterable[int]) -> dict[int, int]:
    """References of the items at some positions."""
    counted = release.weights.filter(item_position__in=list(positions)).order_by().values_list("item_position")
    return dict(counted.annotate(n=Count("id")))


def originals(release: Release, item_ids: Sequence[int]) -> dict[int, list[ReleaseWeight]]:
    """The original responses of some items, best first."""
    found: dict[int, list[ReleaseWeight]] = {pk: [] for pk in item_ids}
    chosen = release.weights.filter(item__in=item_ids, is_original=True).select_related("item", "response")
    for weight in chosen.prefetch_related("response__sources__system").order_by("-weight", "id"):
        found[weight.item_id].append(weight)
    return found


# --- How many, and how distributed -----------------------------------------------------------------------------------


class Total(NamedTuple):
    """References and items that fit; ``more``: there are more than were counted."""

    references: int
    items: int
    more: bool = False


def total(release: Release, chosen: WeightFilter) -> Total:
    """How many fit: of everything from the report, else counted up to ``COUNTED``."""
    if chosen == EVERYTHING:
        return Total(release.report["references"]["weighted"], release.report["items"]["with_weight"])
    some = _matching_weights(release, chosen).order_by().values("id", "item_position")[: COUNTED + 1]
    counted = some.aggregate(references=Count("id"), items=Count("item_position", distinct=True))
    return Total(min(counted["references"], COUNTED), counted["items"], counted["references"] > COUNTED)


class Panel(NamedTuple):
    """A value whose distribution can be brushed: the fields of the filter, and bins around multiples of a step."""

    name: str
    label: str
    low_field: str
    high_field: str
    low: float
    high: float
    step: float
    hint: str = ""
    is_bounded: bool = True  # no value can lie beyond its ends

    @property
    def bins(self) -> range:
        """Multiples of the step."""
        return range(round(self.low / self.step), round(self.high / self.step) + 1)

    @property
    def decimals(self) -> int:
        """That its ends are written with."""
        return next((n for n in range(4) if all(abs(round(end, n) - end) < 1e-9 for end in (self.low, self.high))), 4)


WEIGHTS = Panel("weight", "Weight", "low", "high", -1.0, 1.0, 0.05)
WIDTHS = Panel("width", "Width of the interval", "min_width", "max_width", 0.0, 2.0, 0.05)
_PANEL_VALUES: dict[str, Combinable] = {
    "weight": F("weight"),
    "width": F("high") - F("low"),
    "spread": F("rating_spread"),
}
MOST_BINS = 41


def panels(release: Release) -> list[Panel]:
    """What can be brushed: of disagreement only where raters of the release are known to disagree anywhere."""
    most = _largest_spread(release)
    return [WEIGHTS, WIDTHS] + ([_spread_panel(most)] if most else [])


def _spread_panel(most: float) -> Panel:
    """Standard deviations have no common end: the axis is as long as the largest needs, in round steps."""
    wanted = most / (MOST_BINS - 1)
    power = 10.0 ** math.floor(math.log10(wanted))
    step = round(next(power * one for one in (1, 2, 2.5, 5, 10) if power * one >= wanted * (1 - 1e-9)), 12)
    high = round(math.ceil(most / step - 1e-9) * step, 10)
    hint = "Standard deviation of the judgements, in points of the scale"
    return Panel("spread", "Disagreement", "min_spread", "max_spread", 0.0, high, step, hint, is_bounded=False)


def _largest_spread(release: Release) -> float:
    """0 where all agree, or where the judgements are not known; kept for a while, since it is read with every page."""
    key = f"release-largest-spread-{release.pk}-{release.content_hash}"
    found: float | None = cache.get(key)
    if found is None:
        found = release.weights.order_by().aggregate(most=Max("rating_spread"))["most"] or 0.0
        cache.set(key, found, KEPT_SECONDS)
    return found


def panel_counts(release: Release, chosen: WeightFilter, panel: Panel) -> list[tuple[float, int]]:
    """(value, references) of everything that fits the other filters, one entry per bin of the panel.

    Each value counts at the nearest multiple of the step, half way away from 0.
    """
    bounds: dict[str, Any] = {panel.low_field: None, panel.high_field: None}
    others = chosen._replace(**bounds)
    asked = hashlib.sha256(repr((release.pk, release.content_hash, panel, others)).encode()).hexdigest()
    key = f"release-distribution-{asked}"
    counts: dict[int, int] | None = cache.get(key)
    if counts is None:
        value = _PANEL_VALUES[panel.name]
        # Near enough to a half counts as one: 0.15 / 0.1 is less in binary.
        bin_ = Sign(value) * Floor(Abs(value) / Value(panel.step) + Value(0.5 + 1e-9))
        rows = _matching_weights(release, others).alias(value=value).filter(value__isnull=False).order_by()
        counted = rows.annotate(bin=bin_).values_list("bin").annotate(n=Count("id"))
        counts = {int(number): n for number, n in counted}
        cache.set(key, counts, KEPT_SECONDS)
    return [(round(number * panel.step, 10), counts.get(number, 0)) for number in panel.bins]


def distribution(release: Release) -> np.ndarray:
    """All weights of a release."""
    return np.array(release.weights.order_by().values_list("weight", flat=True), dtype=np.float64)


# --- What the filters offer, and downloads ---------------------------------------------------------------------------


def source_names(reference_set: ReferenceSet) -> list[str]:
    """What the source filter offers: the set's own kinds and systems."""
    return [*reference_set.source_kinds, *reference_set.source_systems]


def split_names(release: Release) -> list[str]:
    """What the split filter offers; kept for a while, since it is read with every page."""
    key = f"release-splits-{release.pk}"
    found: list[str] | None = cache.get(key)
    if found is None:
        items = Item.objects.filter(dataset=release.reference_set.dataset_id).exclude(split="")
        found = sorted(items.order_by().values_list("split", flat=True).distinct())
        cache.set(key, found, KEPT_SECONDS)
    return found


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
        .order_by("item_position", "-weight", "response_id")
    )
