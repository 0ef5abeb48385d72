"""Campaigns that were drafted from what needs attention in a release, and the reference sets they are meant for."""

from annotation.models import Campaign, CampaignState, ReferenceSet
from annotation.references.releases.selectors.releases import release_named


def set_to_join(campaign: Campaign) -> ReferenceSet | None:
    """The set whose release sent the campaign's list back; None before the launch, and once it was added."""
    sent = campaign.response_list
    if sent is None or campaign.state == CampaignState.DRAFT:
        return None
    written, content_hash = (sent.origin.get(name) for name in ("release", "content_hash"))
    release = release_named(campaign.project, written) if isinstance(written, str) else None
    if release is None or release.content_hash != content_hash:
        return None
    found: ReferenceSet = release.reference_set
    return None if found.campaigns.filter(pk=campaign.pk).exists() else found


def campaigns_to_join(reference_set: ReferenceSet) -> list[Campaign]:
    """Launched campaigns that ask about what was sent back from one of the set's releases, and are not in it yet."""
    sent = Campaign.objects.filter(
        dataset=reference_set.dataset_id, response_list__origin__release__startswith=f"{reference_set.slug}/v"
    ).select_related("response_list", "project")
    return [campaign for campaign in sent.order_by("pk") if set_to_join(campaign) == reference_set]
