"""Quality estimators on a small world."""

from typing import Any

from annotation.models import JobState
from metrics.models import TrainedModel
from metrics.scoring.qe.model import QualityEstimator
from metrics.services.model_rows import ModelRequest
from metrics.services.quality_training import ChosenRatings, model_train_on_ratings
from metrics.services.training import model_execute
from tests.metrics.world import World

RIDGE = {"estimator": "ridge", "source": "text"}


def queued_estimator(world: World, **changes: Any) -> TrainedModel:
    values = {"project": world.project, "by": None, "name": "Cats rated", "kind": QualityEstimator.kind}
    request = ModelRequest(**values | {"options": RIDGE} | changes.pop("request", {}))
    chosen = {"campaigns": [world.output_campaign]} | changes.pop("ratings", {})
    return model_train_on_ratings(request=request, ratings=ChosenRatings(**chosen), **changes)


def trained_estimator(world: World, **changes: Any) -> TrainedModel:
    model = queued_estimator(world, **changes)
    model_execute(model_id=model.pk)
    model.refresh_from_db()
    assert model.state == JobState.DONE, model.error
    return model
