"""A small rated data set for tests: items, responses under source names, campaigns, and judgements."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from django.db.models import Max
from django.utils import timezone

from annotation.models import (
    Campaign,
    CampaignState,
    Criterion,
    Dataset,
    Item,
    Presentation,
    PresentationOutcome,
    Project,
    Rater,
    Rating,
    Response,
    ResponseSource,
    Slot,
    SlotState,
    SourceKind,
    System,
    Unit,
    UnitResponse,
)

SHOWN = datetime(2026, 3, 1, 12, tzinfo=UTC)


def make_dataset(project: Project, slug: str = "replies") -> Dataset:
    return Dataset.objects.create(project=project, name=slug.title(), slug=slug)


def make_item(dataset: Dataset, external_id: str, **fields: object) -> Item:
    position = dataset.items.count()
    return Item.objects.create(
        dataset=dataset, external_id=external_id, position=position, message=f"Message of {external_id}?", **fields
    )


def make_response(item: Item, text: str, *sources: str) -> Response:
    """Create a response with its sources: kinds such as ``seed``, or names of systems."""
    key = hashlib.sha256(text.encode()).hexdigest()
    response, _ = Response.objects.get_or_create(item=item, text_key=key, defaults={"text": text})
    for source in sources:
        if source in SourceKind.values:
            ResponseSource.objects.create(response=response, item=item, kind=source)
        else:
            system, _ = System.objects.get_or_create(dataset=item.dataset, name=source)
            ResponseSource.objects.create(response=response, item=item, kind=SourceKind.SYSTEM, system=system)
    return response


def make_campaign(
    dataset: Dataset,
    name: str = "Quality",
    criteria: Mapping[str, tuple[int, int]] = {"quality": (1, 5)},
    **fields: object,
) -> Campaign:
    state = {
        "state": CampaignState.RUNNING,
        "launched_at": timezone.now(),
        "design_hash": "0" * 64,
        "design": {},
        "ratings_per_unit": 1,
    }
    campaign = Campaign.objects.create(project=dataset.project, dataset=dataset, name=name, **{**state, **fields})
    for position, (criterion, (low, high)) in enumerate(criteria.items()):
        Criterion.objects.create(
            campaign=campaign,
            name=criterion,
            question=f"{criterion}?",
            position=position,
            scale_min=low,
            scale_max=high,
        )
    return campaign


def make_rater(project: Project, pseudonym: str) -> Rater:
    return Rater.objects.get_or_create(project=project, pseudonym=pseudonym)[0]


def present(
    campaign: Campaign, rater: str, *responses: Response, outcome: str = "submitted", seconds: float = 6.0
) -> Presentation:
    """Present a new unit to a rater, in a slot unless the judgement is imported."""
    item = responses[0].item
    highest = campaign.units.aggregate(highest=Max("position"))["highest"]
    done = int(outcome == PresentationOutcome.SUBMITTED)
    unit = Unit.objects.create(
        campaign=campaign,
        item=item,
        position=0 if highest is None else highest + 1,
        done_slots=done,
        ratings_wanted=campaign.ratings_per_unit,
    )
    for number, response in enumerate(responses):
        UnitResponse.objects.create(unit=unit, response=response, number=number)
    rater_row = make_rater(campaign.project, rater)
    imported = outcome == PresentationOutcome.IMPORTED
    presentation = Presentation(
        campaign=campaign, unit=unit, rater=rater_row, outcome=outcome, order=list(range(len(responses)))
    )
    if not imported:
        presentation.shown_at, presentation.ended_at = SHOWN, SHOWN + timedelta(seconds=seconds)
        filled = {"state": SlotState.DONE, "rater": rater_row, "token": presentation.token} if done else {}
        presentation.slot = Slot.objects.create(campaign=campaign, unit=unit, number=0, **filled)
    presentation.save()
    return presentation


def rate(
    campaign: Campaign, rater: str, response: Response, *values: float, seconds: float = 6.0, **fields: object
) -> list[Rating]:
    """Rate a response: one value per criterion, in their order."""
    outcome = PresentationOutcome.IMPORTED if campaign.imported else PresentationOutcome.SUBMITTED
    presentation = present(campaign, rater, response, outcome=outcome, seconds=seconds)
    return rate_in(presentation, response, *values, **fields)


def rate_in(presentation: Presentation, response: Response, *values: float, **fields: object) -> list[Rating]:
    """Add ratings to a presentation; ``fields`` may hold ``revision`` and ``extra``."""
    criteria: Sequence[Criterion] = list(presentation.campaign.criteria.all())
    return [
        Rating.objects.create(
            campaign=presentation.campaign,
            presentation=presentation,
            response=response,
            rater=presentation.rater,
            criterion=criterion,
            value=value,
            sent_at=presentation.ended_at,
            **fields,
        )
        for criterion, value in zip(criteria[: len(values)], values, strict=True)
    ]
