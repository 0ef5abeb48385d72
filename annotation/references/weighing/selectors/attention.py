"""Lists of references of a release that need attention, each with its reason."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from annotation.core import sql
from annotation.models import Campaign, FiguresPart, Release, ReleaseWeight, Response
from annotation.rating.selectors.ratings import IntArray
from annotation.references.releases.selectors.releases import references, release_campaigns, used_ratings
from annotation.references.weighing.selectors.columns import judged, release_columns
from annotation.references.weighing.selectors.stored import StoredStatistics
from annotation.weighting.enough import Sufficiency, sufficiency
from annotation.weighting.schemes import SCHEMES
from annotation.weighting.standing import best_weights, is_best, signs


class AttentionList(NamedTuple):
    label: str
    about: str
    counts_items: bool = False  # its size is a number of items


LISTS = {
    "no-positive": AttentionList(
        "No positive weight",
        "All references of items without a weight above 0. ΔBLEU needs one such weight per item: a score run leaves "
        "these items out or refuses.",
        counts_items=True,
    ),
    "tie": AttentionList(
        "Tie at the top",
        "References that share the highest weight of their item. More ratings can separate them; a metric needs no "
        "single best reference.",
        counts_items=True,
    ),
    "few": AttentionList(
        "Fewer ratings than planned",
        "References with fewer judgements than their campaigns planned, and what happened to the rest.",
    ),
    "best-uncertain": AttentionList(
        "Best reference may be 0 or below",
        "Best references of their items whose 95% interval holds 0: the item may have no positive reference at all.",
        counts_items=True,
    ),
    "uncertain": AttentionList(
        "Sign uncertain", "References whose 95% interval holds 0: more ratings would show whether they are good or bad."
    ),
}
TARGET = 0.25  # half-width of an interval that a suggestion aims at
MOST_SUGGESTED = 10
FURTHER = (1, 2, 3, 5, 10)


class Fewer(NamedTuple):
    """References with fewer judgements than planned, in the order of the items, and what happened to the rest."""

    response_id: IntArray
    planned: IntArray
    counted: IntArray
    cannot_judge: IntArray
    left_out: IntArray  # by the release's rules

    @property
    def missing(self) -> IntArray:
        return self.planned - self.counted


@dataclass(frozen=True, eq=False)
class Attention:
    """Response ids of each list in the order of the items, highest weight first, and the number of items."""

    listed: dict[str, IntArray]
    n_items: dict[str, int]
    fewer: Fewer
    enough: Sufficiency | None  # by index in the release's columns; None if the judgements are not known


@dataclass
class AttentionRow:
    """One reference on a list; the numbers are known on the list of those with few ratings."""

    response: Response
    weight: ReleaseWeight | None
    sources: list[str]
    planned: int | None = None
    counted: int = 0
    cannot_judge: int | None = None
    left_out: int | None = None

    @property
    def not_given(self) -> int | None:
        """Count the missing judgements that neither cannot-judge nor a rule explains."""
        if self.planned is None:
            return None
        return max(self.planned - self.counted - (self.cannot_judge or 0) - (self.left_out or 0), 0)

    @property
    def numbers(self) -> ReleaseWeight:
        """Return the weight, or an empty one for a reference without a weight."""
        return self.weight or ReleaseWeight(n_ratings=0)


ATTENTION_COLUMNS = {
    "item": "response.item.external_id",
    "message": "response.item.message",
    "response_id": "response.pk",
    "text": "response.text",
    "sources": "sources",
    "weight": "numbers.weight",
    "low": "numbers.low",
    "high": "numbers.high",
    "judgements": "numbers.n_ratings",
    "asked": "planned",
    "cannot_judge": "cannot_judge",
    "left_out_by_rules": "left_out",
    "not_given": "not_given",
}


def attention(release: Release, *, here: bool = False) -> Attention:
    return ATTENTION.of(release, here=here)


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
    evidence = judged(release)
    if evidence is None or release.method not in SCHEMES:
        return None
    return sufficiency(evidence.table, evidence.low, evidence.high, target=TARGET, k=[1], scheme=release.method)


def _as_tree(computed: Attention) -> dict[str, Any]:
    enough = None if computed.enough is None else dict(vars(computed.enough))
    return {**vars(computed), "fewer": list(computed.fewer), "enough": enough}


def _from_tree(tree: dict[str, Any]) -> Attention:
    enough = tree["enough"]
    if enough is not None:
        enough = Sufficiency(**{**enough, "expected": tuple((k, width) for k, width in enough["expected"])})
    return Attention(tree["listed"], tree["n_items"], Fewer(*tree["fewer"]), enough)


ATTENTION = StoredStatistics(FiguresPart.ATTENTION, _compute, _as_tree, _from_tree)


# --- Fewer than planned -----------------------------------------------------------------------------------------------


def _fewer(release: Release) -> Fewer:
    """Compare with the sum of k over the campaigns that rate the reference. Imported campaigns plan no ratings."""
    campaigns = [campaign for campaign in release_campaigns(release) if not campaign.imported]
    none = np.array([], dtype=np.int64)
    if release.is_imported or not campaigns:
        return Fewer(none, none, none, none, none)
    planned = _planned(campaigns)
    columns = release_columns(release)
    counted = dict(zip(columns.response_id.tolist(), columns.n_ratings.tolist(), strict=True))
    unweighted = [pk for pk in references(release.reference_set).response_id.tolist() if pk in planned]
    few = [pk for pk in {*counted, *unweighted} if planned.get(pk, 0) > counted.get(pk, 0)]
    position = dict(Response.objects.filter(pk__in=few).order_by().values_list("pk", "item__position") if few else [])
    weight = dict(zip(columns.response_id.tolist(), columns.weight.tolist(), strict=True))
    few.sort(key=lambda pk: (position[pk], -weight.get(pk, -np.inf), pk))
    counts = (planned, counted, _cannot_judge(release, campaigns), _left_out(release, few))
    arrays = (np.array([by_response.get(pk, 0) for pk in few], dtype=np.int64) for by_response in counts)
    return Fewer(np.array(few, dtype=np.int64), *arrays)


def _planned(campaigns: Sequence[Campaign]) -> dict[int, int]:
    query = """
        SELECT shown.response_id, sum(unit.ratings_wanted)
        FROM annotation_unitresponse shown
        JOIN annotation_unit unit ON unit.id = shown.unit_id
        WHERE unit.campaign_id = ANY(%s) GROUP BY shown.response_id"""
    return {response: int(total) for response, total in sql.rows(query, [[campaign.pk for campaign in campaigns]])}


def _cannot_judge(release: Release, campaigns: Sequence[Campaign]) -> dict[int, int]:
    """Count the cannot-judge answers per response, at the time when the release was built."""
    query = """
        SELECT r.response_id, count(DISTINCT r.presentation_id) FROM annotation_rating r
        WHERE r.campaign_id = ANY(%(campaigns)s) AND r.value IS NULL AND NOT r.extra AND r.id <= %(last)s
          AND NOT EXISTS (
              SELECT 1 FROM annotation_rating later
              WHERE later.presentation_id = r.presentation_id AND later.response_id = r.response_id
                AND later.criterion_id = r.criterion_id AND later.turn IS NOT DISTINCT FROM r.turn
                AND later.extra = r.extra AND later.revision > r.revision
                AND later.id <= %(last)s)
        GROUP BY r.response_id"""
    parameters = {"campaigns": [campaign.pk for campaign in campaigns], "last": release.report["last_rating_id"]}
    return dict(sql.rows(query, parameters))


def _left_out(release: Release, responses: Sequence[int]) -> dict[int, int]:
    """Count the judgements that the release's rules exclude, without extra ones, which filled no slot."""
    if not responses or not any(excluded["ratings"] for excluded in release.report["ratings"]["excluded"]):
        return {}
    all_ids = np.union1d(release_columns(release).response_id, responses)  # rules look at all of a rater's work
    used = used_ratings(release, all_ids, release.report)
    gone = ~used.keep & ~used.read.extra
    pairs = {*zip(used.read.response_id[gone].tolist(), used.read.presentation_id[gone].tolist(), strict=True)}
    return Counter(response for response, _ in pairs)


# --- Rows of a page ---------------------------------------------------------------------------------------------------


def rows_of(release: Release, which: str, ids: IntArray) -> list[AttentionRow]:
    """Return the references of these ids, in their order, with texts, sources and counts."""
    pks = ids.tolist()
    responses = Response.objects.select_related("item").prefetch_related("sources__system").in_bulk(pks)
    weights = {weight.response_id: weight for weight in release.weights.filter(response__in=pks)}
    counts = {}
    if which == "few":
        fewer = attention(release).fewer
        counts = dict(
            zip(fewer.response_id.tolist(), zip(*(part.tolist() for part in fewer[1:]), strict=True), strict=True)
        )
    return [
        AttentionRow(
            responses[pk], weights.get(pk), [str(source) for source in responses[pk].sources.all()], *counts.get(pk, ())
        )
        for pk in pks
    ]


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
    lists, columns = attention(release), release_columns(release)
    enough = lists.enough
    indices = np.flatnonzero(np.isin(columns.response_id, chosen))
    now, further, needed = np.nan, [], None
    half = np.array([]) if enough is None or enough.reason else enough.half_widths[indices]
    half = half[np.isfinite(half) & (half > 0)]  # a spread of 0 shows nothing about further ratings
    if enough is not None and half.size:
        single = enough.expected[0][1]  # half-width with a single rating; it falls with the root of their number
        now = float(half.mean())
        further = [(more, float((single / np.sqrt((single / half) ** 2 + more)).mean())) for more in FURTHER]
        needed = int(np.ceil(np.median(enough.more[indices])))
    if which == "few":
        missing = lists.fewer.missing[np.isin(lists.fewer.response_id, chosen)]
        return Suggestion(int(missing.max(initial=1)), "this is the largest number of missing ratings", now, further)
    if needed is None:
        return Suggestion(FURTHER[1], "the spread of the ratings is unknown", now, further)
    why = f"this is enough for half of them to reach an interval of ±{TARGET:g}"
    if needed > MOST_SUGGESTED:
        why = f"half of them need {needed} or more for an interval of ±{TARGET:g}; {MOST_SUGGESTED} at a time is enough"
    return Suggestion(min(max(needed, 1), MOST_SUGGESTED), why, now, further)
