"""A dry run in a real worker that is killed half-way and finished by another one."""

import pytest

from annotation.dry_runs import tasks
from annotation.dry_runs.services.running import dry_run_create
from annotation.models import DryRun, JobState, Project, Rating
from tests.annotation.dry_runs.services.conftest import FEW, make_draft
from tests.worker import Worker, wait_until


@pytest.mark.worker
@pytest.mark.django_db(transaction=True)
def test_a_killed_worker_leaves_no_sandbox_and_another_finishes(project: Project, worker: Worker) -> None:
    campaign = make_draft(project, items=6, k=3)
    run = dry_run_create(campaign=campaign, specification={**FEW, "raters": 8})
    tasks.dry_run_execute.delay(run.pk)

    def has_ratings() -> bool:
        return Rating.objects.filter(campaign__project__is_sandbox=True).count() > 3

    wait_until(has_ratings, seconds=120)
    worker.kill()
    assert Project.objects.filter(is_sandbox=True).count() == 1
    worker.start()

    def done() -> bool:
        return DryRun.objects.get(pk=run.pk).state == JobState.DONE

    wait_until(done, seconds=240)
    run.refresh_from_db()
    assert run.attempt == 2
    assert run.result["simulated"]["filled"] == 54
    assert not Project.objects.filter(is_sandbox=True).exists()
    assert not Rating.objects.exists()
