"""Dialogues by the API: the scope of a criterion, and ratings with their turns."""

from collections.abc import Callable

from rest_framework.test import APIClient

from annotation.models import Campaign, Project
from annotation.rating.services.handout import unit_request
from annotation.rating.services.ratings import ratings_submit
from tests.annotation.worlds.campaigns import join
from tests.annotation.worlds.dialogues import make_dialogues
from tests.api.conftest import World

CAMPAIGNS = "/api/v1/projects/lab/campaigns/"
DRAFT = {
    "name": "Bookings",
    "target": "outputs",
    "ratings_per_unit": 1,
    "criteria": [
        {"name": "sense", "question": "Does this turn make sense?", "scope": "turn"},
        {"name": "overall", "question": "How good is the dialogue?"},
    ],
}


def test_turns_are_asked_about_and_their_ratings_listed(world: World, api: Callable[..., APIClient]) -> None:
    client = api(world.people["manager"])
    dataset = make_dialogues(Project.objects.get(slug="lab"))
    refused = client.post(CAMPAIGNS, {**DRAFT, "dataset": "chats"}, format="json")
    assert refused.status_code == 400
    assert "the data set 'Chats' has no dialogues" in str(refused.json()["fields"])
    created = client.post(CAMPAIGNS, {**DRAFT, "dataset": dataset.slug}, format="json")
    assert [criterion["scope"] for criterion in created.json()["criteria"]] == ["turn", "whole"]
    campaign_id = client.post(f"{created['Location']}launch/").json()["id"]
    campaign = Campaign.objects.get(pk=campaign_id)
    rater = join(campaign)
    shown = unit_request(campaign=campaign, rater=rater)
    assert shown is not None
    values = {(0, "sense", 1): 2, (0, "sense", 3): 5, (0, "overall"): 4}
    ratings_submit(token=shown.token, rater=rater, values=values)
    listed = client.get(f"{CAMPAIGNS}{campaign_id}/ratings/").json()["results"]
    assert {(row["criterion"], row["turn"], row["value"]) for row in listed} == {
        ("sense", 1, 2.0),
        ("sense", 3, 5.0),
        ("overall", None, 4.0),
    }
    responses = client.get(f"/api/v1/projects/lab/datasets/{dataset.slug}/responses/").json()["results"]
    assert all([turn["speaker"] for turn in row["turns"]] == ["user", "system"] * 2 for row in responses)
    results = client.get(f"{CAMPAIGNS}{campaign_id}/results/").json()
    means = {each["criterion"]: each["systems"][0]["estimate"] for each in results["criteria"]}
    assert means == {"sense": 3.5, "overall": 4.0}
