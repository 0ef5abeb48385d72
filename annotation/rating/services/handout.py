"""Hand out work. Only the database decides which rater gets which slot, and its clock ends the leases.

Locks are always taken in one order, here and in ``ratings``: the campaign's gate, participation, slot, presentation,
unit. A presentation of work is written only under the lock of its slot, any other only under that of its rater's
participation, and slots of others are only ever taken with SKIP LOCKED, so no two requests can wait for each other.
See docs/hand-out.md.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from annotation import models
from annotation.allocation.handout import systems_to_avoid
from annotation.allocation.ordering import draw_order
from annotation.allocation.seeds import derive_seed
from annotation.campaigns.services.gate import campaign_pass
from annotation.core import sql
from annotation.core.errors import AnnotationError
from annotation.rating.selectors.arrivals import PRESENTATION, presentation_from
from annotation.rating.selectors.handout import BEFORE_WORK, RaterRecord, rater_record
from annotation.rating.services import checks

WINDOW = 256  # units looked at per level of filling: what a request costs does not grow with the campaign
SWEEP_BATCH = 1000
# Seconds of the first lease until the browser reports that it shows the item: enough to load the page, or to answer
# without JavaScript. A script that joins a hundred times and leaves keeps items from others no longer than that.
UNPROVEN_LEASE = 60

FREED = {"state": models.SlotState.OPEN, "rater": None, "token": None, "expires_at": None}

_LOCK = """
    SELECT c.state, p.order_seed, p.stage, p.excluded_at IS NOT NULL, p.skips_offered_at
    FROM annotation_participation p JOIN annotation_campaign c ON c.id = p.campaign_id
    WHERE p.campaign_id = %(campaign)s AND p.rater_id = %(rater)s
    FOR NO KEY UPDATE OF p
"""

_HELD = """
    SELECT (SELECT p.id
            FROM annotation_slot s JOIN annotation_presentation p ON p.token = s.token
            WHERE s.campaign_id = %(campaign)s AND s.rater_id = %(rater)s
              AND s.state = 'leased' AND s.expires_at > statement_timestamp()
            UNION ALL
            SELECT id FROM annotation_presentation
            WHERE campaign_id = %(campaign)s AND rater_id = %(rater)s AND outcome = 'shown' AND purpose <> 'work'
            LIMIT 1),
           EXISTS (SELECT FROM annotation_slot
                   WHERE campaign_id = %(campaign)s AND rater_id = %(rater)s
                     AND state = 'leased' AND expires_at <= statement_timestamp())
"""

_LAPSED = """
    SELECT id FROM annotation_slot
    WHERE state = 'leased' AND expires_at <= statement_timestamp() {only}
    ORDER BY id LIMIT %(limit)s
    FOR NO KEY UPDATE SKIP LOCKED
"""

# The rule of annotation.allocation.handout: fewest filled (done or held) first, then none of the systems to avoid, then
# the rater's order. A unit that lapsed on this rater, or that the rater left, comes back after all others, and so does
# one that the rater skipped before asking for the skipped ones; a unit that the rater submitted or has skipped since
# does not, nor does one that shows a text that the rater wrote.
# Rows are compared whole so that only the index unit_by_fill can serve the window.
_TAKE = """
    WITH mine AS (
        SELECT unit_id, bool_and(outcome = 'lapsed' OR (outcome = 'returned'
                                 AND coalesce(ended_at <= %(skips_offered)s::timestamptz, false))) AS again
        FROM annotation_presentation
        WHERE campaign_id = %(campaign)s AND rater_id = %(rater)s AND purpose = 'work'
        GROUP BY unit_id
    ), held AS (
        SELECT s.unit_id, count(*) AS n, count(*) + min(u.done_slots) >= min(u.ratings_wanted) AS no_place
        FROM annotation_slot s JOIN annotation_unit u ON u.id = s.unit_id
        WHERE s.campaign_id = %(campaign)s AND s.state = 'leased' AND s.expires_at > statement_timestamp()
        GROUP BY s.unit_id
    ), blocked AS (
        SELECT unit_id FROM mine WHERE NOT again
        UNION ALL
        SELECT unit_id FROM held WHERE no_place
        UNION ALL
        SELECT r.unit_id FROM annotation_responsesource o
        JOIN annotation_unitresponse r ON r.response_id = o.response_id
        JOIN annotation_unit u ON u.id = r.unit_id AND u.campaign_id = %(campaign)s
        WHERE o.written_by_id = %(rater)s
    ), nearby AS (
        SELECT u.*
        FROM generate_series(0, (
            SELECT done_slots FROM annotation_unit  -- of the fullest unit that is not full
            WHERE (campaign_id, done_slots, position) >= (%(campaign)s, 0, 0)
              AND (campaign_id, done_slots, position) < (%(campaign)s + 1, 0, 0)
              AND NOT stopped AND done_slots < ratings_wanted
            ORDER BY campaign_id DESC, done_slots DESC, position DESC LIMIT 1)) AS level CROSS JOIN LATERAL (
            (SELECT id, position, done_slots, systems FROM annotation_unit
             WHERE (campaign_id, done_slots, position) >= (%(campaign)s, level, %(start)s)
               AND (campaign_id, done_slots, position) < (%(campaign)s, level + 1, 0)
               AND NOT stopped AND done_slots < ratings_wanted AND id NOT IN (SELECT unit_id FROM blocked)
             ORDER BY campaign_id, done_slots, position LIMIT %(window)s)
            UNION ALL
            (SELECT id, position, done_slots, systems FROM annotation_unit
             WHERE (campaign_id, done_slots, position) >= (%(campaign)s, level, 0)
               AND (campaign_id, done_slots, position) < (%(campaign)s, level, %(start)s)
               AND NOT stopped AND done_slots < ratings_wanted AND id NOT IN (SELECT unit_id FROM blocked)
             ORDER BY campaign_id, done_slots, position LIMIT %(window)s)
            LIMIT %(window)s
        ) u
    ), ranked AS (
        SELECT n.id, row_number() OVER (
            ORDER BY n.id IN (SELECT unit_id FROM mine), n.filled, n.systems && %(avoid)s::bigint[],
                     hashint8extended(n.position, %(seed)s), n.position) AS place
        FROM (SELECT id, position, systems, done_slots + CASE WHEN id IN (SELECT unit_id FROM held)
                  THEN (SELECT h.n FROM held h WHERE h.unit_id = nearby.id) ELSE 0 END AS filled FROM nearby) n
        ORDER BY place LIMIT 100
    ), taken AS MATERIALIZED (
        SELECT s.id, s.state = 'leased' AS lapsed
        FROM ranked JOIN annotation_slot s ON s.unit_id = ranked.id
        WHERE s.state IN ('open', 'returned') OR (s.state = 'leased' AND s.expires_at <= statement_timestamp())
        ORDER BY ranked.place, s.number LIMIT 1
        FOR NO KEY UPDATE OF s SKIP LOCKED
    )
    UPDATE annotation_slot s
    SET state = 'leased', rater_id = %(rater)s, token = gen_random_uuid(),
        expires_at = statement_timestamp() + make_interval(secs => least(
            coalesce((SELECT lease_seconds FROM annotation_campaignpace WHERE campaign_id = %(campaign)s), %(lease)s),
            CASE WHEN NOT EXISTS (SELECT FROM annotation_presentation
                                  WHERE campaign_id = %(campaign)s AND rater_id = %(rater)s
                                    AND outcome IN ('submitted', 'late', 'replaced')) THEN %(longest_lease)s::int END))
    FROM taken, annotation_unit u
    WHERE s.id = taken.id AND u.id = s.unit_id
    RETURNING s.id, taken.lapsed, s.unit_id, s.number, s.token, statement_timestamp(), u.position, u.ratings_wanted,
              (SELECT count(*) FROM annotation_unitresponse r WHERE r.unit_id = u.id)
"""

_SHOW = f"""
    INSERT INTO annotation_presentation
        (campaign_id, purpose, unit_id, slot_id, rater_id, token, outcome, order_seed, "order", shown_at)
    VALUES (%(campaign)s, 'work', %(unit)s, %(slot)s, %(rater)s, %(token)s, 'shown', %(seed)s, %(order)s::smallint[],
            %(now)s)
    RETURNING {PRESENTATION}
"""  # noqa: S608 - columns of our tables

# Counted from when the item was shown, so that reporting it again renews nothing.
_BEGIN = """
    UPDATE annotation_slot s
    SET expires_at = greatest(s.expires_at, p.shown_at + make_interval(secs => coalesce(
        (SELECT lease_seconds FROM annotation_campaignpace WHERE campaign_id = %(campaign)s), %(lease)s)))
    FROM annotation_presentation p
    WHERE p.id = %(presentation)s AND s.token = p.token AND s.state = 'leased'
"""


@dataclass(frozen=True)
class Standing:
    """The state of a rater and of the campaign, as locked by a request of the rater."""

    state: models.CampaignState
    order_seed: int
    stage: models.Stage
    excluded: bool
    skips_offered_at: datetime | None


def standing_lock(*, campaign: models.Campaign, rater: models.Rater) -> Standing:
    """Let one request of this rater run at a time, without a change of the campaign's state. Needs a transaction."""
    campaign_pass(campaign.pk)
    row = sql.row(_LOCK, {"campaign": campaign.pk, "rater": rater.pk}, prepared=True)
    if row is None:
        raise AnnotationError(f"{rater} has not agreed to take part in “{campaign}” yet.")
    return Standing(models.CampaignState(row[0]), row[1], models.Stage(row[2]), *row[3:])


@transaction.atomic
def unit_request(*, campaign: models.Campaign, rater: models.Rater, proven: bool = True) -> models.Presentation | None:
    """Return the item that this rater has on screen, or the next item; None if there is none for this rater now.

    Training and test items come first, then work with checks mixed in. ``selectors.handout.waiting`` tells why there is
    none. A rater who is not ``proven`` to be at work gets a short lease before the first answer: see ``unit_begin``.
    """
    standing = standing_lock(campaign=campaign, rater=rater)
    if standing.state != models.CampaignState.RUNNING or standing.excluded or standing.stage == models.Stage.FAILED:
        return None
    held, some_lapsed = sql.row(_HELD, {"campaign": campaign.pk, "rater": rater.pk}, prepared=True)
    if held is not None:  # on screen: a check, or work whose lease is running
        return models.Presentation.objects.get(pk=held)
    if some_lapsed:
        _lapse("AND campaign_id = %(campaign)s AND rater_id = %(rater)s", campaign=campaign.pk, rater=rater.pk)
    if standing.stage != models.Stage.WORK:
        seed = standing.order_seed
        return checks.item_before_work(campaign=campaign, rater=rater, rater_seed=seed, stage=standing.stage)
    record = rater_record(campaign=campaign, rater=rater)
    if record.at_limit(campaign) or record.seconds_to_wait(campaign) > 0:
        return None
    check = checks.check_due(campaign=campaign, rater=rater, rater_seed=standing.order_seed, index=record.next_index)
    return check or _take(campaign, rater, standing, record, longest_lease=None if proven else UNPROVEN_LEASE)


@transaction.atomic
def unit_begin(*, presentation: models.Presentation) -> None:
    """Extend the lease of an item that a browser shows to the campaign's lease, unless another rater has the item."""
    campaign = presentation.campaign
    standing_lock(campaign=campaign, rater=presentation.rater)
    parameters = {"presentation": presentation.pk, "campaign": campaign.pk, "lease": campaign.lease_seconds}
    sql.execute(_BEGIN, parameters)


@transaction.atomic
def unit_return(*, presentation: models.Presentation) -> bool:
    """Return an item to the campaign: other raters can get its unit at once.

    Return False if it was on screen no longer. Training and test items cannot be returned.
    """
    if presentation.outcome == models.PresentationOutcome.IMPORTED:
        return False
    standing_lock(campaign=presentation.campaign, rater=presentation.rater)
    if presentation.purpose in BEFORE_WORK:
        return False
    shown = models.Presentation.objects.filter(pk=presentation.pk, outcome=models.PresentationOutcome.SHOWN)
    if presentation.slot_id is not None:
        slot = models.Slot.objects.select_for_update(no_key=True).get(pk=presentation.slot_id)
        if slot.state != models.SlotState.LEASED or slot.token != presentation.token:
            return False
        models.Slot.objects.filter(pk=slot.pk).update(**{**FREED, "state": models.SlotState.RETURNED})
    return bool(shown.update(outcome=models.PresentationOutcome.RETURNED, ended_at=Now()))


@transaction.atomic
def unit_leave(*, presentation: models.Presentation) -> None:
    """Free the unit on the screen of a rater who leaves. As after a lapse, it may come back; a check stays theirs."""
    standing_lock(campaign=presentation.campaign, rater=presentation.rater)
    if presentation.slot_id is None:
        return
    slot = models.Slot.objects.select_for_update(no_key=True).get(pk=presentation.slot_id)
    if slot.state == models.SlotState.LEASED and slot.token == presentation.token:
        models.Slot.objects.filter(pk=slot.pk).update(**{**FREED, "state": models.SlotState.RETURNED})
        _end_shown([slot.pk])


@transaction.atomic
def skips_offer(*, campaign: models.Campaign, rater: models.Rater) -> None:
    """Let the units that this rater has skipped so far be handed out to the rater again, after all others."""
    standing_lock(campaign=campaign, rater=rater)
    models.Participation.objects.filter(campaign=campaign, rater=rater).update(skips_offered_at=Now())


def slots_sweep() -> int:
    """Free the slots of expired leases, and return how many. Hand-out treats such a slot as free anyway."""
    total = 0
    while True:
        with transaction.atomic():
            swept = _lapse("", limit=SWEEP_BATCH)
        total += swept
        if swept < SWEEP_BATCH:
            return total


def _lapse(only: str, *, limit: int = SWEEP_BATCH, **parameters: int) -> int:
    ids = [pk for (pk,) in sql.rows(_LAPSED.format(only=only), {"limit": limit, **parameters})]
    if ids:
        models.Slot.objects.filter(pk__in=ids).update(**FREED)
        _end_shown(ids)
    return len(ids)


def _end_shown(slot_ids: list[int]) -> None:
    shown = models.Presentation.objects.filter(slot__in=slot_ids, outcome=models.PresentationOutcome.SHOWN)
    shown.update(outcome=models.PresentationOutcome.LAPSED, ended_at=Now())


def _take(
    campaign: models.Campaign,
    rater: models.Rater,
    standing: Standing,
    record: RaterRecord,
    *,
    longest_lease: int | None,
) -> models.Presentation | None:
    design = campaign.design or {}
    n_systems = len(design.get("systems", []))
    parameters: dict[str, Any] = {
        "campaign": campaign.pk,
        "rater": rater.pk,
        "start": standing.order_seed % design.get("units", 1),
        "window": WINDOW,
        "seed": standing.order_seed,
        "lease": campaign.lease_seconds,
        "skips_offered": standing.skips_offered_at,
        "longest_lease": longest_lease,
        "avoid": list(systems_to_avoid(record.systems, n_responses=record.n_responses, n_systems=n_systems)),
    }
    row = sql.row(_TAKE, parameters, prepared=True)
    if row is None:
        return None
    slot_id, lapsed, unit_id, number, token, now, position, k, n_responses = row
    if lapsed:
        _end_shown([slot_id])
    unit_seed = derive_seed(campaign.seed, "unit", position)
    order = list(draw_order(unit_seed, number, n_responses, k)) if n_responses else []
    shown = {"campaign": campaign.pk, "unit": unit_id, "slot": slot_id, "rater": rater.pk, "token": token}
    shown |= {"seed": unit_seed, "order": order, "now": now}
    return presentation_from(sql.row(_SHOW, shown, prepared=True), campaign, rater)
