"""Circularity: raters or texts on both sides of a comparison that uses a release."""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from django.core.cache import cache
from django.db import connection
from django.db.models import Max

from annotation.core.normalisation import normalise
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
from annotation.references.weighing.selectors.stored import KEPT_SECONDS, Figures

MOST_NAMED = 2000
LOOSER = "nfkc-casefold"


@dataclass(frozen=True)
class RaterOnBothSides:
    """Counts of one rater's judgements of this release's references and of outputs of systems to be scored."""

    rater_id: int
    pseudonym: str
    references: int
    outputs: int
    campaigns: tuple[tuple[int, str], ...]  # where the outputs were rated


@dataclass(frozen=True)
class SystemAmongReferences:
    """How many of one system's outputs are references of the release."""

    system_id: int
    name: str
    outputs: int  # items of the release for which the system has an output
    same: int  # of them identical to a reference, under the data set's normalisation
    same_best: int  # of these, the best reference of its item
    near: int  # identical under the looser rule only


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
    """Circularity in numbers, for the page and the data card.

    Counts are of judgements. ``raters`` are known on both sides; ``shared_reference_judgements`` and
    ``shared_output_judgements`` are theirs, of the totals beside them.
    """

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
        return not self.raters and not any(one.same for one in self.systems)

    @property
    def same(self) -> int:
        return sum(one.same for one in self.systems)

    @property
    def near(self) -> int:
        return sum(one.near for one in self.systems)

    @property
    def references_said(self) -> int:
        """Count the different references that are identical to an output."""
        return len({one.reference_id for one in self.overlaps if one.is_same})

    @property
    def items_said(self) -> int:
        return len({one.item_id for one in self.overlaps if one.is_same})

    @property
    def share_of_reference_judgements(self) -> float:
        return self.shared_reference_judgements / self.reference_judgements if self.reference_judgements else 0.0

    @property
    def share_of_output_judgements(self) -> float:
        return self.shared_output_judgements / self.output_judgements if self.output_judgements else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain JSON; raters are counted, not named."""
        return {
            "raters_on_both_sides": len(self.raters),
            "reference_raters": self.reference_raters,
            "output_raters": self.output_raters,
            "reference_judgements_by_them": self.shared_reference_judgements,
            "reference_judgements": self.reference_judgements,
            "output_judgements_by_them": self.shared_output_judgements,
            "output_judgements": self.output_judgements,
            "raters_unknown": self.raters_unknown,
            "references_said_by_systems": self.references_said,
            "items_with_one": self.items_said,
            "normalisation": self.rule,
            "systems": [
                {key: value for key, value in asdict(one).items() if key != "system_id"} for one in self.systems
            ],
        }


@dataclass(frozen=True, eq=False)
class _References:
    """What depends on the release and the existing outputs alone, not on who rated them."""

    rater_id: IntArray  # of the references' judgements
    judgements: IntArray  # of each
    systems: list[SystemAmongReferences]
    overlaps: IntArray  # shape (overlaps, 4): item, system, reference, output


def circularity(release: Release, *, here: bool = False) -> Circularity:
    """Return raters and texts on both sides now: outputs and their ratings may be newer than the release."""
    dataset = release.reference_set.dataset
    campaigns = list(dataset.campaigns.exclude(state=CampaignState.DRAFT).order_by("id"))
    key = f"release-guard-2-{release.pk}-{release.content_hash}-{_moment(dataset, campaigns)}"
    found: Circularity | None = cache.get(key)
    if found is None:
        found = _compute(release, TEXTS.of(release, here=here), dataset, campaigns)
        cache.set(key, found, KEPT_SECONDS)
    return replace(found, raters=_named(found.raters))


def _named(raters: tuple[RaterOnBothSides, ...]) -> tuple[RaterOnBothSides, ...]:
    """Fill in the current pseudonyms: an erasure may change them, so cached values hold none."""
    names = dict(Rater.objects.filter(pk__in=[one.rater_id for one in raters]).values_list("pk", "pseudonym"))
    return tuple(replace(one, pseudonym=names[one.rater_id]) for one in raters if one.rater_id in names)


def outputs_among_references(release: Release, systems: list[System]) -> list[tuple[str, int]]:
    """Return (system, items) for the systems with an output identical to a reference, under the data set's rule."""
    columns = release_columns(release)
    found: dict[int, int] = {}
    sources = ResponseSource.objects.filter(system__in=systems).order_by().values_list("system_id", "response_id")
    mine = np.array(list(sources), dtype=np.int64).reshape(-1, 2)
    for system_id in mine[np.isin(mine[:, 1], columns.response_id), 0].tolist():
        found[system_id] = found.get(system_id, 0) + 1
    return [(system.name, found[system.pk]) for system in systems if system.pk in found]


def _moment(dataset: Dataset, campaigns: list[Campaign]) -> str:
    """Return a value that changes when a rating or an output is added."""
    rating = 0
    with connection.cursor() as cursor:  # one look into the index per campaign
        for campaign in campaigns:
            cursor.execute("SELECT max(id) FROM annotation_rating WHERE campaign_id = %s", [campaign.pk])
            rating = max(rating, cursor.fetchone()[0] or 0)
    source = ResponseSource.objects.filter(system__dataset=dataset).aggregate(last=Max("id"))["last"] or 0
    return f"{rating}-{source}"


def _compute_references(release: Release) -> _References:
    said, overlaps = _texts(release, _systems(release))
    rater_id, judgements = np.unique(release_judgements(release).rater_id, return_counts=True)
    places = [(one.item_id, one.system_id, one.reference_id, one.output_id) for one in overlaps]
    return _References(rater_id, judgements, said, np.array(places, dtype=np.int64).reshape(-1, 4))


def _as_tree(found: _References) -> dict[str, Any]:
    return {**vars(found), "systems": [asdict(one) for one in found.systems]}


def _from_tree(tree: dict[str, Any]) -> _References:
    return _References(**{**tree, "systems": [SystemAmongReferences(**one) for one in tree["systems"]]})


TEXTS = Figures(FiguresPart.TEXTS, _compute_references, _as_tree, _from_tree)


def _systems(release: Release) -> list[System]:
    """Return the systems whose outputs a metric may be tested on."""
    chosen = _reference_systems(release)
    return [system for system in release.reference_set.dataset.systems.order_by("name") if system.name not in chosen]


def _compute(release: Release, known: _References, dataset: Dataset, campaigns: list[Campaign]) -> Circularity:
    output = _output_judgements(release, _systems(release), campaigns)
    by_rater: dict[int, int] = {}
    where: dict[int, list[int]] = {}
    for rater, campaign, count in output:
        by_rater[rater] = by_rater.get(rater, 0) + count
        where.setdefault(rater, []).append(campaign)
    on_references = dict(zip(known.rater_id.tolist(), known.judgements.tolist(), strict=True))
    everybody = np.array(sorted({*on_references, *by_rater}), dtype=np.int64)
    unknown = set(everybody[by_stand_ins(everybody)].tolist()) if everybody.size else set()
    both = sorted((set(on_references) & set(by_rater)) - unknown)
    campaign_names = {campaign.pk: campaign.name for campaign in campaigns}
    raters = [
        RaterOnBothSides(
            pk, "", on_references[pk], by_rater[pk], tuple((one, campaign_names[one]) for one in where[pk])
        )
        for pk in both
    ]
    raters.sort(key=lambda one: (-min(one.references, one.outputs), one.rater_id))
    return Circularity(
        reference_raters=len(on_references),
        output_raters=len(by_rater),
        raters=tuple(raters),
        reference_judgements=sum(on_references.values()),
        output_judgements=sum(by_rater.values()),
        shared_reference_judgements=sum(one.references for one in raters),
        shared_output_judgements=sum(one.outputs for one in raters),
        raters_unknown=bool(unknown) or release.is_imported,
        systems=tuple(known.systems),
        overlaps=tuple(Overlap(*places) for places in known.overlaps.tolist()),
        rule=dataset.normalisation,
    )


def _reference_systems(release: Release) -> set[str]:
    """Systems whose outputs are references by choice: none to be scored.

    A set of weights made elsewhere names every source of its texts, chosen or not: where those came from people or a
    corpus, too, the systems merely said the same.
    """
    own = release.reference_set
    return set() if release.is_imported and own.source_kinds else set(own.source_systems)


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
          AND NOT (r.campaign_id = ANY(%(own)s)
                   AND EXISTS (SELECT 1 FROM annotation_releaseweight weight
                               WHERE weight.release_id = %(release)s AND weight.response_id = r.response_id))
        GROUP BY r.rater_id, r.campaign_id ORDER BY r.rater_id, r.campaign_id"""
    own = [] if release.is_imported else [campaign.pk for campaign in release_campaigns(release)]
    asked: dict[str, Any] = {
        "campaigns": [campaign.pk for campaign in campaigns],
        "systems": [system.pk for system in systems],
        "own": own,
        "release": release.pk,
    }
    with connection.cursor() as cursor:
        cursor.execute(query, asked)
        return [(int(rater), int(campaign), int(count)) for rater, campaign, count in cursor.fetchall()]


def _texts(release: Release, systems: list[System]) -> tuple[list[SystemAmongReferences], list[Overlap]]:
    columns = release_columns(release)
    weight = dict(zip(columns.response_id.tolist(), columns.weight.tolist(), strict=True))
    best: dict[int, float] = {}
    for item, one in zip(columns.item_id.tolist(), columns.weight.tolist(), strict=True):
        best[item] = max(best.get(item, -2.0), one)
    by_text = _looser_texts(release)
    items = release.weights.order_by().values("item_id")
    sources = ResponseSource.objects.filter(system__in=systems, item__in=items)
    outputs = sources.order_by("system__name", "item__position").values_list(
        "system_id", "item_id", "response_id", "response__text"
    )
    counts = {system.pk: [0, 0, 0, 0] for system in systems}
    overlaps = []
    for system, item, response, text in outputs.iterator(chunk_size=5000):
        mine = counts[system]
        mine[0] += 1
        if response in weight:
            mine[1] += 1
            mine[2] += weight[response] >= best[item] - 1e-9
            overlaps.append(Overlap(item, system, response, response))
        else:
            near = by_text.get((item, normalise(text, LOOSER)))
            if near is not None:
                mine[3] += 1
                overlaps.append(Overlap(item, system, near, response))
    said = [SystemAmongReferences(system.pk, system.name, *counts[system.pk]) for system in systems]
    return [one for one in said if one.outputs], overlaps


def _looser_texts(release: Release) -> dict[tuple[int, str], int]:
    """Return the first reference per item and text under the looser rule."""
    rows = release.weights.order_by("-response_id").values_list("response_id", "item_id", "response__text")
    return {(item, normalise(text, LOOSER)): pk for pk, item, text in rows.iterator(chunk_size=5000)}


OVERLAP_COLUMNS = ("item", "system", "identical", "reference_id", "reference", "weight", "output_id", "output")


def overlap_rows(release: Release, overlaps: list[Overlap]) -> list[tuple[Any, ...]]:
    """Return overlaps with their texts, for a page or a download."""
    ids = {pk for one in overlaps for pk in (one.reference_id, one.output_id)}
    responses = {one.pk: one for one in Response.objects.filter(pk__in=ids).select_related("item")}
    names = dict(System.objects.filter(pk__in={one.system_id for one in overlaps}).values_list("pk", "name"))
    weights = dict(release.weights.filter(response__in=ids).order_by().values_list("response_id", "weight"))
    return [
        (
            responses[one.reference_id].item.external_id,
            names[one.system_id],
            one.is_same,
            one.reference_id,
            responses[one.reference_id].text,
            weights.get(one.reference_id),
            one.output_id,
            responses[one.output_id].text,
        )
        for one in overlaps
    ]


def rule_without_texts(release: Release, found: Circularity) -> dict[str, Any] | None:
    """Return the rule that excludes all ratings of the references that are identical to outputs, and so their weights.

    None where there are none, where they are too many to name, or where weights were made elsewhere.
    """
    said = {one.reference_id for one in found.overlaps if one.is_same}
    if not said or release.is_imported:
        return None
    ratings = Rating.objects.filter(campaign__in=release_campaigns(release), response__in=said, value__isnull=False)
    ids = list(ratings.order_by("id").values_list("id", flat=True)[: MOST_NAMED + 1])
    return None if len(ids) > MOST_NAMED else {"rule": "exclude_ratings", "version": 1, "ratings": ids}


RATER_COLUMNS = ("rater", "reference_judgements", "output_judgements", "campaigns_of_outputs")


def rater_row(one: RaterOnBothSides) -> tuple[Any, ...]:
    return one.pseudonym, one.references, one.outputs, [name for _, name in one.campaigns]
