"""Compute a study again with scores whose scale was stated after their import."""

import re

from annotation.core.names import NAME_CHARACTERS
from annotation.core.problems import shortened
from annotation.models import User
from correlations.models import Study
from correlations.selectors.stated_scales import run_as_row
from correlations.services.studies import study_create
from correlations.specification import Specification
from metrics.models import ScoreRun
from metrics.selectors.score_scales import RunScale

SCORER_CHARACTERS = 40  # in a study's name


def study_with_run(*, study: Study, run: ScoreRun, corrected: ScoreRun, by: User | None) -> tuple[Study, bool]:
    """Return the study with the corrected run in place of the other, and whether it is new; the caller enqueues it."""
    requested = Specification.requested(study.specification)
    old, new = run_as_row(run), run_as_row(corrected)
    metrics = [new if metric == old else metric for metric in study.specification["metrics"]]
    return study_create(
        project=run.project,
        name=_name_with_scale(study.name, corrected),
        specification={**requested, "metrics": metrics},
        by=by,
    )


def _name_with_scale(name: str, run: ScoreRun) -> str:
    """Return the name with the scale of these scores, in place of the one that an earlier correction added."""
    scorer = shortened(run.parameters["scorer"], SCORER_CHARACTERS)
    scale = f" ({scorer}: {RunScale.of(run).words})"
    plain = re.sub(rf" \({re.escape(scorer)}: [^()]*\)", "", name)
    return shortened(plain, NAME_CHARACTERS - len(scale)) + scale
