"""Rated releases of any size, with ratings written by COPY and weights built by the product."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING
from uuid import UUID

from benchmarks.references import SPLITS, random_text

if TYPE_CHECKING:
    from annotation.models import Campaign, Dataset, Project, Release

PER_ITEM = 16
RATINGS = 5  # of each reference, and of each output
SYSTEMS = ("alpha", "beta")
Pairs = list[tuple[int, int]]


def rated_release(project: Project, n_items: int, *, n_raters: int, seed: int = 1) -> Release:
    """Create a release of ``n_items`` times 16 rated references; some raters also rated outputs of two systems."""
    from annotation.references.releases.services.releases import release_build, release_create
    from annotation.references.sets.services import reference_set_create

    campaign = rated_campaign(project, n_items, n_raters=n_raters, seed=seed)
    chosen = reference_set_create(
        dataset=campaign.dataset,
        name=f"Rated {n_items}",
        campaigns=[campaign],
        source_kinds=["seed", "mined"],
    )
    release = release_create(reference_set=chosen)
    release_build(release_id=release.pk)
    release.refresh_from_db()
    if release.state != "done":
        raise RuntimeError(f"The release was not built: {release.error}")
    return release


def rated_campaign(
    project: Project, n_items: int, *, n_raters: int, per_item: int = PER_ITEM, seed: int = 1
) -> Campaign:
    """Create a campaign that rates the references of a new data set, and another one that rates outputs."""
    draw = random.Random(seed)
    dataset, references, outputs = _dataset(project, n_items, per_item, draw)
    raters = _raters(project, f"{n_items}", n_raters)
    _campaign(dataset, f"Outputs of {n_items}", outputs, raters[: n_raters // 10], draw)
    return _campaign(dataset, f"References of {n_items}", references, raters, draw)


def _dataset(project: Project, n_items: int, per_item: int, draw: random.Random) -> tuple[Dataset, Pairs, Pairs]:
    """Return a data set and (item, response) of references and outputs; every fiftieth output is a reference."""
    from annotation.core.copying import allocate_ids, copy_rows
    from annotation.core.normalisation import text_key
    from annotation.models import Dataset, Item, Response, ResponseSource, System

    dataset = Dataset.objects.create(project=project, name=f"Rated {n_items}", slug=f"rated-{n_items}")
    items = allocate_ids(Item, n_items)
    copy_rows(
        Item,
        ["id", "dataset_id", "external_id", "position", "context", "message", "meaning_representation", "split"],
        (
            (pk, dataset.pk, f"c{at:06d}", at, [random_text(draw)], random_text(draw) + " ?", "", SPLITS[at % 2])
            for at, pk in enumerate(items)
        ),
    )
    n, m = n_items * per_item, n_items * len(SYSTEMS)
    responses = allocate_ids(Response, n + m)
    references = [(items[at // per_item], pk) for at, pk in enumerate(responses[:n])]
    outputs = [(items[at % n_items], pk) for at, pk in enumerate(responses[n:])]
    texts = ((pk, item, f"{random_text(draw)} {at}") for at, (item, pk) in enumerate([*references, *outputs]))
    copy_rows(
        Response, ["id", "item_id", "text", "text_key"], ((pk, item, text, text_key(text)) for pk, item, text in texts)
    )
    copy_rows(
        ResponseSource,
        ["response_id", "item_id", "kind", "source_context", "source_message", "raw_text"],
        ((pk, item, "mined" if at % per_item else "seed", [], "", "") for at, (item, pk) in enumerate(references)),
    )
    systems = [System.objects.create(dataset=dataset, name=name).pk for name in SYSTEMS]
    copies = dict(references[:: 50 * per_item])  # outputs that equal the item's original response
    credited = ((item, copies.get(item, pk), systems[at // n_items]) for at, (item, pk) in enumerate(outputs))
    copy_rows(
        ResponseSource,
        ["response_id", "item_id", "kind", "system_id", "source_context", "source_message", "raw_text"],
        ((pk, item, "system", system, [], "", "") for item, pk, system in credited),
    )
    return dataset, references, outputs


def _raters(project: Project, stem: str, n_raters: int) -> list[int]:
    from annotation.models import Rater

    raters = Rater.objects.bulk_create(Rater(project=project, pseudonym=f"r{stem}-{at:04d}") for at in range(n_raters))
    return [rater.pk for rater in raters]


def _campaign(dataset: Dataset, name: str, shown: Pairs, raters: list[int], draw: random.Random) -> Campaign:
    """Create a closed campaign with five ratings of each response, or four for every hundredth."""
    from django.utils import timezone

    from annotation.core.copying import allocate_ids, copy_rows
    from annotation.models import Campaign, CampaignState, Criterion, Presentation, Rating, Unit, UnitResponse

    now = timezone.now()
    campaign = Campaign.objects.create(
        project=dataset.project,
        dataset=dataset,
        name=name,
        state=CampaignState.CLOSED,
        launched_at=now,
        closed_at=now,
        design_hash="0" * 64,
        ratings_per_unit=RATINGS,
    )
    criterion = Criterion.objects.create(campaign=campaign, name="quality", question="Good?")
    units = allocate_ids(Unit, len(shown))
    copy_rows(
        Unit,
        ["id", "campaign_id", "item_id", "position", "label", "systems", "done_slots", "ratings_wanted"],
        (
            (pk, campaign.pk, item, at, "", [], RATINGS, RATINGS)
            for at, (pk, (item, _)) in enumerate(zip(units, shown, strict=True))
        ),
    )
    copy_rows(
        UnitResponse,
        ["unit_id", "response_id", "number"],
        ((unit, response, 0) for unit, (_, response) in zip(units, shown, strict=True)),
    )
    judged = [
        (unit, response, raters[(at * RATINGS + nth) * 7919 % len(raters)])
        for at, (unit, (_, response)) in enumerate(zip(units, shown, strict=True))
        for nth in range(RATINGS - (at % 100 == 0))
    ]
    screens = allocate_ids(Presentation, len(judged))
    copy_rows(
        Presentation,
        ["id", "campaign_id", "unit_id", "rater_id", "token", "outcome", "order", "seconds_given"],
        (
            (pk, campaign.pk, unit, rater, UUID(int=draw.getrandbits(128)), "imported", [0], 4.0)
            for pk, (unit, _, rater) in zip(screens, judged, strict=True)
        ),
    )
    copy_rows(
        Rating,
        ["campaign_id", "presentation_id", "response_id", "rater_id", "criterion_id", "value", "revision", "extra"],
        (
            (campaign.pk, pk, response, rater, criterion.pk, value, 0, False)
            for pk, (_, response, rater), value in zip(screens, judged, _values(judged, draw), strict=True)
        ),
    )
    return campaign


def _values(judged: list[tuple[int, int, int]], draw: random.Random) -> Iterator[int]:
    """Yield ratings around the latent quality of each response, with a small bias of each rater."""
    quality, of = 0.0, None
    for _, response, rater in judged:
        if response != of:
            quality, of = draw.betavariate(1.6, 2), response
        yield min(5, max(1, round(1 + 4 * quality + rater % 7 / 10 - 0.3 + draw.gauss(0, 0.8))))
