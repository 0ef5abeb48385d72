"""Store raters' answers: idempotent, never lost, never counted twice."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from annotation import models
from annotation.campaigns.services.gate import campaigns_close_gate
from annotation.core import sql
from annotation.core.errors import AnnotationError
from annotation.notifications.services.recording import campaign_full_check
from annotation.rating.selectors.arrivals import presentation_of_token
from annotation.rating.selectors.handout import ANSWERED, BEFORE_WORK, rater_record
from annotation.rating.selectors.screens import criteria_of, turns_shown
from annotation.rating.services.answers import Answer, Field, Written, answer_read
from annotation.rating.services.handout import Standing, standing_lock
from annotation.rating.services.qualification import TestResult, Wrong, qualification_advance, wrong_answers
from annotation.rating.services.written import text_check, text_store

NOT_YOURS = "This unit was not handed out to you."
DRAFT_FIELDS = 600
LONGEST_DRAFT = 60_000


class SubmissionRefused(AnnotationError):
    """The answer cannot be accepted, whatever its values: the campaign is closed, or the unit is another rater's."""


class AlreadyAnswered(AnnotationError):
    """The item has another answer, which this one would change without the rater's knowledge. Nothing was stored."""


@dataclass(frozen=True)
class Submission:
    """The result of an answer. ``written`` is the number of new rows: 0 if the same answer was stored before.

    ``feedback`` and ``wrong`` follow a training item; ``test`` follows the last item of a qualification test.
    """

    presentation: models.Presentation
    written: int
    correction: bool
    feedback: str = ""
    wrong: tuple[Wrong, ...] = ()
    test: TestResult | None = None

    @property
    def extra(self) -> bool:
        return self.presentation.outcome == models.PresentationOutcome.LATE


@transaction.atomic
def ratings_submit(
    *,
    token: UUID,
    rater: models.Rater,
    values: Mapping[Field, object],
    cannot_judge: Mapping[int, str] | None = None,
    comment: str = "",
    written: Written | None = None,
    campaign: models.Campaign | None = None,
    may_correct: bool = True,
) -> Submission:
    """Store a rater's answer to one item: a value for every response and criterion.

    ``cannot_judge`` gives, by position on screen, the reason why a response has no values. The same answer again
    changes nothing. A different one is a correction: new rows with a higher revision. If the lease ended and the slot
    has gone to another rater, or the rater was excluded meanwhile, the answer is stored as ``extra``. If ``campaign``
    is given, the item must belong to it. Without ``may_correct``, a different answer raises ``AlreadyAnswered``: the
    rater sees the item as not yet answered, in a second tab.
    """
    presentation = _presentation_of(token, rater, campaign)
    campaign = presentation.campaign
    standing = standing_lock(campaign=campaign, rater=rater)
    if standing.state == models.CampaignState.CLOSED:
        raise SubmissionRefused("This campaign has been closed; ratings are no longer accepted.")
    criteria = criteria_of(campaign)
    by_turn = any(criterion.by_turn for criterion in criteria)
    answer = answer_read(
        campaign=campaign,
        presentation=presentation,
        criteria=criteria,
        values=values,
        cannot_judge={position: reason for position, reason in (cannot_judge or {}).items() if reason},
        comment=comment,
        turns=turns_shown(presentation) if by_turn else None,
    )
    if presentation.purpose == models.Purpose.WORK:
        remarks = text_check(presentation, written or Written()) if campaign.writing else []
        submission = _take_work(presentation, standing, answer, comment)
        if campaign.writing:
            rows = text_store(presentation, written or Written(), remarks)
            submission = replace(submission, written=submission.written + rows)
    else:
        submission = _take_check(presentation, standing, answer, comment, criteria)
    if submission.correction and submission.written and not may_correct:
        raise AlreadyAnswered("This item was answered before.")  # which takes back what was written
    return submission


@transaction.atomic
def draft_save(*, token: UUID, rater: models.Rater, fields: Mapping[str, Any]) -> bool:
    """Store the fields of an answer that is not sent yet. Return False if the item has an answer already."""
    presentation = models.Presentation.objects.filter(token=token, rater=rater).first()
    if presentation is None:
        raise SubmissionRefused(NOT_YOURS)
    if presentation.outcome != models.PresentationOutcome.SHOWN:
        return False
    if any("\x00" in f"{name}{value}" for name, value in fields.items()):
        raise AnnotationError.at("fields", "Found a NUL character; accepted: any other.")
    size = sum(len(str(name)) + len(str(value)) for name, value in fields.items())
    if len(fields) > DRAFT_FIELDS or size > LONGEST_DRAFT:
        message = f"Found {len(fields)} fields of {size:,} characters; accepted: {DRAFT_FIELDS} of {LONGEST_DRAFT:,}."
        raise AnnotationError.at("fields", message)
    defaults = {"fields": dict(fields), "saved_at": Now()}
    models.AnswerDraft.objects.update_or_create(presentation=presentation, defaults=defaults)
    return True


def ratings_await(*, campaigns: Iterable[models.Campaign]) -> None:
    """Wait, inside a transaction, for answers that are being stored, and let none in before it ends.

    A rating's id is drawn before it is committed: without this, ratings below the last id that a snapshot sees could
    still arrive. Every answer passes the campaign's gate; see ``handout.standing_lock``.
    """
    campaigns_close_gate(campaign.pk for campaign in campaigns)


def _presentation_of(token: UUID, rater: models.Rater, campaign: models.Campaign | None) -> models.Presentation:
    """Return the rater's presentation with its campaign, which is not fetched again if given."""
    if campaign is None:
        rows = models.Presentation.objects.select_related("campaign", "check_unit")
        presentation = rows.filter(token=token, rater=rater).first()
    else:
        presentation = presentation_of_token(campaign, rater, token)
    if presentation is None or presentation.outcome == models.PresentationOutcome.IMPORTED:
        raise SubmissionRefused(NOT_YOURS)
    return presentation


# --- Work -------------------------------------------------------------------------------------------------------------


# The outcome is current: it changes only under the participation's lock or behind the closed gate.
_LOCK_SLOT = """
    SELECT s.id, s.unit_id, s.state, s.token, p.outcome
    FROM annotation_presentation p JOIN annotation_slot s ON s.id = p.slot_id
    WHERE p.id = %s
    FOR NO KEY UPDATE OF s
"""

# The slot is locked, and with it the presentation: the order in which the three are written does not matter.
_FILL = """
    WITH filled AS (
        UPDATE annotation_slot SET state = 'done', rater_id = %(rater)s, token = %(token)s, expires_at = NULL
        WHERE id = %(slot)s
    ), ended AS (
        UPDATE annotation_presentation SET outcome = 'submitted', ended_at = statement_timestamp()
        WHERE id = %(presentation)s
    )
    UPDATE annotation_unit u SET done_slots = done_slots + 1 WHERE id = %(unit)s
    RETURNING done_slots, (SELECT count(*) FROM annotation_slot s WHERE s.unit_id = u.id)
"""

_INSERT = """
    INSERT INTO annotation_rating (campaign_id, presentation_id, rater_id, extra, sent_at,
                                   response_id, criterion_id, turn, value, cannot_judge, position, revision)
    SELECT %(campaign)s, %(presentation)s, %(rater)s, %(extra)s, statement_timestamp(),
           r.response_id, n.criterion_id, n.turn, n.value, n.cannot_judge, n.position, n.revision
    FROM unnest(%(number)s::smallint[], %(criterion_id)s::bigint[], %(turn)s::smallint[], %(value)s::float8[],
                %(cannot_judge)s::text[], %(position)s::smallint[], %(revision)s::smallint[])
         WITH ORDINALITY AS n (number, criterion_id, turn, value, cannot_judge, position, revision, place)
    JOIN annotation_unitresponse r ON r.unit_id = %(unit)s AND r.number = n.number
    ORDER BY n.place
"""
_OF_EACH = ("criterion_id", "turn", "value", "cannot_judge", "position", "revision")


def _take_work(presentation: models.Presentation, standing: Standing, answer: Answer, comment: str) -> Submission:
    slot_id, unit_id, state, token, presentation.outcome = sql.row(_LOCK_SLOT, [presentation.pk], prepared=True)
    correction = presentation.outcome in ANSWERED
    if not correction:
        holds = state == models.SlotState.LEASED and token == presentation.token
        free = state in (models.SlotState.OPEN, models.SlotState.RETURNED) and not standing.excluded
        _settle(presentation, slot_id, unit_id, holds=holds, free=free)
    written = _write_ratings(presentation, answer, correction) + _write_comment(presentation, comment)
    return Submission(presentation, written, correction)


def _settle(presentation: models.Presentation, slot_id: int, unit_id: int, *, holds: bool, free: bool) -> None:
    """Fill the slot if this rater holds it or it is free; else the answer is late."""
    fills = holds or (free and not _has_answered(presentation) and not _at_limit(presentation))
    if not fills:
        _end(presentation, models.PresentationOutcome.LATE)
        return
    filled: dict[str, Any] = {"slot": slot_id, "unit": unit_id, "presentation": presentation.pk}
    filled |= {"rater": presentation.rater_id, "token": presentation.token}
    done, slots = sql.row(_FILL, filled, prepared=True)
    presentation.outcome = models.PresentationOutcome.SUBMITTED
    if done >= slots:
        campaign_full_check(presentation.campaign, presentation.pk)


def _has_answered(presentation: models.Presentation) -> bool:
    """Return whether the rater holds or filled another slot of the unit, even if that slot was reopened."""
    mine = {"rater": presentation.rater_id, "unit": presentation.unit_id}
    outcomes = [models.PresentationOutcome.SUBMITTED, models.PresentationOutcome.REPLACED]
    counted = models.Presentation.objects.filter(
        **mine, campaign=presentation.campaign_id, purpose=models.Purpose.WORK, outcome__in=outcomes
    )
    return models.Slot.objects.filter(**mine).exists() or counted.exists()


def _at_limit(presentation: models.Presentation) -> bool:
    """Return whether the rater has reached the limit: returned and expired units can be answered beyond it."""
    campaign = presentation.campaign
    if campaign.max_units_per_rater is None:
        return False
    return rater_record(campaign=campaign, rater=presentation.rater).at_limit(campaign)


def _end(presentation: models.Presentation, outcome: models.PresentationOutcome) -> None:
    models.Presentation.objects.filter(pk=presentation.pk).update(outcome=outcome, ended_at=Now())
    presentation.outcome = outcome


def _write_ratings(presentation: models.Presentation, answer: Answer, correction: bool) -> int:
    """Append the ratings that differ from the current ones; return their number."""
    current = _current_ratings(presentation) if correction else {}
    changes = list(_changes(presentation, answer, lambda *asked: current.get(asked)))
    if changes:
        shared = {"campaign": presentation.campaign_id, "presentation": presentation.pk, "unit": presentation.unit_id}
        shared |= {"rater": presentation.rater_id, "extra": presentation.outcome == models.PresentationOutcome.LATE}
        each = {name: [fields[name] for _, fields in changes] for name in _OF_EACH}
        sql.execute(_INSERT, shared | each | {"number": [number for number, _ in changes]}, prepared=True)
    return len(changes)


def _current_ratings(presentation: models.Presentation) -> dict[tuple[int, int, int | None], models.Rating]:
    """Return the newest rating of each text, criterion and turn."""
    shown = models.UnitResponse.objects.filter(unit=presentation.unit_id).order_by()
    numbers = dict(shown.values_list("response_id", "number"))
    stored = models.Rating.objects.filter(presentation=presentation).order_by("revision")
    return {(numbers[rating.response_id], rating.criterion_id, rating.turn): rating for rating in stored}


def _changes(
    presentation: models.Presentation,
    answer: Answer,
    current: Callable[[int, int, int | None], models.Rating | models.CheckAnswer | None],
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number of the text and the fields of each value that differs from the current one."""
    for (number, criterion, turn), given in answer.items():
        before = current(number, criterion, turn)
        if before is None or (before.value, before.cannot_judge) != (given.value, given.cannot_judge):
            fields = given._asdict() | {
                "campaign_id": presentation.campaign_id,
                "presentation": presentation,
                "rater_id": presentation.rater_id,
                "criterion_id": criterion,
                "turn": turn,
                "revision": 0 if before is None else before.revision + 1,
            }
            yield number, fields


def _write_comment(presentation: models.Presentation, comment: str) -> int:
    if presentation.campaign.comment == models.CommentField.OFF:
        return 0
    last = models.Comment.objects.filter(presentation=presentation).order_by("-revision").first()
    if comment == (last.text if last else ""):
        return 0
    models.Comment.objects.create(
        campaign_id=presentation.campaign_id,
        presentation=presentation,
        rater_id=presentation.rater_id,
        text=comment,
        revision=last.revision + 1 if last else 0,
    )
    return 1


# --- Checks, training, tests ------------------------------------------------------------------------------------------


def _take_check(
    presentation: models.Presentation,
    standing: Standing,
    answer: Answer,
    comment: str,
    criteria: list[models.Criterion],
) -> Submission:
    """Store an answer that fills no slot. Training and tests are answered once: later answers change nothing."""
    models.Presentation.objects.select_for_update(no_key=True).get(pk=presentation.pk)
    presentation.refresh_from_db(fields=["outcome"])
    correction = presentation.outcome in ANSWERED
    before_work = presentation.purpose in BEFORE_WORK
    written, test = 0, None
    if not (correction and before_work):
        written = _write_check_answers(presentation, answer) + _write_comment(presentation, comment)
    if not correction:
        _end(presentation, models.PresentationOutcome.SUBMITTED)
        if before_work:
            test = qualification_advance(presentation=presentation, stage=standing.stage)
    if presentation.purpose != models.Purpose.TRAINING:
        return Submission(presentation, written, correction, test=test)
    feedback = presentation.check_unit.feedback if presentation.check_unit else ""
    return Submission(presentation, written, correction, feedback, tuple(wrong_answers(presentation, criteria)))


def _write_check_answers(presentation: models.Presentation, answer: Answer) -> int:
    stored = models.CheckAnswer.objects.filter(presentation=presentation).order_by("revision")
    current = {(row.number, row.criterion_id, row.turn): row for row in stored}
    changes = _changes(presentation, answer, lambda *key: current.get(key))
    new = [models.CheckAnswer(**fields, number=number) for number, fields in changes]
    models.CheckAnswer.objects.bulk_create(new)
    return len(new)
