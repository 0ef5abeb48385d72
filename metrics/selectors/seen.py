"""Which outputs a quality estimator has seen: scores of these show how well it remembers, not how well it judges."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from django.db.models import QuerySet

from annotation.models import Project, ResponseSource, SourceKind, System
from metrics.scoring.metric import Metric
from metrics.scoring.models.store import ModelStore
from metrics.scoring.qe.model import QualityEstimator
from metrics.selectors.corpus import PROMPT, prompt_text

AT_ONCE = 5000
COLUMNS = ("response_id", "response__text", *(f"item__{name}" for name in PROMPT))


class Seen(NamedTuple):
    """How many different outputs the model was trained on or chosen by, and of how many."""

    outputs: int
    of: int


def seen_outputs(estimator: QualityEstimator, sources: QuerySet[ResponseSource]) -> Seen:
    """Count the different outputs among these sources that the model has seen with the same prompt."""
    rows = iter(sources.order_by("response_id").values_list(*COLUMNS).distinct().iterator(chunk_size=AT_ONCE))
    n_seen = n = 0
    while chunk := list(islice(rows, AT_ONCE)):
        prompts = [prompt_text(*given) for _, _, *given in chunk]
        n_seen += int(estimator.has_seen(prompts, [text for _, text, *_ in chunk]).sum())
        n += len(chunk)
    return Seen(n_seen, n)


def seen_of_systems(metric: Metric, systems: list[System], models: ModelStore) -> Seen | None:
    """Return which outputs of these systems the metric's model has seen; None for a metric without such a model."""
    for parameter in metric.parameter_list():
        if parameter.kind == "model" and parameter.choices[0] == QualityEstimator.kind:
            estimator: QualityEstimator = models.load(QualityEstimator.kind, getattr(metric, parameter.name))
            return seen_outputs(estimator, ResponseSource.objects.filter(system__in=systems))
    return None


def seen_by_dataset(estimator: QualityEstimator, project: Project) -> list[dict[str, Any]]:
    """Return for each data set of a project, by name, how many outputs of its systems the model has seen."""
    return list(_seen_by_dataset(estimator, project))


def _seen_by_dataset(estimator: QualityEstimator, project: Project) -> Iterator[dict[str, Any]]:
    for pk in project.datasets.order_by("name").values_list("pk", flat=True):
        sources = ResponseSource.objects.filter(item__dataset=pk, kind=SourceKind.SYSTEM)
        seen = seen_outputs(estimator, sources)
        yield {
            "dataset_id": pk,
            "outputs": seen.outputs,
            "outputs_of": seen.of,
            "references": 0,
            "references_of": 0,
        }
