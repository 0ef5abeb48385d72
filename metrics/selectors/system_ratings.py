"""What raters say of the systems of a data set, as a worker computed and stored it."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Exists, Max, OuterRef, Subquery

from annotation.core.canonical import canonical_json
from annotation.core.errors import AnnotationError
from annotation.core.numbers import finite_or_none
from annotation.judgements.stand_ins import by_stand_ins
from annotation.models import Campaign, Dataset, JobState, Participation, Rating, ResponseSource
from annotation.models.jobs import FINISHED_STATES
from annotation.quality.selectors.decisions import excluded_rater_ids
from annotation.ranking import rank_ranges, system_means
from annotation.rating.selectors.outputs import Outputs, outputs_of_datasets
from annotation.rating.selectors.ratings import JudgementTable, campaign_criteria, judgements, rating_columns
from metrics.models import SystemRatings
from metrics.scoring.resampling import SEED

FORMAT = 4  # of the stored content; part of the key
LEAST_SYSTEMS = 2


@dataclass(frozen=True)
class SystemRating:
    """The mean rating of a system; ``p_best`` as `SystemScore` has it."""

    system: int
    mean: float
    low: float | None
    high: float | None
    items: int
    first_place: int | None
    last_place: int | None
    p_best: float | None


@dataclass(frozen=True)
class CampaignRatings:
    """The systems that a campaign rated."""

    campaign: int
    name: str
    criteria: list[str]
    judgements: int
    raters: int
    items: int
    raters_known: bool
    systems: list[SystemRating]


def ratings_key(dataset: Dataset) -> str:
    """Return a hash of everything that the mean ratings depend on; empty if nothing of the data set is rated."""
    newest = Rating.objects.filter(campaign=OuterRef("pk")).order_by("-id").values("id")[:1]
    campaigns = Campaign.objects.filter(dataset=dataset).annotate(last=Subquery(newest)).filter(last__isnull=False)
    last = list(campaigns.order_by("pk").values_list("pk", "last"))
    if not last:
        return ""
    excluded = Participation.objects.filter(campaign__in=[pk for pk, _ in last], excluded_at__isnull=False)
    outputs = ResponseSource.objects.filter(system__dataset=dataset).order_by()
    follows_from = {
        "format": FORMAT,
        "campaigns": [list(each) for each in last],
        "excluded": [list(each) for each in excluded.order_by("campaign", "rater").values_list("campaign", "rater")],
        "newest": outputs.aggregate(newest=Max("id"))["newest"],
    }
    return hashlib.sha256(canonical_json(follows_from)).hexdigest()


def stored_ratings(dataset: Dataset) -> list[CampaignRatings]:
    """Return what was computed last, newest campaign first; new ratings may have come since."""
    done = SystemRatings.objects.filter(dataset=dataset, state=JobState.DONE).order_by("-pk")
    content = done.values_list("content", flat=True).first()
    return [
        CampaignRatings(**{**each, "systems": [SystemRating(**system) for system in each["systems"]]})
        for each in (content or {}).get("campaigns", [])
    ]


def is_rating(dataset: Dataset) -> bool:
    """Return whether mean ratings of the data set are being computed; not if no output of a system was ever rated."""
    outputs = ResponseSource.objects.filter(response=OuterRef("response"), system__dataset=dataset)
    rated = Rating.objects.filter(Exists(outputs), campaign__dataset=dataset)
    waiting = SystemRatings.objects.filter(dataset=dataset).exclude(state__in=FINISHED_STATES)
    return waiting.filter(Exists(rated)).exists()


def compute_ratings(dataset: Dataset) -> dict[str, Any]:
    """Return the content to store. A campaign that rated the outputs of one system only is left out."""
    return {"campaigns": list(_campaigns(dataset))}


def _campaigns(dataset: Dataset) -> Iterator[dict[str, Any]]:
    outputs = outputs_of_datasets({dataset.pk})[0]
    for campaign in Campaign.objects.filter(dataset=dataset).order_by("-pk"):
        try:
            criteria = campaign_criteria([campaign])
        except AnnotationError:  # its criteria do not share a scale, so they have no mean
            continue
        columns = rating_columns([campaign], timed=False)
        columns = columns.select(~np.isin(columns.rater_id, excluded_rater_ids([campaign])))
        rated = _of_campaign(judgements(columns, criteria), outputs)
        if rated is not None:
            yield {
                "campaign": campaign.pk,
                "name": campaign.name,
                "criteria": [each.name for each in criteria],
                **rated,
            }


def _of_campaign(table: JudgementTable, outputs: Outputs) -> dict[str, Any] | None:
    judgement, output = outputs.credited(table.response_id)
    systems, system = np.unique(outputs.system[output], return_inverse=True)
    if systems.size < LEAST_SYSTEMS:
        return None
    items, item = np.unique(outputs.item[output], return_inverse=True)
    raters, rater = np.unique(table.rater_id[judgement], return_inverse=True)
    raters_known = not by_stand_ins(raters).any()
    means = system_means(
        system,
        item,
        rater if raters_known else None,
        table.value[judgement],
        rng=np.random.default_rng(SEED),
        n_systems=systems.size,
        ends=(table.low, table.high),
    )
    differences = means.differences
    places = rank_ranges(differences.adjusted, differences.better).tolist()
    p_values = differences.adjusted[int(np.argmax(means.mean))]  # NaN of the best itself
    return {
        "judgements": int(np.unique(judgement).size),
        "raters": int(raters.size),
        "items": int(items.size),
        "raters_known": raters_known,
        "systems": [
            {
                "system": pk,
                "mean": float(means.mean[index]),
                "low": finite_or_none(means.low[index]),
                "high": finite_or_none(means.high[index]),
                "items": int(means.items[index]),
                "first_place": places[index][0],
                "last_place": places[index][1],
                "p_best": finite_or_none(p_values[index]),
            }
            for index, pk in enumerate(systems.tolist())
        ],
    }
