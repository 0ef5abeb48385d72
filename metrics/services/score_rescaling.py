"""State the scale of imported scores after their import: a corrected run of the same scores."""

from typing import Any

import numpy as np
from django.db import transaction

from annotation.core.jobs import job_claim
from annotation.models import Item, JobState, User
from annotation.projects.services.audit import audit_record
from metrics.errors import ScoreRunRefused
from metrics.models import RunOrigin, ScoreRun
from metrics.scoring.external import SEGMENT, External
from metrics.selectors.arrays import run_arrays
from metrics.selectors.corpus import texts_digests
from metrics.selectors.ranges import range_words
from metrics.selectors.score_scales import STATED, FoundScores, RunScale, proposed_scale, raters_scales, stated_scale
from metrics.services.runs import ALL, GroupOf, RunTexts, get_or_create_run
from metrics.services.score_imports import segments_store
from metrics.services.score_options import ColumnScale


def may_rescale(run: ScoreRun) -> bool:
    """Return whether the scale of a run's scores can be stated anew: they were imported, for segments."""
    is_imported = run.metric == External.name and "cross_validated" not in run.report
    return run.state == JobState.DONE and is_imported and run.parameters["level"] == SEGMENT


def run_column_scale(run: ScoreRun) -> ColumnScale:
    """Return what the scores of an imported run are like, and the scale that they are taken to have."""
    found, raters, parameters = FoundScores(run_arrays(run).scores), raters_scales(run.dataset), run.parameters
    proposed = proposed_scale(parameters["scorer"], found, raters, lower_is_better=parameters["lower_is_better"])
    return ColumnScale(parameters["lowest"], parameters["highest"], RunScale.of(run).source, found, raters, proposed)


def run_rescale(*, run: ScoreRun, scale: str, by: User | None) -> tuple[ScoreRun, bool]:
    """Return a run of the same scores on another scale, and whether it is new. The run itself stays as it is.

    ``scale`` is "raters", "none" or such as "1..5".
    """
    if not may_rescale(run):
        raise ScoreRunRefused(f"Run {run.number} holds no imported scores of segments.")
    arrays = run_arrays(run)
    metric = _rescaled(run, scale, FoundScores(arrays.scores))
    texts = RunTexts(run.dataset, None, arrays.systems)
    provenance = run.report.get("imported", {}) | {
        "by": by.get_username() if by else "",
        "found": FoundScores(arrays.scores).words,
        "range_from": STATED,
        "corrects": run.number,
    }
    with transaction.atomic():
        digests = texts_digests(list(arrays.systems), sources=False)
        group = GroupOf(RunOrigin.IMPORT, title=provenance.get("file", ""))
        corrected, created = get_or_create_run(texts, metric, ALL, digests, by, group)
        if not created:
            return corrected, False
        claim = job_claim(ScoreRun, corrected.pk)
        if claim is None:  # no other process can see a row of this transaction
            raise ScoreRunRefused(f"Run {corrected.number} is being worked on; try again.")
        place = {pk: position for position, pk in enumerate(_item_ids(run))}
        positions = np.array([place[pk] for pk in arrays.item_ids.tolist()], dtype=np.int64)
        report: dict[str, Any] = segments_store(corrected, positions, arrays.scores)
        claim.finish(
            report=report | {"missing": run.report.get("missing", 0), "imported": provenance}, progress_total=1
        )
        audit_record(
            verb="score_run.rescale",
            summary=f"Stated the scale of {metric.scorer}: {range_words(metric.low, metric.high)}.",
            project=run.project,
            by=by,
            data={"run": corrected.pk, "corrects": run.pk},
        )
    corrected.refresh_from_db()
    return corrected, True


def _rescaled(run: ScoreRun, scale: str, found: FoundScores) -> External:
    """Return the run's metric with the ends of another scale, which its scores must lie on."""
    try:
        lowest, highest = stated_scale(scale, found, raters_scales(run.dataset))
        metric = External(**run.parameters | {"lowest": lowest, "highest": highest})
    except ValueError as error:
        raise ScoreRunRefused.at("scale", f"Scale: {str(error).removeprefix('highest: ')}.") from error
    if found.low < metric.low or found.high > metric.high:
        raise ScoreRunRefused.at("scale", f"Scale: the scores are {found.words}; accepted: a range that holds them.")
    return metric


def _item_ids(run: ScoreRun) -> list[int]:
    return list(Item.objects.filter(dataset=run.dataset_id).order_by("position").values_list("pk", flat=True))
