"""The gate of a campaign: requests of raters pass together, a change of the campaign passes alone.

It is an advisory lock of PostgreSQL, held to the end of the transaction and taken before every other lock. These locks
queue: a change waits for earlier requests, and later requests wait for it. With row locks it could wait for ever.
"""

from collections.abc import Iterable

from annotation.core import sql
from annotation.core.turns import CAMPAIGNS
from annotation.models import Campaign


def campaign_pass(campaign_id: int) -> None:
    """Within a transaction: pass with other requests, while the campaign does not change."""
    sql.execute(
        "SELECT pg_advisory_xact_lock_shared(%s::int, %s::int)", [CAMPAIGNS, campaign_id % 2**31], prepared=True
    )


def campaigns_close_gate(campaign_ids: Iterable[int]) -> None:
    """Within a transaction: wait until earlier requests have ended, and let later ones wait."""
    for campaign_id in sorted(set(campaign_ids)):
        sql.execute("SELECT pg_advisory_xact_lock(%s, %s)", [CAMPAIGNS, campaign_id % 2**31])


def campaign_alone(campaign_id: int) -> Campaign:
    """Within a transaction: return the campaign as it is now, for a change beside which nothing runs."""
    campaigns_close_gate([campaign_id])
    return Campaign.objects.select_for_update(no_key=True).get(pk=campaign_id)
