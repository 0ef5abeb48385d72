"""What a launched campaign rates, by where the texts come from."""

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple
from urllib.parse import urlencode

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.urls import reverse

from annotation.core.caching import cached
from annotation.models import Campaign, CampaignState, Rating, Response, ResponseSource, SourceKind

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
    return [campaign for campaign, of in _with_ratings(campaigns) if of.references and not of.mostly_outputs]


def usual_of_outputs(campaigns: QuerySet[Campaign], systems: Collection[str]) -> Campaign | None:
    """Return the campaign whose ratings of these systems' outputs are taken first; None if none has any.

    It is the one that was closed last; if none is closed, the one with most ratings.
    """
    theirs = ResponseSource.objects.filter(kind=SourceKind.SYSTEM, system__name__in=systems)
    has_ratings = Exists(Rating.objects.filter(campaign=OuterRef("pk")))
    launched = campaigns.exclude(state=CampaignState.DRAFT).filter(has_ratings).order_by("-pk")[:MOST]
    of_systems = [each for each in launched if theirs.filter(response__unit_responses__unit__campaign=each).exists()]
    rated = [each for each in of_systems if rated_by(each).mostly_outputs]
    rated = rated or [each for each in of_systems if each.imported]  # of outputs that are references, too
    closed = [campaign for campaign in rated if campaign.state == CampaignState.CLOSED]
    if closed:
        return max(closed, key=lambda campaign: (campaign.closed_at or campaign.created_at, campaign.pk))
    return max(rated, key=lambda campaign: campaign.ratings.count(), default=None)


def compares_systems(campaign: Campaign, systems: Collection[str] | None = None) -> bool:
    """Return whether a campaign rates outputs of two of these systems, by default of any two, on the same item."""
    sources = ResponseSource.objects.filter(kind=SourceKind.SYSTEM, response__unit_responses__unit__campaign=campaign)
    theirs = sources if systems is None else sources.filter(system__name__in=systems)
    by_item = theirs.order_by().values("item").annotate(n=Count("system", distinct=True))
    return by_item.filter(n__gte=2).exists()


def has_rated_outputs(campaigns: QuerySet[Campaign]) -> bool:
    """Return whether one of the campaigns has ratings that a study can compare metrics with."""
    return any(
        cached(
            f"compares-systems-{campaign.pk}-{campaign.design_hash}",
            lambda campaign=campaign: compares_systems(campaign),  # type: ignore[misc]
            RATED_SECONDS,
        )
        for campaign, _ in _with_ratings(campaigns)
    )


def kinds_rated(campaigns: Iterable[Campaign]) -> set[tuple[str, str]]:
    """Return the sources of what the campaigns rate: kind and system; outputs only if they rate nothing else."""
    sources = ResponseSource.objects.filter(response__unit_responses__unit__campaign__in=list(campaigns))
    pairs = sources.order_by().values_list("kind", "system__name").distinct()
    rated = {(kind, system or "") for kind, system in pairs}
    return {(kind, system) for kind, system in rated if kind != SourceKind.SYSTEM} or rated


def _with_ratings(campaigns: QuerySet[Campaign]) -> Iterator[tuple[Campaign, Rated]]:
    """Yield those of the campaigns that have ratings with what they rate, the newest first."""
    has_ratings = Q(imported=True) | Q(units__done_slots__gt=0)  # imported ones fill no slots
    launched = campaigns.exclude(state=CampaignState.DRAFT).filter(has_ratings).distinct().order_by("-pk")
    for campaign in launched[:MOST]:
        yield campaign, rated_by(campaign)


def weights_url(campaign: Campaign) -> str:
    """Return the address at which weights are built from the campaign's ratings."""
    slug = campaign.project.slug
    if reference_set := campaign.reference_sets.first():
        return reverse("annotation:reference-set-detail", args=[slug, reference_set.slug])
    query = urlencode({"dataset": campaign.dataset.slug, "campaign": campaign.pk})
    return f"{reverse('annotation:reference-set-create', args=[slug])}?{query}"
