"""Taking in what raters say: idempotent, never lost, never counted twice."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Now

from annotation.campaigns.services.gate import campaigns_close_gate
from annotation.core.errors import AnnotationError
from annotation.models import (
    AnswerDraft,
    Campaign,
    CampaignState,
    CheckAnswer,
    Comment,
    CommentField,
    Criterion,
    Presentation,
    PresentationOutcome,
    Purpose,
    Rater,
    Rating,
    Slot,
    SlotState,
    Unit,
    UnitResponse,
)
from annotation.rating.selectors.handout import ANSWERED, rater_record
from annotation.rating.selectors.screens import criteria_of
from annotation.rating.services.answers import Answer, Given, Place, answer_read, field_name
from annotation.rating.services.handout import Standing, standing_lock
from annotation.rating.services.qualification import TestResult, Wrong, qualification_advance, wrong_answers

__all__ = ["Place", "Submission", "SubmissionRefused", "draft_save", "field_name", "ratings_await", "ratings_submit"]

DRAFT_FIELDS = 500
LONGEST_DRAFT = 20_000


class SubmissionRefused(AnnotationError):
    """The answer cannot be accepted, whatever its values: the campaign is closed, or the unit is not this rater's."""


@dataclass(frozen=True)
class Submission:
    """What became of an answer. ``written`` is 0 where the same answer was there already.

    After a training screen ``feedback`` and ``wrong`` say what was expected; after the last screen of a qualification
    test ``test`` says how it ended.
    """

    presentation: Presentation
    written: int
    correction: bool
    feedback: str = ""
    wrong: tuple[Wrong, ...] = ()
    test: TestResult | None = None

    @property
    def extra(self) -> bool:
        return self.presentation.outcome == PresentationOutcome.LATE


@transaction.atomic
def ratings_submit(
    *,
    token: UUID,
    rater: Rater,
    values: Mapping[Place, object],
    cannot_judge: Mapping[int, str] | None = None,
    comment: str = "",
    campaign: Campaign | None = None,
) -> Submission:
    """Store a rater's answer to one screen: a value for every response on it and every criterion.

    ``cannot_judge`` gives, by position on screen, the reason why a response has no values. The same answer again
    changes nothing. A different one is a correction: new rows with a higher revision. Where the lease ran out and the
    slot has gone to someone else, or the rater was excluded meanwhile, the answer is kept, flagged ``extra``. Where
    ``campaign`` is given, the screen must be one of its.
    """
    presentation = _own_presentation(token, rater, campaign)
    campaign = presentation.campaign
    standing = standing_lock(campaign=campaign, rater=rater)
    if standing.state == CampaignState.CLOSED:
        raise SubmissionRefused("This campaign has been closed; ratings are no longer accepted.")
    criteria = criteria_of(campaign)
    answer = answer_read(
        campaign=campaign,
        presentation=presentation,
        criteria=criteria,
        values=values,
        cannot_judge={position: reason for position, reason in (cannot_judge or {}).items() if reason},
        comment=comment,
    )
    if presentation.purpose == Purpose.WORK:
        return _take_work(presentation, standing, answer, comment)
    return _take_check(presentation, standing, answer, comment, criteria)


@transaction.atomic
def draft_save(*, token: UUID, rater: Rater, fields: Mapping[str, Any]) -> bool:
    """Keep what is filled in and not sent yet. False where the screen has been answered already."""
    presentation = Presentation.objects.filter(token=token, rater=rater).first()
    if presentation is None:
        raise SubmissionRefused("This unit was not handed out to you.")
    if presentation.outcome != PresentationOutcome.SHOWN:
        return False
    if any("\x00" in f"{name}{value}" for name, value in fields.items()):
        raise AnnotationError.at("fields", "Found a NUL character; accepted: any other.")
    size = sum(len(str(name)) + len(str(value)) for name, value in fields.items())
    if len(fields) > DRAFT_FIELDS or size > LONGEST_DRAFT:
        message = f"Found {len(fields)} fields of {size:,} characters; accepted: {DRAFT_FIELDS} of {LONGEST_DRAFT:,}."
        raise AnnotationError.at("fields", message)
    AnswerDraft.objects.update_or_create(
        presentation=presentation, defaults={"fields": dict(fields), "saved_at": Now()}
    )
    return True


def ratings_await(*, campaigns: Iterable[Campaign]) -> None:
    """Inside a transaction: wait for answers on their way in, and let none in before it ends.

    A rating's id is drawn before it is committed, so without this the last id that a snapshot sees may have lower ones
    still to come. Everybody who submits has passed the campaign's gate; see ``handout.standing_lock``.
    """
    campaigns_close_gate(campaign.pk for campaign in campaigns)


def _own_presentation(token: UUID, rater: Rater, campaign: Campaign | None) -> Presentation:
    """With its campaign: the one given, without fetching it again."""
    own = Presentation.objects.filter(token=token, rater=rater).exclude(outcome=PresentationOutcome.IMPORTED)
    if campaign is None:
        found = own.select_related("campaign", "check_unit").first()
    else:
        found = own.select_related("check_unit").filter(campaign=campaign).first()
    if found is None:
        raise SubmissionRefused("This unit was not handed out to you.")
    if campaign is not None:
        found.campaign = campaign
    return found


# --- Work -------------------------------------------------------------------------------------------------------------


# The outcome is that of now: whether an answer is there changes only under the participation's lock, or alone behind
# the gate, and both are held.
_LOCK_PLACE = """
    SELECT s.id, s.unit_id, s.state, s.token, p.outcome
    FROM annotation_presentation p JOIN annotation_slot s ON s.id = p.slot_id
    WHERE p.id = %s
    FOR NO KEY UPDATE OF s
"""


def _take_work(presentation: Presentation, standing: Standing, answer: Answer, comment: str) -> Submission:
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_PLACE, [presentation.pk])
        slot_id, unit_id, state, token, presentation.outcome = cursor.fetchone()
    correction = presentation.outcome in ANSWERED
    if not correction:
        holds = state == SlotState.LEASED and token == presentation.token
        free = state in (SlotState.OPEN, SlotState.RETURNED) and not standing.excluded
        _settle(presentation, slot_id, unit_id, holds=holds, free=free)
    written = _write_ratings(presentation, answer, correction) + _write_comment(presentation, comment)
    return Submission(presentation, written, correction)


def _settle(presentation: Presentation, slot_id: int, unit_id: int, *, holds: bool, free: bool) -> None:
    """Fill the slot if it is still this rater's or nobody's; else the answer is late."""
    free = free and not _has_part_in(presentation) and not _at_limit(presentation)
    outcome = PresentationOutcome.SUBMITTED if holds or free else PresentationOutcome.LATE
    if holds or free:
        Slot.objects.filter(pk=slot_id).update(
            state=SlotState.DONE, rater=presentation.rater_id, token=presentation.token, expires_at=None
        )
    _end(presentation, outcome)
    if holds or free:
        Unit.objects.filter(pk=unit_id).update(done_slots=F("done_slots") + 1)


def _has_part_in(presentation: Presentation) -> bool:
    """The unit came to its rater a second time: a place held, or an answer that counts though its place was opened."""
    place = Slot.objects.filter(unit=presentation.unit_id, rater=presentation.rater_id)
    counted = Presentation.objects.filter(
        campaign=presentation.campaign_id,
        rater=presentation.rater_id,
        unit=presentation.unit_id,
        purpose=Purpose.WORK,
        outcome__in=[PresentationOutcome.SUBMITTED, PresentationOutcome.REPLACED],
    )
    return place.exists() or counted.exists()


def _at_limit(presentation: Presentation) -> bool:
    """Of units given back or lapsed a rater can have any number, and send them all: no more count than may."""
    campaign = presentation.campaign
    if campaign.max_units_per_rater is None:
        return False
    return rater_record(campaign=campaign, rater=presentation.rater).at_limit(campaign)


def _end(presentation: Presentation, outcome: PresentationOutcome) -> None:
    Presentation.objects.filter(pk=presentation.pk).update(outcome=outcome, ended_at=Now())
    presentation.outcome = outcome


def _write_ratings(presentation: Presentation, answer: Answer, correction: bool) -> int:
    """Append what differs from the current ratings; the number of new rows."""
    shown = UnitResponse.objects.filter(unit=presentation.unit_id).order_by()
    responses = dict(shown.values_list("number", "response_id"))
    there = Rating.objects.filter(presentation=presentation).order_by("revision") if correction else ()
    current = {(rating.response_id, rating.criterion_id): rating for rating in there}
    new = []
    for (number, criterion), given in answer.items():
        before = current.get((responses[number], criterion))
        if before is None or _differs(before, given):
            new.append(
                Rating(
                    campaign_id=presentation.campaign_id,
                    presentation=presentation,
                    response_id=responses[number],
                    rater_id=presentation.rater_id,
                    criterion_id=criterion,
                    value=given.value,
                    cannot_judge=given.cannot_judge,
                    position=given.position,
                    revision=0 if before is None else before.revision + 1,
                    extra=presentation.outcome == PresentationOutcome.LATE,
                    sent_at=Now(),
                )
            )
    Rating.objects.bulk_create(new)
    return len(new)


def _differs(before: Rating | CheckAnswer, given: Given) -> bool:
    return before.value != given.value or before.cannot_judge != given.cannot_judge


def _write_comment(presentation: Presentation, comment: str) -> int:
    if presentation.campaign.comment == CommentField.OFF:
        return 0
    mine = Comment.objects.filter(presentation=presentation)
    last = mine.order_by("-revision").first()
    if comment == (last.text if last else ""):
        return 0
    Comment.objects.create(
        campaign_id=presentation.campaign_id,
        presentation=presentation,
        rater_id=presentation.rater_id,
        text=comment,
        revision=last.revision + 1 if last else 0,
    )
    return 1


# --- Checks, training, tests ------------------------------------------------------------------------------------------


def _take_check(
    presentation: Presentation, standing: Standing, answer: Answer, comment: str, criteria: list[Criterion]
) -> Submission:
    """No slot is filled. Training and tests are answered once: what comes later changes nothing."""
    Presentation.objects.select_for_update(no_key=True).get(pk=presentation.pk)
    presentation.refresh_from_db(fields=["outcome"])
    correction = presentation.outcome in ANSWERED
    before_work = presentation.purpose in (Purpose.TRAINING, Purpose.TEST)
    written, test = 0, None
    if not (correction and before_work):
        written = _write_check_answers(presentation, answer) + _write_comment(presentation, comment)
    if not correction:
        _end(presentation, PresentationOutcome.SUBMITTED)
        if before_work:
            test = qualification_advance(presentation=presentation, stage=standing.stage)
    if presentation.purpose != Purpose.TRAINING:
        return Submission(presentation, written, correction, test=test)
    feedback = presentation.check_unit.feedback if presentation.check_unit else ""
    return Submission(presentation, written, correction, feedback, tuple(wrong_answers(presentation, criteria)))


def _write_check_answers(presentation: Presentation, answer: Answer) -> int:
    current = {
        (one.number, one.criterion_id): one
        for one in CheckAnswer.objects.filter(presentation=presentation).order_by("revision")
    }
    new = []
    for (number, criterion), given in answer.items():
        before = current.get((number, criterion))
        if before is None or _differs(before, given):
            new.append(
                CheckAnswer(
                    campaign_id=presentation.campaign_id,
                    presentation=presentation,
                    rater_id=presentation.rater_id,
                    criterion_id=criterion,
                    number=number,
                    position=given.position,
                    value=given.value,
                    cannot_judge=given.cannot_judge,
                    revision=0 if before is None else before.revision + 1,
                )
            )
    CheckAnswer.objects.bulk_create(new)
    return len(new)
