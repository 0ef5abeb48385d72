"""What a reference set means for systems and for follow-up campaigns, which rate references of a release again."""

from django.db.models import Exists, OuterRef

from annotation.datasets.selectors.datasets import other_names
from annotation.models import Campaign, CampaignState, Dataset, Project, ReferenceSet, ResponseSource, SourceKind
from annotation.references.releases.selectors.releases import release_named


def reasons_not_to_score(dataset: Dataset, reference_set: ReferenceSet | None) -> dict[str, str]:
    """Return the systems that are not scored unless they are named, each with the reason."""
    same = {name: f"same outputs as {first}" for name, first in other_names(dataset).items()}
    return same | dict.fromkeys(reference_set.source_systems if reference_set else (), "gave references")


EQUAL = ": all references equal"
NAME_LENGTH = 120


def equal_weights_name(dataset: Dataset) -> str:
    """Return the name of the set in which each reference of the data set weighs 1."""
    return f"{dataset.name[: NAME_LENGTH - len(EQUAL)]}{EQUAL}"


def without_equal_weights(project: Project) -> list[Dataset]:
    """Return the data sets whose references could all weigh the same, but for those that have such a set."""
    references = ResponseSource.objects.filter(item__dataset=OuterRef("pk"), kind__in=SourceKind.of_references())
    names = set(project.reference_sets.values_list("name", flat=True))
    datasets = project.datasets.filter(Exists(references)).order_by("name")
    return [dataset for dataset in datasets if equal_weights_name(dataset) not in names]


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
