"""Follow-up campaigns that rate references of a release again, and the reference sets they belong to."""

from annotation.models import Campaign, CampaignState, ReferenceSet
from annotation.references.releases.selectors.releases import release_named


def set_to_join(campaign: Campaign) -> ReferenceSet | None:
    """Return the set that a follow-up campaign can be added to; None before its launch and after it was added."""
    response_list = campaign.response_list
    if response_list is None or campaign.state == CampaignState.DRAFT:
        return None
    name_of_release, content_hash = (response_list.origin.get(name) for name in ("release", "content_hash"))
    release = release_named(campaign.project, name_of_release) if isinstance(name_of_release, str) else None
    if release is None or release.content_hash != content_hash:
        return None
    reference_set: ReferenceSet = release.reference_set
    return None if reference_set.campaigns.filter(pk=campaign.pk).exists() else reference_set


def campaigns_to_join(reference_set: ReferenceSet) -> list[Campaign]:
    """Return the launched follow-up campaigns of the set's releases that are not in the set yet."""
    follow_ups = Campaign.objects.filter(
        dataset=reference_set.dataset_id, response_list__origin__release__startswith=f"{reference_set.slug}/v"
    ).select_related("response_list", "project")
    return [campaign for campaign in follow_ups.order_by("pk") if set_to_join(campaign) == reference_set]
