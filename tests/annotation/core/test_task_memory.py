"""A task that takes too much memory fails with a reason; its process goes on."""

import resource
import sys
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from pytest_django import Settings

from annotation.core import task_memory
from annotation.core.jobs import Claim, job_requeue, job_run
from annotation.models import Corpus, JobState, Project

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts what a process can write to")


@pytest.fixture
def limited(settings: Settings) -> Iterator[None]:
    settings.TASK_MEMORY_MB = 48
    task_memory.limit_begin()
    yield
    task_memory.limit_end()


def at_once() -> object:
    return np.ones(2**24)  # 128 MiB


def little_by_little() -> object:
    return [bytearray(500) for _ in range(500_000)]


def as_pytorch_does() -> object:
    raise RuntimeError(
        "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried"
    )


@pytest.mark.parametrize("take", [at_once, little_by_little, as_pytorch_does])
def test_a_task_that_takes_too_much_fails_with_a_reason_and_another_is_done(
    project: Project, limited: None, take: Callable[[], object]
) -> None:
    corpus = Corpus.objects.create(project=project, name="Pool", slug="pool")
    job_run(Corpus, corpus.pk, lambda job, claim: claim.finish(report={"taken": bool(take())}))
    corpus.refresh_from_db()
    assert corpus.state == JobState.FAILED
    assert corpus.error.startswith("It needed more memory than the 48 MiB that a task may take.")
    assert resource.getrlimit(resource.RLIMIT_DATA)[0] == resource.getrlimit(resource.RLIMIT_DATA)[1], "lifted"

    task_memory.limit_begin()
    assert job_requeue(corpus)

    def work(job: Corpus, claim: Claim) -> None:
        claim.finish(report={"bytes": np.ones(2**20).nbytes}, content_hash="known")

    job_run(Corpus, corpus.pk, work)
    corpus.refresh_from_db()
    assert (corpus.state, corpus.error, corpus.report) == (JobState.DONE, "", {"bytes": 2**23})
