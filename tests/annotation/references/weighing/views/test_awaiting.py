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
    release = make_release(project)
    monkeypatch.setattr(stored, "IN_REQUEST", 0)
    return release


def address(release, name, *more, **query) -> str:
    reference_set = release.reference_set
    return reverse(
        f"annotation:{name}",
        args=[reference_set.project.slug, reference_set.slug, release.number, *more],
        query=query or None,
    )


def compute(release) -> None:
    figures_prepare(release_id=release.pk)
    for figures in release.figures.filter(state=JobState.QUEUED):
        figures_compute(figures_id=figures.pk)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_that_it_is_being_computed_and_polls(as_user, viewer, outsider, release, name):
    url = address(release, name)
    answer = as_user(viewer).get(url)
    page = " ".join(answer.content.decode().split())
    assert answer.status_code == 202
    assert "Computed once for 5 references and 14 judgements, then stored" in page
    assert f'hx-get="{url}"' in page
    assert f'<a class="btn btn-secondary btn-sm" href="{url}">' in page  # without script
    assert f'<a href="{url}" aria-current="page">' in page
    assert as_user(outsider).get(url).status_code == 404


def test_each_part_is_queued_once(as_user, viewer, release, django_capture_on_commit_callbacks):
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
def test_downloads_wait_like_their_pages(as_user, viewer, release, name, more, query):
    client = as_user(viewer)
    assert client.get(address(release, name, *more, **query)).status_code == 202
    compute(release)
    answer = client.get(address(release, name, *more, **query))
    assert answer.status_code == 200
    assert not answer["Content-Type"].startswith("text/html")


def test_sending_back_waits_too(as_user, manager, release):
    client = as_user(manager)
    query = {"list": "tie", "scope": "whole"}
    assert client.get(address(release, "release-attention-send", **query)).status_code == 202
    compute(release)
    assert client.get(address(release, "release-attention-send", **query)).status_code == 200


def test_only_the_live_part_is_requested_until_the_page_is_ready(as_user, viewer, release):
    client, url = as_user(viewer), address(release, "release-influence")
    part = client.get(url, headers=POLL)
    assert part.status_code == 202
    assert "<html" not in part.content.decode()
    assert 'id="figures-job"' in part.content.decode()
    compute(release)
    assert client.get(url, headers=POLL)["HX-Refresh"] == "true"
    assert "HX-Refresh" not in client.get(url).headers


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_the_same_as_for_a_small_release(as_user, viewer, release, name, monkeypatch):
    client, url = as_user(viewer), address(release, name)
    compute(release)
    _, large = client.get(url).content.decode().split("<main")
    cache.clear()
    monkeypatch.setattr(stored, "IN_REQUEST", 10**6)
    _, small = client.get(url).content.decode().split("<main")
    assert large == small


def test_a_failure_is_shown_and_a_manager_can_retry(as_user, viewer, manager, release):
    url = address(release, "release-sensitivity")
    client = as_user(manager)
    client.get(url)
    figures = release.figures.get()
    release.figures.update(state=JobState.FAILED, error="The disk is full.", finished_at=release.finished_at)
    retry = address(release, "release-figures-retry", figures.pk)
    page = client.get(url).content.decode()
    assert "The disk is full." in page
    assert f'action="{retry}"' in page
    assert "hx-trigger" not in page[page.index("figures-job") :][:200]
    assert retry not in as_user(viewer).get(url).content.decode()
    assert client.post(retry).url == url
    figures.refresh_from_db()
    assert figures.state == JobState.QUEUED


def test_only_managers_retry_and_only_by_post(as_user, viewer, manager, outsider, release):
    as_user(viewer).get(address(release, "release-guard"))
    retry = address(release, "release-figures-retry", release.figures.get().pk)
    assert as_user(outsider).post(retry).status_code == 404
    assert as_user(viewer).post(retry).status_code == 403
    assert as_user(manager).get(retry).status_code == 405
    assert as_user(manager).post(address(release, "release-figures-retry", 10**6)).status_code == 404
