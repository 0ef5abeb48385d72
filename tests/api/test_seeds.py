"""Lists of responses and selections of seeds, over the API."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from annotation.models import Campaign, Dataset, DatasetImport, Item, ResponseList, SeedSelecting, SeedSelection
from annotation.seeds.services.selecting import seeds_select_execute
from tests.annotation.worlds.rated import rate
from tests.api.conftest import World

Api = Callable[..., APIClient]
LAB = "/api/v1/projects/lab"


@pytest.fixture
def manager(world: World, api: Api) -> APIClient:
    return api(world.people["manager"])


@pytest.fixture
def dataset(world: World) -> Dataset:
    return Dataset.objects.get(slug=world.names["dataset_slug"])


@pytest.fixture
def selection(world: World) -> SeedSelection:
    return SeedSelection.objects.get(pk=world.names["selection_pk"])


def test_a_list_is_created_read_rated_and_then_protected(dataset: Dataset, manager: APIClient) -> None:
    first, second = Item.objects.get(dataset=dataset, external_id="i1").responses.order_by("pk")[:2]
    body = {
        "dataset": "chats",
        "name": "Again",
        "responses": [first.pk],
        "named": [{"item": "i1", "text_key": second.text_key}],
        "origin": {"why": "wide intervals"},
    }
    created = manager.post(f"{LAB}/response-lists/", body, format="json")
    shown = created.json()
    assert (created.status_code, shown["size"], shown["n_items"], shown["origin"]) == (
        201,
        2,
        1,
        {"why": "wide intervals"},
    )
    on_it = manager.get(f"{created['Location']}responses/").json()["results"]
    assert [row["id"] for row in on_it] == [first.pk, second.pk]

    rated = manager.post(f"{created['Location']}rate/", {"like": "Live", "ratings_per_unit": 3}, format="json")
    draft = rated.json()
    assert (rated.status_code, draft["state"], draft["target"], draft["response_list"]) == (
        201,
        "draft",
        "listed",
        shown["id"],
    )
    assert (draft["ratings_per_unit"], draft["criteria"][0]["question"]) == (3, "How good?")
    assert manager.post(f"{rated['Location']}launch/").json()["n_units"] == 2
    refused = manager.delete(created["Location"])
    assert (refused.status_code, refused.json()["detail"].split(";")[0]) == (400, "“Again” is rated in Again")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"dataset": "none"}, "dataset"),
        ({"responses": []}, "responses"),
        ({"responses": [10**12]}, "responses"),
        ({"named": [{"item": "i1", "text_key": "0" * 64}]}, "named"),
        ({"nam": "x"}, "nam"),
    ],
)
def test_invalid_lists_are_refused_at_their_field(
    dataset: Dataset, manager: APIClient, change: dict[str, Any], field: str
) -> None:
    body = {"dataset": "chats", "name": "Again", "responses": [dataset.items.first().responses.first().pk], **change}
    answer = manager.post(f"{LAB}/response-lists/", body, format="json")
    assert (answer.status_code, list(answer.json()["fields"])) == (400, [field])
    assert not ResponseList.objects.filter(name="Again").exists()


def test_an_unused_list_can_be_deleted(world: World, manager: APIClient) -> None:
    where = f"{LAB}/response-lists/{world.names['list_pk']}/"
    assert manager.delete(where).status_code == 204
    assert manager.get(where).status_code == 404


def test_a_campaign_can_rate_a_list(world: World, manager: APIClient) -> None:
    body = {
        "dataset": "chats",
        "name": "By hand",
        "target": "listed",
        "response_list": world.names["list_pk"],
        "criteria": [{"name": "quality", "question": "How good is it?"}],
    }
    created = manager.post(f"{LAB}/campaigns/", body, format="json")
    assert (created.status_code, created.json()["response_list"]) == (201, world.names["list_pk"])
    assert Campaign.objects.get(name="By hand").response_list_id == world.names["list_pk"]
    for change, field in (
        ({"response_list": 10**9}, "response_list"),
        ({"response_list": None}, "response_list"),
        ({"presentation": "pair"}, "presentation"),
    ):
        refused = manager.post(f"{LAB}/campaigns/", {**body, "name": "Not", **change}, format="json")
        assert (refused.status_code, list(refused.json()["fields"])) == (400, [field])


# --- Seeds ------------------------------------------------------------------------------------------------------------

RULES = {"dataset": "seeds", "campaigns": ["Seeds, rated"], "threshold": 4, "shares": {"dev": 0.5, "test": 0.5}}


def test_seeds_are_previewed_selected_again_and_removed(selection: SeedSelection, manager: APIClient) -> None:
    preview = manager.post(f"{LAB}/seed-selections/preview/", {**RULES, "threshold": 4.5}, format="json").json()
    assert (preview["candidates"], preview["rated"], preview["kept"], preview["splits"]) == (
        3,
        3,
        1,
        {"dev": 1, "test": 0},
    )
    assert [4.0, 2] in preview["kept_at"]
    once = manager.post(f"{LAB}/seed-selections/", RULES, format="json")
    assert (once.status_code, list(once.json()["fields"])) == (400, ["dataset"])
    response = manager.post(f"{LAB}/seed-selections/", {**RULES, "again": True}, format="json")
    assert (response.status_code, response["Location"]) == (202, response.json()["seed_selecting"])
    seeds_select_execute(selecting_id=SeedSelecting.objects.latest("pk").pk)
    job = manager.get(response["Location"]).json()
    new_selection = manager.get(job["selection"]).json()
    assert (job["state"], new_selection["n_members"], new_selection["report"]["splits"]) == (
        "done",
        2,
        {"dev": 1, "test": 1},
    )
    assert new_selection["id"] != selection.pk
    assert manager.delete(job["selection"]).status_code == 204
    assert not Item.objects.filter(dataset__slug="seeds").exclude(split="").exists()


def test_members_have_their_past_and_current_means(selection: SeedSelection, manager: APIClient) -> None:
    where = f"{LAB}/seed-selections/{selection.pk}/"
    drafted = manager.post(f"{where}rate/", {}, format="json").json()
    assert (drafted["state"], drafted["ratings_per_unit"], drafted["target"]) == ("draft", 2, "listed")
    manager.post(f"{LAB}/campaigns/{drafted['id']}/launch/")
    member = selection.members.get(item__external_id="s1")
    rate(Campaign.objects.get(pk=drafted["id"]), "bob", member.response, 3)
    rows = {row["item"]: row for row in manager.get(f"{where}members/").json()["results"]}
    means = {
        name: (row["rating_mean"], row["mean_now"], row["ratings_now"], row["fell_below"]) for name, row in rows.items()
    }
    assert means == {"s0": (5, 5, 1, False), "s1": (4, 3.5, 2, True)}
    assert manager.get(f"{where}members/", {"split": "test"}).json()["results"] == []
    held = manager.delete(where)
    assert (held.status_code, "the campaign “Seeds of Seeds”" in held.json()["detail"]) == (400, True)


def test_a_campaign_for_the_seeds_takes_the_name_that_is_sent(selection: SeedSelection, manager: APIClient) -> None:
    body = {"name": "Twice", "ratings_per_unit": 3}
    drafted = manager.post(f"{LAB}/seed-selections/{selection.pk}/rate/", body, format="json")
    assert (drafted.status_code, drafted.json()["name"], drafted.json()["ratings_per_unit"]) == (201, "Twice", 3)


def test_candidates_are_drawn_from_a_corpus(manager: APIClient) -> None:
    answer = manager.post(
        f"{LAB}/seed-samples/",
        {"corpus": "pool", "name": "Candidates", "n": 3, "hygiene": [{"step": "mask_urls"}]},
        format="json",
    )
    job = DatasetImport.objects.get(name="Candidates")
    assert (answer.status_code, answer["Location"].split("/")[-2]) == (201, str(job.pk))
    assert manager.get(answer.json()["dataset_import"]).json()["state"] == "queued"
    for change, field in (
        ({"corpus": "none"}, "corpus"),
        ({"n": 10**7}, "n"),
        ({"hygiene": [{"step": "x"}]}, "hygiene[0].step"),
    ):
        body = {"corpus": "pool", "name": "Others", "n": 3, **change}
        refused = manager.post(f"{LAB}/seed-samples/", body, format="json")
        assert (refused.status_code, list(refused.json()["fields"])) == (400, [field])
