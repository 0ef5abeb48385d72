"""How far a rater is in a campaign, and why there is nothing to do."""

from dataclasses import dataclass
from enum import StrEnum

from django.db.models import QuerySet

from annotation.models import (
    Campaign,
    CampaignState,
    Participation,
    Presentation,
    PresentationOutcome,
    Rater,
    Unit,
)

ANSWERED = (PresentationOutcome.SUBMITTED, PresentationOutcome.LATE)
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


def participation_of(*, campaign: Campaign, rater: Rater | None) -> Participation | None:
    return Participation.objects.filter(campaign=campaign, rater=rater).first() if rater else None


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
