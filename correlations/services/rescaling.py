"""Compute a study again with scores whose scale was stated after their import."""

from annotation.models import User
from correlations.models import Study
from correlations.selectors.stated_scales import run_as_row
from correlations.services.studies import study_create
from correlations.specification import Specification
from metrics.models import ScoreRun


def study_with_run(*, study: Study, run: ScoreRun, corrected: ScoreRun, by: User | None) -> tuple[Study, bool]:
    """Return the study with the corrected run in place of the other, and whether it is new; the caller enqueues it."""
    requested = Specification.requested(study.specification)
    old, new = run_as_row(run), run_as_row(corrected)
    metrics = [new if metric == old else metric for metric in study.specification["metrics"]]
    return study_create(project=run.project, name=study.name, specification={**requested, "metrics": metrics}, by=by)
