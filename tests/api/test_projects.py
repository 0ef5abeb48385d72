from collections.abc import Callable

from rest_framework.test import APIClient

from annotation.models import User
from tests.api.conftest import World

Api = Callable[..., APIClient]


def test_the_creator_of_a_project_owns_it_and_can_change_it(manager: User, api: Api) -> None:
    client = api(manager)
    project = client.post("/api/v1/projects/", {"name": "Weather talk"}, format="json").json()
    assert (project["slug"], project["role"]) == ("weather-talk", "owner")
    changed = client.patch("/api/v1/projects/weather-talk/", {"description": "Rain."}, format="json").json()
    assert changed == {**project, "description": "Rain.", "version": changed["version"]}


def test_an_example_project_is_its_makers_own_and_its_draft_can_be_launched(manager: User, api: Api) -> None:
    client = api(manager)
    made = client.post("/api/v1/example-projects/", {"template": "rankme-pairs"}, format="json").json()
    assert made["project"] == "example-is-the-output-faithful-to-the-meaning"
    campaign = f"/api/v1/projects/{made['project']}/campaigns/{made['campaign']}/"
    assert client.get(campaign).json()["state"] == "draft"
    assert client.post(f"{campaign}launch/").json()["state"] == "running"
    assert list(client.post("/api/v1/example-projects/", {"template": "x"}, format="json").json()["fields"]) == [
        "template"
    ]


def test_users_see_each_of_their_projects_once_with_their_role(world: World, api: Api) -> None:
    rows = api(world.people["viewer"]).get("/api/v1/projects/").json()["results"]
    assert [(row["slug"], row["role"]) for row in rows] == [("lab", "viewer"), ("third-lab", "viewer")]


def test_an_owner_adds_changes_and_removes_members(world: World, api: Api) -> None:
    members = "/api/v1/projects/other-lab/members/"
    client = api(world.people["outsider"])
    assert client.post(members, {"username": "vera", "role": "viewer"}, format="json").status_code == 201
    assert client.patch(f"{members}vera/", {"role": "manager"}, format="json").json()["role"] == "manager"
    assert client.delete(f"{members}vera/").status_code == 204
    assert [row["username"] for row in client.get(members).json()["results"]] == ["otto"]


def test_a_project_keeps_an_owner_and_unknown_people_are_refused(world: World, api: Api) -> None:
    members = "/api/v1/projects/other-lab/members/"
    client = api(world.people["outsider"])
    assert "needs an owner" in client.delete(f"{members}otto/").json()["detail"]
    unknown = client.post(members, {"username": "nobody", "role": "viewer"}, format="json")
    assert list(unknown.json()["fields"]) == ["username"]
    assert client.patch(f"{members}otto/", {"role": "king"}, format="json").status_code == 400


def test_a_username_that_cannot_be_stored_is_refused(world: World, api: Api) -> None:
    assert api(world.people["outsider"]).get("/api/v1/projects/other-lab/members/%00/").status_code == 400


def test_a_manager_cannot_remove_members(world: World, api: Api) -> None:
    answer = api(world.people["manager"]).delete("/api/v1/projects/lab/members/vera/")
    assert answer.status_code == 403


def test_an_owner_makes_lists_and_revokes_invitations(world: World, api: Api) -> None:
    client, where = api(world.people["owner"]), "/api/v1/projects/lab/invitations/"
    made = client.post(where, {"role": "viewer", "most_uses": 2}, format="json")
    assert made.status_code == 201
    token = made.json()["link"].rstrip("/").rsplit("/", 1)[1]
    listed = client.get(made["Location"])
    assert token not in listed.content.decode()
    assert (listed.json()["closed"], listed.json()["most_uses"], listed.json()["uses"]) == ("", 2, [])
    assert client.delete(made["Location"]).status_code == 204
    assert client.get(made["Location"]).json()["closed"] == "was revoked"
    assert client.post(where, {"role": "king"}, format="json").status_code == 400
    assert client.post(where, {"role": "viewer", "days": 0}, format="json").status_code == 400
    assert api(world.people["manager"]).post(where, {"role": "viewer"}, format="json").status_code == 403
