from __future__ import annotations

import pytest

from metrics.scoring.models.store import Model, ModelStore


@pytest.fixture(scope="module")
def store(model: Model, tmp_path_factory: pytest.TempPathFactory) -> tuple[ModelStore, str]:
    """A store that holds the module's model, and what it is called there."""
    model_store = ModelStore([tmp_path_factory.mktemp("models")])
    return model_store, model_store.add(model)
