"""What is on a rater's screen: the item, the responses in the order drawn, the questions, the answers so far."""

from dataclasses import dataclass
from string import ascii_uppercase
from uuid import UUID

from annotation.allocation import MAX_LIST
from annotation.models import (
    Campaign,
    Criterion,
    Item,
    Presentation,
    PresentationKind,
    Rating,
    UnitResponse,
)
from annotation.selectors.campaigns import rated_sources
from annotation.selectors.handout import ANSWERED


@dataclass(frozen=True)
class Question:
    """One criterion asked of one response on screen."""

    name: str
    field: str  # the name of its form field
    criterion: Criterion
    value: int | None
    error: str = ""

    @property
    def has_labels(self) -> bool:
        return bool(self.criterion.labels)


@dataclass(frozen=True)
class ShownResponse:
    letter: str  # empty where there is only one
    text: str
    questions: list[Question]


@dataclass(frozen=True)
class Screen:
    item: Item
    responses: list[ShownResponse]
    answered: bool


def form_field(name: str, token: UUID) -> str:
    """A field name of this unit alone: going back, browsers fill fields of equal names with another unit's answers."""
    return f"{name}.{token.hex[:8]}"


def screen(
    presentation: Presentation,
    *,
    sent: dict[tuple[int, str], str] | None = None,
    errors: dict[str, list[str]] | None = None,
) -> Screen:
    """The responses in the order drawn for this presentation, with the rater's answers or the ones just sent."""
    shown = {
        entry.number: entry.response
        for entry in UnitResponse.objects.filter(unit=presentation.unit_id).select_related("response")
    }
    criteria = list(Criterion.objects.filter(campaign=presentation.campaign_id).order_by("position", "id"))
    current = {
        (rating.position, rating.criterion_id): int(rating.value)
        for rating in Rating.objects.filter(presentation=presentation).order_by("revision")
    }
    responses = []
    for position, number in enumerate(presentation.order):
        questions = []
        for criterion in criteria:
            name = f"r{position}-{criterion.name}"
            value = current.get((position, criterion.pk))
            if sent is not None:
                text = sent.get((position, criterion.name), "")
                value = next((point for point, _ in criterion.points if str(point) == text), None)
            questions.append(
                Question(
                    name, form_field(name, presentation.token), criterion, value, " ".join((errors or {}).get(name, []))
                )
            )
        letter = ascii_uppercase[position] if len(presentation.order) > 1 else ""
        responses.append(ShownResponse(letter, shown[number].text, questions))
    item = Item.objects.get(units=presentation.unit_id)
    return Screen(item, responses, presentation.outcome in ANSWERED)


def preview_screen(campaign: Campaign) -> Screen | None:
    """What raters will see, with the first item that has something to rate; None where there is nothing."""
    sources = rated_sources(campaign)
    first = sources.select_related("item").first()
    if first is None:
        return None
    several = {PresentationKind.SINGLE: 1, PresentationKind.PAIR: 2, PresentationKind.LIST: MAX_LIST}
    of_item = sources.filter(item=first.item).select_related("response")
    shown = list({source.response_id: source.response for source in of_item}.values())
    shown = shown[: several[PresentationKind(campaign.presentation)]]
    responses = [
        ShownResponse(
            ascii_uppercase[position] if len(shown) > 1 else "",
            response.text,
            [
                Question(name, name, criterion, None)
                for criterion in campaign.criteria.all()
                for name in [f"r{position}-{criterion.name}"]
            ],
        )
        for position, response in enumerate(shown)
    ]
    return Screen(first.item, responses, answered=False)
