"""What a launched campaign rates, by where the texts come from."""

from typing import NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.core.caching import cached
from annotation.models import Campaign, CampaignState, Response, ResponseSource, SourceKind

RATED_SECONDS = 24 * 3600  # what a launched campaign rates hardly changes
MOST = 50  # campaigns of a data set, newest first


class Rated(NamedTuple):
    """How many of the responses that a campaign rates can be references, and how many are only systems' outputs."""

    references: int
    outputs: int

    @property
    def mostly_outputs(self) -> bool:
        return self.outputs > self.references


def rated_by(campaign: Campaign) -> Rated:
    """Count what a launched campaign rates, whatever its target is called: an import may hold ratings of either."""

    def count() -> Rated:
        elsewhere = ResponseSource.objects.filter(response=OuterRef("pk")).exclude(kind=SourceKind.SYSTEM)
        rated = Response.objects.filter(unit_responses__unit__campaign=campaign).distinct().order_by()
        counts = rated.annotate(is_reference=Exists(elsewhere)).aggregate(
            all=Count("pk"), references=Count("pk", filter=Q(is_reference=True))
        )
        return Rated(counts["references"], counts["all"] - counts["references"])

    return cached(f"rated-by-{campaign.pk}-{campaign.design_hash}", count, RATED_SECONDS)


def raters_of_references(campaigns: QuerySet[Campaign]) -> list[Campaign]:
    """Return those of the campaigns that have ratings, most of them of references."""
    launched = campaigns.exclude(state=CampaignState.DRAFT).filter(units__done_slots__gt=0).distinct().order_by("-pk")
    rated = ((campaign, rated_by(campaign)) for campaign in launched[:MOST])
    return [campaign for campaign, of in rated if of.references and not of.mostly_outputs]
