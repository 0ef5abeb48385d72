"""What a reference set means for systems and for follow-up campaigns, which rate references of a release again."""

from annotation.datasets.selectors.datasets import other_names
from annotation.models import Campaign, CampaignState, Dataset, ReferenceSet
from annotation.references.releases.selectors.releases import release_named


def reasons_not_to_score(dataset: Dataset, reference_set: ReferenceSet | None) -> dict[str, str]:
    """Return the systems that are not scored unless they are named, each with the reason."""
    same = {name: f"same outputs as {first}" for name, first in other_names(dataset).items()}
    return same | dict.fromkeys(reference_set.source_systems if reference_set else (), "gave references")


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
