"""A small data set with everything a score run and a study read: outputs, judgements, a release of weights."""

import uuid
from dataclasses import dataclass

import numpy as np
from django.utils import timezone

from annotation.models import (
    Campaign,
    CampaignState,
    Criterion,
    Dataset,
    Item,
    JobState,
    Presentation,
    PresentationOutcome,
    Project,
    Rater,
    Rating,
    ReferenceSet,
    Release,
    ReleaseWeight,
    Response,
    ResponseSource,
    SourceKind,
    System,
    Unit,
    UnitResponse,
)
from tests.snapshots import recalled

HYPOTHESES = ("Echo", "Parrot", "Quill")
REFERENCES = ("Human", "Random")
CRITERIA = ("informativeness", "relevance")
WORDS = ("the", "cat", "sat", "on", "a", "mat", "and", "saw", "no", "dog", "under", "this", "old", "red", "roof", "now")


@dataclass
class World:
    project: Project
    dataset: Dataset
    items: list[Item]
    systems: dict[str, System]
    responses: dict[tuple[str, int], Response]  # system name, item's place
    reference_campaign: Campaign
    output_campaign: Campaign
    reference_set: ReferenceSet
    release: Release
    weights: dict[tuple[str, int], float]  # reference system, item's place
    judgements: dict[tuple[str, int], list[float]]  # system name, item's place: means over criteria

    @property
    def hypotheses(self) -> list[System]:
        return [self.systems[name] for name in HYPOTHESES]

    def specification(self, **changes: object) -> dict[str, object]:
        return {
            "release": f"{self.reference_set.slug}/v1",
            "campaigns": [self.output_campaign.name],
            "systems": list(HYPOTHESES),
            "unit_size": 8,
            "assignments": 20,
            "bootstrap": 20,
            "sweeps": False,
            "seed": 7,
        } | changes


def make_world(project: Project, *, n_items: int = 40, n_raters: int = 3, seed: int = 5) -> World:
    """Systems of differing quality; the last item's references are all rated lowest, so no weight there is positive."""
    name = ("cats", n_items, n_raters, seed)
    return recalled(name, project, lambda: _make_world(project, n_items, n_raters, np.random.default_rng(seed)))


def _make_world(project: Project, n_items: int, n_raters: int, rng: np.random.Generator) -> World:
    dataset = Dataset.objects.create(project=project, name="Cats", slug="cats")
    items = Item.objects.bulk_create(
        Item(dataset=dataset, external_id=f"item-{index}", position=index, message="what did you see ?")
        for index in range(n_items)
    )
    systems = {
        name: System.objects.create(dataset=dataset, name=name, description="") for name in (*HYPOTHESES, *REFERENCES)
    }
    responses = _outputs(items, systems, rng)
    raters = [Rater.objects.create(project=project, pseudonym=f"rater-{number}") for number in range(n_raters)]
    judgements: dict[tuple[str, int], list[float]] = {}
    campaigns = {}
    for name, chosen in (("Reference ratings", REFERENCES), ("Output ratings", HYPOTHESES)):
        campaigns[name] = _campaign(dataset, name)
        _rate(campaigns[name], items, chosen, responses, raters, judgements, rng)
    reference_set, release, weights = _release(dataset, campaigns["Reference ratings"], items, responses, judgements)
    return World(
        project,
        dataset,
        items,
        systems,
        responses,
        campaigns["Reference ratings"],
        campaigns["Output ratings"],
        reference_set,
        release,
        weights,
        judgements,
    )


def _outputs(
    items: list[Item], systems: dict[str, System], rng: np.random.Generator
) -> dict[tuple[str, int], Response]:
    """Sentences around one per item, changed the more the worse the system; equal texts are one response.

    On every tenth item Echo says what Human says.
    """
    change = {"Human": 0.1, "Echo": 0.2, "Parrot": 0.5, "Quill": 0.8, "Random": 1.0}
    texts: dict[tuple[str, int], str] = {}
    for index in range(len(items)):
        theme = rng.choice(WORDS, size=9)
        for name in systems:
            swap = rng.random(theme.size) < change[name]
            texts[name, index] = " ".join(np.where(swap, rng.choice(WORDS, size=theme.size), theme))
        if index % 10 == 0:
            texts["Echo", index] = texts["Human", index]
    distinct = {(index, text) for (_, index), text in texts.items()}
    stored = Response.objects.bulk_create(
        Response(item=items[index], text=text, text_key=uuid.uuid5(uuid.NAMESPACE_OID, text).hex * 2)
        for index, text in sorted(distinct)
    )
    by_text = dict(zip(sorted(distinct), stored, strict=True))
    responses = {(name, index): by_text[index, text] for (name, index), text in texts.items()}
    ResponseSource.objects.bulk_create(
        ResponseSource(response=response, item=items[index], kind=SourceKind.SYSTEM, system=systems[name])
        for (name, index), response in responses.items()
    )
    return responses


def _campaign(dataset: Dataset, name: str) -> Campaign:
    campaign = Campaign.objects.create(
        project=dataset.project,
        dataset=dataset,
        name=name,
        imported=True,
        state=CampaignState.CLOSED,
        design={},
        design_hash="frozen",
        launched_at=timezone.now(),
        closed_at=timezone.now(),
    )
    for position, criterion in enumerate(CRITERIA):
        Criterion.objects.create(campaign=campaign, name=criterion, question=f"{criterion}?", position=position)
    return campaign


def _rate(
    campaign: Campaign,
    items: list[Item],
    names: tuple[str, ...],
    responses: dict[tuple[str, int], Response],
    raters: list[Rater],
    judgements: dict[tuple[str, int], list[float]],
    rng: np.random.Generator,
) -> None:
    quality = {"Human": 4.5, "Echo": 4.0, "Parrot": 3.0, "Quill": 2.2, "Random": 1.4}
    criteria = list(campaign.criteria.all())
    cells = [(name, index) for index in range(len(items)) for name in names]
    units = Unit.objects.bulk_create(
        Unit(campaign=campaign, item=items[index], position=position, label=name)
        for position, (name, index) in enumerate(cells)
    )
    UnitResponse.objects.bulk_create(
        UnitResponse(unit=unit, response=responses[cell], number=0) for unit, cell in zip(units, cells, strict=True)
    )
    presentations = Presentation.objects.bulk_create(
        Presentation(campaign=campaign, unit=unit, rater=rater, outcome=PresentationOutcome.IMPORTED, order=[0])
        for unit in units
        for rater in raters
    )
    ratings = []
    for presentation, cell in zip(presentations, [cell for cell in cells for _ in raters], strict=True):
        name, index = cell
        values = np.clip(np.rint(quality[name] + rng.normal(size=2)), 1, 5)
        if name in REFERENCES and index == len(items) - 1:
            values[:] = 1
        judgements.setdefault(cell, []).append(float(values.mean()))
        ratings += [
            Rating(
                campaign=campaign,
                presentation=presentation,
                response=responses[cell],
                rater=presentation.rater,
                criterion=criterion,
                value=float(value),
                position=0,
            )
            for criterion, value in zip(criteria, values, strict=True)
        ]
    Rating.objects.bulk_create(ratings)


def _release(
    dataset: Dataset,
    campaign: Campaign,
    items: list[Item],
    responses: dict[tuple[str, int], Response],
    judgements: dict[tuple[str, int], list[float]],
) -> tuple[ReferenceSet, Release, dict[tuple[str, int], float]]:
    reference_set = ReferenceSet.objects.create(
        project=dataset.project,
        dataset=dataset,
        name="Cat references",
        slug="cat-references",
        source_systems=list(REFERENCES),
        original_systems=["Human"],
    )
    reference_set.campaigns.add(campaign)
    last = Rating.objects.filter(campaign=campaign).order_by("-id").values_list("id", flat=True)[0]
    release = Release.objects.create(
        reference_set=reference_set,
        number=1,
        signature="linear",
        parameters={"criteria": list(CRITERIA)},
        report={"last_rating_id": last},
    )
    cells = [(name, index) for name in REFERENCES for index in range(len(items))]
    means = {cell: float(np.mean(judgements[cell])) for cell in cells}
    weights = {cell: 2 * (mean - 1) / 4 - 1 for cell, mean in means.items()}
    ReleaseWeight.objects.bulk_create(
        ReleaseWeight(
            release=release,
            item=items[index],
            item_position=index,
            response=responses[name, index],
            weight=weights[name, index],
            rating_mean=means[name, index],
            n_ratings=len(judgements[name, index]),
            is_original=name == "Human",
        )
        for name, index in cells
    )
    release.state, release.finished_at, release.content_hash = JobState.DONE, timezone.now(), "c0ffee" * 10 + "0123"
    release.save()
    return reference_set, release, weights
