"""A study in a real worker: killed and resumed, or cancelled while it runs."""

from collections.abc import Iterator

import pytest

from annotation.core.jobs import job_request_cancel
from annotation.models import JobState, Project
from correlations import tasks
from correlations.models import Study
from correlations.services.execution import study_execute
from correlations.services.studies import study_create
from metrics.models import ScoreRun
from tests.metrics.world import World, make_world
from tests.worker import Worker, wait_until

pytestmark = [pytest.mark.worker, pytest.mark.django_db(transaction=True)]

LONG = {"assignments": 4_000, "unit_size": 5, "bootstrap": 20}  # seconds, most of them in the table


@pytest.fixture
def world(project: Project) -> Iterator[World]:
    return make_world(project, n_items=200)


def start_study(world: World, **changes: object) -> Study:
    study, _ = study_create(
        project=world.project, name="Cats", specification=world.specification(**(LONG | changes)), by=None
    )
    tasks.execute.delay(study.pk)
    return study


def is_computing_the_table(study: Study) -> bool:
    study.refresh_from_db()
    assert study.state in (JobState.QUEUED, JobState.RUNNING), "The study was over too soon to be disturbed."
    return study.progress_note == "Table" and study.progress_done > 0


def test_a_study_of_a_killed_worker_is_resumed_with_the_same_result(worker: Worker, world: World) -> None:
    study = start_study(world)
    wait_until(lambda: is_computing_the_table(study))

    worker.kill()
    study.refresh_from_db()
    assert study.state == JobState.RUNNING
    worker.start()

    def done() -> bool:
        study.refresh_from_db()
        return study.is_finished

    wait_until(done, seconds=90)
    assert (study.state, study.error) == (JobState.DONE, "")
    assert study.attempt >= 2
    interrupted_result = {key: value for key, value in study.result.items() if key != "seconds"}
    assert set(ScoreRun.objects.values_list("state", flat=True)) == {JobState.DONE}

    Study.objects.all().delete()
    undisturbed, _ = study_create(
        project=world.project, name="Cats", specification=world.specification(**LONG), by=None
    )
    study_execute(study_id=undisturbed.pk)
    undisturbed.refresh_from_db()
    assert {key: value for key, value in undisturbed.result.items() if key != "seconds"} == interrupted_result


def test_a_running_study_stops_when_cancelled(worker: Worker, world: World) -> None:
    study = start_study(world, seed=9)
    wait_until(lambda: is_computing_the_table(study))

    job_request_cancel(study)

    def over() -> bool:
        study.refresh_from_db()
        return study.is_finished

    wait_until(over)
    assert study.state == JobState.CANCELLED
    assert study.result is None
