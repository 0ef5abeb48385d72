"""The scale that a study takes imported scores to have, in words, and the studies that read such scores."""

from typing import Any

from annotation.models import JobState
from correlations.models import Study
from correlations.selectors.worth import Candidate
from metrics.models import ScoreRun
from metrics.selectors.ranges import range_words


def run_as_row(run: ScoreRun) -> dict[str, Any]:
    """Return the metric of imported scores as a study's specification holds it."""
    return {"name": run.metric, "parameters": run.parameters}


def studies_of_run(run: ScoreRun) -> list[Study]:
    """Return the finished studies that read these imported scores, newest first."""
    studies = Study.objects.filter(project=run.project_id, dataset=run.dataset_id, state=JobState.DONE)
    return list(studies.filter(specification__metrics__contains=[run_as_row(run)]).defer("result").order_by("-pk"))


def assumed_scale(chosen: Candidate) -> str:
    """Return on which scale an imported row's scores are taken to lie, and what cannot be said without one."""
    if not chosen.is_judge or chosen.margin is None:
        return ""
    label, assumed = chosen.row.label, chosen.stand_in.assumed
    if chosen.stand_in.scale == "line":
        return (
            f"The scale of {label} is not known, so its scores were fitted to these ratings before the test. "
            "What this cannot tell: whether it rates higher or lower than the raters, and whether it favours a system. "
            "On a known scale the answer may be another one."
        )
    if assumed is None:  # a result made before this version
        return chosen.scale
    scores, ratings = range_words(assumed.low, assumed.high), range_words(assumed.rating_low, assumed.rating_high)
    if chosen.stand_in.scale == "ratings":
        return f"The scores of {label} are taken to lie on the raters’ scale, {scores}."
    turned = ", of which the lowest is the best," if assumed.lower_is_better else ""
    placed = f"put on the raters’ scale, {ratings}, by its ends"
    return f"The scores of {label} are taken to lie on {scores}{turned} and {placed}."
