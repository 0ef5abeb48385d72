"""Influence of each rater on a release's weights."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from annotation.judgements.stand_ins import by_stand_ins
from annotation.models import FiguresPart, Participation, Rater, Release
from annotation.rating.selectors.ratings import IntArray
from annotation.references.releases.selectors.releases import release_campaigns
from annotation.references.weighing.selectors.columns import judged, release_columns
from annotation.references.weighing.selectors.stored import Figures
from annotation.weighting.influence import Influence, leave_one_rater_out
from annotation.weighting.schemes import get_scheme


@dataclass(frozen=True, eq=False)
class Influences:
    """Influence of all raters of a release, in the order of ``rater_id``.

    Pairs hold only the references whose sign turns, or that have no other rating.
    """

    rater_id: IntArray
    found: Influence


@dataclass(frozen=True)
class RaterInfluence:
    """One rater's row of the table."""

    rater_id: int
    pseudonym: str
    stands_in: bool  # for several raters whose records were erased: no campaign page, and no rule that names them
    campaign_id: int | None
    n_ratings: int
    n_responses: int
    max_change: float
    mean_change: float
    pull: float
    n_reversed: int
    n_to_or_from_zero: int
    n_best_changed: int
    n_without: int

    @property
    def rule(self) -> dict[str, Any]:
        """Return the exclusion rule that leaves this rater out of the next release."""
        return {"rule": "exclude_raters", "version": 1, "raters": [self.pseudonym]}


def influences(release: Release) -> Influences | None:
    """Return None for an imported release: its judgements are not stored."""
    if release.is_imported:
        return None
    return INFLUENCE.of(release)


def _compute(release: Release) -> Influences | None:
    behind, columns = judged(release), release_columns(release)
    if behind is None:
        return None
    found = leave_one_rater_out(
        behind.table,
        behind.low,
        behind.high,
        columns.item,
        scheme=release.method,
        n_items=columns.n_items,
        parameters=get_scheme(release.method).chosen(release.parameters),
    )
    told = found.pair_reversed | np.isnan(found.pair_weight)
    pairs = ("pair_rater", "pair_response", "pair_weight", "pair_reversed")
    return Influences(behind.rater_id, replace(found, **{name: getattr(found, name)[told] for name in pairs}))


def _as_tree(everybody: Influences | None) -> dict[str, Any] | None:
    return None if everybody is None else {"rater_id": everybody.rater_id, "found": dict(vars(everybody.found))}


def _from_tree(tree: dict[str, Any] | None) -> Influences | None:
    return None if tree is None else Influences(tree["rater_id"], Influence(**tree["found"]))


INFLUENCE = Figures(FiguresPart.INFLUENCE, _compute, _as_tree, _from_tree)


ORDERS = {
    "max_change": "largest change",
    "mean_change": "mean change",
    "n_reversed": "signs turned",
    "n_best_changed": "best references changed",
    "n_without": "left without a rating",
    "n_ratings": "ratings",
}


def rater_influences(release: Release, everybody: Influences, order: str = "max_change") -> list[RaterInfluence]:
    """Return all raters, the most influential first."""
    found, ids = everybody.found, everybody.rater_id
    names = dict(Rater.objects.filter(pk__in=ids.tolist()).values_list("pk", "pseudonym"))
    taking_part = Participation.objects.filter(campaign__in=release_campaigns(release), rater__in=ids.tolist())
    campaign_of = dict(taking_part.order_by("-campaign_id").values_list("rater_id", "campaign_id"))
    first = release.report["campaigns"][0]["id"] if release.report.get("campaigns") else None
    stands_in = by_stand_ins(ids)
    rows = [
        RaterInfluence(
            rater_id=int(pk),
            pseudonym=names.get(int(pk), "erased"),
            stands_in=bool(stands_in[place]),
            campaign_id=campaign_of.get(int(pk), first),
            n_ratings=int(found.n_ratings[place]),
            n_responses=int(found.n_responses[place]),
            max_change=float(found.max_change[place]),
            mean_change=float(found.mean_change[place]),
            pull=float(found.pull[place]),
            n_reversed=int(found.n_reversed[place]),
            n_to_or_from_zero=int(found.n_to_or_from_zero[place]),
            n_best_changed=int(found.n_best_changed[place]),
            n_without=int(found.n_without[place]),
        )
        for place, pk in enumerate(ids.tolist())
    ]
    return sorted(rows, key=lambda row: (-np.nan_to_num(getattr(row, order), nan=-1.0), row.pseudonym))


def turned_by(everybody: Influences, rater_id: int) -> list[tuple[int, float]]:
    """Return (index in the columns, weight without) of the references whose sign turns without this rater, and of
    those without another rating (NaN)."""
    found = everybody.found
    mine = everybody.rater_id[found.pair_rater] == rater_id
    return list(zip(found.pair_response[mine].tolist(), found.pair_weight[mine].tolist(), strict=True))


INFLUENCE_COLUMNS = (
    "rater",
    "ratings",
    "responses",
    "max_change",
    "mean_change",
    "pull",
    "signs_turned",
    "to_or_from_zero",
    "items_best_changed",
    "left_without_rating",
    "rule",
)


def influence_row(row: RaterInfluence) -> tuple[Any, ...]:
    return (
        row.pseudonym,
        row.n_ratings,
        row.n_responses,
        row.max_change,
        row.mean_change,
        row.pull,
        row.n_reversed,
        row.n_to_or_from_zero,
        row.n_best_changed,
        row.n_without,
        row.rule,
    )
