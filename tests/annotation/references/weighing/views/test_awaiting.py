"""Pages of a large release while a worker computes what they show."""

import pytest
from django.core.cache import cache
from django.urls import reverse

from annotation.models import FiguresPart, JobState, ReleaseFigures
from annotation.references.weighing.selectors import stored
from annotation.references.weighing.services.figures import figures_compute, figures_prepare
from tests.annotation.worlds.weighed import make_release

PAGES = ("release-attention", "release-sensitivity", "release-influence", "release-guard")
POLL = {"HX-Request": "true", "HX-Target": "figures-job"}


@pytest.fixture
def release(project, monkeypatch):
    made = make_release(project)
    monkeypatch.setattr(stored, "IN_REQUEST", 0)
    return made


def address(release, name, *more, **query) -> str:
    chosen = release.reference_set
    return reverse(
        f"annotation:{name}", args=[chosen.project.slug, chosen.slug, release.number, *more], query=query or None
    )


def compute(release) -> None:
    figures_prepare(release_id=release.pk)
    for figures in release.figures.filter(state=JobState.QUEUED):
        figures_compute(figures_id=figures.pk)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_that_it_is_being_computed_and_looks_again(as_user, viewer, outsider, release, name):
    here = address(release, name)
    answer = as_user(viewer).get(here)
    page = " ".join(answer.content.decode().split())
    assert answer.status_code == 202
    assert "Computed once for 5 references and 14 judgements, then stored" in page
    assert f'hx-get="{here}"' in page
    assert f'<a class="btn btn-secondary btn-sm" href="{here}">' in page  # without script
    assert f'<a href="{here}" aria-current="page">' in page
    assert as_user(outsider).get(here).status_code == 404


def test_it_is_handed_to_a_worker_once(as_user, viewer, release, django_capture_on_commit_callbacks):
    client = as_user(viewer)
    with django_capture_on_commit_callbacks() as enqueued:
        client.get(address(release, "release-guard"))
        client.get(address(release, "release-guard"))
    assert len(enqueued) == 1
    assert [figures.part for figures in ReleaseFigures.objects.all()] == [FiguresPart.TEXTS]


@pytest.mark.parametrize(
    ("name", "more", "query"),
    [
        ("release-attention", [], {"list": "tie", "format": "csv"}),
        ("release-sensitivity", [], {"format": "json"}),
        ("release-influence", [], {"format": "csv", "sort": "n_ratings"}),
        ("release-guard", [], {"format": "csv"}),
        ("release-sensitivity-chart", ["svg"], {}),
        ("release-influence-chart", ["json"], {}),
    ],
)
def test_downloads_wait_as_their_pages_do(as_user, viewer, release, name, more, query):
    client = as_user(viewer)
    assert client.get(address(release, name, *more, **query)).status_code == 202
    compute(release)
    answer = client.get(address(release, name, *more, **query))
    assert answer.status_code == 200
    assert not answer["Content-Type"].startswith("text/html")


def test_sending_back_waits_too(as_user, manager, release):
    client = as_user(manager)
    asked = {"list": "tie", "scope": "whole"}
    assert client.get(address(release, "release-attention-send", **asked)).status_code == 202
    compute(release)
    assert client.get(address(release, "release-attention-send", **asked)).status_code == 200


def test_the_live_part_alone_is_asked_for_until_the_page_is_there(as_user, viewer, release):
    client, here = as_user(viewer), address(release, "release-influence")
    part = client.get(here, headers=POLL)
    assert part.status_code == 202
    assert "<html" not in part.content.decode()
    assert 'id="figures-job"' in part.content.decode()
    compute(release)
    assert client.get(here, headers=POLL)["HX-Refresh"] == "true"
    assert "HX-Refresh" not in client.get(here).headers


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_the_same_as_a_small_release_has(as_user, viewer, release, name, monkeypatch):
    client, here = as_user(viewer), address(release, name)
    compute(release)
    _, large = client.get(here).content.decode().split("<main")
    cache.clear()
    monkeypatch.setattr(stored, "IN_REQUEST", 10**6)
    _, small = client.get(here).content.decode().split("<main")
    assert large == small


def test_a_failure_is_told_and_a_manager_may_try_again(as_user, viewer, manager, release):
    here = address(release, "release-sensitivity")
    client = as_user(manager)
    client.get(here)
    figures = release.figures.get()
    release.figures.update(state=JobState.FAILED, error="The disk is full.", finished_at=release.finished_at)
    retry = address(release, "release-figures-retry", figures.pk)
    page = client.get(here).content.decode()
    assert "The disk is full." in page
    assert f'action="{retry}"' in page
    assert "hx-trigger" not in page[page.index("figures-job") :][:200]
    assert retry not in as_user(viewer).get(here).content.decode()
    assert client.post(retry).url == here
    figures.refresh_from_db()
    assert figures.state == JobState.QUEUED


def test_only_managers_try_again_and_only_by_post(as_user, viewer, manager, outsider, release):
    as_user(viewer).get(address(release, "release-guard"))
    retry = address(release, "release-figures-retry", release.figures.get().pk)
    assert as_user(outsider).post(retry).status_code == 404
    assert as_user(viewer).post(retry).status_code == 403
    assert as_user(manager).get(retry).status_code == 405
    assert as_user(manager).post(address(release, "release-figures-retry", 10**6)).status_code == 404
