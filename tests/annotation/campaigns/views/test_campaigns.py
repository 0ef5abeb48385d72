import csv
import io
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Campaign, CampaignState, Presentation, Project, Rating, ResponseSource, User
from tests.annotation.worlds.campaigns import INFORMATIVENESS, RELEVANCE, join, make_campaign, make_dataset, rate_next

AsUser = Callable[[User], Client]


@pytest.fixture
def campaign(project: Project) -> Campaign:
    return make_campaign(make_dataset(project), criteria=[RELEVANCE, INFORMATIVENESS])


def url(name: str, project: Project, campaign: Campaign | None = None) -> str:
    arguments: list[object] = [project.slug] if campaign is None else [project.slug, campaign.pk]
    return reverse(f"annotation:campaign-{name}", args=arguments)


def content(response: Any) -> str:
    body = b"".join(response.streaming_content) if response.streaming else response.content
    return body.decode()


READ = ["detail", "design", "preview", "preview-frame", "export", "ratings", "raters"]
WRITE = ["launch", "pause", "resume", "close"]


def test_a_viewer_reads_and_changes_nothing(
    viewer: User, as_user: AsUser, project: Project, campaign: Campaign
) -> None:
    client = as_user(viewer)
    for name in READ:
        assert client.get(url(name, project, campaign)).status_code == 200
    for name in WRITE:
        assert client.post(url(name, project, campaign)).status_code == 403
    assert client.get(url("create", project)).status_code == 403
    for name in ("edit", "clone"):
        assert client.get(url(name, project, campaign)).status_code == 403
    assert "Close …" not in content(client.get(url("detail", project, campaign)))


def test_actions_need_post_and_reads_need_get(
    manager: User, as_user: AsUser, project: Project, campaign: Campaign
) -> None:
    client = as_user(manager)
    assert {client.get(url(name, project, campaign)).status_code for name in WRITE} == {405}
    reads = set(READ) - {"preview-frame"}
    assert {client.post(url(name, project, campaign)).status_code for name in reads} == {405}


def test_a_visitor_is_redirected_to_the_sign_in_page(client: Client, project: Project, campaign: Campaign) -> None:
    response = client.get(url("detail", project, campaign))
    assert response.headers["Location"].startswith(reverse("login"))


def test_another_projects_campaign_is_not_found(
    manager: User, as_user: AsUser, project: Project, campaign: Campaign
) -> None:
    other_project = Project.objects.create(name="E", slug="e")
    Campaign.objects.filter(pk=campaign.pk).update(project=other_project)
    assert as_user(manager).get(url("detail", project, campaign)).status_code == 404


def test_a_campaign_is_launched_paused_resumed_and_closed(
    manager: User, as_user: AsUser, project: Project, campaign: Campaign
) -> None:
    client = as_user(manager)
    draft = make_campaign(campaign.dataset, name="A new one", launch=False)
    page = content(client.get(url("detail", project, draft)))
    assert "The launch plans 12 responses to be rated, with 24 slots to fill" in page
    for action, state in [("launch", "running"), ("pause", "paused"), ("resume", "running"), ("close", "closed")]:
        response = client.post(url(action, project, draft))
        assert response.headers["Location"] == url("detail", project, draft)
        draft.refresh_from_db()
        assert draft.state == state
        assert draft.audit_entries.first().verb == f"campaign.{action}"
        assert draft.audit_entries.first().actor == manager
    assert draft.units.count() == 12
    assert "only a draft can be edited" in content(client.get(url("edit", project, draft), follow=True))


def test_the_list_is_paged_and_filtered_by_state(
    viewer: User, as_user: AsUser, project: Project, campaign: Campaign
) -> None:
    make_campaign(campaign.dataset, name="still a draft", launch=False)
    client = as_user(viewer)
    drafts = content(client.get(url("list", project), {"state": "draft"}))
    assert "still a draft" in drafts
    assert "Replies" not in drafts
    assert "No such campaign" in content(client.get(url("list", project), {"state": "closed"}))
    rows = json.loads(content(client.get(url("list", project), {"state": "running", "format": "json"})))
    assert [row["campaign"] for row in rows] == ["Replies"]
    Campaign.objects.bulk_create(
        Campaign(project=project, dataset=campaign.dataset, name=f"number {n}") for n in range(60)
    )
    first = content(client.get(url("list", project)))
    assert ("number 59" in first, "number 9<" in first) == (True, False)
    older = first.split("before=")[1].split('"')[0]
    assert "number 9<" in content(client.get(url("list", project), {"before": older}))


def test_the_design_page_shows_the_frozen_design(
    viewer: User, as_user: AsUser, project: Project, campaign: Campaign
) -> None:
    page = content(as_user(viewer).get(url("design", project, campaign)))
    assert RELEVANCE.question in page
    assert campaign.design_hash[:16] in page
    assert "Edit" not in page.split("<main")[1]


def test_a_new_campaign_has_the_data_set_of_the_link(manager: User, as_user: AsUser, project: Project) -> None:
    make_dataset(project, name="first")
    second = make_dataset(project, name="second")
    page = content(as_user(manager).get(url("create", project), {"dataset": "second"}))
    assert f'<option value="{second.pk}" selected>' in page


def test_the_preview_of_a_draft_shows_an_item_and_hands_out_nothing(
    viewer: User, as_user: AsUser, project: Project, campaign: Campaign
) -> None:
    draft = make_campaign(campaign.dataset, name="draft", launch=False, presentation="pair")
    page = content(as_user(viewer).get(url("preview", project, draft)))
    assert "Response B" in page
    assert RELEVANCE.question in page
    assert "item-0" not in page
    assert not Presentation.objects.exists()
    empty = make_campaign(make_dataset(project, items=0, name="void"), launch=False, name="empty")
    assert "There is nothing to rate" in content(as_user(viewer).get(url("preview", project, empty)))


def test_a_refused_action_shows_the_reason(
    manager: User, as_user: AsUser, project: Project, campaign: Campaign
) -> None:
    client = as_user(manager)
    page = content(client.post(url("resume", project, campaign), follow=True))
    assert "The campaign is running; to become running it must be paused." in page
    empty = make_campaign(make_dataset(project, items=0, name="void"), launch=False, name="empty")
    page = content(client.post(url("launch", project, empty), follow=True))
    assert "There is nothing to rate" in page
    empty.refresh_from_db()
    assert empty.state == CampaignState.DRAFT


def test_the_log_of_ratings_is_paged_and_downloaded_completely(
    viewer: User, as_user: AsUser, project: Project, campaign: Campaign, django_assert_max_num_queries: Any
) -> None:
    rater = join(campaign, "=Kim")
    while rate_next(campaign, rater) is not None:
        pass
    other_rater = join(campaign)
    for _ in range(15):
        rate_next(campaign, other_rater, 5)
    assert Rating.objects.count() == (12 + 12) * 2
    client = as_user(viewer)
    for rating in Rating.objects.all()[:4]:  # enough for a second page
        Rating.objects.create(
            campaign=campaign,
            presentation=rating.presentation,
            response=rating.response,
            rater=rating.rater,
            criterion=rating.criterion,
            value=1,
            revision=1,
        )
    with django_assert_max_num_queries(12):
        page = content(client.get(url("ratings", project, campaign)))
    assert "correction 1" in page
    oldest = Rating.objects.order_by("-pk")[49].pk
    assert f"?before={oldest}" in page
    assert content(client.get(url("ratings", project, campaign) + f"?before={oldest}")).count("<tr>") == 1 + 2

    rows = list(csv.DictReader(io.StringIO(content(client.get(url("ratings", project, campaign) + "?format=csv")))))
    assert len(rows) == 52
    assert {row["rater"] for row in rows} == {"'=Kim", other_rater.pseudonym}
    records = json.loads(content(client.get(url("ratings", project, campaign) + "?format=json")))
    assert records[0]["value"] == 3.0
    assert set(records[0]) >= {"item", "text", "systems", "criterion", "seconds", "sent_at", "extra"}
    lines = content(client.get(url("ratings", project, campaign) + "?format=jsonl")).splitlines()
    assert len(lines) == 52
    assert client.get(url("ratings", project, campaign) + "?format=xlsx").status_code == 404


def test_a_rating_in_a_list_names_the_system_of_its_response(viewer: User, as_user: AsUser, project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=1, systems=["Ada", "Bo"]), presentation="list")
    rate_next(campaign, join(campaign))
    client = as_user(viewer)
    records = json.loads(content(client.get(url("ratings", project, campaign) + "?format=json")))
    gave = {source.response_id: source.system.name for source in ResponseSource.objects.exclude(system=None)}
    assert [record["system"] for record in records] == [gave[record["response"]] for record in records]
    assert {record["system"] for record in records} == {"Ada", "Bo"}
    page = content(client.get(url("ratings", project, campaign)))
    assert re.findall(r'data-label="System">(\w+)<', page) == [record["system"] for record in reversed(records)]


def test_the_raters_table_counts_each_raters_work(
    viewer: User, as_user: AsUser, project: Project, campaign: Campaign
) -> None:
    kim = join(campaign, "Kim")
    for _ in range(3):
        rate_next(campaign, kim)
    client = as_user(viewer)
    assert "Kim" in content(client.get(url("raters", project, campaign)))
    (row,) = json.loads(content(client.get(url("raters", project, campaign) + "?format=json")))
    assert (row["rater"], row["done"], row["late"]) == ("Kim", 3, 0)


def test_the_list_of_campaigns_takes_a_bounded_number_of_queries(
    viewer: User, as_user: AsUser, project: Project, campaign: Campaign, django_assert_max_num_queries: Any
) -> None:
    for number in range(5):
        make_campaign(campaign.dataset, name=f"c{number}", launch=number % 2 == 0)
    client = as_user(viewer)
    with django_assert_max_num_queries(8):
        assert "c4" in content(client.get(url("list", project)))
    rows = json.loads(content(client.get(url("list", project) + "?format=json")))
    counts = next(row for row in rows if row["campaign"] == "Replies")
    items = campaign.units.values("item").distinct().count()
    responses = campaign.units.values("responses").distinct().count()
    assert (counts["items"], counts["responses"], counts["units"]) == (items, responses, 12)
    assert items < 12, "several of an item's responses are rated by themselves"


def test_only_managers_and_owners_see_the_link_for_raters(
    viewer: User, manager: User, owner: User, as_user: AsUser, project: Project, campaign: Campaign
) -> None:
    shown = {
        user.username: str(campaign.link_token) in content(as_user(user).get(url("detail", project, campaign)))
        for user in (viewer, manager, owner)
    }
    assert shown == {"vera-viewer": False, "max-manager": True, "olga-owner": True}
    Campaign.objects.filter(pk=campaign.pk).update(admission="named")
    text = " ".join(content(as_user(manager).get(url("detail", project, campaign))).split())
    assert "Who may take part: anybody with the link who gives a name." in text
