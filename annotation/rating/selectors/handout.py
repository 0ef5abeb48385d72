"""How far a rater is in a campaign, and why there may be nothing to do."""

import json
import math
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from django.db.models import Count, F, Q, Subquery

from annotation import models
from annotation.allocation.checks import checks_among
from annotation.core import sql

ANSWERED = (models.PresentationOutcome.SUBMITTED, models.PresentationOutcome.LATE, models.PresentationOutcome.REPLACED)
BEFORE_WORK = (models.Purpose.TRAINING, models.Purpose.TEST)
COUNTED_UP_TO = 300  # remaining units; more are not worth a scan


@dataclass(frozen=True)
class Progress:
    """Items done and left; ``left`` is None if it is more than is counted."""

    done: int
    left: int | None
    limit: int | None

    @property
    def total(self) -> int | None:
        return None if self.left is None else self.done + self.left


class Waiting(StrEnum):
    """Why a rater gets no item."""

    DRAFT = "draft"
    PAUSED = "paused"
    CLOSED = "closed"
    LIMIT = "limit"
    COMPLETE = "complete"
    OTHERS = "others"
    SKIPPED = "skipped"  # only units are left that the rater skipped
    FAILED = "failed"
    EXCLUDED = "excluded"
    PAUSE_BETWEEN = "pause_between"


@dataclass(frozen=True)
class RaterRecord:
    """What the next item depends on: the rater's items in the campaign, work and checks."""

    answered: int
    given_back: int
    seconds_since: float | None  # since the last item was handed out
    systems: list[list[int]]  # of the last two units, the latest first
    n_responses: int  # of the latest unit

    @property
    def next_index(self) -> int:
        """Return the index of the next item in the rater's sequence, from 0."""
        return self.answered + self.given_back

    def at_limit(self, campaign: models.Campaign) -> bool:
        return campaign.max_units_per_rater is not None and self.answered >= campaign.max_units_per_rater

    def seconds_to_wait(self, campaign: models.Campaign) -> int:
        """Return the seconds until the next item may be handed out; 0 if it may be now."""
        if not campaign.seconds_between_units or self.seconds_since is None:
            return 0
        return max(math.ceil(campaign.seconds_between_units - self.seconds_since), 0)


_RECORD = """
    SELECT count(*) FILTER (WHERE outcome IN ('submitted', 'late', 'replaced')),
           count(*) FILTER (WHERE outcome = 'returned'),
           extract(epoch FROM statement_timestamp() - max(shown_at))::float8,
           (SELECT jsonb_agg(jsonb_build_array(last.systems, last.n) ORDER BY last.id DESC) FROM (
               SELECT p.id, u.systems, cardinality(p."order") AS n
               FROM annotation_presentation p JOIN annotation_unit u ON u.id = p.unit_id
               WHERE p.campaign_id = %(campaign)s AND p.rater_id = %(rater)s
               ORDER BY p.id DESC LIMIT 2) AS last)
    FROM annotation_presentation
    WHERE campaign_id = %(campaign)s AND rater_id = %(rater)s AND purpose NOT IN ('training', 'test')
"""


def rater_record(*, campaign: models.Campaign, rater: models.Rater) -> RaterRecord:
    parameters = {"campaign": campaign.pk, "rater": rater.pk}
    answered, given_back, seconds, last_units = sql.row(_RECORD, parameters, prepared=True)
    last = json.loads(last_units or "[]")
    return RaterRecord(answered, given_back, seconds, [systems for systems, _ in last], last[0][1] if last else 1)


def seconds_to_wait(*, campaign: models.Campaign, rater: models.Rater) -> int:
    return rater_record(campaign=campaign, rater=rater).seconds_to_wait(campaign)


# Units that the rater answered or skipped are over: what is left of the rest does not depend on them. A skipped unit
# that is offered again is not over, and a unit is done once, even if it was answered on two screens.
_PROGRESS = """
    WITH mine AS (
        SELECT unit_id, purpose, outcome <> 'returned' AS answered, outcome = 'returned' AND coalesce(ended_at <= (
                   SELECT skips_offered_at FROM annotation_participation
                   WHERE campaign_id = %(campaign)s AND rater_id = %(rater)s), false) AS offered
        FROM annotation_presentation
        WHERE campaign_id = %(campaign)s AND rater_id = %(rater)s AND purpose NOT IN ('training', 'test')
          AND outcome IN ('submitted', 'late', 'replaced', 'returned')
    )
    SELECT count(DISTINCT unit_id) FILTER (WHERE answered AND purpose = 'work')
               + count(*) FILTER (WHERE answered AND purpose <> 'work'),
           count(*), count(*) FILTER (WHERE purpose = 'work'),
           (SELECT count(*) FROM (
               SELECT FROM annotation_unit
               WHERE campaign_id = %(campaign)s AND NOT stopped AND done_slots < ratings_wanted
                 AND id NOT IN (SELECT unit_id FROM mine WHERE unit_id IS NOT NULL AND NOT offered)
                 AND id NOT IN (SELECT r.unit_id FROM annotation_responsesource o
                                JOIN annotation_unitresponse r ON r.response_id = o.response_id
                                WHERE o.written_by_id = %(rater)s)
               LIMIT %(most)s) AS wanting),
           (SELECT order_seed FROM annotation_participation
            WHERE campaign_id = %(campaign)s AND rater_id = %(rater)s)
    FROM mine
"""


def participation_of(*, campaign: models.Campaign, rater: models.Rater | None) -> models.Participation | None:
    return models.Participation.objects.filter(campaign=campaign, rater=rater).first() if rater else None


def presentation_before(
    *, campaign: models.Campaign, rater: models.Rater, current: models.Presentation | None
) -> models.Presentation | None:
    """Return the rater's answered item before the current one, or the last of all: where "back" leads."""
    if current is not None and current.purpose in BEFORE_WORK:
        return None
    answered = models.Presentation.objects.filter(campaign=campaign, rater=rater, outcome__in=ANSWERED)
    if current is not None:
        answered = answered.filter(pk__lt=current.pk)
    return answered.exclude(purpose__in=BEFORE_WORK).order_by("-pk").first()


def progress(*, campaign: models.Campaign, rater: models.Rater) -> Progress:
    """Count the items done and left. Checks count, too: raters cannot tell them from work."""
    parameters = {"campaign": campaign.pk, "rater": rater.pk, "most": COUNTED_UP_TO}
    done, over, units_over, units_left, seed = sql.row(_PROGRESS, parameters, prepared=True)
    limit = campaign.max_units_per_rater
    if units_left == COUNTED_UP_TO:
        return Progress(done, None if limit is None else max(limit - done, 0), limit)
    left = 0
    if units_left:
        units = units_over + units_left
        left = max(units + _checks_among(campaign, seed or 0, units) - over, 1)
    return Progress(done, left if limit is None else max(min(limit - done, left), 0), limit)


def _checks_among(campaign: models.Campaign, rater_seed: int, units: int) -> int:
    every = campaign.quality.get("every", 0)
    if not every:
        return 0
    mix = campaign.quality["mix"]
    supply = {kind: n for kind, n in _prepared(campaign.pk, campaign.design_hash).items() if kind in mix}
    return checks_among(rater_seed, units, every=every, mix=mix, supply=supply)


@lru_cache(maxsize=64)
def _prepared(campaign_id: int, _design_hash: str) -> dict[str, int]:
    """Count the prepared checks of each kind, which are those of the launch."""
    counted = (
        models.CheckUnit.objects.filter(campaign=campaign_id).order_by().values_list("kind").annotate(n=Count("pk"))
    )
    return dict.fromkeys((kind.value for kind in models.MIXED_IN if kind != models.Purpose.REPEAT), 0) | dict(counted)


def waiting(*, campaign: models.Campaign, rater: models.Rater) -> Waiting:
    """Return why ``unit_request`` gave nothing; OTHERS: other raters hold the units that are left for this rater."""
    if campaign.state != models.CampaignState.RUNNING:
        return Waiting(campaign.state)
    if participation := participation_of(campaign=campaign, rater=rater):
        if participation.excluded_at is not None:
            return Waiting.EXCLUDED
        if participation.stage == models.Stage.FAILED:
            return Waiting.FAILED
    record = rater_record(campaign=campaign, rater=rater)
    if record.at_limit(campaign):
        return Waiting.LIMIT
    if not has_work(campaign=campaign, rater=rater):
        return Waiting.SKIPPED if skips_of(campaign=campaign, rater=rater).left else Waiting.COMPLETE
    return Waiting.PAUSE_BETWEEN if record.seconds_to_wait(campaign) else Waiting.OTHERS


def has_work(*, campaign: models.Campaign, rater: models.Rater) -> bool:
    """Return whether a unit lacks ratings that is not over for this rater, even if others hold it now.

    Over are units that the rater answered or skipped, unless they are offered again.
    """
    offered = models.Participation.objects.filter(campaign=campaign, rater=rater).values("skips_offered_at")
    returned = Q(outcome=models.PresentationOutcome.RETURNED)
    mine = models.Presentation.objects.filter(campaign=campaign, rater=rater, unit__isnull=False)
    over = mine.annotate(offered=Subquery(offered)).filter(
        Q(outcome__in=ANSWERED) | (returned & (Q(offered=None) | Q(ended_at__gt=F("offered"))))
    )
    unfilled = models.Unit.objects.filter(campaign=campaign, stopped=False, done_slots__lt=F("ratings_wanted"))
    written = models.UnitResponse.objects.filter(response__sources__written_by=rater).values("unit")
    return unfilled.exclude(pk__in=over.order_by().values("unit")).exclude(pk__in=written).exists()


@dataclass(frozen=True)
class Skips:
    """Items that a rater skipped and did not answer later; ``left`` of them can be offered again."""

    total: int
    left: int


_SKIPS = """
    WITH skipped AS (
        SELECT CASE WHEN purpose = 'work' THEN unit_id END AS unit,
               max(ended_at) FILTER (WHERE outcome = 'returned') AS at
        FROM annotation_presentation
        WHERE campaign_id = %(campaign)s AND rater_id = %(rater)s AND purpose NOT IN ('training', 'test')
        GROUP BY unit, CASE WHEN purpose <> 'work' THEN id END
        HAVING bool_or(outcome = 'returned') AND NOT bool_or(outcome IN ('submitted', 'late', 'replaced'))
    )
    SELECT count(*), count(u.id)
    FROM skipped LEFT JOIN annotation_unit u
      ON u.id = skipped.unit AND NOT u.stopped AND u.done_slots < u.ratings_wanted
         AND skipped.at > coalesce((SELECT skips_offered_at FROM annotation_participation
                                    WHERE campaign_id = %(campaign)s AND rater_id = %(rater)s), '-infinity')
"""


def skips_of(*, campaign: models.Campaign, rater: models.Rater) -> Skips:
    parameters = {"campaign": campaign.pk, "rater": rater.pk}
    return Skips(*sql.row(_SKIPS, parameters))
