"""Pages and downloads of a campaign's records, and erasure, with their permissions."""

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pyarrow.parquet as pq
import pytest
from django.test import Client
from django.urls import reverse

from annotation.campaigns.services.lifecycle import campaign_close
from annotation.models import AuditEntry, Campaign, Datasheet, Project, Rater, RaterIdentity, User
from annotation.records.selectors.tables import TABLES
from tests.annotation.worlds.campaigns import INFORMATIVENESS, RELEVANCE, join, make_campaign, make_dataset, rate_next
from tests.snapshots import recalled

AsUser = Callable[[User], Client]
READ = [
    "campaign-records",
    "campaign-record-amendments",
    "campaign-record-download",
    "campaign-record-methods",
    "campaign-record-datasheet",
]


@pytest.fixture
def campaign(project: Project) -> Campaign:
    return recalled("two raters", project, lambda: _rated_by_two(project))


def _rated_by_two(project: Project) -> Campaign:
    campaign = make_campaign(make_dataset(project, items=2), criteria=[RELEVANCE, INFORMATIVENESS])
    for value in (2, 4):
        rater = join(campaign)
        while rate_next(campaign, rater, value):
            pass
    return campaign


@pytest.fixture
def rater(campaign: Campaign) -> Rater:
    rater = join(campaign, "Jane Doe")
    RaterIdentity.objects.create(rater=rater, project=campaign.project, provider="prolific", external_id="5f3c9e1a2b4d")
    return rater


def url(name: str, campaign: Campaign, *arguments: object) -> str:
    return reverse(f"annotation:{name}", args=[campaign.project.slug, campaign.pk, *arguments])


def content(response: Any) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else response.content


def test_a_viewer_can_read_but_not_answer_or_erase(
    viewer: User, as_user: AsUser, campaign: Campaign, rater: Rater
) -> None:
    client = as_user(viewer)
    for name in READ:
        expected = 403 if name == "campaign-record-download" else 200
        assert client.get(url(name, campaign)).status_code == expected
    assert b"Save answers" not in content(client.get(url("campaign-record-datasheet", campaign)))
    assert client.post(url("campaign-record-datasheet", campaign)).status_code == 403
    slug = campaign.project.slug
    assert client.get(reverse("annotation:rater-held", args=[slug])).status_code == 403
    assert client.post(reverse("annotation:rater-erase", args=[slug, rater.pk])).status_code == 403
    assert b"Erasure on request" not in content(client.get(url("campaign-records", campaign)))


def test_only_managers_see_known_answers_until_the_campaign_is_closed(
    viewer: User, manager: User, as_user: AsUser, campaign: Campaign
) -> None:
    record = url("campaign-record-download", campaign)
    tables = [
        reverse("annotation:campaign-record-table", args=[campaign.project.slug, campaign.pk, name, "csv"])
        for name in ("check_units", "check_answers")
    ]
    for address in (record, *tables):
        assert as_user(viewer).get(address).status_code == 403
        assert as_user(manager).get(address).status_code == 200
    assert b"Only managers can download it" in content(as_user(viewer).get(url("campaign-records", campaign)))
    campaign_close(campaign=campaign)
    for address in (record, *tables):
        assert as_user(viewer).get(address).status_code == 200


def test_a_manager_cannot_search_for_or_erase_raters(
    manager: User, as_user: AsUser, campaign: Campaign, rater: Rater
) -> None:
    client = as_user(manager)
    slug = campaign.project.slug
    assert client.post(reverse("annotation:rater-held", args=[slug])).status_code == 403
    assert client.post(reverse("annotation:rater-erase", args=[slug, rater.pk])).status_code == 403


def test_reads_refuse_post(manager: User, as_user: AsUser, campaign: Campaign) -> None:
    client = as_user(manager)
    for name in READ[:3]:
        assert client.post(url(name, campaign)).status_code == 405


def test_the_record_comes_as_a_zip_that_can_be_read(manager: User, as_user: AsUser, campaign: Campaign) -> None:
    response = as_user(manager).get(url("campaign-record-download", campaign))
    assert response.headers["Content-Type"] == "application/zip"
    archive = zipfile.ZipFile(io.BytesIO(content(response)))
    assert archive.testzip() is None
    assert {"manifest.json", "README.md", "ratings.jsonl", "ratings.parquet", "methods.md", "heds.md"} <= set(
        archive.namelist()
    )
    smaller = as_user(manager).get(url("campaign-record-download", campaign), {"parquet": "0"})
    assert not any(name.endswith("parquet") for name in zipfile.ZipFile(io.BytesIO(content(smaller))).namelist())


@pytest.mark.parametrize("name", sorted(TABLES))
def test_each_table_comes_in_each_format(manager: User, as_user: AsUser, campaign: Campaign, name: str) -> None:
    client = as_user(manager)
    files = {
        ending: content(client.get(url("campaign-record-table", campaign, name, ending)))
        for ending in ("csv", "json", "jsonl", "parquet")
    }
    rows = json.loads(files["json"])
    assert [json.loads(line) for line in files["jsonl"].splitlines()] == rows
    assert pq.read_table(io.BytesIO(files["parquet"])).num_rows == len(rows)
    assert files["csv"].decode().splitlines()[0].split(",") == [column.name for column in TABLES[name].columns]


@pytest.mark.parametrize(("name", "ending"), [("passwords", "csv"), ("ratings", "exe")])
def test_an_unknown_table_or_format_is_not_found(
    manager: User, as_user: AsUser, campaign: Campaign, name: str, ending: str
) -> None:
    assert as_user(manager).get(url("campaign-record-table", campaign, name, ending)).status_code == 404


def test_sentences_of_the_methods_paragraph_link_to_their_sources(
    manager: User, as_user: AsUser, campaign: Campaign
) -> None:
    client = as_user(manager)
    page = content(client.get(url("campaign-record-methods", campaign))).decode()
    assert campaign.design_hash in page
    assert f'href="{url("campaign-ratings", campaign)}"' in page
    for ending, holds in (
        ("txt", campaign.design_hash),
        ("tex", r"\cite{krippendorff2011}"),
        ("bib", "@software{assay"),
    ):
        response = client.get(url("campaign-record-methods", campaign), {"format": ending})
        assert holds in content(response).decode()
    assert client.get(url("campaign-record-methods", campaign), {"format": "doc"}).status_code == 404


def test_answers_are_saved_but_those_of_the_record_cannot_be_changed(
    manager: User, as_user: AsUser, campaign: Campaign
) -> None:
    client = as_user(manager)
    response = client.post(
        url("campaign-record-datasheet", campaign),
        {
            "text-5.1": "The board of Chit-chat.",
            "option-3.2.2.1": ["2", "9" * 5000, "x"],
            "text-3.2.1": "999",
            "option-4.1.1:relevance": "3",
            "option-3.3.3.1": ["1", "3"],
        },
    )
    assert response.status_code == 302
    answers = Datasheet.objects.get(campaign=campaign).answers
    assert answers == {
        "5.1": {"text": "The board of Chit-chat.", "choices": []},
        "3.2.2.1": {"text": "", "choices": [2]},
        "3.3.3.1": {"text": "", "choices": [1, 3]},
        "4.1.1:relevance": {"text": "", "choices": [3]},
    }
    entry = AuditEntry.objects.get(verb="datasheet.update")
    assert (entry.actor, entry.campaign) == (manager, campaign)
    page = content(client.get(url("campaign-record-datasheet", campaign))).decode()
    assert "The board of Chit-chat." in page
    assert 'name="text-3.2.1"' not in page
    for ending, holds in (("md", "The board of Chit-chat."), ("html", "<!doctype html>"), ("json", '"HEDS 3.0"')):
        file = client.get(url("campaign-record-datasheet", campaign), {"format": ending})
        assert holds in content(file).decode()
    assert client.get(url("campaign-record-datasheet", campaign), {"format": "doc"}).status_code == 404


def test_a_refused_answer_is_reported_at_its_question_and_nothing_is_saved(
    manager: User, as_user: AsUser, campaign: Campaign
) -> None:
    response = as_user(manager).post(
        url("campaign-record-datasheet", campaign), {"text-5.1": "x" * 5001, "text-5.4": "None."}
    )
    page = content(response).decode()
    assert "Found 5,001 characters; accepted: up to 5,000." in page
    assert "x" * 5001 in page
    assert not Datasheet.objects.exists()


def test_an_owner_finds_a_rater_by_id_and_erases_the_identity(
    owner: User, as_user: AsUser, campaign: Campaign, rater: Rater
) -> None:
    client, slug = as_user(owner), campaign.project.slug
    held = reverse("annotation:rater-held", args=[slug])
    assert "No rater" in client.post(held, {"wanted": "a\0b"}).text
    erase = reverse("annotation:rater-erase", args=[slug, rater.pk])
    assert "Jane Doe" not in content(client.get(held)).decode()
    assert erase in content(client.post(held, {"wanted": "5f3c9e1a2b4d"})).decode()
    assert "No data found" in content(client.post(held, {"wanted": "5F3C9E1A2B4D"})).decode()
    assert "Erase this rater's identity?" in content(client.get(erase)).decode()
    assert RaterIdentity.objects.exists()
    assert client.post(erase).status_code == 302
    assert not RaterIdentity.objects.exists()
    assert "No data found" in content(client.post(held, {"wanted": "Jane Doe"})).decode()


def test_a_rater_of_another_project_is_not_found(owner: User, as_user: AsUser, rater: Rater) -> None:
    other_rater = Rater.objects.create(project=Project.objects.create(name="Other", slug="other"), pseudonym="x")
    response = as_user(owner).post(reverse("annotation:rater-erase", args=[rater.project.slug, other_rater.pk]))
    assert response.status_code == 404
