"""Read the changes of a running campaign, and the effects that a change would have."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from annotation.core import sql
from annotation.models import Amendment, AmendmentKind, Campaign, System, Unit

# A pair is handed out while some pair of systems behind its two texts is: both run, and the design, if it names pairs,
# names this one. Systems count only if they are among the unit's.
_PAIRS = """
    SELECT u.id, u.stopped, cardinality(u.systems) > 0 AND NOT EXISTS (
        SELECT 1
        FROM annotation_unitresponse a
        JOIN annotation_responsesource sa ON sa.response_id = a.response_id AND sa.system_id = ANY(u.systems)
        JOIN annotation_unitresponse b ON b.unit_id = u.id AND b.number = 1
        JOIN annotation_responsesource sb ON sb.response_id = b.response_id AND sb.system_id = ANY(u.systems)
        WHERE a.unit_id = u.id AND a.number = 0
          AND sa.system_id <> ALL(%(stopped)s::bigint[]) AND sb.system_id <> ALL(%(stopped)s::bigint[])
          AND (cardinality(%(firsts)s::bigint[]) = 0 OR EXISTS (
              SELECT 1 FROM unnest(%(firsts)s::bigint[], %(seconds)s::bigint[]) AS designed (x, y)
              WHERE (x, y) IN ((sa.system_id, sb.system_id), (sb.system_id, sa.system_id))))
    ) AS over
    FROM annotation_unit u WHERE u.campaign_id = %(campaign)s
"""
_OTHERS = """
    SELECT u.id, u.stopped, cardinality(u.systems) > 0 AND u.systems <@ %(stopped)s::bigint[] AS over
    FROM annotation_unit u WHERE u.campaign_id = %(campaign)s
"""


@dataclass(frozen=True)
class Marking:
    """The units that change if exactly some systems are stopped."""

    to_stop: list[int]
    to_resume: list[int]
    left: int  # units that are handed out afterwards


def amendments(campaign: Campaign) -> QuerySet[Amendment]:
    return Amendment.objects.filter(campaign=campaign).select_related("made_by").order_by("number")


def stopped_systems(campaign: Campaign) -> list[str]:
    """Return the names of the stopped systems, in the order in which they were stopped."""
    stopped: dict[str, None] = {}
    changes = Amendment.objects.filter(
        campaign=campaign, kind__in=[AmendmentKind.STOP_SYSTEM, AmendmentKind.RESUME_SYSTEM]
    )
    for kind, data in changes.order_by("number").values_list("kind", "data"):
        if kind == AmendmentKind.STOP_SYSTEM:
            stopped[data["system"]] = None
        else:
            stopped.pop(data["system"], None)
    return list(stopped)


def rated_systems(campaign: Campaign) -> QuerySet[System]:
    """Return the systems whose outputs the units of a launched campaign show."""
    ids = [
        pk
        for (pk,) in sql.rows(
            "SELECT DISTINCT unnest(systems) FROM annotation_unit WHERE campaign_id = %s", [campaign.pk]
        )
    ]
    return System.objects.filter(pk__in=ids).order_by("name")


def marking(campaign: Campaign, stopped: Collection[str]) -> Marking:
    """Return which units change if exactly the named systems are stopped.

    A single text stops once all systems that wrote it are stopped; a pair once one of its texts stops; a list only if
    it shows nothing else, since leaving a text out would change how the others are judged.
    """
    ids = dict(System.objects.filter(dataset=campaign.dataset_id).values_list("name", "pk"))
    pairs = [(ids[a], ids[b]) for a, b in campaign.pairs if a in ids and b in ids]
    parameters: dict[str, Any] = {
        "campaign": campaign.pk,
        "stopped": [ids[name] for name in stopped if name in ids],
        "firsts": [a for a, _ in pairs],
        "seconds": [b for _, b in pairs],
    }
    rows = sql.rows(_PAIRS if campaign.presentation_kind.compares_systems else _OTHERS, parameters)
    return Marking(
        to_stop=[pk for pk, now, over in rows if over and not now],
        to_resume=[pk for pk, now, over in rows if now and not over],
        left=sum(not over for _, _, over in rows),
    )


def unfilled_slots(campaign: Campaign, units: Sequence[int]) -> int:
    """Count the unfilled slots of some of a campaign's units."""
    (n_slots,) = sql.row(
        """SELECT coalesce(sum(ratings_wanted - done_slots), 0) FROM annotation_unit
           WHERE campaign_id = %s AND id = ANY(%s)""",
        [campaign.pk, list(units)],
    )
    return int(n_slots)


@dataclass(frozen=True)
class SlotCounts:
    """The size of a campaign and its progress; stopped units apart."""

    units: int
    stopped_units: int
    topped_up: int  # units with more slots than the campaign has ratings per item
    planned: int  # all slots of units that are handed out, and filled slots of stopped units
    done: int


def slot_counts(campaign: Campaign) -> SlotCounts:
    counts = Unit.objects.filter(campaign=campaign).aggregate(
        n_units=Count("pk"),
        n_stopped=Count("pk", filter=Q(stopped=True)),
        n_topped_up=Count("pk", filter=Q(ratings_wanted__gt=campaign.ratings_per_unit)),
        n_wanted=Coalesce(Sum("ratings_wanted", filter=Q(stopped=False)), 0),
        n_done=Coalesce(Sum("done_slots"), 0),
        n_done_of_stopped=Coalesce(Sum("done_slots", filter=Q(stopped=True)), 0),
    )
    planned = counts["n_wanted"] + counts["n_done_of_stopped"]
    return SlotCounts(counts["n_units"], counts["n_stopped"], counts["n_topped_up"], planned, counts["n_done"])
