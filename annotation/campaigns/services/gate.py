"""The gate of a campaign: requests of raters pass together, a change of the campaign passes alone.

It is an advisory lock of PostgreSQL, because those queue: a change waits for the requests that came before it, and
later ones wait behind the change. Row locks do not: ``FOR SHARE`` is granted past whoever waits to change the row, so
that on a busy campaign a pause would wait for ever. It is held to the end of the transaction, and comes before every
other lock; what is read in later statements is then settled.
"""

from collections.abc import Iterable

from django.db import connection

from annotation.models import Campaign

CAMPAIGNS = 0x41737361  # first key of the locks: nobody else's


def campaign_pass(campaign_id: int) -> None:
    """Inside a transaction: together with other requests, and with no change of the campaign meanwhile."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock_shared(%s, %s)", [CAMPAIGNS, campaign_id % 2**31])


def campaigns_close_gate(campaign_ids: Iterable[int]) -> None:
    """Inside a transaction: wait until requests under way have ended, and let none in before this one has."""
    with connection.cursor() as cursor:
        for campaign_id in sorted(set(campaign_ids)):
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [CAMPAIGNS, campaign_id % 2**31])


def campaign_alone(campaign_id: int) -> Campaign:
    """Inside a transaction: the campaign as it is, for a change that nothing may run beside."""
    campaigns_close_gate([campaign_id])
    return Campaign.objects.select_for_update(no_key=True).get(pk=campaign_id)
