import json

import pytest
from django.urls import reverse

from annotation.core.jobs import job_request_cancel
from annotation.models import JobState, Release
from annotation.references.releases.services.releases import release_build, release_create
from annotation.references.sets.services import reference_set_create
from tests.annotation.worlds.rated import make_campaign, make_dataset, make_item, make_response, rate
from tests.snapshots import recalled


def _dataset(project):
    """i0 .. i11; each has a good answer by Human and a bad one by Robot, except i11, where both are bad."""
    dataset = make_dataset(project)
    campaign = make_campaign(dataset)
    for number in range(12):
        item = make_item(dataset, f"i{number}", context=["Hello."])
        human = make_response(item, f"=Fine answer {number}", "Human")
        robot = make_response(item, f"Bad answer {number}", "Robot")
        for rater, human_rating, robot_rating in (("ann", 4, 1), ("bob", 5, 2)):
            rate(campaign, rater, human, human_rating if number < 11 else 2)
            rate(campaign, rater, robot, robot_rating)
    return dataset


def _reference_set(project):
    dataset = _dataset(project)
    return reference_set_create(
        dataset=dataset,
        name="Both",
        campaigns=list(dataset.campaigns.all()),
        source_systems=["Human", "Robot"],
        original_systems=["Human"],
    )


def _release(project):
    release = release_create(reference_set=_reference_set(project))
    release_build(release_id=release.pk)
    release.refresh_from_db()
    return release


@pytest.fixture
def release(project):
    return recalled("released", project, lambda: _release(project))


@pytest.fixture
def reference_set(request, project):
    """The reference set of the release, in a test that has one."""
    if "release" in request.fixturenames:
        return request.getfixturevalue("release").reference_set
    return recalled("set of references", project, lambda: _reference_set(project))


@pytest.fixture
def dataset(request, project):
    """The data set of the release or the reference set, in a test that has one."""
    if {"release", "reference_set"} & set(request.fixturenames):
        return request.getfixturevalue("reference_set").dataset
    return recalled("without a set of references", project, lambda: _dataset(project))


def page(name, *args):
    return reverse(f"annotation:{name}", args=["chit-chat", *args])


READ_PAGES = [
    ("reference-set-list", ()),
    ("reference-set-detail", ("both",)),
    ("release-detail", ("both", 1)),
    ("release-download", ("both", 1, "csv")),
    ("release-chart", ("both", 1, "json")),
]
WRITES = [("release-create", ("both",)), ("release-cancel", ("both", 1)), ("release-retry", ("both", 1))]


@pytest.mark.parametrize(("name", "args"), READ_PAGES)
def test_a_viewer_reads_and_an_outsider_gets_404(release, viewer, outsider, as_user, name, args):
    assert as_user(viewer).get(page(name, *args)).status_code == 200
    assert as_user(outsider).get(page(name, *args)).status_code == 404
    assert as_user(viewer).post(page(name, *args)).status_code == 405


@pytest.mark.parametrize(("name", "args"), [*WRITES, ("reference-set-create", ())])
def test_only_managers_write(release, viewer, outsider, as_user, name, args):
    assert as_user(viewer).post(page(name, *args)).status_code == 403
    assert as_user(outsider).post(page(name, *args)).status_code == 404


@pytest.mark.parametrize(("name", "args"), WRITES)
def test_pages_that_write_reject_get(release, manager, as_user, name, args):
    assert as_user(manager).get(page(name, *args)).status_code == 405


def test_a_visitor_is_sent_to_the_sign_in_page(release, client):
    assert client.get(page("release-detail", "both", 1)).url.startswith("/accounts/login/")


def test_a_manager_creates_a_reference_set(dataset, project, manager, as_user):
    campaign = dataset.campaigns.get()
    answer = as_user(manager).post(
        f"{page('reference-set-create')}?dataset=replies",
        {"name": "Mine", "campaigns": [campaign.pk], "sources": ["system:Human"], "originals": ["system:Human"]},
    )
    assert answer.url == page("reference-set-detail", "mine")
    reference_set = project.reference_sets.get()
    assert (reference_set.source_systems, reference_set.original_systems, reference_set.source_kinds) == (
        ["Human"],
        ["Human"],
        [],
    )


def test_a_data_set_that_the_project_does_not_have_is_404(dataset, manager, as_user):
    assert as_user(manager).get(page("reference-set-create"), {"dataset": "elsewhere"}).status_code == 404


def test_a_refused_reference_set_shows_the_reason_at_the_field(dataset, project, manager, as_user):
    answer = as_user(manager).post(
        f"{page('reference-set-create')}?dataset=replies",
        {
            "name": "Mine",
            "campaigns": [dataset.campaigns.get().pk],
            "sources": ["system:Human"],
            "originals": ["system:Robot"],
        },
    )
    assert "is not a source of this set" in answer.context["form"].errors["originals"][0]
    assert not project.reference_sets.exists()


def test_a_manager_starts_a_release_with_its_rules(
    reference_set, manager, as_user, monkeypatch, django_capture_on_commit_callbacks
):
    queued = []
    monkeypatch.setattr("annotation.references.tasks.release_build.delay", lambda *args, **_: queued.append(args))
    monkeypatch.setattr(
        "annotation.references.tasks.release_build.apply_async", lambda args, *_, **__: queued.append(args)
    )
    form = {"method": "linear", "criteria": ["quality"], "exclude_raters": "ann,\nbob"}
    with django_capture_on_commit_callbacks(execute=True):
        answer = as_user(manager).post(page("release-create", "both"), form)
    release = Release.objects.get()
    assert answer.url == page("release-detail", "both", 1)
    assert (release.parameters, release.requested_by) == ({}, manager)
    assert release.exclusion_rules[1] == {"rule": "exclude_raters", "version": 1, "raters": ["ann", "bob"]}
    assert [tuple(args) for args in queued] == [(release.pk,)]


def test_a_refused_release_shows_the_reason_and_queues_nothing(reference_set, manager, as_user):
    form = {"method": "linear", "criteria": ["quality"], "exclude_raters": "zoe"}
    answer = as_user(manager).post(page("release-create", "both"), form)
    assert answer.status_code == 400
    assert "names no rater of this project: zoe" in answer.content.decode()
    assert not Release.objects.exists()


def test_progress_is_shown_until_the_release_is_done_and_then_the_page_is_reloaded(reference_set, viewer, as_user):
    release = release_create(reference_set=reference_set)
    address = f"{page('release-detail', 'both', 1)}?progress=1"
    waiting = as_user(viewer).get(address, headers={"HX-Request": "true"})
    assert "Next in line" in waiting.content.decode()
    assert "hx-get" in waiting.content.decode()
    release_build(release_id=release.pk)
    assert as_user(viewer).get(address, headers={"HX-Request": "true"})["HX-Refresh"] == "true"


def test_a_cancelled_release_can_be_retried(reference_set, manager, as_user, monkeypatch):
    release = release_create(reference_set=reference_set)
    job_request_cancel(release)
    as_user(manager).post(page("release-retry", "both", 1))
    release.refresh_from_db()
    assert release.state == JobState.QUEUED


def test_downloads_hold_every_reference_and_neutralise_formulas(release, viewer, as_user):
    def download(kind, query=""):
        answer = as_user(viewer).get(f"{page('release-download', 'both', 1, kind)}{query}")
        return b"".join(answer.streaming_content).decode()

    lines = download("csv").splitlines()
    assert len(lines) == 25
    assert lines[1].startswith("i0,")
    assert ",'=Fine answer 0,0.75,4.5,2," in lines[1]
    rows = json.loads(download("json", "?source=Robot"))
    assert {row["text"] for row in rows} == {f"Bad answer {n}" for n in range(12)}
    assert json.loads(download("jsonl").splitlines()[0])["sources"] == ["Human"]
    weighted_file = as_user(viewer).get(page("release-file", "both", 1, "weighted.tsv"))
    lines = b"".join(weighted_file.streaming_content).decode().splitlines()
    assert lines[0] == "i0\t0.75\t=Fine answer 0\t-0.75\tBad answer 0"
    for unknown in ("exe", "tsv"):
        assert as_user(viewer).get(page("release-download", "both", 1, unknown)).status_code == 404


def test_an_invalid_filter_is_refused_with_the_reason(release, viewer, as_user):
    client = as_user(viewer)
    answer = client.get(page("release-download", "both", 1, "csv") + "?low=lots&source=Nobody")
    assert answer.status_code == 400
    text = answer.content.decode()
    assert "Weight from: found 'lots'. Enter a number." in text
    assert "Source: found 'Nobody'. Select a valid choice." in text


def test_the_tables_of_sets_and_releases_can_be_downloaded(release, viewer, as_user):
    def rows(name, *args):
        answer = as_user(viewer).get(f"{page(name, *args)}?format=json")
        return json.loads(b"".join(answer.streaming_content))

    (reference_set,) = rows("reference-set-list")
    assert (reference_set["source_systems"], reference_set["latest"]) == (["Human", "Robot"], 1)
    (row,) = rows("reference-set-detail", "both")
    assert (row["number"], row["content_hash"], row["report"]["items"]["all"]) == (1, release.content_hash, 12)


def test_the_distribution_is_available_as_a_specification_and_as_a_picture(release, viewer, as_user):
    client = as_user(viewer)
    specification = client.get(page("release-chart", "both", 1, "json") + "?theme=dark").json()
    (rows,) = specification["datasets"].values()
    # 11 weights of 0.75 and one of -0.5 for Human; 12 of -0.75 for Robot
    assert {row["weight"]: row["references"] for row in rows} == {-0.75: 12, -0.5: 1, 0.75: 11}
    assert client.get(page("release-chart", "both", 1, "svg")).content.startswith(b"<svg")
    assert client.get(page("release-chart", "both", 1, "gif")).status_code == 404
