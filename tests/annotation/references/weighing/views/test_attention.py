"""References of a release that need attention, and sending them back to raters."""

import csv
import io

import pytest
from django.urls import reverse

from annotation.campaigns.services.lifecycle import campaign_launch
from annotation.core.errors import AnnotationError
from annotation.models import AuditEntry, Campaign, ResponseList, Target
from annotation.references.sets.selectors import campaigns_to_join, set_to_join
from annotation.references.weighing.services.rating_again import references_rate_again
from tests.annotation.worlds.weighed import make_release


@pytest.fixture
def release(project):
    return make_release(project)


def address(release, name="release-attention", **query) -> str:
    reference_set = release.reference_set
    return reverse(
        f"annotation:{name}", args=[reference_set.project.slug, reference_set.slug, release.number], query=query or None
    )


def response_named(release, text):
    return release.weights.get(response__text=text).response


def test_lists_show_their_references_with_links(as_user, viewer, release):
    client = as_user(viewer)
    page = client.get(address(release, list="tie")).content.decode()
    for text in ("Fine.", "Well."):
        response = response_named(release, text)
        assert f'href="{reverse("annotation:response-detail", args=["chit-chat", response.pk])}">{text}</a>' in page
        assert reverse("annotation:item-detail", args=["chit-chat", "replies", response.item_id]) in page
    assert "Hm." not in page
    assert "2 references of 1 item" in " ".join(page.split())


def test_without_a_name_the_first_list_that_is_not_empty_is_shown(as_user, viewer, release):
    page = as_user(viewer).get(address(release)).content.decode()
    assert '<h2 id="list-title">No positive weight</h2>' in page
    assert "Hm." in page


def test_an_empty_list_shows_a_note(as_user, viewer, release):
    assert "Nothing here" in as_user(viewer).get(address(release, list="few")).content.decode()


def test_the_whole_list_is_downloaded(as_user, viewer, release):
    answer = as_user(viewer).get(address(release, list="no-positive", format="csv"))
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    assert [(row["item"], row["text"], row["judgements"]) for row in rows] == [
        ("i2", "Hm.", "3"),
        ("i2", "No.", "3"),
        ("i3", "Ada said it.", "2"),
    ]
    assert float(rows[0]["weight"]) == pytest.approx(-1 / 6)


def test_long_lists_are_paged_by_their_references(as_user, viewer, release, monkeypatch):
    monkeypatch.setattr("annotation.references.weighing.views.attention.PAGE", 1)
    client = as_user(viewer)
    first = client.get(address(release, list="no-positive")).content.decode()
    assert "Hm." in first
    assert "Previous" not in first
    hm, no = response_named(release, "Hm."), response_named(release, "No.")
    assert f"?list=no-positive&amp;after={hm.pk}" in first
    second = client.get(address(release, list="no-positive", after=hm.pk)).content.decode()
    assert ">No.</a>" in second
    assert f"?list=no-positive&amp;before={no.pk}" in second


def test_an_unknown_list_is_404(as_user, viewer, release):
    assert as_user(viewer).get(address(release, list="odd")).status_code == 404


def test_viewers_see_lists_but_cannot_send_them(as_user, viewer, release):
    client = as_user(viewer)
    assert "Rate ticked" not in client.get(address(release, list="tie")).content.decode()
    assert client.get(address(release, "release-attention-send", list="tie")).status_code == 403
    assert client.post(address(release, "release-attention-send"), {"list": "tie"}).status_code == 403


@pytest.mark.parametrize("name", ["release-attention", "release-attention-send"])
def test_outsiders_have_no_access(as_user, outsider, release, name):
    assert as_user(outsider).get(address(release, name, list="tie")).status_code == 404


def test_the_form_suggests_a_number_of_ratings_with_the_reason(as_user, manager, release):
    page = as_user(manager).get(address(release, "release-attention-send", list="uncertain", scope="whole"))
    assert page.status_code == 200
    text = " ".join(page.content.decode().split())
    assert "Suggested: " in text
    assert "an interval of ±0.25" in text
    assert "Mean margin of error (half-width of the 95% interval)" in text


def test_a_whole_list_becomes_a_response_list_and_a_draft_with_the_same_questions(as_user, manager, release):
    campaign = Campaign.objects.get()
    form = {"list": "tie", "scope": "whole", "ratings": 3, "like": campaign.pk, "name": "Ties"}
    answer = as_user(manager).post(address(release, "release-attention-send"), form)
    draft = Campaign.objects.exclude(pk=campaign.pk).get()
    assert answer.url == reverse("annotation:campaign-detail", args=["chit-chat", draft.pk])
    assert (draft.state, draft.target, draft.ratings_per_unit) == ("draft", Target.LISTED, 3)
    assert list(draft.criteria.values_list("name", "scale_min", "scale_max")) == [("quality", 1, 5)]
    assert draft.name == f"{campaign.name} (2)"  # raters see it: nothing in it says why they are asked
    response_list = draft.response_list
    assert response_list == ResponseList.objects.get()
    assert response_list.name == "Ties"
    assert sorted(response_list.responses.values_list("text", flat=True)) == ["Fine.", "Well."]
    assert response_list.origin == {
        "release": "references/v1",
        "content_hash": release.content_hash,
        "list": "tie",
        "reason": "Tie at the top",
        "whole": True,
    }
    assert response_list.created_by == manager


def test_only_ticked_references_are_sent(as_user, manager, release):
    client, ticked = as_user(manager), response_named(release, "Well.")
    query = {"list": "tie", "scope": "ticked", "response": ticked.pk}
    page = " ".join(client.get(address(release, "release-attention-send", **query)).content.decode().split())
    assert "1 of 2 reference" in page
    client.post(
        address(release, "release-attention-send"),
        {**query, "ratings": 2, "like": Campaign.objects.get().pk, "name": "One"},
    )
    assert list(ResponseList.objects.get().responses.all()) == [ticked]


def test_nothing_ticked_sends_nothing(as_user, manager, release):
    client = as_user(manager)
    assert (
        "No reference is ticked"
        in client.get(address(release, "release-attention-send", list="tie", scope="ticked")).content.decode()
    )
    form = {"list": "tie", "scope": "ticked", "ratings": 2, "like": Campaign.objects.get().pk, "name": "None"}
    assert client.post(address(release, "release-attention-send"), form).status_code == 400
    assert not ResponseList.objects.exists()


@pytest.mark.parametrize(("field", "value"), [("ratings", "0"), ("ratings", "101"), ("like", "0"), ("name", "")])
def test_a_refused_form_creates_nothing(as_user, manager, release, field, value):
    form = {
        "list": "tie",
        "scope": "whole",
        "ratings": 2,
        "like": Campaign.objects.get().pk,
        "name": "Ties",
        field: value,
    }
    answer = as_user(manager).post(address(release, "release-attention-send"), form)
    assert answer.status_code == 400
    assert "No campaign was created" in answer.content.decode()
    assert (ResponseList.objects.count(), Campaign.objects.count()) == (0, 1)


def test_the_service_refuses_responses_that_are_not_on_the_list(release, manager):
    campaign, unlisted = Campaign.objects.get(), response_named(release, "Hm.")
    arguments = {"release": release, "which": "tie", "like": campaign, "ratings": 1, "name": "x", "by": manager}
    with pytest.raises(AnnotationError, match="is not on the list “Tie at the top” \\(1 in all are not"):
        references_rate_again(**arguments, responses=[unlisted.pk])
    with pytest.raises(AnnotationError, match="accepted: no-positive, tie, few"):
        references_rate_again(**{**arguments, "which": "odd"})
    with pytest.raises(AnnotationError, match="No reference is chosen"):
        references_rate_again(**arguments, responses=[])
    assert not ResponseList.objects.exists()


def test_a_launched_campaign_is_offered_to_its_set_in_one_click(as_user, manager, viewer, release):
    """It is offered on the campaign's page and on the set's until it is added; the log names who added it."""
    arguments = {"release": release, "which": "tie", "ratings": 2, "name": "Again", "by": manager}
    campaign = references_rate_again(like=release.reference_set.campaigns.earliest("pk"), **arguments)
    project, reference_set = release.reference_set.project, release.reference_set
    pages = [
        reverse("annotation:campaign-detail", args=[project.slug, campaign.pk]),
        reverse("annotation:reference-set-detail", args=[project.slug, reference_set.slug]),
    ]
    offer, client = f"Add it to {reference_set.name}", as_user(manager)
    assert all(offer not in client.get(page).content.decode() for page in pages)
    campaign_launch(campaign=campaign, by=manager)
    assert all(offer in client.get(page).content.decode() for page in pages)
    assert all(offer not in as_user(viewer).get(page).content.decode() for page in pages)
    client.post(
        reverse("annotation:reference-set-add-campaign", args=[project.slug, reference_set.slug]),
        {"campaign": campaign.pk},
    )
    assert campaign in reference_set.campaigns.all()
    entry = AuditEntry.objects.get(verb="reference_set.add_campaign")
    assert (entry.actor, entry.data["campaign"]) == (manager, campaign.name)
    assert all(offer not in client.get(page).content.decode() for page in pages)


def test_a_list_with_a_false_origin_is_offered_to_no_set(release, manager):
    arguments = {"release": release, "which": "tie", "ratings": 2, "name": "Again", "by": manager}
    campaign = references_rate_again(like=release.reference_set.campaigns.earliest("pk"), **arguments)
    campaign_launch(campaign=campaign, by=manager)
    for origin in ({}, {"release": 3}, {"release": "replies/v1", "content_hash": "other"}, {"release": "gone/v1"}):
        campaign.response_list.origin = origin
        campaign.response_list.save()
        assert set_to_join(campaign) is None
        assert campaigns_to_join(release.reference_set) == []
