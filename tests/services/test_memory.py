"""A worker whose tasks outgrow their memory fails each with a reason, which the page of jobs shows, and goes on."""

from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from django.test import Client

from annotation.mining import tasks as mining_tasks
from annotation.models import Corpus, JobState, Membership, Project, Role, User
from tests.annotation.worlds.mined import uploaded_corpus
from tests.services import servers
from tests.services.site import running_site
from tests.services.tasks import MEBIBYTES, WAYS, take
from tests.worker import wait_until

pytestmark = pytest.mark.services
LIMIT = 300
REASON = f"It needed more memory than the {LIMIT} MiB that a task may take."


def test_tasks_that_take_too_much_fail_with_a_reason_and_their_worker_lives_on(
    tmp_path: Path, as_user: Callable[[User], Client]
) -> None:
    with servers.postgres() as database, running_site(tmp_path, database) as site:
        user = User.objects.create_user("olga", password="a-password-of-tests")
        project = Project.objects.create(name="Chit-chat", slug="chit-chat")
        Membership.objects.create(project=project, user=user, role=Role.OWNER)
        site.start_worker("worker", ASSAY_TASK_MEMORY_MB=f"{LIMIT}")
        worker = psutil.Process(site.processes["worker"].pid)

        for way in WAYS:
            corpus = Corpus.objects.create(project=project, name=way, slug=way.replace(" ", "-"))
            take.delay(corpus.pk, way)
            wait_until(lambda row=corpus: Corpus.objects.get(pk=row.pk).is_finished, seconds=120)
            corpus.refresh_from_db()
            assert (corpus.state, corpus.attempt) == (JobState.FAILED, 1)
            assert corpus.error.startswith(REASON), way
        pool = uploaded_corpus(project)
        mining_tasks.corpus_index.delay(pool.pk)
        wait_until(lambda: Corpus.objects.get(pk=pool.pk).state == JobState.DONE, seconds=60)

        assert worker.is_running()
        assert worker.memory_info().rss < MEBIBYTES * 2**20 / 4, "what failed was let go of"
        page = as_user(user).get(f"/p/{project.slug}/jobs/").content.decode()
        assert page.count(REASON) == len(WAYS)
