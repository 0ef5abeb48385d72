"""A score run on a real worker: killed, and taken up again where it was."""

import pytest

from annotation.models import JobState, Project
from metrics import tasks
from metrics.models import ScoreRun
from metrics.selectors.arrays import run_arrays
from metrics.services.runs import score_run_execute
from tests.metrics.runs import cut_by_item, waiting_run
from tests.metrics.world import World, make_world
from tests.worker import Worker, wait_until

pytestmark = [pytest.mark.worker, pytest.mark.django_db(transaction=True)]

N_ITEMS = 120


@pytest.fixture
def world(project: Project) -> World:
    return make_world(project, n_items=N_ITEMS, n_raters=1)


def finished(run: ScoreRun) -> bool:
    run.refresh_from_db()
    return run.is_finished


def test_a_run_whose_worker_is_killed_goes_on_where_it_was(worker: Worker, world: World) -> None:
    run = waiting_run(world, "bleu", tokenize="whitespace")
    cut_by_item(run, N_ITEMS)
    tasks.execute.delay(run.pk)

    def some_are_done() -> bool:
        return run.shards.filter(state=JobState.DONE).count() >= 3

    wait_until(some_are_done, every=0.02)
    worker.kill()
    n_unfinished = run.shards.exclude(state=JobState.DONE).count()
    assert n_unfinished, "The run was over too soon to be disturbed."
    worker.start()

    wait_until(lambda: finished(run), seconds=90)
    assert (run.state, run.error) == (JobState.DONE, "")
    n_repeated = run.shards.exclude(attempt=1).count()
    assert n_repeated <= 1, "Shards that were done were done again."
    disturbed = run_arrays(run)
    scores = list(run.scores.order_by("position").values_list("score", "low", "high"))

    run.delete()
    calm = waiting_run(world, "bleu", tokenize="whitespace")
    score_run_execute(run_id=calm.pk)
    assert run_arrays(ScoreRun.objects.get(pk=calm.pk)).packed.tobytes() == disturbed.packed.tobytes()
    assert list(calm.scores.order_by("position").values_list("score", "low", "high")) == scores
