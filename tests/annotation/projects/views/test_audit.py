"""Pages and downloads of the audit log."""

import csv
import io
import json
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from annotation.campaigns.services.lifecycle import campaign_pause, campaign_resume
from annotation.models import Campaign, Project, User
from annotation.projects.services.audit import audit_record
from annotation.quality.services.decisions import rater_flag
from tests.annotation.worlds.campaigns import join, make_campaign, make_dataset

AsUser = Callable[[User], Client]


@pytest.fixture
def campaign(project: Project, manager: User) -> Campaign:
    campaign = make_campaign(make_dataset(project, items=1))
    campaign_pause(campaign=campaign, by=manager)
    campaign_resume(campaign=campaign, by=manager)
    rater_flag(campaign=campaign, rater=join(campaign, "Jo"), reason="Fast")
    audit_record(verb="project.rename", summary="Renamed.", project=project, by=manager)
    return campaign


def urls(campaign: Campaign) -> tuple[str, str]:
    slug = campaign.project.slug
    return reverse("annotation:campaign-audit", args=[slug, campaign.pk]), reverse(
        "annotation:project-audit", args=[slug]
    )


def content(response: object) -> str:
    body = b"".join(response) if response.streaming else response.content  # type: ignore[attr-defined, call-overload]
    return body.decode()


def test_members_read_and_outsiders_get_404(
    campaign: Campaign, outsider: User, viewer: User, client: Client, as_user: AsUser
) -> None:
    for address in urls(campaign):
        assert as_user(outsider).get(address).status_code == 404
        assert as_user(viewer).get(address).status_code == 200
        assert as_user(viewer).post(address).status_code == 405
        assert client.get(address).headers["Location"].startswith(reverse("login"))


def test_entries_name_actor_act_and_rater(campaign: Campaign, viewer: User, as_user: AsUser) -> None:
    of_campaign, of_project = (content(as_user(viewer).get(address)) for address in urls(campaign))
    assert "max-manager" in of_campaign
    assert "Rater flagged. Fast" in of_campaign
    assert "Jo" in of_campaign
    assert "Renamed." not in of_campaign
    assert "Renamed." in of_project


def test_the_log_can_be_filtered_by_act_and_actor(campaign: Campaign, viewer: User, as_user: AsUser) -> None:
    address, client = urls(campaign)[0], as_user(viewer)

    def verbs(**query: str) -> list[str]:
        return [entry.verb for entry in client.get(address, query).context["entries"]]

    assert verbs(verb="campaign.pause") == ["campaign.pause"]
    assert set(verbs(verb="campaign")) >= {"campaign.pause", "campaign.resume"}
    assert verbs(verb="rater", actor="-") == ["rater.flag"]
    assert verbs(actor="max-manager") == ["campaign.resume", "campaign.pause"]
    assert verbs(verb="no.such") == []
    assert "No matching entries" in content(client.get(address, {"actor": "nobody"}))


def test_pages_hold_every_entry_once(campaign: Campaign, viewer: User, as_user: AsUser) -> None:
    for number in range(120):
        audit_record(verb="test.act", summary=f"Act {number}.", campaign=campaign)
    address, client = urls(campaign)[0], as_user(viewer)
    summaries, older = [], "?verb=test.act"
    while older:
        page = client.get(f"{address}{older}").context
        summaries += [entry.summary for entry in page["entries"]]
        older = page["older_url"]
    assert summaries == [f"Act {number}." for number in reversed(range(120))]


def test_downloads_use_the_filter_of_the_page(campaign: Campaign, viewer: User, as_user: AsUser) -> None:
    address, client = urls(campaign)[0], as_user(viewer)
    rows = list(csv.DictReader(io.StringIO(content(client.get(address, {"format": "csv", "verb": "rater"})))))
    assert [(row["verb"], row["rater"], row["actor"]) for row in rows] == [("rater.flag", "Jo", "")]
    lines = [json.loads(line) for line in content(client.get(address, {"format": "jsonl"})).splitlines()]
    assert [line["entry"] for line in lines] == sorted(line["entry"] for line in lines)
    assert {"campaign.pause", "rater.flag"} <= {line["verb"] for line in lines}
    assert lines[-1]["data"]["reopened_slots"] == 0
    assert client.get(address, {"format": "xls"}).status_code == 404
