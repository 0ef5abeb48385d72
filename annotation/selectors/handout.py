"""How far a rater is in a campaign, and why there is nothing to do."""

import math
from dataclasses import dataclass
from enum import StrEnum

from django.db import connection
from django.db.models import QuerySet

from annotation.models import (
    Campaign,
    CampaignState,
    Participation,
    Presentation,
    PresentationOutcome,
    Purpose,
    Rater,
    Stage,
    Unit,
)

ANSWERED = (PresentationOutcome.SUBMITTED, PresentationOutcome.LATE, PresentationOutcome.REPLACED)
BEFORE_WORK = (Purpose.TRAINING, Purpose.TEST)
COUNTED_UP_TO = 300  # beyond it "how many are left" is not worth a scan


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
    FAILED = "failed"
    EXCLUDED = "excluded"
    PAUSE_BETWEEN = "pause_between"


@dataclass(frozen=True)
class RaterRecord:
    """What a rater has done in a campaign, as far as the next screen depends on it. Screens are work and checks."""

    answered: int
    given_back: int
    seconds_since: float | None  # since the last screen was handed out
    systems: list[list[int]]  # of the last two units of work, the latest first
    n_responses: int  # of the latest of them

    @property
    def place(self) -> int:
        """Of the next screen in the rater's own sequence, from 0."""
        return self.answered + self.given_back

    def at_limit(self, campaign: Campaign) -> bool:
        return campaign.max_units_per_rater is not None and self.answered >= campaign.max_units_per_rater

    def seconds_to_wait(self, campaign: Campaign) -> int:
        """Until the next screen may be handed out; 0 where it may be now."""
        if not campaign.seconds_between_units or self.seconds_since is None:
            return 0
        return max(math.ceil(campaign.seconds_between_units - self.seconds_since), 0)


_RECORD = """
    SELECT count(*) FILTER (WHERE outcome IN ('submitted', 'late', 'replaced')),
           count(*) FILTER (WHERE outcome = 'returned'),
           extract(epoch FROM statement_timestamp() - max(shown_at))::float8
    FROM annotation_presentation
    WHERE campaign_id = %(campaign)s AND rater_id = %(rater)s AND purpose NOT IN ('training', 'test')
"""
_LAST_UNITS = """
    SELECT u.systems, cardinality(p."order")
    FROM annotation_presentation p JOIN annotation_unit u ON u.id = p.unit_id
    WHERE p.campaign_id = %(campaign)s AND p.rater_id = %(rater)s
    ORDER BY p.id DESC LIMIT 2
"""


def rater_record(*, campaign: Campaign, rater: Rater) -> RaterRecord:
    parameters = {"campaign": campaign.pk, "rater": rater.pk}
    with connection.cursor() as cursor:
        cursor.execute(_RECORD, parameters)
        answered, given_back, seconds = cursor.fetchone()
        cursor.execute(_LAST_UNITS, parameters)
        last = cursor.fetchall()
    return RaterRecord(answered, given_back, seconds, [row[0] for row in last], last[0][1] if last else 1)


def seconds_to_wait(*, campaign: Campaign, rater: Rater) -> int:
    return rater_record(campaign=campaign, rater=rater).seconds_to_wait(campaign)


def participation_of(*, campaign: Campaign, rater: Rater | None) -> Participation | None:
    return Participation.objects.filter(campaign=campaign, rater=rater).first() if rater else None


def presentation_before(*, campaign: Campaign, rater: Rater, than: Presentation | None) -> Presentation | None:
    """The rater's answered screen before the given one, or the last of all: what "back" leads to."""
    answered = Presentation.objects.filter(campaign=campaign, rater=rater, outcome__in=ANSWERED)
    answered = answered.exclude(purpose__in=BEFORE_WORK)
    if than is not None:
        if than.purpose in BEFORE_WORK:
            return None
        answered = answered.filter(pk__lt=than.pk)
    return answered.order_by("-pk").first()


def progress(*, campaign: Campaign, rater: Rater) -> Progress:
    """Screens done and left, checks included: to the rater they are all the same."""
    own = Presentation.objects.filter(campaign=campaign, rater=rater).exclude(purpose__in=BEFORE_WORK)
    done = own.filter(outcome__in=ANSWERED).count()
    limit = campaign.max_units_per_rater
    left: int | None = _available(campaign, rater)[:COUNTED_UP_TO].count()
    if left == COUNTED_UP_TO and limit is None:
        return Progress(done, None, None)
    every = campaign.quality.get("every", 0)
    if every and left:
        left += left // (every - 1)
    return Progress(done, max(left if limit is None else min(limit - done, left), 0), limit)


def waiting(*, campaign: Campaign, rater: Rater) -> Waiting:
    """Why ``unit_request`` gave nothing; OTHERS: what is left for this rater is held by others at this moment."""
    if campaign.state != CampaignState.RUNNING:
        return Waiting(campaign.state)
    mine = participation_of(campaign=campaign, rater=rater)
    if mine is not None and mine.excluded_at is not None:
        return Waiting.EXCLUDED
    if mine is not None and mine.stage == Stage.FAILED:
        return Waiting.FAILED
    record = rater_record(campaign=campaign, rater=rater)
    if record.at_limit(campaign):
        return Waiting.LIMIT
    if not _available(campaign, rater).exists():
        return Waiting.COMPLETE
    return Waiting.PAUSE_BETWEEN if record.seconds_to_wait(campaign) else Waiting.OTHERS


def _available(campaign: Campaign, rater: Rater) -> QuerySet[Unit]:
    """Units that still want ratings and that this rater neither answered nor gave back."""
    over = Presentation.objects.filter(
        campaign=campaign, rater=rater, unit__isnull=False, outcome__in=[*ANSWERED, PresentationOutcome.RETURNED]
    )
    wanting = Unit.objects.filter(campaign=campaign, stopped=False, done_slots__lt=campaign.ratings_per_unit).order_by()
    return wanting.exclude(pk__in=over.order_by().values("unit"))
