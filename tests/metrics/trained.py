"""Models on a small world, and the folder that they lie in."""

import pytest

from metrics.models import TrainedModel
from metrics.services.training import model_execute, model_train_on_dataset
from tests.metrics.world import World

LSA = {"components": 4}


@pytest.fixture
def models_dir(settings, tmp_path):
    """A folder of the test's own."""
    settings.MODELS_DIR = tmp_path / "models"
    return settings.MODELS_DIR


def asked_model(world: World, **changes) -> TrainedModel:
    """A space of the references' texts, which are judged here: none is kept apart unless that is asked for."""
    asked = {
        "project": world.project,
        "by": None,
        "name": "Cat space",
        "kind": "lsa",
        "dataset": world.dataset,
        "options": LSA,
        "texts": ["messages"],
        "source_systems": ["Human"],
        "keep_apart": False,
    } | changes
    if asked["kind"] != "lsa" and "options" not in changes:
        asked["options"] = {}
    return model_train_on_dataset(**asked)


def trained_model(world: World, **changes) -> TrainedModel:
    model = asked_model(world, **changes)
    model_execute(model_id=model.pk)
    model.refresh_from_db()
    assert model.state == "done", model.error
    return model
