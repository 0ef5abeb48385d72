"""Rated outputs that a quality estimator learns from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import Campaign, Criterion, Dataset, Item, Project, Rating, Response, ResponseSource, SourceKind
from annotation.quality.selectors.decisions import excluded_rater_ids
from annotation.rating.selectors.ratings import JudgementTable, campaign_criteria, judgements, rating_columns
from metrics.errors import MetricsError
from metrics.scoring.qe.instances import Instance
from metrics.scoring.qe.plans import WrittenText
from metrics.selectors.corpus import item_prompt, plain_sources

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

STATISTICS: dict[str, Callable[[Floats], np.floating]] = {"median": np.median, "mean": np.mean}
CHUNK_ROWS = 5000
TRAINING_SPLITS = ("train", "training")


@dataclass(frozen=True, eq=False)
class RatedOutputs:
    """N rated outputs, by the positions of their items: a text that several systems gave is one of them.

    ``low`` and ``high`` are the ends of the scale. References are read on request only.
    """

    instances: Sequence[Instance]
    written: Sequence[WrittenText]  # references of items without a rated output
    response_ids: Ints  # (N,)
    systems: Sequence[str]  # that gave them, by name
    low: float
    high: float
    n_ratings: int
    n_raters: int


def rated_campaigns(project: Project) -> QuerySet[Campaign]:
    """Return the campaigns that have ratings, newest first."""
    ratings = Rating.objects.filter(campaign=OuterRef("pk"), value__isnull=False)
    return Campaign.objects.filter(Exists(ratings), project=project).select_related("dataset").order_by("-pk")


def rated_datasets(project: Project) -> list[Dataset]:
    """Return the data sets with rated responses, by name."""
    return list(project.datasets.filter(campaigns__in=rated_campaigns(project)).distinct().order_by("name"))


def learnable_criteria(campaigns: Sequence[Campaign], names: Sequence[str]) -> list[Criterion]:
    """Return the criteria, by default all; refuse those that compare outputs, or whose scale has no ends."""
    criteria = campaign_criteria(campaigns, list(names) or None)
    for criterion in criteria:
        if criterion.scale.is_relative or not np.isfinite(criterion.scale.ends).all():
            accepted = "criteria that rate one output, between two ends"
            raise MetricsError.at("criteria", f"Criteria: found {criterion.name!r}; accepted: {accepted}.")
    return criteria


def rated_outputs(
    campaigns: Sequence[Campaign], criteria: Sequence[str], statistic: str, *, with_references: bool = False
) -> RatedOutputs:
    """Return what campaigns of one data set rated, as studies read it: current ratings, without those of excluded
    raters; a judgement is the mean of its criteria. Outputs have the median or the mean of their judgements."""
    chosen = learnable_criteria(campaigns, criteria)
    columns = rating_columns(campaigns, timed=False)
    columns = columns.select(~np.isin(columns.rater_id, excluded_rater_ids(campaigns)))
    table = judgements(columns, chosen)
    by_response = _by_response(table, STATISTICS[statistic])
    items = Response.objects.filter(pk__in=by_response).select_related("item").order_by("item__position", "text_key")
    responses = list(items.iterator(chunk_size=CHUNK_ROWS))
    systems = _systems(by_response)
    references = _references(campaigns[0].dataset_id) if with_references else {}
    rated_items = {response.item_id for response in responses}
    return RatedOutputs(
        written=_written({item: texts for item, texts in references.items() if item not in rated_items}),
        instances=[
            Instance(
                source=item_prompt(response.item),
                output=response.text,
                rating=by_response[response.pk],
                references=tuple(references.get(response.item_id, ())),
                domain=response.item.split,
                system=next(iter(systems.get(response.pk, ())), ""),
            )
            for response in responses
        ],
        response_ids=np.array([response.pk for response in responses], dtype=np.int64),
        systems=sorted({name for names in systems.values() for name in names}),
        low=table.low,
        high=table.high,
        n_ratings=int(table.response_id.size),
        n_raters=int(np.unique(table.rater_id).size),
    )


def _by_response(table: JudgementTable, statistic: Callable[[Floats], np.floating]) -> dict[int, float]:
    order = np.argsort(table.response_id, kind="stable")
    ids, starts = np.unique(table.response_id[order], return_index=True)
    groups = np.split(table.value[order], starts[1:]) if ids.size else []
    return {pk: float(statistic(values)) for pk, values in zip(ids.tolist(), groups, strict=True)}


def _systems(response_ids: Sequence[int] | dict[int, float]) -> dict[int, list[str]]:
    """Return the names of the systems that gave each response, in alphabetical order."""
    sources = ResponseSource.objects.filter(response__in=list(response_ids), kind=SourceKind.SYSTEM)
    names: dict[int, list[str]] = {}
    for pk, name in sources.order_by("system__name").values_list("response_id", "system__name"):
        names.setdefault(pk, []).append(name)
    return names


def _written(references: Mapping[int, Sequence[str]]) -> list[WrittenText]:
    """Return the references of these items, each with its source; systems may know those of a training part."""
    items = Item.objects.filter(pk__in=list(references)).order_by("position")
    return [
        WrittenText(item_prompt(item), text, complete=item.split not in TRAINING_SPLITS)
        for item in items.iterator(chunk_size=CHUNK_ROWS)
        for text in references[item.pk]
    ]


def _references(dataset_id: int) -> dict[int, list[str]]:
    """Return each item's references in the data set."""
    sources = plain_sources(dataset_id, SourceKind.of_references())
    rows = sources.order_by("response__text_key").values_list("item_id", "response__text_key", "response__text")
    texts: dict[int, list[str]] = {}
    for item, _, text in rows.distinct():
        texts.setdefault(item, []).append(text)
    return texts
