import re
import uuid
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from annotation.campaigns.services.lifecycle import campaign_close, campaign_pause
from annotation.models import Campaign, Participation, Presentation, PresentationOutcome, Project, Rater, Rating
from tests.annotation.worlds.campaigns import make_campaign, make_dataset


@pytest.fixture
def campaign(project: Project) -> Campaign:
    return make_campaign(
        make_dataset(project),
        consent="I am **over 18**.<script>alert(1)</script>",
        instructions="# Read\n\n[more](javascript:alert(1))",
        completion_code="THANKS-42",
        max_units_per_rater=2,
    )


def url(name: str, campaign: Campaign) -> str:
    return reverse(f"annotation:rater-{name}", args=[campaign.link_token])


def joined(campaign: Campaign, **post: str) -> Client:
    client = Client()
    response = client.post(url("consent", campaign), {"agree": "1", **post})
    assert response.headers["Location"] == url("instructions" if campaign.instructions else "work", campaign)
    return client


def send(client: Client, campaign: Campaign, value: object = 4, **post: object) -> object:
    presentation = Presentation.objects.order_by("-id")[0]
    data = {"token": str(presentation.token), "r0-relevance": value, **post}
    return client.post(url("submit", campaign), data)


def test_the_landing_page_asks_for_consent_in_clean_html(client: Client, campaign: Campaign) -> None:
    page = client.get(url("landing", campaign)).content.decode()
    assert "<strong>over 18</strong>" in page
    assert "<script>alert" not in page
    assert 'href="javascript' not in page
    refused = client.post(url("consent", campaign), {"name": "Kim"})
    assert refused.status_code == 400
    assert Rater.objects.count() == 0


def test_each_browser_is_one_rater(campaign: Campaign) -> None:
    first = joined(campaign, name="Kim")
    first.post(url("consent", campaign), {"agree": "1", "name": "Someone else"})
    joined(campaign, name="Kim")
    joined(campaign)
    names = list(Rater.objects.order_by("id").values_list("pseudonym", flat=True))
    assert names[:2] == ["Kim", "Kim 2"]
    assert names[2].startswith("rater-")
    assert Participation.objects.count() == 3
    cookie = first.cookies[f"assay_rater_{campaign.project_id}"]
    assert cookie["httponly"]
    assert cookie["path"] == "/r/"
    assert "Kim" in first.get(url("landing", campaign)).content.decode()


def test_an_unsigned_cookie_names_no_rater(campaign: Campaign) -> None:
    client = joined(campaign)
    name = f"assay_rater_{campaign.project_id}"
    client.cookies[name] = str(Rater.objects.get().access_token)
    assert client.get(url("work", campaign)).headers["Location"] == url("landing", campaign)
    assert client.post(url("submit", campaign), {"token": str(uuid.uuid4())}).status_code == 404


def test_rating_goes_from_unit_to_unit_to_the_completion_code(campaign: Campaign) -> None:
    client = joined(campaign)
    page = client.get(url("work", campaign)).content.decode()
    reloaded = client.get(url("work", campaign)).content.decode()
    presentation = Presentation.objects.get()
    assert str(presentation.token) in page
    assert str(presentation.token) in reloaded
    assert not re.search(r"\b(Ada|Bo|Cy)\b", page)  # as words: a form's token may hold the letters
    assert send(client, campaign).headers["Location"] == url("work", campaign)  # type: ignore[attr-defined]
    client.get(url("work", campaign))
    send(client, campaign, 2)
    assert client.get(url("work", campaign)).headers["Location"] == url("finish", campaign)
    assert "THANKS-42" in client.get(url("finish", campaign)).content.decode()
    assert sorted(Rating.objects.values_list("value", flat=True)) == [2.0, 4.0]


def test_a_paused_campaign_shows_no_code_until_the_rater_stops(campaign: Campaign) -> None:
    client = joined(campaign)
    client.get(url("work", campaign))
    send(client, campaign)
    campaign_pause(campaign=campaign)
    page = client.get(url("finish", campaign)).content.decode()
    assert "A short break" in page
    assert "THANKS-42" not in page
    assert "THANKS-42" in client.get(f"{url('finish', campaign)}?stopped=1").content.decode()


def test_there_is_no_code_without_a_rating(campaign: Campaign) -> None:
    client = joined(campaign)
    assert "THANKS-42" not in client.get(url("finish", campaign)).content.decode()


def test_a_bad_value_is_refused_with_a_message_and_the_other_answers_stay(project: Project) -> None:
    campaign = make_campaign(make_dataset(project), presentation="pair")
    client = joined(campaign)
    client.get(url("work", campaign))
    response = send(client, campaign, 5, **{"r1-relevance": "9"})
    assert response.status_code == 400  # type: ignore[attr-defined]
    page = response.content.decode()  # type: ignore[attr-defined]
    assert "Please choose an answer." in page
    assert re.search(r'name="r0-relevance\.[0-9a-f]{8}" value="5" checked', page)
    assert Rating.objects.count() == 0


@pytest.mark.parametrize("value", ["--5", "9" * 5000, "²", "\0"])
def test_a_malformed_value_is_refused_and_shown_as_not_rated(campaign: Campaign, value: str) -> None:
    client = joined(campaign)
    client.get(url("work", campaign))
    response = send(client, campaign, value)
    assert response.status_code == 400
    assert "checked" not in response.content.decode()


def test_a_name_that_cannot_be_stored_is_refused(client: Client, campaign: Campaign) -> None:
    refused = client.post(url("consent", campaign), {"agree": "1", "name": "Kim\0"})
    assert refused.status_code == 400
    assert "This name cannot be used" in refused.content.decode()


def test_an_earlier_answer_can_be_viewed_and_changed(campaign: Campaign) -> None:
    client = joined(campaign)
    client.get(url("work", campaign))
    first = Presentation.objects.get()
    send(client, campaign, 4)
    page = client.get(url("work", campaign)).content.decode()
    back_url = f"{url('work', campaign)}?unit={first.token}"
    assert back_url in page
    assert re.search(r'name="r0-relevance\.[0-9a-f]{8}" value="4" checked', client.get(back_url).content.decode())
    client.post(url("submit", campaign), {"token": str(first.token), "r0-relevance": "1"})
    assert list(Rating.objects.order_by("revision").values_list("value", "revision")) == [(4.0, 0), (1.0, 1)]


def test_an_answer_from_a_second_tab_is_shown_and_changes_the_first_one_only_if_saved(campaign: Campaign) -> None:
    client = joined(campaign)
    page = client.get(url("work", campaign)).content.decode()  # in both tabs
    assert 'name="first"' in page
    data = {"token": str(Presentation.objects.get().token), "first": "1"}
    client.post(url("submit", campaign), {**data, "r0-relevance": "4"})
    again = client.post(url("submit", campaign), {**data, "r0-relevance": "4"})  # a double click
    assert again.status_code == 302
    second = client.post(url("submit", campaign), {**data, "r0-relevance": "1"})
    assert second.status_code == 409
    shown = second.content.decode()
    assert "You have already answered this item" in shown
    assert 'value="1" checked' in shown
    assert 'name="first"' not in shown
    assert list(Rating.objects.values_list("value", flat=True)) == [4.0]
    client.post(url("submit", campaign), {"token": data["token"], "r0-relevance": "1"})  # "Save the change"
    assert list(Rating.objects.order_by("revision").values_list("value", flat=True)) == [4.0, 1.0]


def test_a_unit_of_another_rater_is_refused_and_not_shown(campaign: Campaign) -> None:
    client, other_client = joined(campaign), joined(campaign)
    client.get(url("work", campaign))
    token = Presentation.objects.get().token
    assert other_client.post(url("submit", campaign), {"token": str(token), "r0-relevance": "3"}).status_code == 403
    assert other_client.post(url("submit", campaign), {"token": "nonsense"}).status_code == 403
    assert other_client.post(url("return", campaign), {"token": str(token)}).status_code == 404
    assert other_client.get(f"{url('work', campaign)}?unit={token}").status_code == 404
    assert other_client.get(f"{url('work', campaign)}?unit=nonsense").status_code == 404
    assert Rating.objects.count() == 0


def test_skipping_returns_the_unit(campaign: Campaign) -> None:
    client = joined(campaign)
    client.get(url("work", campaign))
    presentation = Presentation.objects.get()
    client.post(url("return", campaign), {"token": str(presentation.token)})
    presentation.refresh_from_db()
    assert presentation.outcome == PresentationOutcome.RETURNED
    assert str(presentation.token) not in client.get(url("work", campaign)).content.decode()


def test_a_paused_campaign_shows_a_note_and_a_closed_one_refuses_answers(campaign: Campaign) -> None:
    client = joined(campaign)
    client.get(url("work", campaign))
    campaign_pause(campaign=campaign)
    assert client.get(url("work", campaign)).headers["Location"] == url("finish", campaign)
    assert "paused at the moment" in client.get(url("finish", campaign)).content.decode()
    newcomer = Client().post(url("consent", campaign), {"agree": "1"})
    assert newcomer.status_code == 400
    campaign_close(campaign=campaign)
    send(client, campaign)
    assert "your last answer was not taken" in client.get(url("finish", campaign)).content.decode()
    assert Rating.objects.count() == 0


def test_unknown_links_drafts_and_wrong_methods_are_refused(client: Client, campaign: Campaign) -> None:
    assert client.get(reverse("annotation:rater-landing", args=[uuid.uuid4()])).status_code == 404
    draft = make_campaign(campaign.dataset, name="draft", launch=False)
    assert "has not begun" in client.get(url("landing", draft)).content.decode()
    for name in ("consent", "submit", "return"):
        assert client.get(url(name, campaign)).status_code == 405
    for name in ("landing", "work", "finish"):
        assert client.post(url(name, campaign)).status_code == 405
    imported = Campaign.objects.create(
        project=campaign.project, dataset=campaign.dataset, name="imported", imported=True
    )
    assert client.get(url("landing", imported)).status_code == 404


def test_a_unit_takes_a_bounded_number_of_queries(
    campaign: Campaign, django_assert_max_num_queries: Callable[[int], object]
) -> None:
    client = joined(campaign)
    with django_assert_max_num_queries(25):  # type: ignore[attr-defined]
        client.get(url("work", campaign))
    with django_assert_max_num_queries(25):  # type: ignore[attr-defined]
        send(client, campaign)
