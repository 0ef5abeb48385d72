"""The demo's load goes on where it was interrupted."""

import pytest
from django.core.management import CommandError

from annotation.core.jobs import job_claim
from annotation.models import DatasetImport, JobState, Project
from config.management.commands.load_demo import Command


@pytest.fixture
def job(project: Project) -> DatasetImport:
    return DatasetImport.objects.create(project=project, name="A", filename="a.csv", file_format="csv", content=b"")


def test_a_finished_step_is_not_done_again_and_an_interrupted_one_is_started_over(job: DatasetImport) -> None:
    worked: list[str] = []

    def work() -> None:
        claim = job_claim(DatasetImport, job.pk)
        assert claim, "the process that was ended holds it no more"
        worked.append("done")
        claim.finish()

    assert job_claim(DatasetImport, job.pk), "by the load that was interrupted"
    for _ in range(2):
        job.refresh_from_db()
        Command().run(job, "import", work)
    assert (worked, job.state) == (["done"], JobState.DONE)


def test_a_step_that_fails_ends_the_load_with_its_reason(job: DatasetImport) -> None:
    def work() -> None:
        claim = job_claim(DatasetImport, job.pk)
        assert claim
        claim.fail("No room.")

    with pytest.raises(CommandError, match=r"The demo's import did not finish \(failed\): No room\."):
        Command().run(job, "import", work)
