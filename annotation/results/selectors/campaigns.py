"""Campaigns with ratings, and what a project's front page says of their systems."""

from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet

from annotation.campaigns.rated import rated_by
from annotation.campaigns.selectors import slots_unfilled
from annotation.core.caching import cached
from annotation.core.errors import AnnotationError
from annotation.models import Campaign, CampaignState, Project, Rating
from annotation.quality.selectors.raters import moment
from annotation.results.selectors.leading import basis
from annotation.results.selectors.sentences import PLAIN_NAMES, few_raters_sentence, named_sentence
from annotation.results.selectors.stored import read_results
from annotation.results.selectors.verdicts import CriterionVerdict, Results

AT_ONCE = 2_000  # ratings of which results cost so little that a front page has those of this moment
KEPT_SECONDS = 300  # results of more ratings, while raters work


@dataclass(frozen=True)
class Headline:
    """Who is better by a campaign's raters, in a sentence that names the criterion; what that rests on.

    ``is_certain``: some difference on this criterion is.
    """

    text: str
    basis: str
    is_certain: bool
    verdict: CriterionVerdict
    ratings: int


def rated_campaigns(project: Project) -> QuerySet[Campaign]:
    """Return the campaigns of a project that raters have rated, newest first."""
    launched = project.campaigns.exclude(state=CampaignState.DRAFT).select_related("dataset")
    return launched.filter(Exists(Rating.objects.filter(campaign=OuterRef("pk")))).order_by("-pk")


def headline(campaign: Campaign) -> Headline | None:
    """Return the sentence of the campaign's results; None while it does not compare two systems.

    Of many ratings it is some minutes old at most, but never older than the last decision about a rater.
    """
    if not rated_by(campaign).outputs:
        return None
    ratings = Rating.objects.filter(campaign=campaign).order_by()
    if ratings[: AT_ONCE + 1].count() <= AT_ONCE or campaign.state != CampaignState.RUNNING:
        return _headline(campaign)
    key = f"results-headline-{campaign.pk}-{moment(campaign).decision}"
    return cached(key, lambda: _headline(campaign), KEPT_SECONDS)


def _headline(campaign: Campaign) -> Headline | None:
    try:
        results = read_results([campaign], {}).results
    except AnnotationError:
        return None
    compared = [verdict for verdict in results.criteria if len(verdict.systems) > 1] if results else []
    if results is None or not compared:
        return None
    first = next(filter(_has_certain, compared), compared[0])
    names = len(compared) > 1 or first.criterion.casefold() not in PLAIN_NAMES
    text = " ".join(filter(None, [named_sentence(first, many=names), few_raters_sentence(first)]))
    return Headline(text, _basis(results, campaign), _has_certain(first), first, results.ratings)


def _has_certain(verdict: CriterionVerdict) -> bool:
    return any(pair.is_certain for pair in verdict.pairs)


def _basis(results: Results, campaign: Campaign) -> str:
    rests = basis(results)
    return f"{rests} so far" if campaign.state == CampaignState.RUNNING and not _is_all_rated(campaign) else rests


def _is_all_rated(campaign: Campaign) -> bool:
    return campaign.units.exists() and not slots_unfilled(campaign)
