"""Results as pages read them: computed at once, or by a worker if there are many ratings."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Max
from django.utils import timezone

from annotation.core.caching import cached
from annotation.core.canonical import canonical_json
from annotation.models import Campaign, RaterAnswer, Rating, ResultSnapshot
from annotation.quality.selectors.monitoring.stored import revived, shape
from annotation.quality.selectors.raters import moment
from annotation.results.selectors.verdicts import FORMAT, Results, compute_results

MOST_AT_ONCE = 50_000  # ratings that a page computes results of itself
CACHE_SECONDS = 3600
PATIENCE = timedelta(minutes=2)  # after which work that has not come is requested again


@dataclass(frozen=True)
class Read:
    """Results, if there are any yet; those of a worker say when it computed them.

    ``version`` is of the ratings that there are now, ``is_due`` whether a worker should compute them.
    """

    results: Results | None
    version: str
    computed_at: datetime | None = None
    is_current: bool = True
    is_due: bool = False


def read_results(campaigns: Sequence[Campaign], filters: Mapping[str, Any]) -> Read:
    """Return the results of campaigns that share criteria; raise ``AnnotationError`` if their scales differ."""
    what, version = specification(campaigns, filters), logs_version(campaigns)
    if not is_large(campaigns):
        key = f"results-{digest(what)}-{version}"
        return Read(cached(key, lambda: compute_results(campaigns, filters), CACHE_SECONDS), version)
    row = ResultSnapshot.objects.filter(project=campaigns[0].project_id, key=digest(what)).first()
    if row is None:
        return Read(None, version, is_current=False, is_due=True)
    is_current = row.version == version
    late = timezone.now() - row.requested_at > PATIENCE
    results = revived(Results, row.content) if row.content else None
    return Read(results, version, row.computed_at, is_current, is_due=not is_current and late)


def is_large(campaigns: Sequence[Campaign]) -> bool:
    ratings = Rating.objects.filter(campaign__in=[campaign.pk for campaign in campaigns])
    return ratings.order_by()[: MOST_AT_ONCE + 1].count() > MOST_AT_ONCE


def specification(campaigns: Sequence[Campaign], filters: Mapping[str, Any]) -> dict[str, Any]:
    stored = f"{FORMAT}-{shape(Results)}"
    return {"campaigns": sorted(campaign.pk for campaign in campaigns), "filters": dict(filters), "format": stored}


def digest(what: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical_json(what)).hexdigest()


def logs_version(campaigns: Sequence[Campaign]) -> str:
    """Return a hash of where the logs of ratings and decisions end, and of which answers of raters there are."""
    ends = {str(campaign.pk): f"{moment(campaign).version}{_answers(campaign)}" for campaign in campaigns}
    return digest(ends)[:32]


def _answers(campaign: Campaign) -> str:
    if not campaign.questions:
        return ""
    rows = RaterAnswer.objects.filter(participation__campaign=campaign)
    return "-{n}-{last}".format(**rows.aggregate(n=Count("pk"), last=Max("pk")))
