"""Circularity: raters or texts on both sides of a comparison that uses a release."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from django.db import connection
from django.db.models import Max

from annotation.core import sql
from annotation.core.caching import cached
from annotation.core.exports import Column
from annotation.core.normalisation import letters_of
from annotation.judgements.stand_ins import by_stand_ins
from annotation.models import (
    Campaign,
    CampaignState,
    Dataset,
    FiguresPart,
    Rater,
    Rating,
    Release,
    Response,
    ResponseSource,
    System,
)
from annotation.rating.selectors.ratings import IntArray
from annotation.references.releases.selectors.releases import release_campaigns, release_judgements
from annotation.references.weighing.selectors.columns import release_columns
from annotation.references.weighing.selectors.stored import CACHE_SECONDS, StoredStatistics
from annotation.weighting.standing import SAME

MOST_NAMED = 2000


@dataclass(frozen=True)
class RaterOnBothSides:
    """Counts of one rater's judgements of this release's references and of outputs of systems to be scored."""

    rater_id: int
    pseudonym: str
    references: int
    outputs: int
    campaigns: tuple[tuple[int, str], ...]  # (id, name) of those that rated the outputs


@dataclass(frozen=True)
class SystemAmongReferences:
    """How many of one system's outputs are references of the release."""

    system_id: int
    name: str
    outputs: int  # items of the release for which the system has an output
    same: int  # of them identical to a reference, under the data set's normalisation
    same_best: int  # of these, the best reference of its item
    near: int  # identical but for case, spaces and punctuation


@dataclass(frozen=True)
class Overlap:
    """One output that is identical or nearly identical to a reference of its item."""

    item_id: int
    system_id: int
    reference_id: int
    output_id: int

    @property
    def is_same(self) -> bool:
        return self.reference_id == self.output_id


@dataclass(frozen=True)
class Circularity:
    """Circularity in numbers: ``raters`` judged both sides, and the shared judgements are theirs."""

    reference_raters: int
    output_raters: int
    raters: tuple[RaterOnBothSides, ...]
    reference_judgements: int
    output_judgements: int
    shared_reference_judgements: int
    shared_output_judgements: int
    raters_unknown: bool  # some judgements stand for raters whose records were erased, or were made elsewhere
    systems: tuple[SystemAmongReferences, ...]
    overlaps: tuple[Overlap, ...]
    rule: str  # the data set's normalisation

    @property
    def is_clean(self) -> bool:
        return not self.raters and not self.same

    @property
    def same(self) -> int:
        return sum(system.same for system in self.systems)

    @property
    def identical_references(self) -> int:
        """Count the different references that are identical to an output."""
        return len({overlap.reference_id for overlap in self.overlaps if overlap.is_same})

    @property
    def items_with_identical(self) -> int:
        return len({overlap.item_id for overlap in self.overlaps if overlap.is_same})

    @property
    def share_of_reference_judgements(self) -> float:
        return self.shared_reference_judgements / self.reference_judgements if self.reference_judgements else 0.0

    @property
    def share_of_output_judgements(self) -> float:
        return self.shared_output_judgements / self.output_judgements if self.output_judgements else 0.0


@dataclass(frozen=True, eq=False)
class _ReferenceSide:
    """The raters and texts that depend on the release and on the existing outputs, not on the outputs' raters."""

    rater_id: IntArray  # of the references' judgements
    judgements: IntArray  # of each
    systems: list[SystemAmongReferences]
    overlaps: IntArray  # shape (overlaps, 4): item, system, reference, output


def circularity(release: Release, *, here: bool = False) -> Circularity:
    """Return raters and texts on both sides now: outputs and their ratings may be newer than the release."""
    dataset = release.reference_set.dataset
    campaigns = list(dataset.campaigns.exclude(state=CampaignState.DRAFT).order_by("id"))
    key = f"release-guard-3-{release.pk}-{release.content_hash}-{_newest_ids(dataset, campaigns)}"
    computed = cached(key, lambda: _compute(release, TEXTS.of(release, here=here), dataset, campaigns), CACHE_SECONDS)
    return replace(computed, raters=_with_names(computed.raters))


def _with_names(raters: tuple[RaterOnBothSides, ...]) -> tuple[RaterOnBothSides, ...]:
    """Fill in the current pseudonyms: an erasure may change them, so cached values hold none."""
    names = dict(Rater.objects.filter(pk__in=[rater.rater_id for rater in raters]).values_list("pk", "pseudonym"))
    return tuple(replace(rater, pseudonym=names[rater.rater_id]) for rater in raters if rater.rater_id in names)


def _newest_ids(dataset: Dataset, campaigns: list[Campaign]) -> str:
    """Return a value that changes when a rating or an output is added."""
    rating = 0
    with connection.cursor() as cursor:  # one query of the index per campaign
        for campaign in campaigns:
            cursor.execute("SELECT max(id) FROM annotation_rating WHERE campaign_id = %s", [campaign.pk])
            rating = max(rating, cursor.fetchone()[0] or 0)
    source = ResponseSource.objects.filter(system__dataset=dataset).aggregate(last=Max("id"))["last"] or 0
    return f"{rating}-{source}"


def _compute_reference_side(release: Release) -> _ReferenceSide:
    systems, overlaps = _texts(release, _systems(release))
    rater_id, judgements = np.unique(release_judgements(release).rater_id, return_counts=True)
    return _ReferenceSide(rater_id, judgements, systems, np.array(overlaps, dtype=np.int64).reshape(-1, 4))


def _as_tree(side: _ReferenceSide) -> dict[str, Any]:
    return {**vars(side), "systems": [asdict(system) for system in side.systems]}


def _from_tree(tree: dict[str, Any]) -> _ReferenceSide:
    return _ReferenceSide(**{**tree, "systems": [SystemAmongReferences(**system) for system in tree["systems"]]})


TEXTS = StoredStatistics(FiguresPart.TEXTS, _compute_reference_side, _as_tree, _from_tree)


def _systems(release: Release) -> list[System]:
    """Return the systems whose outputs a metric may be tested on."""
    chosen = set(release.reference_set.source_systems)
    return [system for system in release.reference_set.dataset.systems.order_by("name") if system.name not in chosen]


def _compute(release: Release, side: _ReferenceSide, dataset: Dataset, campaigns: list[Campaign]) -> Circularity:
    on_outputs: Counter[int] = Counter()
    campaigns_of: dict[int, list[tuple[int, str]]] = {}
    names = {campaign.pk: campaign.name for campaign in campaigns}
    for rater, campaign, count in _output_judgements(release, _systems(release), campaigns):
        on_outputs[rater] += count
        campaigns_of.setdefault(rater, []).append((campaign, names[campaign]))
    on_references = dict(zip(side.rater_id.tolist(), side.judgements.tolist(), strict=True))
    all_raters = np.array(sorted({*on_references, *on_outputs}), dtype=np.int64)
    unknown = set(all_raters[by_stand_ins(all_raters)].tolist()) if all_raters.size else set()
    raters = [
        RaterOnBothSides(pk, "", on_references[pk], on_outputs[pk], tuple(campaigns_of[pk]))
        for pk in sorted((set(on_references) & set(on_outputs)) - unknown)
    ]
    raters.sort(key=lambda rater: (-min(rater.references, rater.outputs), rater.rater_id))
    return Circularity(
        reference_raters=len(on_references),
        output_raters=len(on_outputs),
        raters=tuple(raters),
        reference_judgements=sum(on_references.values()),
        output_judgements=on_outputs.total(),
        shared_reference_judgements=sum(rater.references for rater in raters),
        shared_output_judgements=sum(rater.outputs for rater in raters),
        raters_unknown=bool(unknown) or release.is_imported,
        systems=tuple(side.systems),
        overlaps=tuple(Overlap(*ids) for ids in side.overlaps.tolist()),
        rule=dataset.normalisation,
    )


def _output_judgements(
    release: Release, systems: list[System], campaigns: list[Campaign]
) -> list[tuple[int, int, int]]:
    """Return (rater, campaign, judgements) of the outputs of these systems.

    A judgement that weighs a reference of this release counts on that side, even if an output is identical.
    """
    query = """
        SELECT r.rater_id, r.campaign_id, count(DISTINCT (r.presentation_id, r.response_id))
        FROM annotation_rating r
        WHERE r.campaign_id = ANY(%(campaigns)s) AND r.value IS NOT NULL AND NOT r.extra
          AND EXISTS (SELECT 1 FROM annotation_responsesource source
                      WHERE source.response_id = r.response_id AND source.system_id = ANY(%(systems)s))
          AND NOT (r.campaign_id = ANY(%(release_campaigns)s)
                   AND EXISTS (SELECT 1 FROM annotation_releaseweight weight
                               WHERE weight.release_id = %(release)s AND weight.response_id = r.response_id))
        GROUP BY r.rater_id, r.campaign_id ORDER BY r.rater_id, r.campaign_id"""
    own_campaigns = [] if release.is_imported else release_campaigns(release)
    parameters: dict[str, Any] = {
        "campaigns": [campaign.pk for campaign in campaigns],
        "systems": [system.pk for system in systems],
        "release_campaigns": [campaign.pk for campaign in own_campaigns],
        "release": release.pk,
    }
    return [(int(rater), int(campaign), int(count)) for rater, campaign, count in sql.rows(query, parameters)]


def _texts(
    release: Release, systems: list[System]
) -> tuple[list[SystemAmongReferences], list[tuple[int, int, int, int]]]:
    """Compare the outputs of systems with the references; return the systems, and the fields of each ``Overlap``."""
    columns = release_columns(release)
    weight = dict(zip(columns.response_id.tolist(), columns.weight.tolist(), strict=True))
    best: dict[int, float] = {}
    for item, value in zip(columns.item_id.tolist(), columns.weight.tolist(), strict=True):
        best.setdefault(item, value)  # highest weight first
    by_letters = _by_letters(release)
    items = release.weights.order_by().values("item_id")
    sources = ResponseSource.objects.filter(system__in=systems, item__in=items)
    outputs = sources.order_by("system__name", "item__position").values_list(
        "system_id", "item_id", "response_id", "response__text"
    )
    counts = {system.pk: [0, 0, 0, 0] for system in systems}
    overlaps = []
    for system, item, response, text in outputs.iterator(chunk_size=5000):
        of_system = counts[system]
        of_system[0] += 1
        if response in weight:
            of_system[1] += 1
            of_system[2] += weight[response] >= best[item] - SAME
            overlaps.append((item, system, response, response))
        elif (near := by_letters.get((item, letters_of(text)))) is not None:
            of_system[3] += 1
            overlaps.append((item, system, near, response))
    compared = [SystemAmongReferences(system.pk, system.name, *counts[system.pk]) for system in systems]
    return [system for system in compared if system.outputs], overlaps


def _by_letters(release: Release) -> dict[tuple[int, str], int]:
    """Return the first reference of each item with these letters."""
    rows = release.weights.order_by("-response_id").values_list("response_id", "item_id", "response__text")
    return {(item, letters_of(text)): pk for pk, item, text in rows.iterator(chunk_size=5000)}


@dataclass(frozen=True)
class OverlapTexts:
    """An overlap with its texts."""

    overlap: Overlap
    item: str  # its external id
    system: str
    reference: str
    weight: float | None
    output: str


OVERLAP_COLUMNS = {
    "item": "item",
    "system": "system",
    "identical": "overlap.is_same",
    "reference_id": "overlap.reference_id",
    "reference": "reference",
    "weight": "weight",
    "output_id": "overlap.output_id",
    "output": "output",
}


def overlap_texts(release: Release, overlaps: Sequence[Overlap]) -> list[OverlapTexts]:
    """Return overlaps with their texts, for a page or a download."""
    ids = {pk for overlap in overlaps for pk in (overlap.reference_id, overlap.output_id)}
    responses = Response.objects.select_related("item").in_bulk(ids)
    systems = System.objects.in_bulk({overlap.system_id for overlap in overlaps})
    weights = dict(release.weights.filter(response__in=ids).order_by().values_list("response_id", "weight"))
    return [
        OverlapTexts(
            overlap,
            responses[overlap.reference_id].item.external_id,
            systems[overlap.system_id].name,
            responses[overlap.reference_id].text,
            weights.get(overlap.reference_id),
            responses[overlap.output_id].text,
        )
        for overlap in overlaps
    ]


def rule_without_texts(release: Release, circular: Circularity) -> dict[str, Any] | None:
    """Return the rule that excludes all ratings of the references that are identical to outputs, and so their weights.

    There is none without such references, with too many ratings to name, or for an imported release.
    """
    identical = {overlap.reference_id for overlap in circular.overlaps if overlap.is_same}
    if not identical or release.is_imported:
        return None
    ratings = Rating.objects.filter(
        campaign__in=release_campaigns(release), response__in=identical, value__isnull=False
    )
    ids = list(ratings.order_by("id").values_list("id", flat=True)[: MOST_NAMED + 1])
    return None if len(ids) > MOST_NAMED else {"rule": "exclude_ratings", "version": 1, "ratings": ids}


RATER_COLUMNS: dict[str, Column] = {
    "rater": "pseudonym",
    "reference_judgements": "references",
    "output_judgements": "outputs",
    "campaigns_of_outputs": lambda rater: [name for _, name in rater.campaigns],
}
