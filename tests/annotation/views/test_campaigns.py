import csv
import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Campaign, CampaignState, Criterion, Presentation, Project, Rating, User
from tests.annotation.campaigns import INFORMATIVENESS, RELEVANCE, join, make_campaign, make_dataset, rate_next

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


READ = ["detail", "preview", "ratings", "raters"]
WRITE = ["launch", "pause", "resume", "close"]


def form_data(campaign: Campaign, **changes: object) -> dict[str, object]:
    return {
        "name": "A new one", "dataset": campaign.dataset_id, "target": "outputs", "presentation": "pair",
        "ratings_per_unit": 3, "lease_seconds": 300, "seed": 1,
        "criterion-1-name": "grammar", "criterion-1-question": "Is it grammatical?", "criterion-1-scale": "1-6",
        "criterion-2-scale": "1-5", **changes,
    }  # fmt: skip


def test_an_outsider_gets_404(outsider: User, as_user: AsUser, project: Project, campaign: Campaign) -> None:
    client = as_user(outsider)
    assert client.get(url("list", project)).status_code == 404
    assert client.get(url("create", project)).status_code == 404
    for name in [*READ, "edit"]:
        assert client.get(url(name, project, campaign)).status_code == 404
    for name in WRITE:
        assert client.post(url(name, project, campaign)).status_code == 404


def test_a_viewer_reads_and_may_not_change(viewer: User, as_user: AsUser, project: Project, campaign: Campaign) -> None:
    client = as_user(viewer)
    for name in READ:
        assert client.get(url(name, project, campaign)).status_code == 200
    for name in WRITE:
        assert client.post(url(name, project, campaign)).status_code == 403
    assert client.get(url("create", project)).status_code == 403
    assert client.get(url("edit", project, campaign)).status_code == 403
    assert "Close …" not in content(client.get(url("detail", project, campaign)))


def test_actions_need_post_and_reads_need_get(
    manager: User, as_user: AsUser, project: Project, campaign: Campaign
) -> None:
    client = as_user(manager)
    assert {client.get(url(name, project, campaign)).status_code for name in WRITE} == {405}
    assert {client.post(url(name, project, campaign)).status_code for name in READ} == {405}


def test_signing_in_comes_first(client: Client, project: Project, campaign: Campaign) -> None:
    response = client.get(url("detail", project, campaign))
    assert response.headers["Location"].startswith(reverse("login"))


def test_another_projects_campaign_is_not_found(
    manager: User, as_user: AsUser, project: Project, campaign: Campaign
) -> None:
    elsewhere = Project.objects.create(name="E", slug="e")
    Campaign.objects.filter(pk=campaign.pk).update(project=elsewhere)
    assert as_user(manager).get(url("detail", project, campaign)).status_code == 404


def test_a_campaign_is_drafted_edited_launched_paused_resumed_and_closed(
    manager: User, as_user: AsUser, project: Project, campaign: Campaign
) -> None:
    client = as_user(manager)
    assert client.get(url("create", project)).status_code == 200
    client.post(url("create", project), form_data(campaign))
    draft = Campaign.objects.get(name="A new one")
    criterion = Criterion.objects.get(campaign=draft)
    assert (criterion.scale_min, criterion.scale_max) == (1, 6)
    assert "Is it grammatical?" in content(client.get(url("edit", project, draft)))
    second = {
        "criterion-2-name": "humour", "criterion-2-question": "Is it funny?", "criterion-2-scale": "custom",
        "criterion-2-scale_min": 0, "criterion-2-scale_max": 2, "criterion-2-labels": "no\na little\nvery",
    }  # fmt: skip
    client.post(url("edit", project, draft), form_data(campaign, **second))
    assert list(draft.criteria.values_list("name", "labels")) == [
        ("grammar", []),
        ("humour", ["no", "a little", "very"]),
    ]
    page = content(client.get(url("detail", project, draft)))
    assert f"It plans 12 units with {12 * draft.ratings_per_unit} places to fill." in page
    for action, state in [("launch", "running"), ("pause", "paused"), ("resume", "running"), ("close", "closed")]:
        response = client.post(url(action, project, draft))
        assert response.headers["Location"] == url("detail", project, draft)
        draft.refresh_from_db()
        assert draft.state == state
    assert draft.units.count() == 12
    assert "only a draft can be edited" in content(client.get(url("edit", project, draft), follow=True))


def test_a_mistake_in_the_form_is_shown_where_it_was_made(
    manager: User, as_user: AsUser, project: Project, campaign: Campaign
) -> None:
    client = as_user(manager)
    bad = form_data(campaign, name="Replies", **{"criterion-1-labels": "one\ntwo"})
    page = content(client.post(url("create", project), bad))
    assert "found 2 labels for 6 points" in page
    page = content(client.post(url("create", project), form_data(campaign, name="Replies")))
    assert "has a campaign named &#x27;Replies&#x27; already" in page
    page = content(client.post(url("create", project), form_data(campaign, **{"criterion-1-scale": "custom"})))
    assert "another scale needs both of its ends" in page
    page = content(client.post(url("create", project), form_data(campaign, target="chosen")))
    assert "choose the systems" in page
    assert Campaign.objects.count() == 1


def test_a_new_campaign_begins_with_the_data_set_it_was_asked_for(
    manager: User, as_user: AsUser, project: Project
) -> None:
    make_dataset(project, name="first")
    second = make_dataset(project, name="second")
    page = content(as_user(manager).get(url("create", project), {"dataset": "second"}))
    assert f'<option value="{second.pk}" selected>' in page


def test_the_preview_of_a_draft_shows_the_screen_and_hands_out_nothing(
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


def test_a_refused_action_says_why(manager: User, as_user: AsUser, project: Project, campaign: Campaign) -> None:
    client = as_user(manager)
    page = content(client.post(url("resume", project, campaign), follow=True))
    assert "The campaign is running; to become running it must be paused." in page
    empty = make_campaign(make_dataset(project, items=0, name="void"), launch=False, name="empty")
    page = content(client.post(url("launch", project, empty), follow=True))
    assert "There is nothing to rate" in page
    empty.refresh_from_db()
    assert empty.state == CampaignState.DRAFT


def test_the_log_of_ratings_is_shown_paged_and_downloaded_whole(
    viewer: User, as_user: AsUser, project: Project, campaign: Campaign, django_assert_max_num_queries: Any
) -> None:
    rater = join(campaign, "=Kim")
    while rate_next(campaign, rater) is not None:
        pass
    other = join(campaign)
    for _ in range(15):
        rate_next(campaign, other, 5)
    assert Rating.objects.count() == (12 + 12) * 2
    client = as_user(viewer)
    for rating in Rating.objects.all()[:4]:  # enough for a second page
        Rating.objects.create(
            campaign=campaign, presentation=rating.presentation, response=rating.response, rater=rating.rater,
            criterion=rating.criterion, value=1, revision=1,
        )  # fmt: skip
    with django_assert_max_num_queries(12):
        page = content(client.get(url("ratings", project, campaign)))
    assert "correction 1" in page
    oldest = Rating.objects.order_by("-pk")[49].pk
    assert f"?before={oldest}" in page
    assert content(client.get(url("ratings", project, campaign) + f"?before={oldest}")).count("<tr>") == 1 + 2

    rows = list(csv.DictReader(io.StringIO(content(client.get(url("ratings", project, campaign) + "?format=csv")))))
    assert len(rows) == 52
    assert {row["rater"] for row in rows} == {"'=Kim", other.pseudonym}
    records = json.loads(content(client.get(url("ratings", project, campaign) + "?format=json")))
    assert records[0]["value"] == 3.0
    assert set(records[0]) >= {"item", "text", "systems", "criterion", "seconds", "sent_at", "extra"}
    lines = content(client.get(url("ratings", project, campaign) + "?format=jsonl")).splitlines()
    assert len(lines) == 52
    assert client.get(url("ratings", project, campaign) + "?format=xlsx").status_code == 404


def test_the_raters_table_says_what_each_did(
    viewer: User, as_user: AsUser, project: Project, campaign: Campaign
) -> None:
    kim = join(campaign, "Kim")
    for _ in range(3):
        rate_next(campaign, kim)
    client = as_user(viewer)
    assert "Kim" in content(client.get(url("raters", project, campaign)))
    (row,) = json.loads(content(client.get(url("raters", project, campaign) + "?format=json")))
    assert (row["rater"], row["done"], row["late"]) == ("Kim", 3, 0)
    assert row["median_seconds"] >= 0


def test_the_list_of_campaigns_takes_as_many_queries_for_many_as_for_few(
    viewer: User, as_user: AsUser, project: Project, campaign: Campaign, django_assert_max_num_queries: Any
) -> None:
    for number in range(5):
        make_campaign(campaign.dataset, name=f"c{number}", launch=number % 2 == 0)
    client = as_user(viewer)
    with django_assert_max_num_queries(8):
        assert "c4" in content(client.get(url("list", project)))
    rows = json.loads(content(client.get(url("list", project) + "?format=json")))
    assert {row["campaign"]: row["units"] for row in rows}["Replies"] == 12


def test_only_those_who_manage_see_the_link_for_raters(
    viewer: User, manager: User, owner: User, as_user: AsUser, project: Project, campaign: Campaign
) -> None:
    shown = {
        user.username: str(campaign.link_token) in content(as_user(user).get(url("detail", project, campaign)))
        for user in (viewer, manager, owner)
    }
    assert shown == {"vera-viewer": False, "max-manager": True, "olga-owner": True}


def test_the_form_offers_the_systems_of_the_chosen_data_set_only(
    manager: User, as_user: AsUser, project: Project
) -> None:
    one = make_dataset(project, systems=["Ada"], name="one")
    two = make_dataset(project, systems=["Zoe"], name="two")
    client, address = as_user(manager), url("create", project)

    blank = content(client.get(address))
    assert "once it is chosen" in blank
    assert "Ada" not in blank
    assert "Zoe" not in blank
    chosen = content(client.get(address, {"dataset": "two"}))
    assert "Zoe" in chosen
    assert "Ada" not in chosen
    swapped = content(client.get(address, {"dataset": one.pk}, headers={"HX-Request": "true"}))
    assert "<html" not in swapped
    assert "Ada" in swapped
    assert "Zoe" not in swapped

    foreign = {"target": "chosen", "systems": [one.systems.get().pk]}
    draft = Campaign(dataset=two)
    refused = content(client.post(address, form_data(draft, **foreign)))
    assert "Found a system of another data set" in refused
    assert "Zoe" in refused
    assert not project.campaigns.exists()
