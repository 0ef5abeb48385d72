"""Reads for the browser of a release's references: pages of those that fit a filter, and their distribution.

A page starts after (before, at) a row of the release and reads on in the order of an index: the hundredth takes as long
as the first. Nothing is counted beyond ``COUNTED``; totals of everything are in the release's report.
"""

import hashlib
import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from django.contrib.postgres.search import SearchQuery
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

from annotation.core.caching import cached
from annotation.core.numbers import counted
from annotation.core.searching import read_as_words
from annotation.models import Item, ReferenceSet, Release, ReleaseWeight, Response, ResponseSource
from annotation.models.datasets import searched
from annotation.models.releases import NO_SPREAD, NO_WIDTH
from annotation.references.releases.selectors.facts import fallen_seeds

PAGE = 24  # references
COUNTED = 1000
CACHE_SECONDS = 600


class WeightFilter(NamedTuple):
    """The filters of the browser of a release."""

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


class Range(NamedTuple):
    """A column of the weights, and the filters for its lowest and highest value."""

    label: str
    low: str
    high: str
    column: str


EVERYTHING = WeightFilter()
SIGNS = {"positive": Q(weight__gt=0), "zero": Q(weight=0), "negative": Q(weight__lt=0)}
RANGES = (
    Range("Weight", "low", "high", "weight"),
    Range("Interval width", "min_width", "max_width", "width"),
    Range("Judgements", "min_ratings", "max_ratings", "n_ratings"),
    Range("Disagreement", "min_spread", "max_spread", "rating_spread"),
)
WIDTH = Coalesce(F("high") - F("low"), Value(NO_WIDTH), output_field=FloatField())
SPREAD = Coalesce(F("rating_spread"), Value(NO_SPREAD), output_field=FloatField())


def _matching_weights(release: Release, chosen: WeightFilter) -> QuerySet[ReleaseWeight]:
    """Return the weights that fit. Each condition is about a row, so that a page does not read all rows."""
    weights = release.weights.alias(width=F("high") - F("low"))
    values = chosen._asdict()
    bounds = {f"{column}__gte": values[low] for _, low, _, column in RANGES}
    bounds |= {f"{column}__lte": values[high] for _, _, high, column in RANGES}
    weights = weights.filter(**{lookup: bound for lookup, bound in bounds.items() if bound is not None})
    if chosen.sign:
        weights = weights.filter(SIGNS[chosen.sign])
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
        weights = weights.filter(_text_fits(chosen.text))
    if chosen.no_positive:
        of_item = ReleaseWeight.objects.filter(release=release, item_position=OuterRef("item_position"))
        weights = weights.filter(~Exists(of_item.filter(weight__gt=0)))
    return weights


def fallen_response_ids(release: Release) -> set[int]:
    """Return the fallen seeds; cached for a minute, because each page needs them."""
    return cached(f"release-fallen-{release.pk}", lambda: fallen_seeds(release), 60)


def _text_fits(text: str) -> Q:
    """Return the condition that the reference's text or the item's message fits the search."""
    if not read_as_words(text):
        return Q(response__text__icontains=text) | Q(item__message__icontains=text)
    query = SearchQuery(text, config="simple", search_type="websearch")
    responses = Response.objects.alias(words=searched("text")).filter(words=query)
    items = Item.objects.alias(words=searched("message")).filter(words=query)
    return Q(response__in=responses.order_by().values("pk")) | Q(item__in=items.order_by().values("pk"))


# --- Pages -----------------------------------------------------------------------------------------------------------


class Start(NamedTuple):
    """Where a page starts: after or before a weight, or at a response, by id; else at the beginning."""

    after: int | None = None
    before: int | None = None
    at: int | None = None


BEGINNING = Start()


class ReferencePage(NamedTuple):
    """References in the requested order, and the weights that the pages before and after start from."""

    references: list[ReleaseWeight]
    before: int | None
    after: int | None
    continues: bool = False  # its first item began on the page before


class Order(NamedTuple):
    key: Combinable
    label: str
    descending: bool = False


# By reference. Ties are broken by id in the same direction, so that one index serves both.
ORDERS = {
    "-weight": Order(F("weight"), "Highest weight first", descending=True),
    "weight": Order(F("weight"), "Lowest weight first"),
    "-width": Order(WIDTH, "Widest interval first", descending=True),
    "width": Order(WIDTH, "Narrowest interval first"),
    "-spread": Order(SPREAD, "Most disagreement first", descending=True),
    "spread": Order(SPREAD, "Least disagreement first"),
    "-n": Order(F("n_ratings"), "Most judgements first", descending=True),
    "n": Order(F("n_ratings"), "Fewest judgements first"),
}


class _RowIs(Func):
    """(a, b) < (c, d), for which an index over both is used; it is not used for two conditions joined by OR."""

    output_field = BooleanField()
    conditional = True

    def as_sql(self, compiler: Any, connection: Any, *_: Any, **extra: Any) -> tuple[str, tuple[Any, ...]]:
        sides = [compiler.compile(side) for side in self.source_expressions]
        (a, b, c, d), parameters = [sql for sql, _ in sides], [value for _, values in sides for value in values]
        return f"({a}, {b}) {self.extra['comparison']} ({c}, {d})", tuple(parameters)


def references_by_value(
    release: Release, chosen: WeightFilter, *, sort: str = "-weight", start: Start = BEGINNING, size: int = PAGE
) -> ReferencePage:
    """Return a page of references, sorted by one of their values (``ORDERS``)."""
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
    rows = _rows(sorted_(beyond(down, inclusive=start.at is not None), down), size)
    page = rows[:size][::-1] if backward else rows[:size]
    more = len(rows) > size
    earlier = start.at is not None and row is not None and sorted_(beyond(not down), not down).exists()
    return _page(page, more, start, earlier=earlier)


def references_by_item(
    release: Release, chosen: WeightFilter, *, start: Start = BEGINNING, size: int = PAGE
) -> ReferencePage:
    """Return a page of references, items in their order, the references of each by weight.

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
        # A condition of its own, at which the index begins.
        rows = matching.filter(beyond, **{f"item_position__{side}e": row.item_position})
    else:
        rows = matching if row is None else matching.filter(item_position__gte=row.item_position)
    order = ("-item_position", "weight", "-id") if backward else ("item_position", "-weight", "id")
    read = _rows(rows.order_by(*order), size)
    more = len(read) > size
    page = read[:size]
    if more:
        page = [weight for weight in page if weight.item_position != read[size].item_position] or page
    if backward:
        page.reverse()
    earlier = start.at is not None and row is not None and matching.filter(item_position__lt=row.item_position).exists()
    continues = bool(
        not backward and start.after is not None and row and page and page[0].item_position == row.item_position
    )
    return _page(page, more, start, earlier=earlier)._replace(continues=continues)


def _row(release: Release, start: Start) -> ReleaseWeight | None:
    """Return the row that a page starts from; None for the beginning, also if the release has no such row."""
    if start == BEGINNING:
        return None
    lookup = {"response_id": start.at} if start.at is not None else {"pk": start.after or start.before}
    return release.weights.filter(**lookup).only("weight", "item_position").order_by().first()


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

    @property
    def html_id(self) -> str:
        return f"item-{self.item.pk}{'-continued' if self.continues else ''}"

    @property
    def summary(self) -> str:
        """Return the number of references shown, of all, and the split."""
        n = len(self.references)
        shown = f"{n:,} of " if n != self.n_references else ""
        parts = ["continued"] if self.continues else []
        parts += [f"{shown}{counted(self.n_references, 'reference')}"]
        return " · ".join([*parts, self.item.split] if self.item.split else parts)


def grouped(release: Release, page: ReferencePage) -> list[ItemReferences]:
    """Return the references of a page under their items."""
    totals = item_totals(release, {weight.item_position for weight in page.references})
    groups = [(item, list(rows)) for item, rows in groupby(page.references, key=lambda weight: weight.item)]
    return [
        ItemReferences(item, rows, totals[item.position], page.continues and number == 0)
        for number, (item, rows) in enumerate(groups)
    ]


def item_totals(release: Release, positions: Iterable[int]) -> dict[int, int]:
    """Count the references of the items at some positions."""
    weights = release.weights.filter(item_position__in=list(positions)).order_by().values_list("item_position")
    return dict(weights.annotate(n=Count("id")))


def originals(release: Release, item_ids: Sequence[int]) -> dict[int, list[ReleaseWeight]]:
    """Return the original responses of some items, best first."""
    by_item: dict[int, list[ReleaseWeight]] = {pk: [] for pk in item_ids}
    weights = release.weights.filter(item__in=item_ids, is_original=True).select_related("item", "response")
    for weight in weights.prefetch_related("response__sources__system").order_by("-weight", "id"):
        by_item[weight.item_id].append(weight)
    return by_item


# --- How many, and how distributed -----------------------------------------------------------------------------------


class Total(NamedTuple):
    """Numbers of references and items that fit; ``more`` if there are more than were counted."""

    references: int
    items: int
    more: bool = False


def total(release: Release, chosen: WeightFilter) -> Total:
    """Return how many fit: from the report if everything does, else counted up to ``COUNTED``."""
    if chosen == EVERYTHING:
        return Total(release.report["references"]["weighted"], release.report["items"]["with_weight"])
    first = _matching_weights(release, chosen).order_by().values("id", "item_position")[: COUNTED + 1]
    numbers = first.aggregate(references=Count("id"), items=Count("item_position", distinct=True))
    return Total(min(numbers["references"], COUNTED), numbers["items"], numbers["references"] > COUNTED)


class Panel(NamedTuple):
    """A value whose distribution can be brushed: the fields of the filter, and bins around multiples of a step."""

    name: str
    label: str
    value: Combinable
    low_field: str
    high_field: str
    low: float
    high: float
    step: float
    hint: str = ""
    is_bounded: bool = True  # no value is beyond its ends

    @property
    def bins(self) -> range:
        """Return the multiples of the step."""
        return range(round(self.low / self.step), round(self.high / self.step) + 1)

    @property
    def decimals(self) -> int:
        """Return the number of decimals that its ends need."""
        return next((n for n in range(4) if all(abs(round(end, n) - end) < 1e-9 for end in (self.low, self.high))), 4)


WEIGHTS = Panel("weight", "Weight", F("weight"), "low", "high", -1.0, 1.0, 0.05)
WIDTHS = Panel("width", "Width of the interval", F("high") - F("low"), "min_width", "max_width", 0.0, 2.0, 0.05)
SPREAD_HINT = "Standard deviation of the judgements, in points of the scale"
MOST_BINS = 41


def panels(release: Release) -> list[Panel]:
    """Return the values that can be brushed; disagreement only if raters of the release are known to disagree."""
    most = _largest_spread(release)
    return [WEIGHTS, WIDTHS] + ([_spread_panel(most)] if most else [])


def _spread_panel(most: float) -> Panel:
    """Return a panel whose axis ends, in round steps, after the largest standard deviation."""
    least_step = most / (MOST_BINS - 1)
    power = 10.0 ** math.floor(math.log10(least_step))
    steps = (power * factor for factor in (1, 2, 2.5, 5, 10))
    step = round(next(step for step in steps if step >= least_step * (1 - 1e-9)), 12)
    high = round(math.ceil(most / step - 1e-9) * step, 10)
    return Panel(
        "spread",
        "Disagreement",
        F("rating_spread"),
        "min_spread",
        "max_spread",
        0.0,
        high,
        step,
        hint=SPREAD_HINT,
        is_bounded=False,
    )


def _largest_spread(release: Release) -> float:
    """Return 0 if all agree or the judgements are not known; cached, because every page needs it."""
    key = f"release-largest-spread-{release.pk}-{release.content_hash}"
    spreads = release.weights.order_by()
    return cached(key, lambda: spreads.aggregate(most=Max("rating_spread"))["most"] or 0.0, CACHE_SECONDS)


def panel_counts(release: Release, chosen: WeightFilter, panel: Panel) -> list[tuple[float, int]]:
    """Return (value, references) for each bin of the panel, of everything that fits the other filters.

    Each value counts at the nearest multiple of the step, halves away from 0.
    """
    bounds: dict[str, Any] = {panel.low_field: None, panel.high_field: None}
    others = chosen._replace(**bounds)

    def count() -> dict[int, int]:
        # Close to a half counts as a half: 0.15 / 0.1 is less in binary.
        number = Sign(panel.value) * Floor(Abs(panel.value) / Value(panel.step) + Value(0.5 + 1e-9))
        rows = _matching_weights(release, others).alias(value=panel.value).filter(value__isnull=False).order_by()
        return {int(bin_): n for bin_, n in rows.annotate(bin=number).values_list("bin").annotate(n=Count("id"))}

    query = hashlib.sha256(repr((release.pk, release.content_hash, panel, others)).encode()).hexdigest()
    counts = cached(f"release-distribution-{query}", count, CACHE_SECONDS)
    return [(round(number * panel.step, 10), counts.get(number, 0)) for number in panel.bins]


def distribution(release: Release) -> np.ndarray:
    """Return all weights of a release."""
    return np.array(release.weights.order_by().values_list("weight", flat=True), dtype=np.float64)


# --- Choices of the filters, and downloads ---------------------------------------------------------------------------


def source_names(reference_set: ReferenceSet) -> list[str]:
    """Return the choices of the source filter: the set's kinds and systems."""
    return [*reference_set.source_kinds, *reference_set.source_systems]


def split_names(release: Release) -> list[str]:
    """Return the choices of the split filter; cached, because every page needs them."""
    items = Item.objects.filter(dataset=release.reference_set.dataset_id).exclude(split="")
    splits = items.order_by().values_list("split", flat=True).distinct()
    return cached(f"release-splits-{release.pk}", lambda: sorted(splits), CACHE_SECONDS)


def weight_rows(release: Release, chosen: WeightFilter = EVERYTHING) -> QuerySet[ReleaseWeight]:
    """Return weights in the order of the items, highest first, with their texts and sources."""
    sources = Prefetch("response__sources", ResponseSource.objects.select_related("system"))
    weights = _matching_weights(release, chosen).select_related("item", "response").prefetch_related(sources)
    return weights.order_by("item_position", "-weight", "response_id")
