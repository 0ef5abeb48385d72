"""A model is trained by a real worker, also where the first one dies."""

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


def test_a_worker_trains_what_was_asked_for_and_what_a_dead_one_left(
    worker: Worker, world: World, settings: Any
) -> None:
    asked, left = queued_model(world), queued_model(world, kind="language_model", name="Left")
    settings.JOB_LEASE_SECONDS = 1
    job_claim(TrainedModel, left.pk)  # by a worker that does no more

    tasks.train_model.delay(asked.pk)

    for model in (asked, left):
        wait_until(ended(model))
        assert model.state == JobState.DONE, model.error
        assert folder_of(model).exists()
    assert (asked.attempt, left.attempt) == (1, 2)
