"""A real worker computes the figures that a page of a large release waits for."""

import pytest

from annotation.models import JobState
from annotation.references.weighing.selectors import stored
from tests.annotation.references.weighing.views.test_awaiting import address
from tests.annotation.worlds.weighed import make_release
from tests.worker import Worker, wait_until

pytestmark = [pytest.mark.worker, pytest.mark.django_db(transaction=True)]


def test_a_page_waits_for_a_worker_and_then_shows_its_figures(project, viewer, as_user, worker: Worker, monkeypatch):
    release = make_release(project)
    monkeypatch.setattr(stored, "IN_REQUEST", 0)
    client = as_user(viewer)
    assert client.get(address(release, "release-influence")).status_code == 202

    def is_computed() -> bool:
        return release.figures.filter(state=JobState.DONE).exists()

    wait_until(is_computed)
    page = client.get(address(release, "release-influence"))
    assert page.status_code == 200
    assert ">ann</a>" in page.content.decode()
