"""Which outputs a quality estimator has seen: scores of these show how well it remembers, not how well it judges."""

from collections.abc import Collection, Iterator
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


class Known(NamedTuple):
    """How many different outputs the model has seen, of how many; and how many of the others have a source that other
    outputs have which it learnt from, or come from a system that it learnt from."""

    outputs: int
    of: int
    same_source: int
    same_system: int


def seen_outputs(estimator: QualityEstimator, sources: QuerySet[ResponseSource]) -> Seen:
    """Count the different outputs among these sources that the model has seen with the same prompt."""
    n_seen = n = 0
    for _, prompts, texts in _chunks(sources):
        n_seen += int(estimator.has_seen(prompts, texts).sum())
        n += len(texts)
    return Seen(n_seen, n)


def known_outputs(
    estimator: QualityEstimator, sources: QuerySet[ResponseSource], systems: Collection[str] = ()
) -> Known:
    """Count as `seen_outputs`, and the new outputs; ``systems`` are the names of those that it learnt from."""
    of_systems = set(sources.filter(system__name__in=list(systems)).values_list("response_id", flat=True))
    n_seen = n = n_source = n_system = 0
    for responses, prompts, texts in _chunks(sources):
        is_new = ~estimator.has_seen(prompts, texts)
        n_seen += int((~is_new).sum())
        n += len(texts)
        n_source += int((is_new & estimator.has_seen_sources(prompts)).sum())
        n_system += sum(new and pk in of_systems for pk, new in zip(responses, is_new.tolist(), strict=True))
    return Known(n_seen, n, n_source, n_system)


def _chunks(sources: QuerySet[ResponseSource]) -> Iterator[tuple[list[int], list[str], list[str]]]:
    """Yield the keys, prompts and texts of the different responses."""
    rows = iter(sources.order_by("response_id").values_list(*COLUMNS).distinct().iterator(chunk_size=AT_ONCE))
    while chunk := list(islice(rows, AT_ONCE)):
        prompts = [prompt_text(*given) for _, _, *given in chunk]
        yield [pk for pk, *_ in chunk], prompts, [text for _, text, *_ in chunk]


def seen_of_systems(metric: Metric, systems: list[System], models: ModelStore) -> Seen | None:
    """Return which outputs of these systems the metric's model has seen; None for a metric without such a model."""
    estimator = _estimator_of(metric, models)
    return None if estimator is None else seen_outputs(estimator, ResponseSource.objects.filter(system__in=systems))


def known_of_systems(
    metric: Metric, systems: list[System], models: ModelStore, *, learnt_from: Collection[str]
) -> Known | None:
    """Return `known_outputs` of these systems for the metric's model; None for a metric without such a model."""
    estimator = _estimator_of(metric, models)
    if estimator is None:
        return None
    return known_outputs(estimator, ResponseSource.objects.filter(system__in=systems), learnt_from)


def _estimator_of(metric: Metric, models: ModelStore) -> QualityEstimator | None:
    for parameter in metric.parameter_list():
        if parameter.kind == "model" and parameter.choices[0] == QualityEstimator.kind:
            estimator: QualityEstimator = models.load(QualityEstimator.kind, getattr(metric, parameter.name))
            return estimator
    return None


def seen_by_dataset(
    estimator: QualityEstimator, project: Project, systems: Collection[str] = ()
) -> list[dict[str, Any]]:
    """Return for each data set of a project, by name, which outputs of its systems the model knows."""
    return list(_seen_by_dataset(estimator, project, systems))


def _seen_by_dataset(
    estimator: QualityEstimator, project: Project, systems: Collection[str]
) -> Iterator[dict[str, Any]]:
    for pk in project.datasets.order_by("name").values_list("pk", flat=True):
        sources = ResponseSource.objects.filter(item__dataset=pk, kind=SourceKind.SYSTEM)
        known = known_outputs(estimator, sources, systems)
        yield {
            "dataset_id": pk,
            "outputs": known.outputs,
            "outputs_of": known.of,
            "same_source": known.same_source,
            "same_system": known.same_system,
            "references": 0,
            "references_of": 0,
        }
