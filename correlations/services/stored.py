"""Imported scores as rows of a study."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from annotation.models import JobState, Project
from correlations.errors import StudyRefused
from correlations.selectors.metrics import imported_runs
from metrics.models import ScoreRun
from metrics.scoring.external import SEGMENT
from metrics.scoring.metric import Metric, MetricStatistics, mean_statistics
from metrics.selectors.arrays import run_arrays
from metrics.selectors.corpus import Corpus


def with_runs_named(project: Project, entries: Sequence[Any]) -> list[Any]:
    """Return the requested metrics; ``{"run": 7}`` becomes the metric whose scores that run holds."""
    return [_of_run(project, entry) if isinstance(entry, Mapping) and "run" in entry else entry for entry in entries]


def _of_run(project: Project, entry: Mapping[str, Any]) -> dict[str, Any]:
    runs = {run.number: run for run in imported_runs(project)}
    run = runs.get(entry["run"]) if isinstance(entry["run"], int) else None
    if run is None or set(entry) != {"run"}:
        accepted = ", ".join(map(str, sorted(runs))) or "none yet"
        message = f"found run {entry['run']!r}; accepted: a finished run of imported scores of segments: {accepted}"
        raise StudyRefused.of("metrics", message)
    return {"name": run.metric, "parameters": run.parameters}


def imported_run(project: Project, dataset_id: int, metric: Metric, systems: Sequence[str]) -> ScoreRun:
    """Return the run that holds the scores; the error says what is missing."""
    parameters = metric.parameters()
    if parameters["level"] != SEGMENT:
        message = f"{metric.label}: found scores of systems alone; accepted: scores of segments, which units can sum"
        raise StudyRefused.of("metrics", message)
    runs = ScoreRun.objects.filter(
        project=project, dataset=dataset_id, metric=metric.name, parameters=parameters, state=JobState.DONE
    )
    run: ScoreRun | None = runs.order_by("-pk").first()
    if run is None:
        message = f"{metric.label}: found no imported scores of this data set with these parameters"
        raise StudyRefused.of("metrics", message)
    missing = sorted(set(systems) - set(run.scores.values_list("system__name", flat=True)))
    if missing:
        raise StudyRefused.of("metrics", f"{metric.label}: found no scores of {missing[0]}; accepted: of every system")
    return run


def imported_statistics(run: ScoreRun, corpus: Corpus) -> MetricStatistics:
    """Return the stored scores of the corpus's systems and items; NaN for an item that was not scored."""
    stored = run_arrays(run)
    index_of = {system.pk: position for position, system in enumerate(stored.systems)}
    scores = stored.scores[[index_of[system.pk] for system in corpus.systems]]
    order = np.argsort(stored.item_ids)
    at = np.minimum(np.searchsorted(stored.item_ids, corpus.item_ids, sorter=order), order.size - 1)
    known = stored.item_ids[order[at]] == corpus.item_ids
    return mean_statistics(np.where(known, scores[:, order[at]], np.nan))
