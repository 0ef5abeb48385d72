"""What a rater sees: the screen of one presentation, the own progress, and why there is nothing to do."""

from dataclasses import dataclass
from enum import StrEnum
from string import ascii_uppercase
from uuid import UUID

from django.db.models import QuerySet

from annotation.allocation import MAX_LIST
from annotation.models import (
    Campaign,
    CampaignState,
    Criterion,
    Item,
    Participation,
    Presentation,
    PresentationKind,
    PresentationOutcome,
    Rater,
    Rating,
    Unit,
    UnitResponse,
)
from annotation.selectors.campaigns import rated_sources

ANSWERED = (PresentationOutcome.SUBMITTED, PresentationOutcome.LATE)
COUNTED_UP_TO = 300  # beyond it "how many are left" is not worth a scan


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


@dataclass(frozen=True)
class Progress:
    """``left`` is None where it is more than anybody would count."""

    done: int
    left: int | None
    limit: int | None

    @property
    def total(self) -> int | None:
        return None if self.left is None else self.done + self.left


class Waiting(StrEnum):
    """Why a rater is given nothing."""

    DRAFT = "draft"
    PAUSED = "paused"
    CLOSED = "closed"
    LIMIT = "limit"
    COMPLETE = "complete"
    OTHERS = "others"


def participation_of(*, campaign: Campaign, rater: Rater | None) -> Participation | None:
    return Participation.objects.filter(campaign=campaign, rater=rater).first() if rater else None


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


def presentation_before(*, campaign: Campaign, rater: Rater, than: Presentation | None) -> Presentation | None:
    """The rater's answered unit before the given one, or the last of all: what "back" leads to."""
    answered = Presentation.objects.filter(campaign=campaign, rater=rater, outcome__in=ANSWERED)
    if than is not None:
        answered = answered.filter(pk__lt=than.pk)
    return answered.order_by("-pk").first()


def progress(*, campaign: Campaign, rater: Rater) -> Progress:
    own = Presentation.objects.filter(campaign=campaign, rater=rater)
    done = own.filter(outcome__in=ANSWERED).count()
    limit = campaign.max_units_per_rater
    left: int | None = _available(campaign, rater)[:COUNTED_UP_TO].count()
    if limit is not None:
        left = min(limit - done, left or 0)
    elif left == COUNTED_UP_TO:
        left = None
    return Progress(done, None if left is None else max(left, 0), limit)


def waiting(*, campaign: Campaign, rater: Rater) -> Waiting:
    """Why ``unit_request`` gave nothing; OTHERS: what is left for this rater is held by others at this moment."""
    if campaign.state != CampaignState.RUNNING:
        return Waiting(campaign.state)
    now = progress(campaign=campaign, rater=rater)
    if now.limit is not None and now.done >= now.limit:
        return Waiting.LIMIT
    return Waiting.OTHERS if _available(campaign, rater).exists() else Waiting.COMPLETE


def _available(campaign: Campaign, rater: Rater) -> QuerySet[Unit]:
    """Units that still want ratings and that this rater neither answered nor gave back."""
    over = Presentation.objects.filter(
        campaign=campaign, rater=rater, outcome__in=[*ANSWERED, PresentationOutcome.RETURNED]
    )
    wanting = Unit.objects.filter(campaign=campaign, done_slots__lt=campaign.ratings_per_unit).order_by()
    return wanting.exclude(pk__in=over.order_by().values("unit"))
