"""The life of a job, with a data set import as the example."""

import time

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now
from pytest_django import Settings

from annotation.core import jobs
from annotation.core.errors import AnnotationError, JobCancelled, JobLost
from annotation.models import DatasetImport, JobState, Project


@pytest.fixture
def job(project: Project) -> DatasetImport:
    return DatasetImport.objects.create(project=project, name="x", filename="x.csv", file_format="csv", content=b"")


def expire_lease(job: DatasetImport) -> None:
    DatasetImport.objects.filter(pk=job.pk).update(lease_expires_at=Now() - jobs.timedelta(seconds=1))


def test_a_job_is_claimed_once(job: DatasetImport) -> None:
    assert jobs.job_claim(DatasetImport, job.pk) is not None
    assert jobs.job_claim(DatasetImport, job.pk) is None


def test_worker_whose_lease_expired_cannot_write(job: DatasetImport) -> None:
    first = jobs.job_claim(DatasetImport, job.pk)
    expire_lease(job)
    second = jobs.job_claim(DatasetImport, job.pk)
    assert first
    assert second
    with pytest.raises(JobLost):
        first.progress(1, 2)
    with pytest.raises(JobLost):
        first.finish()
    with pytest.raises(JobLost), transaction.atomic():
        first.lock()
    second.finish()
    job.refresh_from_db()
    assert (job.state, job.attempt) == (JobState.DONE, 2)


@pytest.mark.django_db(transaction=True)
def test_a_long_step_without_a_heartbeat_keeps_its_lease(job: DatasetImport, settings: Settings) -> None:
    settings.JOB_LEASE_SECONDS = 1

    def work(row: DatasetImport, claim: jobs.Claim) -> None:
        time.sleep(1.6)
        assert jobs.stale_ids(DatasetImport) == []
        assert jobs.job_claim(DatasetImport, row.pk) is None
        claim.finish()

    jobs.job_run(DatasetImport, job.pk, work)
    job.refresh_from_db()
    assert (job.state, job.attempt) == (JobState.DONE, 1)


def test_cancelling_a_running_job_stops_it_at_its_next_heartbeat(job: DatasetImport) -> None:
    def work(row: DatasetImport, claim: jobs.Claim) -> None:
        claim.progress(1, 3)
        jobs.job_request_cancel(row)
        with pytest.raises(JobCancelled):
            claim.progress(2, 3)
        raise JobCancelled("stop")

    jobs.job_run(DatasetImport, job.pk, work)
    job.refresh_from_db()
    assert (job.state, job.progress_done) == (JobState.CANCELLED, 1)


def test_a_domain_error_fails_the_job_with_its_message(job: DatasetImport) -> None:
    def work(row: DatasetImport, claim: jobs.Claim) -> None:
        raise AnnotationError("line 3, field rating: found 9, accepted 1 to 5")

    jobs.job_run(DatasetImport, job.pk, work)
    job.refresh_from_db()
    assert job.state == JobState.FAILED
    assert "line 3" in job.error
    assert jobs.job_requeue(job)
    assert jobs.job_claim(DatasetImport, job.pk)


def test_an_unexpected_error_is_recorded_without_folders_of_the_server(job: DatasetImport) -> None:
    def work(row: DatasetImport, claim: jobs.Claim) -> None:
        open("/srv/assay/secret")  # noqa: PTH123, SIM115

    with pytest.raises(FileNotFoundError):
        jobs.job_run(DatasetImport, job.pk, work)
    job.refresh_from_db()
    assert job.error == "Unexpected FileNotFoundError: No such file or directory"


def test_a_job_fails_with_a_reason_after_all_attempts_died(job: DatasetImport) -> None:
    for _ in range(jobs.MAX_ATTEMPTS):
        assert jobs.job_claim(DatasetImport, job.pk)
        expire_lease(job)
    assert jobs.stale_ids(DatasetImport) == []
    job.refresh_from_db()
    assert job.state == JobState.FAILED
    assert f"after {jobs.MAX_ATTEMPTS} attempts" in job.error


def test_ratings_and_done_releases_are_guarded_by_the_database(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT tgname FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1")
        assert [row[0] for row in cursor.fetchall()] == [
            "amendment_append_only",
            "auditentry_append_only",
            "checkanswer_append_only",
            "comment_append_only",
            "qualityrules_append_only",
            "raterdecision_append_only",
            "rating_append_only",
            "release_weight_immutable",
        ]
