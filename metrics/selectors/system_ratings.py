"""What raters say of the systems of a data set: the results of its campaigns, as a worker stored them."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, Max, OuterRef, Subquery

from annotation.core.canonical import canonical_json
from annotation.core.errors import AnnotationError
from annotation.models import Campaign, Dataset, JobState, Participation, Rating, ResponseSource
from annotation.models.jobs import FINISHED_STATES
from annotation.quality.selectors.monitoring.stored import plain, revived, shape
from annotation.results.selectors.stored import read_results
from annotation.results.selectors.verdicts import FORMAT as RESULTS_FORMAT
from annotation.results.selectors.verdicts import CriterionVerdict, Results, compute_results
from metrics.models import SystemRatings

LEAST_SYSTEMS = 2


@dataclass(frozen=True)
class CampaignRatings:
    """The systems that a campaign rated: its results, as its page *Results* has them."""

    campaign: int
    name: str
    results: Results

    @property
    def criteria(self) -> list[CriterionVerdict]:
        """Return those on which systems can be compared."""
        return [verdict for verdict in self.results.criteria if len(verdict.systems) >= LEAST_SYSTEMS]


def stored_format() -> str:
    """Return a mark of what is stored, which changes with the results' fields; part of the key."""
    return f"4-{RESULTS_FORMAT}-{shape(Results)}"


def ratings_key(dataset: Dataset) -> str:
    """Return a hash of everything that the results depend on; empty if nothing of the data set is rated."""
    newest = Rating.objects.filter(campaign=OuterRef("pk")).order_by("-id").values("id")[:1]
    campaigns = Campaign.objects.filter(dataset=dataset).annotate(last=Subquery(newest)).filter(last__isnull=False)
    last = list(campaigns.order_by("pk").values_list("pk", "last"))
    if not last:
        return ""
    excluded = Participation.objects.filter(campaign__in=[pk for pk, _ in last], excluded_at__isnull=False)
    outputs = ResponseSource.objects.filter(system__dataset=dataset).order_by()
    follows_from = {
        "format": stored_format(),
        "campaigns": [list(each) for each in last],
        "excluded": [list(each) for each in excluded.order_by("campaign", "rater").values_list("campaign", "rater")],
        "newest": outputs.aggregate(newest=Max("id"))["newest"],
    }
    return hashlib.sha256(canonical_json(follows_from)).hexdigest()


def stored_ratings(dataset: Dataset) -> list[CampaignRatings]:
    """Return what was computed last, newest campaign first; new ratings may have come since."""
    done = SystemRatings.objects.filter(dataset=dataset, state=JobState.DONE).order_by("-pk")
    content = done.values_list("content", flat=True).first() or {}
    if content.get("format") != stored_format():  # of an earlier version of the product
        return []
    return [
        CampaignRatings(each["campaign"], each["name"], revived(Results, each["results"]))
        for each in content["campaigns"]
    ]


def is_rating(dataset: Dataset) -> bool:
    """Return whether mean ratings of the data set are being computed; not if no output of a system was ever rated."""
    outputs = ResponseSource.objects.filter(response=OuterRef("response"), system__dataset=dataset)
    rated = Rating.objects.filter(Exists(outputs), campaign__dataset=dataset)
    waiting = SystemRatings.objects.filter(dataset=dataset).exclude(state__in=FINISHED_STATES)
    return waiting.filter(Exists(rated)).exists()


def compute_ratings(dataset: Dataset) -> dict[str, Any]:
    """Return the content to store. A campaign that rated the outputs of one system only is left out."""
    return {"format": stored_format(), "campaigns": list(_campaigns(dataset))}


def _campaigns(dataset: Dataset) -> Iterator[dict[str, Any]]:
    rated = Exists(Rating.objects.filter(campaign=OuterRef("pk")))
    for campaign in Campaign.objects.filter(rated, dataset=dataset).select_related("dataset").order_by("-pk"):
        try:
            results = _results(campaign)
        except AnnotationError:  # its criteria are asked in ways that have no results
            continue
        if any(len(verdict.systems) >= LEAST_SYSTEMS for verdict in results.criteria):
            yield {"campaign": campaign.pk, "name": campaign.name, "results": plain(results)}


def _results(campaign: Campaign) -> Results:
    """Return the results that the campaign's page shows; compute them if no worker has yet."""
    read = read_results([campaign], {})
    return read.results if read.results and read.is_current else compute_results([campaign])
