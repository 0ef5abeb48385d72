"""Models on a small world, and the folder that they lie in."""

import pytest

from metrics.models import TrainedModel
from metrics.services.model_rows import ModelRequest
from metrics.services.training import model_execute, model_train_on_dataset
from tests.metrics.world import World

LSA = {"components": 4}


@pytest.fixture
def models_dir(settings, tmp_path):
    """A folder for the models of one test."""
    settings.MODELS_DIR = tmp_path / "models"
    return settings.MODELS_DIR


def queued_model(world: World, **changes) -> TrainedModel:
    """Queue a space of the references' texts, which are judged here: none is kept apart by default."""
    sources = {name: changes.pop(name) for name in ("texts", "source_kinds", "source_systems") if name in changes}
    sources = {"texts": ["messages"], "source_systems": ["Human"]} | sources
    options = LSA if changes.get("kind", "lsa") == "lsa" else {}
    values = {"project": world.project, "by": None, "name": "Cat space", "kind": "lsa", "options": options}
    request = ModelRequest(**values | {"keep_apart": False} | changes)
    return model_train_on_dataset(request=request, dataset=world.dataset, **sources)


def trained_model(world: World, **changes) -> TrainedModel:
    model = queued_model(world, **changes)
    model_execute(model_id=model.pk)
    model.refresh_from_db()
    assert model.state == "done", model.error
    return model
