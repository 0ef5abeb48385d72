"""Lists of references of a release that need attention, each with its reason."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from django.db import connection

from annotation.models import Campaign, FiguresPart, Release, ReleaseWeight, Response
from annotation.rating.selectors.ratings import IntArray
from annotation.references.releases.selectors.releases import references, release_campaigns, used_ratings
from annotation.references.weighing.selectors.columns import Judged, judged, release_columns
from annotation.references.weighing.selectors.stored import Figures
from annotation.weighting.enough import Sufficiency, sufficiency
from annotation.weighting.schemes import SCHEMES
from annotation.weighting.standing import best_weights, is_best, signs

LISTS = {
    "no-positive": "No positive weight",
    "tie": "Tie at the top",
    "few": "Fewer ratings than planned",
    "best-uncertain": "Best, but perhaps not above 0",
    "uncertain": "Sign uncertain",
}
ABOUT = {
    "no-positive": "All references of items without a weight above 0. ΔBLEU needs one such weight per item: "
    "a score run leaves these items out or refuses.",
    "tie": "References that share the highest weight of their item. More ratings can separate them; a metric needs no "
    "single best reference.",
    "few": "References with fewer judgements than their campaigns planned, and what happened to the rest.",
    "best-uncertain": "Best references of their items whose 95% interval holds 0: the item may have no positive "
    "reference at all.",
    "uncertain": "References whose 95% interval holds 0: more ratings would show whether they are good or bad.",
}
COUNTS_ITEMS = ("no-positive", "tie", "best-uncertain")
TARGET = 0.25  # half-width of an interval that a suggestion aims at
MOST_SUGGESTED = 10
FURTHER = (1, 2, 3, 5, 10)


class Fewer(NamedTuple):
    """References with fewer judgements than planned, in the order of the items, and what happened to the rest."""

    response_id: IntArray
    asked: IntArray
    counted: IntArray
    cannot_judge: IntArray
    left_out: IntArray  # by the release's rules

    @property
    def missing(self) -> IntArray:
        return self.asked - self.counted


@dataclass(frozen=True, eq=False)
class Attention:
    """Response ids of each list in the order of the items, highest weight first, and the number of items."""

    listed: dict[str, IntArray]
    n_items: dict[str, int]
    fewer: Fewer
    enough: Sufficiency | None  # by places of the release's columns; None where nobody's judgements are known


@dataclass
class Row:
    """One reference on a list."""

    response: Response
    weight: ReleaseWeight | None
    asked: int = 0
    counted: int = 0
    cannot_judge: int = 0
    left_out: int = 0
    sources: list[str] = field(default_factory=list)

    @property
    def missing(self) -> int:
        return max(self.asked - self.counted, 0)

    @property
    def not_given(self) -> int:
        """Count the judgements that neither cannot-judge nor a rule explains: not given yet, or without a criterion."""
        return max(self.missing - self.cannot_judge - self.left_out, 0)


def attention(release: Release, *, here: bool = False) -> Attention:
    return ATTENTION.of(release, here=here)


def listed_responses(release: Release, which: str, *, here: bool = False) -> IntArray:
    return attention(release, here=here).listed[which]


def _compute(release: Release) -> Attention:
    columns = release_columns(release)
    n_items = columns.n_items
    best = is_best(columns.weight, columns.item, n_items)
    no_positive = signs(best_weights(columns.weight, columns.item, n_items)) <= 0
    tied = np.bincount(columns.item, best, minlength=n_items) > 1
    spans = (columns.low <= 0) & (columns.high >= 0)  # False where there is no interval
    masks = {
        "no-positive": no_positive[columns.item],
        "tie": tied[columns.item] & best,
        "best-uncertain": best & spans,
        "uncertain": spans,
    }
    listed = {name: columns.response_id[mask] for name, mask in masks.items()}
    counts = {name: len(np.unique(columns.item[mask])) for name, mask in masks.items()}
    fewer = _fewer(release)
    listed["few"] = fewer.response_id
    items = Response.objects.filter(pk__in=fewer.response_id.tolist()).order_by()
    counts["few"] = items.values("item_id").distinct().count() if len(fewer.response_id) else 0
    return Attention(listed, counts, fewer, _sufficiency(release))


def _sufficiency(release: Release) -> Sufficiency | None:
    behind: Judged | None = judged(release)
    if behind is None or release.method not in SCHEMES:
        return None
    return sufficiency(behind.table, behind.low, behind.high, target=TARGET, k=[1], scheme=release.method)


def _as_tree(found: Attention) -> dict[str, Any]:
    enough = None if found.enough is None else dict(vars(found.enough))
    return {"listed": found.listed, "n_items": found.n_items, "fewer": list(found.fewer), "enough": enough}


def _from_tree(tree: dict[str, Any]) -> Attention:
    enough = tree["enough"]
    if enough is not None:
        enough = Sufficiency(**{**enough, "expected": tuple((k, width) for k, width in enough["expected"])})
    return Attention(tree["listed"], tree["n_items"], Fewer(*tree["fewer"]), enough)


ATTENTION = Figures(FiguresPart.ATTENTION, _compute, _as_tree, _from_tree)


# --- Fewer than asked -------------------------------------------------------------------------------------------------


def _fewer(release: Release) -> Fewer:
    """Compare with the sum of k over the campaigns that rate the reference. Campaigns of imported ratings plan none."""
    campaigns = [campaign for campaign in release_campaigns(release) if not campaign.imported]
    none = np.array([], dtype=np.int64)
    if release.is_imported or not campaigns:
        return Fewer(none, none, none, none, none)
    asked = _asked(campaigns)
    columns = release_columns(release)
    counted = dict(zip(columns.response_id.tolist(), columns.n_ratings.tolist(), strict=True))
    unweighted = [pk for pk in references(release.reference_set).response_id.tolist() if pk in asked]
    rows = [pk for pk in {*counted, *unweighted} if asked.get(pk, 0) > counted.get(pk, 0)]
    place = dict(Response.objects.filter(pk__in=rows).order_by().values_list("pk", "item__position") if rows else [])
    weight = dict(zip(columns.response_id.tolist(), columns.weight.tolist(), strict=True))
    rows.sort(key=lambda pk: (place[pk], -weight.get(pk, -np.inf), pk))
    cannot, left_out = _cannot_judge(release, campaigns), _left_out(release, rows)
    return Fewer(
        np.array(rows, dtype=np.int64),
        *(
            np.array([source.get(pk, 0) for pk in rows], dtype=np.int64)
            for source in (asked, counted, cannot, left_out)
        ),
    )


def _asked(campaigns: Sequence[Campaign]) -> dict[int, int]:
    query = """
        SELECT shown.response_id, sum(campaign.ratings_per_unit)
        FROM annotation_unitresponse shown
        JOIN annotation_unit unit ON unit.id = shown.unit_id
        JOIN annotation_campaign campaign ON campaign.id = unit.campaign_id
        WHERE unit.campaign_id = ANY(%s) GROUP BY shown.response_id"""
    with connection.cursor() as cursor:
        cursor.execute(query, [[campaign.pk for campaign in campaigns]])
        return {response: int(total) for response, total in cursor.fetchall()}


def _cannot_judge(release: Release, campaigns: Sequence[Campaign]) -> dict[int, int]:
    """Count the cannot-judge answers per response, at the time when the release was built."""
    query = """
        SELECT r.response_id, count(DISTINCT r.presentation_id) FROM annotation_rating r
        WHERE r.campaign_id = ANY(%(campaigns)s) AND r.value IS NULL AND NOT r.extra AND r.id <= %(last)s
          AND NOT EXISTS (
              SELECT 1 FROM annotation_rating later
              WHERE later.presentation_id = r.presentation_id AND later.response_id = r.response_id
                AND later.criterion_id = r.criterion_id AND later.extra = r.extra AND later.revision > r.revision
                AND later.id <= %(last)s)
        GROUP BY r.response_id"""
    asked = {"campaigns": [campaign.pk for campaign in campaigns], "last": release.report["last_rating_id"]}
    with connection.cursor() as cursor:
        cursor.execute(query, asked)
        return dict(cursor.fetchall())


def _left_out(release: Release, responses: Sequence[int]) -> dict[int, int]:
    """Count the judgements that the release's rules exclude, without extra ones, which filled no slot."""
    if not responses or not any(one["ratings"] for one in release.report["ratings"]["excluded"]):
        return {}
    campaigns = release_campaigns(release)
    wanted = np.union1d(release_columns(release).response_id, responses)  # rules look at all of a rater's work
    last, last_check = release.report["last_rating_id"], release.report.get("last_check_answer_id", 0)
    used = used_ratings(release, campaigns, wanted, last, last_check)
    gone = ~used.keep & ~used.read.extra
    pairs = {*zip(used.read.response_id[gone].tolist(), used.read.presentation_id[gone].tolist(), strict=True)}
    found: dict[int, int] = {}
    for response, _ in pairs:
        found[response] = found.get(response, 0) + 1
    return found


# --- Rows of a page ---------------------------------------------------------------------------------------------------


def page_of(ids: IntArray, *, after: int | None, before: int | None, size: int) -> tuple[IntArray, bool, bool]:
    """Return the ids after or before a given id, and whether there are more on either side.

    A list never changes, so the id at a page's edge is its key. An unknown id starts at the beginning.
    """
    start = 0
    if after is not None:
        place = np.flatnonzero(ids == after)
        start = int(place[0]) + 1 if place.size else 0
    elif before is not None:
        place = np.flatnonzero(ids == before)
        start = max(int(place[0]) - size, 0) if place.size else 0
        end = int(place[0]) if place.size else size
        return ids[start:end], start > 0, end < len(ids)
    return ids[start : start + size], start > 0, start + size < len(ids)


def rows_of(release: Release, which: str, ids: IntArray) -> list[Row]:
    """Return the references of these ids, in their order, with texts, sources and counts."""
    wanted = ids.tolist()
    found = Response.objects.filter(pk__in=wanted).select_related("item").prefetch_related("sources__system")
    responses = {response.pk: response for response in found}
    weights = {weight.response_id: weight for weight in release.weights.filter(response__in=wanted)}
    rows = []
    fewer = attention(release).fewer if which == "few" else None
    place_of = {} if fewer is None else {pk: place for place, pk in enumerate(fewer.response_id.tolist())}
    for pk in wanted:
        row = Row(responses[pk], weights.get(pk))
        row.sources = [str(source) for source in responses[pk].sources.all()]
        if fewer is not None:
            place = place_of[pk]
            row.asked, row.counted = int(fewer.asked[place]), int(fewer.counted[place])
            row.cannot_judge, row.left_out = int(fewer.cannot_judge[place]), int(fewer.left_out[place])
        rows.append(row)
    return rows


ATTENTION_COLUMNS = (
    "item",
    "message",
    "response_id",
    "text",
    "sources",
    "weight",
    "low",
    "high",
    "judgements",
    "asked",
    "cannot_judge",
    "left_out_by_rules",
    "not_given",
)


def attention_row(row: Row) -> tuple[object, ...]:
    weight, few = row.weight, row.asked > 0
    return (
        row.response.item.external_id,
        row.response.item.message,
        row.response.pk,
        row.response.text,
        row.sources,
        weight and weight.weight,
        weight and weight.low,
        weight and weight.high,
        weight.n_ratings if weight else 0,
        row.asked if few else None,
        row.cannot_judge if few else None,
        row.left_out if few else None,
        row.not_given if few else None,
    )


# --- How many more ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Suggestion:
    """How many more ratings of each chosen reference to collect, and why."""

    ratings: int
    because: str
    now: float  # mean half-width of the chosen; NaN where unknown
    further: list[tuple[int, float]]  # (more ratings of each, mean half-width then)


def suggestion(release: Release, which: str, chosen: IntArray) -> Suggestion:
    """Suggest the number of missing ratings, or else the number that narrows the intervals to a half-width of 0.25."""
    found, columns = attention(release), release_columns(release)
    enough = found.enough
    places = np.flatnonzero(np.isin(columns.response_id, chosen))
    now, further, needed = np.nan, [], None
    half = np.array([]) if enough is None or enough.reason else enough.half_widths[places]
    half = half[np.isfinite(half) & (half > 0)]  # a spread of 0 says nothing of further ratings
    if enough is not None and half.size:
        one = enough.expected[0][1]  # the half-width that a single rating gives; it falls with the root of their number
        now = float(half.mean())
        further = [(more, float((one / np.sqrt((one / half) ** 2 + more)).mean())) for more in FURTHER]
        needed = int(np.ceil(np.median(enough.more[places])))
    if which == "few":
        fewer = found.fewer
        missing = fewer.missing[np.isin(fewer.response_id, chosen)]
        return Suggestion(int(missing.max(initial=1)), "this is the largest number of missing ratings", now, further)
    if needed is None:
        return Suggestion(FURTHER[1], "the spread of the ratings is unknown", now, further)
    why = f"this is enough for half of them to reach an interval of ±{TARGET:g}"
    if needed > MOST_SUGGESTED:
        why = f"half of them need {needed} or more for an interval of ±{TARGET:g}; {MOST_SUGGESTED} at a time is enough"
    return Suggestion(min(max(needed, 1), MOST_SUGGESTED), why, now, further)
