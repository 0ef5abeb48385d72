"""Figures of large campaigns, computed by a worker and kept for the pages."""

from django.db import connection, transaction
from django.db.models.functions import Now

from annotation.models import Campaign, CampaignSnapshot
from annotation.quality.selectors.monitoring import compute_figures, plain, waiting_for_figures
from annotation.quality.selectors.raters import moment

SNAPSHOTS = 0x41737362  # first key of the advisory locks


def snapshots_waiting() -> list[int]:
    """Campaigns whose figures are due."""
    return [campaign.pk for campaign in waiting_for_figures()]


@transaction.atomic
def snapshot_update(*, campaign_id: int) -> CampaignSnapshot | None:
    """Compute and keep a campaign's figures; None where another worker is at it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [SNAPSHOTS, campaign_id % 2**31])
        (mine,) = cursor.fetchone()
    if not mine:
        return None
    campaign = Campaign.objects.get(pk=campaign_id)
    at = moment(campaign)
    figures = plain(compute_figures(campaign, at))
    snapshot, _ = CampaignSnapshot.objects.update_or_create(
        campaign=campaign, defaults={"last_rating_id": at.rating, "figures": figures, "computed_at": Now()}
    )
    snapshot.refresh_from_db()
    return snapshot
