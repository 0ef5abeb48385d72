"""Score runs that hold cross-validated predictions of a quality estimator."""

from dataclasses import dataclass

from django.db.models import QuerySet

from metrics.models import ScoreRun, TrainedModel
from metrics.scoring.qe.options import FOLDS, TEXTS
from metrics.selectors.models import models_of_run

WHOLE = "whole"  # the learning curve of a model itself; the others are of a cross-validation's folds
CROSS_VALIDATED = ", cross-validated"  # ends the names of predictions
NOT_PREDICTED = "not rated, so not predicted"


@dataclass(frozen=True)
class CrossValidated:
    """How a run's predictions were made. ``model`` is the one that was trained on all ratings; None if it is gone."""

    name: str
    model: TrainedModel | None
    folds: int
    seed: int
    together: str  # what folds keep together: of metrics.scoring.qe.options.FOLDS

    @property
    def together_words(self) -> str:
        return FOLDS[self.together]


def cross_validation_of(run: ScoreRun) -> CrossValidated | None:
    """Return how a run's predictions were made; None for scores of any other origin."""
    facts = run.report.get("cross_validated")
    if facts is None:
        return None
    slug, _, version = facts["model"].rpartition("/v")
    models = TrainedModel.objects.filter(project=run.project_id, slug=slug, version=version).defer("content")
    return CrossValidated(facts["model"], models.first(), facts["folds"], facts["seed"], facts.get("together", TEXTS))


def predictions_of(model: TrainedModel) -> QuerySet[ScoreRun]:
    """Return the score runs of a model's cross-validation."""
    return ScoreRun.objects.filter(
        project=model.project_id, report__cross_validated__model=f"{model.slug}/v{model.version}"
    )


def trained_systems(run: ScoreRun) -> list[str]:
    """Return the systems of a run that its quality estimator learnt from, by name, in whichever data set."""
    models = [model for _, model in models_of_run(run) if model is not None]
    learnt = {name for model in models for name in model.report.get("systems", ())}
    return sorted(system.name for system in run.systems.all() if system.name in learnt)
