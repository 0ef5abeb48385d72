"""State the scale of imported scores after their import: a corrected run of the same scores."""

import numpy as np
import numpy.typing as npt
from django.db import transaction

from annotation.models import Item, JobState, User
from annotation.projects.services.audit import audit_record
from metrics.errors import ScoreRunRefused
from metrics.models import RunOrigin, ScoreRun
from metrics.scoring.external import SEGMENT, External
from metrics.selectors.arrays import run_arrays
from metrics.selectors.ranges import range_words
from metrics.selectors.score_scales import (
    STATED,
    RunScale,
    ScoresSummary,
    points_of,
    proposed_scale,
    raters_scales,
    stated_scale,
)
from metrics.services.runs import GroupOf, RunTexts
from metrics.services.score_imports import RunProvenance, imported_run_store
from metrics.services.score_options import ColumnScale, outside_range

Ints = npt.NDArray[np.int64]


def may_rescale(run: ScoreRun) -> bool:
    """Return whether the scale of a run's scores can be stated anew: they were imported, for segments."""
    is_imported = run.metric == External.name and "cross_validated" not in run.report
    return run.state == JobState.DONE and is_imported and run.parameters["level"] == SEGMENT


def run_column_scale(run: ScoreRun) -> ColumnScale:
    """Return what the scores of an imported run are like, and the scale that they are taken to have."""
    scores, raters, parameters = ScoresSummary(run_arrays(run).scores), raters_scales(run.dataset), run.parameters
    name, lower = parameters["scorer"], parameters["lower_is_better"]
    return ColumnScale(
        parameters["lowest"],
        parameters["highest"],
        RunScale.of(run).source,
        scores,
        raters,
        proposed_scale(name, scores, raters, lower_is_better=lower),
        points_of(name, scores, lower_is_better=lower),
    )


@transaction.atomic
def run_rescale(*, run: ScoreRun, scale: str, by: User | None) -> tuple[ScoreRun, bool]:
    """Return a run of the same scores on another scale, and whether it is new. The run itself keeps its scores.

    ``scale`` is "raters", "none" or such as "1..5". If it is the run's own, the run notes that it was stated.
    """
    if not may_rescale(run):
        raise ScoreRunRefused(f"Run {run.number} holds no imported scores of items.")
    arrays = run_arrays(run)
    summary = ScoresSummary(arrays.scores)
    metric = _rescaled(run, scale, summary)
    provenance = run.report.get("imported", {}) | {
        "by": by.get_username() if by else "",
        "scores": summary.words,
        "range_from": STATED,
        "corrects": run.number,
    }
    made = RunProvenance(provenance, by, GroupOf(RunOrigin.IMPORT, title=provenance.get("file", "")))
    texts = RunTexts(run.dataset, None, arrays.systems)
    corrected, created = imported_run_store(texts, metric, _positions(run, arrays.item_ids), arrays.scores, made)
    if created:
        audit_record(
            verb="score_run.rescale",
            summary=f"Stated the scale of {metric.scorer}: {range_words(metric.low, metric.high)}.",
            project=run.project,
            by=by,
            data={"run": corrected.pk, "corrects": run.pk},
        )
    return corrected, created


def _rescaled(run: ScoreRun, scale: str, scores: ScoresSummary) -> External:
    """Return the run's metric with the ends of another scale, which its scores must lie on."""
    try:
        lowest, highest = stated_scale(scale, scores, raters_scales(run.dataset))
        metric = External(**run.parameters | {"lowest": lowest, "highest": highest})
    except ValueError as error:
        raise ScoreRunRefused.at("scale", f"Scale: {str(error).removeprefix('highest: ')}.") from error
    if outside_range(scores.values, metric.low, metric.high).any():
        raise ScoreRunRefused.at("scale", f"Scale: the scores are {scores.words}; accepted: a range that holds them.")
    return metric


def _positions(run: ScoreRun, item_ids: Ints) -> Ints:
    """Return the positions of these items in the run's data set."""
    of_dataset = Item.objects.filter(dataset=run.dataset_id).order_by("position").values_list("pk", flat=True)
    places = {pk: position for position, pk in enumerate(of_dataset)}
    return np.array([places[pk] for pk in item_ids.tolist()], dtype=np.int64)
