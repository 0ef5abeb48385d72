"""How fast each campaign is rated, and the lease that follows; the sweeper updates both."""

from statistics import median

from django.db.models.functions import Now

from annotation.allocation.leases import adaptive_lease
from annotation.core import sql
from annotation.models import Campaign, CampaignPace, CampaignState

RECENT = 500  # answers that decide the pace

_SECONDS = """
    SELECT extract(epoch FROM ended_at - shown_at)::float8
    FROM annotation_presentation
    WHERE campaign_id = %s AND purpose = 'work' AND outcome IN ('submitted', 'late', 'replaced')
    ORDER BY id DESC LIMIT %s
"""


def paces_update() -> int:
    """Adapt the lease of every running campaign with an adaptive lease; return their number."""
    adapting = Campaign.objects.filter(state=CampaignState.RUNNING, lease_min_seconds__isnull=False)
    for campaign in adapting:
        pace_update(campaign=campaign)
    return len(adapting)


def pace_update(*, campaign: Campaign) -> CampaignPace:
    seconds = sorted(row[0] for row in sql.rows(_SECONDS, [campaign.pk, RECENT]))
    lease = adaptive_lease(
        seconds,
        low=campaign.lease_min_seconds or campaign.lease_seconds,
        high=campaign.lease_max_seconds or campaign.lease_seconds,
        initial=campaign.lease_seconds,
    )
    middle = median(seconds) if seconds else None
    defaults = {"median_seconds": middle, "n": len(seconds), "lease_seconds": lease, "updated_at": Now()}
    return CampaignPace.objects.update_or_create(campaign=campaign, defaults=defaults)[0]
