"""What a job's page says while it waits and runs."""

from datetime import timedelta

import pytest
from django.utils.timezone import now

from annotation.core.waiting import hours_left, jobs_ahead, queue_text, time_left
from annotation.models import DryRun, JobState, Project, RatingImport
from metrics.models import ScoreRun
from tests.annotation.worlds.campaigns import make_campaign, make_dataset

pytestmark = pytest.mark.django_db


def test_a_queued_job_counts_the_unfinished_ones_of_every_kind_before_it(project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=1))
    first, second, third = (DryRun.objects.create(campaign=campaign) for _ in range(3))  # all at the same time
    assert [jobs_ahead(job) for job in (first, second, third)] == [0, 1, 2]
    assert queue_text(first) == "Next in line"
    assert queue_text(second) == "1 job ahead. It starts when it is done."
    assert queue_text(third) == "2 jobs ahead. It starts when they are done."

    earlier = DryRun.objects.create(campaign=campaign)
    DryRun.objects.filter(pk=earlier.pk).update(created_at=now() - timedelta(hours=1))
    DryRun.objects.filter(pk=first.pk).update(state=JobState.DONE, finished_at=now())
    assert jobs_ahead(third) == 2  # the earlier one and the second
    ratings = RatingImport(pk=1, created_at=now() + timedelta(hours=1))
    assert jobs_ahead(ratings) == 3


@pytest.mark.parametrize(
    ("done", "seconds", "text"),
    [
        (50, 600, "about 10 minutes left"),
        (50, 40, "less than a minute left"),
        (10, 3600, "about 9 hours left"),
        (1, 600, ""),  # too little is done
        (50, 5, ""),  # too short a time
    ],
)
def test_the_time_left_follows_the_pace(done: int, seconds: int, text: str) -> None:
    run = ScoreRun(progress_done=done, progress_total=100, started_at=now() - timedelta(seconds=seconds - 1))
    assert time_left(run) == text


def test_the_progress_of_one_stage_gives_no_time_left() -> None:
    assert time_left(DryRun(progress_done=50, progress_total=100, started_at=now() - timedelta(hours=1))) == ""


def test_an_end_within_two_days_is_said_in_hours() -> None:
    ends = [timedelta(minutes=20), timedelta(hours=23.9), timedelta(days=3), -timedelta(hours=1)]
    assert [hours_left(now() + end) for end in ends] == ["less than an hour more", "about 24 hours more", "", ""]
