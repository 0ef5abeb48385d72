"""Data sets and campaigns are deleted with everything that depends on them, named first; the audit log stays."""

import io
from collections.abc import Mapping
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError
from django.test import Client

from annotation.models import (
    AuditEntry,
    Campaign,
    DataDeletion,
    Dataset,
    JobState,
    Project,
    Rater,
    Rating,
    Release,
    User,
)
from annotation.removal import services
from annotation.removal.services import deletion_execute, deletion_request, removal_of
from correlations.models import ParameterStudy, Study
from metrics.models import ScoreRun
from tests.api.world import build_world
from tests.snapshots import recalled_world

World = tuple[Project, User, Mapping[str, Any]]


@pytest.fixture
def world(db: None) -> World:
    people, known = recalled_world("api", build_world)
    return Project.objects.get(slug="lab"), people["owner"], known


def assert_deletion_is_quiet(client: Client, address: str) -> None:
    """Assert that a page offers to delete what it shows in its menu “More”, and nothing in red."""
    page = client.get(address).content.decode()
    head = page.partition('class="page-header')[2].partition("<section")[0]
    menu = head.partition('aria-label="More about')[2].partition("</details>")[0]
    assert f'href="{address}delete/"' in menu
    assert head.count("/delete/") == 1
    assert "danger" not in head


def test_a_campaign_goes_with_what_was_made_of_its_ratings(world: World, client: Client) -> None:
    project, owner, _ = world
    campaign = project.campaigns.get(name="References")
    logged = AuditEntry.objects.filter(project=project).count()
    client.force_login(owner)
    assert_deletion_is_quiet(client, f"/p/lab/campaigns/{campaign.pk}/")
    page = client.get(f"/p/lab/campaigns/{campaign.pk}/delete/").content.decode()
    removal = removal_of(campaign)
    assert "1 campaign" in removal.rows
    assert any(name.startswith("release") for name in removal.names)
    assert all(name.replace("“", "").split()[0] in page for name in removal.names)
    assert client.post(f"/p/lab/campaigns/{campaign.pk}/delete/", {"confirmation": "Other"}).status_code == 200
    assert Campaign.objects.filter(pk=campaign.pk).exists()

    queued = client.post(f"/p/lab/campaigns/{campaign.pk}/delete/", {"confirmation": "References"})
    deletion = DataDeletion.objects.get(campaign=campaign)
    assert queued["Location"] == f"/p/lab/deletions/{deletion.pk}/"
    assert "“References” is being deleted" in client.get(queued["Location"]).content.decode()
    assert "This campaign is being deleted" in client.get(f"/p/lab/campaigns/{campaign.pk}/").content.decode()
    assert "Deletion of “References”" in client.get("/p/lab/").content.decode()
    client.post(f"/p/lab/campaigns/{campaign.pk}/delete/", {"confirmation": "References"})  # once more, by impatience
    assert DataDeletion.objects.filter(campaign=campaign).count() == 1
    deletion_execute(deletion_id=deletion.pk)
    page = client.get(queued["Location"]).content.decode()
    assert "The campaign “References” is deleted." in page
    assert "1 campaign" in page
    assert not Campaign.objects.filter(pk=campaign.pk).exists()
    assert not Rating.objects.filter(campaign=campaign.pk).exists()
    assert not Release.objects.filter(report__campaigns__contains=[{"id": campaign.pk}]).exists()
    assert project.campaigns.filter(name="Outputs").exists()
    assert AuditEntry.objects.filter(project=project).count() == logged + 1
    assert AuditEntry.objects.filter(project=project).first().summary.startswith("Deleted the campaign “References”")  # type: ignore[union-attr]
    assert client.get("/p/lab/").status_code == 200


def test_a_data_set_goes_with_campaigns_weights_scores_and_studies(world: World, client: Client) -> None:
    project, owner, _ = world
    dataset = project.datasets.get(slug="chats")
    client.force_login(owner)
    assert_deletion_is_quiet(client, "/p/lab/datasets/chats/")
    problems = client.get("/api/v1/projects/lab/datasets/chats/delete/").json()["problems"]
    assert all(problem.endswith("first.") for problem in problems)
    refused = client.post(
        "/api/v1/projects/lab/datasets/chats/delete/", {"confirmation": dataset.name}, "application/json"
    )
    assert refused.status_code == (400 if problems else 202), refused.content
    project.campaigns.filter(state__in=["running", "paused"]).update(state="closed", closed_at="2026-01-01T00:00Z")
    raters = Rater.objects.filter(project=project).count()

    output = io.StringIO()
    call_command("delete_data", project="lab", user=owner.username, dataset="chats", stdout=output)
    assert "1 data set" in output.getvalue()
    call_command(
        "delete_data", project="lab", user=owner.username, dataset="chats", confirm=dataset.name, stdout=output
    )
    assert not Dataset.objects.filter(pk=dataset.pk).exists()
    for model in (ScoreRun, Study, ParameterStudy):
        assert not model._default_manager.filter(dataset=dataset.pk).exists()
    assert Rater.objects.filter(project=project).count() == raters
    assert project.datasets.exists()
    assert client.get("/p/lab/").status_code == 200


def test_a_deletion_that_fails_deletes_nothing_and_is_tried_again(
    world: World, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows are gone when the log of the project cannot be written: they are all back."""
    project, owner, _ = world
    campaign = project.campaigns.get(name="References")
    n_ratings = campaign.ratings.count()
    deletion = deletion_request(row=campaign, confirmation="References", by=owner)

    def refused(**_: Any) -> None:
        assert not Rating.objects.filter(campaign=campaign).exists()
        raise IntegrityError("a rating came in")

    with monkeypatch.context() as patch:
        patch.setattr(services, "audit_record", refused)
        patch.setattr(services, "TRIES", 2)
        with pytest.raises(IntegrityError):
            deletion_execute(deletion_id=deletion.pk)
    deletion.refresh_from_db()
    assert (deletion.state, deletion.campaign, deletion.rows) == (JobState.FAILED, campaign, [])
    assert campaign.ratings.count() == n_ratings
    client.force_login(owner)
    page = client.get(f"/p/lab/deletions/{deletion.pk}/").content.decode()
    assert "Nothing was deleted." in page
    assert f'href="/p/lab/campaigns/{campaign.pk}/delete/"' in page

    again = deletion_request(row=campaign, confirmation="References", by=owner)
    deletion_execute(deletion_id=again.pk)
    assert not Campaign.objects.filter(pk=campaign.pk).exists()
    deletion_execute(deletion_id=again.pk)  # another worker, late
    again.refresh_from_db()
    assert (again.state, again.campaign) == (JobState.DONE, None)


def test_what_went_with_something_else_meanwhile_and_what_was_launched_is_left(world: World) -> None:
    project, owner, _ = world
    campaign = project.campaigns.get(name="References")
    first = deletion_request(row=campaign, confirmation="References", by=owner)
    Campaign.objects.filter(pk=campaign.pk).update(state="running", closed_at=None)
    deletion_execute(deletion_id=first.pk)
    first.refresh_from_db()
    assert (first.state, first.error) == (JobState.FAILED, "The campaign “References” is running: close it first.")
    Campaign.objects.filter(pk=campaign.pk).update(state="closed", closed_at="2026-01-01T00:00Z")
    second = deletion_request(row=campaign, confirmation="References", by=owner)
    DataDeletion.objects.filter(pk=second.pk).update(campaign=None)  # as the deletion of its data set leaves it
    deletion_execute(deletion_id=second.pk)
    second.refresh_from_db()
    assert second.error == "The campaign was deleted meanwhile, with something that it depends on."
