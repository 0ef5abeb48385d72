from collections.abc import Callable

import pytest
from rest_framework.test import APIClient

from annotation.campaigns.fields.kinds import Object
from annotation.campaigns.fields.table import CAMPAIGN
from annotation.models import Slot
from tests.annotation.worlds.field_examples import example
from tests.api.conftest import World

Api = Callable[..., APIClient]
CAMPAIGNS = "/api/v1/projects/lab/campaigns/"
NOT_HERE = ("split", "reference_kinds")  # of references, or of a data set with splits
DRAFT = {
    "dataset": "chats",
    "name": "Crowd",
    "target": "chosen",
    "systems": ["Beta", "Alpha"],
    "ratings_per_unit": 2,
    "criteria": [{"name": "quality", "question": "How good is it?", "labels": ["bad", "poor", "fair", "good", "best"]}],
}


def test_a_campaign_is_drafted_changed_launched_paused_resumed_and_closed(world: World, api: Api) -> None:
    client = api(world.people["manager"])
    created = client.post(CAMPAIGNS, DRAFT, format="json")
    assert (created.status_code, created.json()["state"], created.json()["rater_link"]) == (201, "draft", None)
    where = created["Location"]

    change = {**DRAFT, "ratings_per_unit": 3, "draft_version": created.json()["draft_version"]}
    changed = client.put(where, change, format="json").json()
    assert (changed["ratings_per_unit"], sorted(changed["systems"])) == (3, ["Alpha", "Beta"])
    assert changed["draft_version"] == 2

    launched = client.post(f"{where}launch/").json()
    # Four items, one output of each of two systems: eight units of three slots.
    assert (launched["state"], launched["n_units"], launched["n_wanted"]) == ("running", 8, 24)
    assert Slot.objects.filter(campaign=launched["id"]).count() == 24
    assert client.get(launched["rater_link"]).status_code == 200
    monitor = client.get(f"{where}monitor/").json()
    assert (monitor["slots"], monitor["slots_done"], monitor["criteria"][0]["alpha"]) == (24, 0, None)
    assert monitor["criteria"][0]["alpha_reason"]

    states = [client.post(f"{where}{verb}/").json()["state"] for verb in ("pause", "resume", "close")]
    assert states == ["paused", "running", "closed"]


def test_a_launched_campaign_can_be_neither_changed_nor_launched_again(world: World, api: Api) -> None:
    client = api(world.people["manager"])
    where = client.post(CAMPAIGNS, DRAFT, format="json")["Location"]
    client.post(f"{where}launch/")
    change = {**DRAFT, "draft_version": 1}
    for answer in (client.put(where, change, format="json"), client.post(f"{where}launch/")):
        assert answer.status_code == 400
        assert "running" in answer.json()["detail"]


def test_a_draft_that_was_changed_since_it_was_read_is_not_replaced(world: World, api: Api) -> None:
    first, second = api(world.people["owner"]), api(world.people["manager"])
    where = second.post(CAMPAIGNS, DRAFT, format="json")["Location"]
    read = second.get(where).json()["draft_version"]
    first.put(where, {**DRAFT, "ratings_per_unit": 3, "draft_version": read}, format="json")

    overtaken = second.put(where, {**DRAFT, "ratings_per_unit": 4, "draft_version": read}, format="json")
    assert overtaken.status_code == 409
    detail = overtaken.json()["detail"]
    assert "The draft has version 2; yours is based on version 1." in detail
    assert f"{world.people['owner']} changed it last: Changed the draft “Crowd”: ratings per unit." in detail
    unaware = second.put(where, DRAFT, format="json")
    assert (unaware.status_code, list(unaware.json()["fields"])) == (400, ["draft_version"])
    again = second.get(where).json()
    assert again["ratings_per_unit"] == 3
    last = {**DRAFT, "ratings_per_unit": 4, "draft_version": again["draft_version"]}
    assert second.put(where, last, format="json").json()["ratings_per_unit"] == 4


def test_the_rater_link_is_for_managers(world: World, api: Api) -> None:
    live = next(row for row in api(world.people["manager"]).get(CAMPAIGNS).json()["results"] if row["name"] == "Live")
    assert live["rater_link"]
    assert api(world.people["viewer"]).get(f"{CAMPAIGNS}{live['id']}/").json()["rater_link"] is None


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"systems": ["Delta"]}, "systems"),
        ({"dataset": "more"}, "dataset"),
        ({"criteria": []}, "criteria"),
        ({"criteria": [{"name": "q", "question": "?", "scale_min": 5, "scale_max": 1}]}, "criteria.0.scale_max"),
        ({"criteria": [{"name": "q", "question": "?", "low": 5}]}, "criteria.0.low"),
        ({"ratings_per_unit": 0}, "ratings_per_unit"),
        ({"name": "References"}, "name"),
        ({"k": 5}, "k"),
    ],
)
def test_a_wrong_draft_is_refused_by_field(world: World, api: Api, change: dict, field: str) -> None:
    answer = api(world.people["manager"]).post(CAMPAIGNS, {**DRAFT, **change}, format="json")
    assert answer.status_code == 400
    assert list(answer.json()["fields"]) == [field]


def test_the_log_can_be_filtered_by_rater_and_item(world: World, api: Api) -> None:
    client, where = api(world.people["viewer"]), f"{CAMPAIGNS}{world.names['imported_campaign_pk']}/ratings/"
    everything = client.get(where).json()["results"]
    rater = everything[0]["rater"]
    narrowed = client.get(where, {"rater": rater, "item": "i2"}).json()["results"]
    assert narrowed == [row for row in everything if (row["rater"], row["item"]) == (rater, "i2")]
    assert len(narrowed) == 2  # two references an item


def test_agreement_comes_with_its_intervals(world: World, api: Api) -> None:
    where = f"{CAMPAIGNS}{world.names['imported_campaign_pk']}/monitor/"
    (criterion,) = api(world.people["viewer"]).get(where).json()["criteria"]
    for name in ("icc_1", "icc_k"):
        assert criterion[f"{name}_low"] <= criterion[name] <= criterion[f"{name}_high"]
    assert (criterion["kappa_low"] is None) == bool(criterion["kappa_reason"])
    assert criterion["cannot_judge"] == 0


def test_a_draft_holds_every_field_of_a_design(world: World, api: Api) -> None:
    client = api(world.people["manager"])
    chosen = {
        **DRAFT,
        "presentation": "pair",
        "pairs": [["Alpha", "Beta"]],
        "comment": "optional",
        "cannot_judge_reasons": ["Not English"],
        "lease_seconds": 500,
        "lease_min_seconds": 60,
        "lease_max_seconds": 900,
        "min_units_per_rater": 2,
        "max_units_per_rater": 3,
        "payment_per_unit": "0.1250",
        "payment_currency": "EUR",
        "quality": {"every": 10, "mix": {"repeat": 1}},
        "criteria": [{"name": "better", "question": "Which?", "kind": "preference", "scale_max": 2, "ties": True}],
    }
    others = {
        name: field.exported_value(example(field))
        for name, field in CAMPAIGN.items()
        if not field.related and not isinstance(field, Object) and name not in (*chosen, *NOT_HERE)
    }
    full = {**others, **chosen}
    created = client.post(CAMPAIGNS, full, format="json")
    assert created.status_code == 201
    shown = created.json()
    assert (shown["quality"]["every"], shown["quality"]["mix"]) == (10, {"repeat": 1})
    plain = {name: value for name, value in full.items() if name not in ("criteria", "systems", "quality")}
    assert {name: shown[name] for name in plain} == plain
    assert (shown["criteria"][0]["scale_min"], shown["criteria"][0]["ties"]) == (-2, True)
    viewed = api(world.people["viewer"]).get(created["Location"]).json()
    assert (viewed["quality"], viewed["qualification"], viewed["completion_code"]) == (None, None, None)
    refused = client.post(CAMPAIGNS, {**full, "name": "No", "quality": {"every": 1}}, format="json").json()["fields"]
    assert set(refused) == {"quality.every", "quality.mix"}


def test_a_campaign_is_started_cloned_exported_and_imported(world: World, api: Api) -> None:
    client = api(world.people["manager"])
    started = client.post(f"{CAMPAIGNS}start/", {"dataset": "chats", "template": "delta-bleu-systems"}, format="json")
    assert (started.status_code, started.json()["presentation"]) == (201, "pair")
    clone = client.post(f"{started['Location']}clone/", {"name": "Twin"}, format="json")
    assert (clone.status_code, clone.json()["name"], clone.json()["state"]) == (201, "Twin", "draft")
    file = client.get(f"{started['Location']}export/").json()
    assert (file["assay_campaign"], file["presentation"]) == (1, "pair")
    body = {"dataset": "more-chats", "campaign": file, "name": "There"}
    imported = client.post(f"{CAMPAIGNS}import/", body, format="json")
    assert (imported.status_code, imported.json()["dataset"]) == (201, "more-chats")
    refused = client.post(f"{CAMPAIGNS}import/", {**body, "campaign": {"assay_campaign": 2}}, format="json")
    assert list(refused.json()["fields"]) == ["assay_campaign"]
    assert api(world.people["viewer"]).post(f"{started['Location']}clone/").status_code == 403
