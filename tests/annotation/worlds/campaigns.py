"""Small data sets and running campaigns for the tests of hand-out, ratings and their pages."""

import hashlib
from collections.abc import Sequence

from annotation.campaigns.fields.table import CampaignDraft, CriterionDraft
from annotation.campaigns.services.lifecycle import campaign_launch
from annotation.campaigns.services.writing import campaign_create
from annotation.models import (
    Campaign,
    Dataset,
    Item,
    Presentation,
    Project,
    Rater,
    Response,
    ResponseSource,
    SourceKind,
    System,
    Target,
)
from annotation.rating.services.handout import unit_request
from annotation.rating.services.raters import participation_start, rater_create
from annotation.rating.services.ratings import Submission, ratings_submit

RELEVANCE = CriterionDraft("relevance", "How relevant is the response?")
INFORMATIVENESS = CriterionDraft("informativeness", "How informative is the response?")


def make_dataset(
    project: Project, *, items: int = 4, systems: Sequence[str] = ("Ada", "Bo", "Cy"), name: str = "chat"
) -> Dataset:
    """Create items with a different output by each system and one human reference each."""
    dataset = Dataset.objects.create(project=project, name=name, slug=name)
    created_systems = System.objects.bulk_create(System(dataset=dataset, name=system) for system in systems)
    rows = Item.objects.bulk_create(
        Item(
            dataset=dataset,
            external_id=f"item-{position}",
            position=position,
            context=["Hello there.", "Hi! What are you reading?"],
            message=f"A book about the number {position}. Do you like numbers?",
        )
        for position in range(items)
    )
    texts = [
        (item, source, f"Number {item.position} is what {source.name.lower()[::-1]} would pick.")
        if source
        else (item, source, f"I prefer {item.position + 1}, to be honest.")
        for item in rows
        for source in (*created_systems, None)
    ]
    responses = Response.objects.bulk_create(
        Response(item=item, text=text, text_key=hashlib.sha256(text.encode()).hexdigest()) for item, _, text in texts
    )
    ResponseSource.objects.bulk_create(
        ResponseSource(response=response, item=item, kind=kind_of(source), system=source)
        for response, (item, source, _) in zip(responses, texts, strict=True)
    )
    return dataset


def add_response(item: Item, text: str, system: System | None) -> Response:
    response, _ = Response.objects.get_or_create(
        item=item, text_key=hashlib.sha256(text.encode()).hexdigest(), defaults={"text": text}
    )
    ResponseSource.objects.create(response=response, item=item, kind=kind_of(system), system=system)
    return response


def kind_of(system: System | None) -> SourceKind:
    return SourceKind.SYSTEM if system else SourceKind.HUMAN


def make_campaign(dataset: Dataset, *, launch: bool = True, **options: object) -> Campaign:
    options = {"name": "Replies", "criteria": [RELEVANCE], "ratings_per_unit": 2, **options}
    if options.get("systems"):
        options["target"] = Target.CHOSEN
    campaign = campaign_create(project=dataset.project, draft=CampaignDraft(dataset=dataset, **options))  # type: ignore[arg-type]
    return campaign_launch(campaign=campaign) if launch else campaign


def join(campaign: Campaign, name: str = "") -> Rater:
    rater = rater_create(project=campaign.project, name=name)
    participation_start(campaign=campaign, rater=rater)
    return rater


def answer(presentation: Presentation, value: int = 3) -> Submission:
    """Rate everything on the screen with one value."""
    names = presentation.campaign.criteria.values_list("name", flat=True)
    values = {(position, name): value for position in range(len(presentation.order)) for name in names}
    return ratings_submit(token=presentation.token, rater=presentation.rater, values=values)


def rate_next(campaign: Campaign, rater: Rater, value: int = 3) -> Presentation | None:
    presentation = unit_request(campaign=campaign, rater=rater)
    if presentation is not None:
        answer(presentation, value)
    return presentation
