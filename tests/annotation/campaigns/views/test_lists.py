"""Pages of lists of responses and of the campaigns that rate them."""

import json
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from annotation.campaigns.services.lists import campaign_for_list
from annotation.campaigns.views import lists as views
from annotation.datasets.services.lists import response_list_create
from annotation.models import Campaign, Project, ResponseList, User
from tests.annotation.worlds.campaigns import make_campaign, make_dataset

AsUser = Callable[[User], Client]


@pytest.fixture
def response_list(project: Project, manager: User) -> ResponseList:
    dataset = make_dataset(project)
    responses = [item.responses.first().pk for item in dataset.items.all()]
    origin = {"kind": "attention", "reason": "interval spans zero"}
    return response_list_create(dataset=dataset, name="Unsure", responses=responses, origin=origin, by=manager)


@pytest.fixture
def like(response_list: ResponseList) -> Campaign:
    return make_campaign(response_list.dataset, name="First")


def page(name: str, *more: object) -> str:
    return reverse(f"annotation:{name}", args=["chit-chat", *more])


def test_an_outsider_gets_404(response_list: ResponseList, outsider: User, as_user: AsUser) -> None:
    client = as_user(outsider)
    for address in (
        page("response-list-list"),
        page("response-list-detail", response_list.pk),
        page("response-list-rate", response_list.pk),
    ):
        assert client.get(address).status_code == 404
    assert client.post(page("response-list-delete", response_list.pk)).status_code == 404
    assert ResponseList.objects.get() == response_list


def test_a_viewer_reads_and_changes_nothing(
    response_list: ResponseList, like: Campaign, viewer: User, as_user: AsUser
) -> None:
    client = as_user(viewer)
    assert "Unsure" in client.get(page("response-list-list")).content.decode()
    text = client.get(page("response-list-detail", response_list.pk)).content.decode()
    assert "interval spans zero" in text
    assert "Rate them" not in text
    assert client.get(page("response-list-rate", response_list.pk)).status_code == 403
    assert client.post(page("response-list-delete", response_list.pk)).status_code == 403


def test_a_list_of_another_project_is_404(response_list: ResponseList, manager: User, as_user: AsUser) -> None:
    other_project = Project.objects.create(name="Other", slug="other")
    ResponseList.objects.update(project=other_project)
    assert as_user(manager).get(page("response-list-detail", response_list.pk)).status_code == 404


def test_its_responses_are_paged_and_downloaded(
    response_list: ResponseList, viewer: User, as_user: AsUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "PAGE", 3)
    client = as_user(viewer)
    first = client.get(page("response-list-detail", response_list.pk))
    second = client.get(f"{page('response-list-detail', response_list.pk)}{first.context['next_url']}")
    ids = [response.pk for answer in (first, second) for response in answer.context["responses"]]
    assert ids == list(response_list.responses.order_by("item__position").values_list("pk", flat=True))
    assert (first.context["first_url"], second.context["next_url"]) == ("", "")
    rows = json.loads(
        b"".join(client.get(f"{page('response-list-detail', response_list.pk)}?format=json").streaming_content)
    )
    assert [row["response"] for row in rows] == ids
    assert (rows[0]["item_id"], rows[0]["sources"]) == ("item-0", ["Ada"])
    (row,) = json.loads(b"".join(client.get(f"{page('response-list-list')}?format=json").streaming_content))
    assert (row["name"], row["responses"], row["origin"]["kind"]) == ("Unsure", 4, "attention")


def test_a_draft_that_rates_the_list_is_created(
    response_list: ResponseList, like: Campaign, manager: User, as_user: AsUser
) -> None:
    client = as_user(manager)
    form = client.get(f"{page('response-list-rate', response_list.pk)}?ratings=3&like={like.pk}").context["form"]
    assert (form["ratings_per_unit"].value(), form["like"].value(), form["name"].value()) == (3, like.pk, "Unsure")
    answer = client.post(
        page("response-list-rate", response_list.pk), {"like": like.pk, "ratings_per_unit": 3, "name": "Once more"}
    )
    draft = Campaign.objects.get(name="Once more")
    assert answer["Location"] == page("campaign-step", draft.pk, "review")
    assert (draft.response_list, draft.ratings_per_unit, draft.state) == (response_list, 3, "draft")
    refused = client.post(
        page("response-list-rate", response_list.pk), {"like": like.pk, "ratings_per_unit": 3, "name": "Once more"}
    )
    assert "already; choose another name" in str(refused.context["form"].errors["name"])


def test_campaigns_in_pairs_are_not_offered(response_list: ResponseList, manager: User, as_user: AsUser) -> None:
    make_campaign(response_list.dataset, name="Pairs", presentation="pair")
    text = as_user(manager).get(page("response-list-rate", response_list.pk)).content.decode()
    assert "No campaign to copy" in text
    assert "Rate them" not in as_user(manager).get(page("response-list-detail", response_list.pk)).content.decode()


def test_a_new_campaign_for_a_list_is_created_on_the_lists_page(
    response_list: ResponseList, manager: User, as_user: AsUser
) -> None:
    answer = as_user(manager).get(f"{page('campaign-create')}?list={response_list.pk}&ratings=4")
    assert answer["Location"] == f"{page('response-list-rate', response_list.pk)}?ratings=4"


def test_a_list_is_deleted_only_while_no_campaign_rates_it(
    response_list: ResponseList, like: Campaign, manager: User, as_user: AsUser
) -> None:
    client = as_user(manager)
    assert client.get(page("response-list-delete", response_list.pk)).status_code == 405
    campaign = campaign_for_list(response_list=response_list, like=like, ratings_per_unit=2)
    refused = client.post(page("response-list-delete", response_list.pk), follow=True)
    assert "is rated in Unsure" in refused.content.decode()
    assert "Delete the list" not in refused.content.decode()
    Campaign.objects.filter(pk=campaign.pk).update(target="outputs", response_list=None)
    client.post(page("response-list-delete", response_list.pk))
    assert not ResponseList.objects.exists()


# --- The list on a campaign's pages -----------------------------------------------------------------------------------


@pytest.fixture
def draft(response_list: ResponseList, like: Campaign) -> Campaign:
    return campaign_for_list(response_list=response_list, like=like, ratings_per_unit=2)


def test_the_first_step_shows_the_list_and_cannot_change_it(draft: Campaign, manager: User, as_user: AsUser) -> None:
    client = as_user(manager)
    answer = client.get(page("campaign-step", draft.pk, "what"))
    text = answer.content.decode()
    assert page("response-list-detail", draft.response_list_id) in text
    assert "4 of the data set chat" in text
    assert "interval spans zero" in text
    data = {"name": "Renamed", "target": "listed", "item_limit": "2"}
    assert client.post(page("campaign-step", draft.pk, "what"), data).status_code == 302
    draft.refresh_from_db()
    assert (draft.name, draft.target, draft.response_list_id is not None, draft.item_limit) == (
        "Renamed",
        "listed",
        True,
        2,
    )
    refused = client.post(page("campaign-step", draft.pk, "what"), {**data, "target": "outputs"})
    assert "outputs is not one of the available choices" in str(refused.context["form"].errors["target"])
    other_dataset = make_dataset(draft.project, name="other")
    client.post(page("campaign-step", draft.pk, "what"), {**data, "dataset": other_dataset.pk})
    draft.refresh_from_db()
    assert draft.dataset.slug == "chat"


def test_other_campaigns_are_not_offered_a_list(
    like: Campaign, response_list: ResponseList, manager: User, as_user: AsUser
) -> None:
    draft = make_campaign(response_list.dataset, name="Draft", launch=False)
    data = {"name": "Draft", "dataset": draft.dataset_id, "target": "listed"}
    refused = as_user(manager).post(page("campaign-step", draft.pk, "what"), data)
    assert "listed is not one of the available choices" in str(refused.context["form"].errors["target"])


def test_every_page_of_a_listed_campaign_opens(draft: Campaign, manager: User, as_user: AsUser) -> None:
    client = as_user(manager)
    for step in ("what", "screen", "words", "raters", "quality", "review"):
        assert client.get(page("campaign-step", draft.pk, step)).status_code == 200, step
    for name in ("campaign-detail", "campaign-design", "campaign-preview", "campaign-clone", "campaign-export"):
        assert client.get(page(name, draft.pk)).status_code == 200, name
    assert "The responses of a list" in client.get(page("campaign-design", draft.pk)).content.decode()
    frame = client.post(page("campaign-preview-frame", draft.pk), {"step": "what", "name": "x", "target": "listed"})
    assert "A book about the number 0" in frame.content.decode()
    pair = client.post(
        page("campaign-step", draft.pk, "screen"),
        {
            "presentation": "pair",
            "comment": "off",
            "seed": 1,
            "criterion-1-name": "relevance",
            "criterion-1-question": "?",
            "criterion-1-kind": "likert",
            "criterion-1-scale_min": 1,
            "criterion-1-scale_max": 5,
        },
    )
    assert "Pairs compare systems, and a list names responses" in pair.content.decode()


def test_two_campaigns_with_lists_are_compared(draft: Campaign, like: Campaign, manager: User, as_user: AsUser) -> None:
    text = as_user(manager).get(f"{page('campaign-compare')}?left={draft.pk}&right={like.pk}").content.decode()
    assert "response list" in text
