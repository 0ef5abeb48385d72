"""Seeds that a release rates below the threshold at which they were selected."""

from collections.abc import Iterable

from annotation.models import (
    Campaign,
    Criterion,
    Release,
    SeedSelection,
)
from annotation.references.releases.selectors.releases import release_campaigns
from annotation.seeds.selectors import ROUNDING


def fallen_seeds(release: Release) -> set[int]:
    """Ids of the seeds whose mean in a release is below the threshold at which they were selected.

    Empty where there was no selection, or where the release's ratings are on another scale.
    """
    selection = SeedSelection.objects.filter(dataset=release.reference_set.dataset_id).first()
    if selection is None:
        return set()
    then, now = _scales(selection.campaigns.all()), _scales(release_campaigns(release))
    if not now or now != then:
        return set()
    members = selection.members.order_by().values("response")
    weights = release.weights.filter(response__in=members, rating_mean__lt=selection.threshold - ROUNDING)
    return set(weights.order_by().values_list("response_id", flat=True))


def _scales(campaigns: Iterable[Campaign]) -> set[str]:
    return {one.scale.group for one in Criterion.objects.filter(campaign__in=[campaign.pk for campaign in campaigns])}
