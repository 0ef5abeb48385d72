"""Taking in what raters say: idempotent, never lost, never counted twice."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from annotation.errors import AnnotationError
from annotation.models import (
    Campaign,
    CampaignState,
    Criterion,
    Presentation,
    PresentationOutcome,
    Rater,
    Rating,
    Slot,
    SlotState,
    Unit,
    UnitResponse,
)
from annotation.selectors.handout import ANSWERED
from annotation.services.handout import standing_lock

Place = tuple[int, str]  # position on screen from 0, name of the criterion


class SubmissionRefused(AnnotationError):
    """The answer cannot be accepted, whatever its values: the campaign is closed, or the unit is not this rater's."""


@dataclass(frozen=True)
class Submission:
    """What became of an answer. ``written`` is 0 where the same answer was there already."""

    presentation: Presentation
    written: int
    correction: bool

    @property
    def extra(self) -> bool:
        return self.presentation.outcome == PresentationOutcome.LATE


def field_name(place: Place) -> str:
    """Name of one response and criterion in messages and forms."""
    return f"r{place[0]}-{place[1]}"


@transaction.atomic
def ratings_submit(*, token: UUID, rater: Rater, values: Mapping[Place, object]) -> Submission:
    """Store a rater's answer to one presentation: a value for every response on screen and every criterion.

    The same answer again changes nothing. A different one is a correction: new rows with a higher revision. Where the
    lease ran out and the slot has gone to someone else, the answer is kept, flagged ``extra``.
    """
    presentation = Presentation.objects.select_related("campaign").filter(token=token, rater=rater).first()
    if presentation is None or presentation.slot_id is None:
        raise SubmissionRefused("This unit was not handed out to you.")
    campaign = presentation.campaign
    standing = standing_lock(campaign=campaign, rater=rater)
    if standing.state == CampaignState.CLOSED:
        raise SubmissionRefused("This campaign has been closed; ratings are no longer accepted.")
    answer = _validated(campaign, presentation, values)
    slot = Slot.objects.select_for_update(no_key=True).get(pk=presentation.slot_id)
    presentation.refresh_from_db(fields=["outcome"])
    correction = presentation.outcome in ANSWERED
    if not correction:
        _settle(presentation, slot)
    written = _write(presentation, answer)
    return Submission(presentation, written, correction)


def ratings_await(*, campaigns: Iterable[Campaign]) -> None:
    """Inside a transaction: wait for answers on their way in, and let none in before it ends.

    A rating's id is drawn before it is committed, so without this the last id that a snapshot sees may have lower ones
    still to come. Everybody who submits holds the campaign's row shared; see ``handout.standing_lock``.
    """
    wanted = sorted(campaign.pk for campaign in campaigns)
    list(Campaign.objects.select_for_update(no_key=True).filter(pk__in=wanted).order_by("pk").values_list("pk"))


def _settle(presentation: Presentation, slot: Slot) -> None:
    """Fill the slot if it is still this rater's or nobody's; else the answer is late."""
    holds = slot.state == SlotState.LEASED and slot.token == presentation.token
    free = slot.state in (SlotState.OPEN, SlotState.RETURNED)
    if free:  # the rater may have another place in this unit by now
        free = not Slot.objects.filter(unit=presentation.unit_id, rater=presentation.rater_id).exists()
    outcome = PresentationOutcome.SUBMITTED if holds or free else PresentationOutcome.LATE
    if holds or free:
        Slot.objects.filter(pk=slot.pk).update(
            state=SlotState.DONE, rater=presentation.rater_id, token=presentation.token, expires_at=None
        )
    Presentation.objects.filter(pk=presentation.pk).update(outcome=outcome, ended_at=Now())
    if holds or free:
        Unit.objects.filter(pk=presentation.unit_id).update(done_slots=F("done_slots") + 1)
    presentation.outcome = outcome


def _write(presentation: Presentation, answer: Mapping[tuple[int, int], tuple[int, int]]) -> int:
    """Append what differs from the current ratings; the number of new rows."""
    current = {
        (rating.response_id, rating.criterion_id): rating
        for rating in Rating.objects.filter(presentation=presentation).order_by("revision")
    }
    new = []
    for (response, criterion), (position, value) in answer.items():
        before = current.get((response, criterion))
        if before is None or before.value != value:
            new.append(
                Rating(
                    campaign_id=presentation.campaign_id,
                    presentation=presentation,
                    response_id=response,
                    rater_id=presentation.rater_id,
                    criterion_id=criterion,
                    value=value,
                    position=position,
                    revision=0 if before is None else before.revision + 1,
                    extra=presentation.outcome == PresentationOutcome.LATE,
                    sent_at=Now(),
                )
            )
    Rating.objects.bulk_create(new)
    return len(new)


def _validated(
    campaign: Campaign, presentation: Presentation, values: Mapping[Place, object]
) -> dict[tuple[int, int], tuple[int, int]]:
    """(response, criterion) -> (position, value), or every mistake at once."""
    responses = dict(UnitResponse.objects.filter(unit=presentation.unit_id).values_list("number", "response_id"))
    criteria = list(Criterion.objects.filter(campaign=campaign).order_by("position", "id"))
    answer: dict[tuple[int, int], tuple[int, int]] = {}
    problems: dict[str, list[str]] = {}
    for position, number in enumerate(presentation.order):
        for criterion in criteria:
            place = (position, criterion.name)
            value = _scale_value(values.get(place), criterion)
            if value is None:
                problems[field_name(place)] = [_off_scale(values.get(place), criterion)]
            else:
                answer[responses[number], criterion.pk] = (position, value)
    expected = {(position, criterion.name) for position in range(len(presentation.order)) for criterion in criteria}
    for place in values.keys() - expected:
        problems[field_name(place)] = ["Not asked here: no such response or criterion on this screen."]
    if problems:
        raise AnnotationError(" ".join(f"{name}: {found[0]}" for name, found in problems.items()), fields=problems)
    return answer


def _scale_value(found: object, criterion: Criterion) -> int | None:
    """A point of the scale, given as a number or as the text of one."""
    if isinstance(found, bool) or not isinstance(found, int | float | str):
        return None
    try:
        number = float(found)
    except (ValueError, OverflowError):
        return None
    inside = criterion.scale_min <= number <= criterion.scale_max
    return int(number) if inside and number.is_integer() else None


def _off_scale(found: object, criterion: Criterion) -> str:
    accepted = f"a whole number from {criterion.scale_min} to {criterion.scale_max}"
    if found is None or found == "":
        return f"Not rated yet; accepted: {accepted}."
    return f"Found {str(found)[:40]!r}; accepted: {accepted}."
