"""A model is trained by a real worker, even where the first one dies."""

from typing import Any

import pytest

from annotation.core.jobs import job_claim
from annotation.models import JobState
from metrics import tasks
from metrics.models import TrainedModel
from metrics.selectors.models import folder_of
from tests.metrics.trained import queued_model
from tests.metrics.world import World
from tests.worker import Worker, wait_until

pytestmark = pytest.mark.worker


def ended(model: TrainedModel):  # type: ignore[no-untyped-def]
    def is_ended() -> bool:
        model.refresh_from_db()
        return model.is_finished

    return is_ended


def test_a_worker_trains_queued_models_and_those_a_dead_worker_abandoned(
    worker: Worker, world: World, settings: Any
) -> None:
    queued, abandoned = queued_model(world), queued_model(world, kind="language_model", name="Left")
    settings.JOB_LEASE_SECONDS = 1
    job_claim(TrainedModel, abandoned.pk)  # by a worker that does no more

    tasks.train_model.delay(queued.pk)

    for model in (queued, abandoned):
        wait_until(ended(model))
        assert model.state == JobState.DONE, model.error
        assert folder_of(model).exists()
    assert (queued.attempt, abandoned.attempt) == (1, 2)
