"""State the scale of imported scores after their import, and compute studies again with it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from annotation.core.names import NAME_CHARACTERS
from annotation.core.problems import shortened
from annotation.models import User
from correlations.models import Study
from correlations.selectors.stated_scales import run_as_row
from correlations.services.studies import study_create
from correlations.specification import Specification
from metrics.models import ScoreRun
from metrics.selectors.score_scales import RunScale
from metrics.services.score_rescaling import run_rescale

SCORER_CHARACTERS = 40  # in a study's name


@dataclass(frozen=True)
class Rescaled:
    """The run with the stated scale, and each study with it; with each whether it is new."""

    run: ScoreRun
    is_new: bool
    studies: Sequence[tuple[Study, bool]]


@transaction.atomic
def scale_state(*, run: ScoreRun, scale: str, studies: Sequence[Study], by: User | None) -> Rescaled:
    """Store the run's scores on a stated scale, and these studies with them: all or nothing.

    The caller enqueues the new studies.
    """
    corrected, is_new = run_rescale(run=run, scale=scale, by=by)
    if corrected == run:
        return Rescaled(run, False, [])
    again = [study_with_run(study=study, run=run, corrected=corrected, by=by) for study in studies]
    return Rescaled(corrected, is_new, again)


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
