"""Data sets and campaigns are deleted with everything that depends on them, named first; the audit log stays."""

import io
from collections.abc import Mapping
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from annotation.models import AuditEntry, Campaign, Dataset, Project, Rater, Rating, Release, User
from annotation.removal.services import removal_of, row_remove
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

    done = client.post(f"/p/lab/campaigns/{campaign.pk}/delete/", {"confirmation": "References"})
    assert done["Location"] == "/p/lab/campaigns/"
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
    assert refused.status_code == (400 if problems else 200), refused.content
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


def test_a_request_deletes_no_more_rows_than_it_has_time_for(world: World) -> None:
    project, owner, _ = world
    campaign = project.campaigns.get(name="References")
    with pytest.raises(Exception, match=r"use manage\.py delete_data"):
        row_remove(row=campaign, confirmation=campaign.name, by=owner, most=5)
    assert Campaign.objects.filter(pk=campaign.pk).exists()
