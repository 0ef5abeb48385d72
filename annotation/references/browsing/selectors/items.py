"""Reads for the page of an item: its responses with their ratings and weights."""

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
from django.db.models import Prefetch

from annotation.models import Campaign, Criterion, Dataset, Item, Release, ReleaseWeight, Response, ResponseSource
from annotation.rating.selectors.ratings import rating_columns
from annotation.references.releases.selectors.releases import newest_release


@dataclass
class CriterionMean:
    campaign: str
    criterion: str
    mean: float
    n: int


@dataclass
class ResponseRow:
    response: Response
    sources: list[ResponseSource]
    ratings: list[CriterionMean] = field(default_factory=list)
    weight: ReleaseWeight | None = None

    @property
    def systems(self) -> list[str]:
        return [source.system.name for source in self.sources if source.system]

    @property
    def kinds(self) -> list[ResponseSource]:
        """Return the sources other than systems."""
        return [source for source in self.sources if not source.system]


@dataclass
class ItemResponses:
    outputs: list[ResponseRow]
    references: list[ResponseRow]
    release: Release | None

    @property
    def all(self) -> list[ResponseRow]:
        return [*self.outputs, *self.references]


def item_responses(item: Item, dataset: Dataset) -> ItemResponses:
    """Return outputs by name of system, and references by falling weight, with mean ratings and newest weights."""
    ordered = ResponseSource.objects.select_related("system").order_by("system__name", "pk")
    responses = list(Response.objects.filter(item=item).order_by("pk").prefetch_related(Prefetch("sources", ordered)))
    release = newest_release(dataset)
    weights = {weight.response_id: weight for weight in ReleaseWeight.objects.filter(release=release, item=item)}
    means = _criterion_means(dataset, [response.pk for response in responses])
    rows = [
        ResponseRow(response, list(response.sources.all()), means.get(response.pk, []), weights.get(response.pk))
        for response in responses
    ]
    outputs = sorted((row for row in rows if row.systems), key=lambda row: row.systems)
    # Unweighted references come last, in the order of the file.
    references = sorted(
        (row for row in rows if not row.systems), key=lambda row: -row.weight.weight if row.weight else 2
    )
    return ItemResponses(outputs, references, release)


def _criterion_means(dataset: Dataset, response_ids: list[int]) -> dict[int, list[CriterionMean]]:
    campaigns = list(Campaign.objects.filter(dataset=dataset).order_by("pk"))
    columns = rating_columns(campaigns, response_ids)
    pairs, indices, counts = np.unique(
        np.stack([columns.response_id, columns.criterion_id]), axis=1, return_inverse=True, return_counts=True
    )
    sums = np.bincount(indices.ravel(), weights=columns.value, minlength=pairs.shape[1])
    names = {
        pk: (campaign, name)
        for pk, campaign, name in Criterion.objects.filter(campaign__in=campaigns).values_list(
            "pk", "campaign__name", "name"
        )
    }
    means: dict[int, list[CriterionMean]] = defaultdict(list)
    for (response_id, criterion_id), total, n in zip(pairs.T.tolist(), sums.tolist(), counts.tolist(), strict=True):
        means[response_id].append(CriterionMean(*names[criterion_id], total / n, n))
    return means
