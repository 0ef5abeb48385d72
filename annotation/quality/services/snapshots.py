"""Statistics of large campaigns, computed by a worker and stored for the pages."""

from django.db import transaction
from django.db.models.functions import Now

from annotation.core import sql
from annotation.core.turns import SNAPSHOTS
from annotation.models import Campaign, CampaignSnapshot
from annotation.quality.selectors.monitoring.live import waiting_for_statistics
from annotation.quality.selectors.monitoring.statistics import Statistics, compute_statistics
from annotation.quality.selectors.monitoring.stored import plain, shape
from annotation.quality.selectors.raters import moment


def snapshots_waiting() -> list[int]:
    """Return the campaigns whose statistics are due."""
    return [campaign.pk for campaign in waiting_for_statistics()]


@transaction.atomic
def snapshot_update(*, campaign_id: int) -> CampaignSnapshot | None:
    """Compute and store a campaign's statistics; None if another worker does so now."""
    (is_locked,) = sql.row("SELECT pg_try_advisory_xact_lock(%s, %s)", [SNAPSHOTS, campaign_id % 2**31])
    if not is_locked:
        return None
    campaign = Campaign.objects.get(pk=campaign_id)
    at = moment(campaign)
    stored = plain(compute_statistics(campaign, at)) | {"shape": shape(Statistics)}
    defaults = {"last_rating_id": at.rating, "figures": stored, "computed_at": Now()}
    snapshot, _ = CampaignSnapshot.objects.update_or_create(campaign=campaign, defaults=defaults)
    snapshot.refresh_from_db()
    return snapshot
