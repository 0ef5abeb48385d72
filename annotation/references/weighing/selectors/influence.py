"""Influence of each rater on a release's weights."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from annotation.judgements.stand_ins import by_stand_ins
from annotation.models import FiguresPart, Participation, Rater, Release
from annotation.rating.selectors.ratings import IntArray
from annotation.references.releases.selectors.releases import release_campaigns
from annotation.references.weighing.selectors.columns import judged, release_columns
from annotation.references.weighing.selectors.stored import StoredStatistics
from annotation.weighting.influence import Influence, leave_one_rater_out
from annotation.weighting.schemes import get_scheme


@dataclass(frozen=True, eq=False)
class Influences:
    """Influence of all raters of a release, in the order of ``rater_id``.

    Pairs hold only the references whose sign turns, or that have no other rating.
    """

    rater_id: IntArray
    influence: Influence


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


# The numbers of a rater, which ``Influence`` holds as arrays.
RATER_NUMBERS = [field.name for field in fields(RaterInfluence) if field.name in Influence.__dataclass_fields__]


def influences(release: Release) -> Influences | None:
    """Return None for an imported release: its judgements are not stored."""
    if release.is_imported:
        return None
    return INFLUENCE.of(release)


def _compute(release: Release) -> Influences | None:
    evidence, columns = judged(release), release_columns(release)
    if evidence is None:
        return None
    influence = leave_one_rater_out(
        evidence.table,
        evidence.low,
        evidence.high,
        columns.item,
        scheme=release.method,
        n_items=columns.n_items,
        parameters=get_scheme(release.method).chosen(release.parameters),
    )
    matters = influence.pair_reversed | np.isnan(influence.pair_weight)
    pairs = ("pair_rater", "pair_response", "pair_weight", "pair_reversed")
    influence = replace(influence, **{name: getattr(influence, name)[matters] for name in pairs})
    return Influences(evidence.rater_id, influence)


def _as_tree(of_raters: Influences | None) -> dict[str, Any] | None:
    return None if of_raters is None else {"rater_id": of_raters.rater_id, "found": dict(vars(of_raters.influence))}


def _from_tree(tree: dict[str, Any] | None) -> Influences | None:
    return None if tree is None else Influences(tree["rater_id"], Influence(**tree["found"]))


INFLUENCE = StoredStatistics(FiguresPart.INFLUENCE, _compute, _as_tree, _from_tree)


ORDERS = {
    "max_change": "largest change",
    "mean_change": "mean change",
    "n_reversed": "signs turned",
    "n_best_changed": "best references changed",
    "n_without": "left without a rating",
    "n_ratings": "ratings",
}


def rater_influences(release: Release, of_raters: Influences, order: str = "max_change") -> list[RaterInfluence]:
    """Return all raters, the most influential first."""
    ids = of_raters.rater_id.tolist()
    names = dict(Rater.objects.filter(pk__in=ids).values_list("pk", "pseudonym"))
    participations = Participation.objects.filter(campaign__in=release_campaigns(release), rater__in=ids)
    campaign_of = dict(participations.order_by("-campaign_id").values_list("rater_id", "campaign_id"))
    first = release.report["campaigns"][0]["id"] if release.report.get("campaigns") else None
    stand_ins = by_stand_ins(of_raters.rater_id)
    columns = zip(*(getattr(of_raters.influence, name).tolist() for name in RATER_NUMBERS), strict=True)
    rows = [
        RaterInfluence(
            rater_id=pk,
            pseudonym=names.get(pk, "erased"),
            stands_in=bool(is_stand_in),
            campaign_id=campaign_of.get(pk, first),
            **dict(zip(RATER_NUMBERS, numbers, strict=True)),
        )
        for pk, is_stand_in, numbers in zip(ids, stand_ins, columns, strict=True)
    ]
    return sorted(rows, key=lambda row: (-np.nan_to_num(getattr(row, order), nan=-1.0), row.pseudonym))


def turned_by(of_raters: Influences, rater_id: int) -> list[tuple[int, float]]:
    """Return (index in the columns, weight without) of the references whose sign turns without this rater.

    Those without another rating are included; their weight is NaN.
    """
    influence = of_raters.influence
    of_rater = of_raters.rater_id[influence.pair_rater] == rater_id
    indices, weights = influence.pair_response[of_rater], influence.pair_weight[of_rater]
    return list(zip(indices.tolist(), weights.tolist(), strict=True))


INFLUENCE_COLUMNS = {
    "rater": "pseudonym",
    "ratings": "n_ratings",
    "responses": "n_responses",
    "max_change": "max_change",
    "mean_change": "mean_change",
    "pull": "pull",
    "signs_turned": "n_reversed",
    "to_or_from_zero": "n_to_or_from_zero",
    "items_best_changed": "n_best_changed",
    "left_without_rating": "n_without",
    "rule": "rule",
}
