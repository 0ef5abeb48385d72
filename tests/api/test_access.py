"""Every route of the router, for every kind of caller: a new endpoint is tested by being registered."""

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, reverse
from rest_framework.pagination import Cursor
from rest_framework.test import APIClient

from annotation.core.pagination import Pages
from config.api import router, urlpatterns
from tests.api.conftest import World

Api = Callable[..., APIClient]

OPERATIONS = [
    pytest.param(route, method, id=f"{method} {route.name}")
    for route in router.urls
    for method in sorted(route.callback.actions)
]
READS = [operation for operation in OPERATIONS if operation.values[1] == "get"]
WRITES = [operation for operation in OPERATIONS if operation.values[1] != "get"]
LISTS = [operation for operation in READS if operation.values[0].callback.actions["get"] == "list"]
# What owners alone may read.
OWNERS_READ = {"invitation-list", "invitation-detail", "removed-dataset-removal", "removed-campaign-removal"}
OWNERS_READ |= {"whole-project-export"}
# What only the user who made it finds.
OWN = {"project-import-list", "project-import-detail"}
# What viewers may send: nothing is stored.
VIEWERS_SEND = {"scored-text-list"}
# The list of projects is every user's own, and so is a new example.
BELONGS_TO_NO_PROJECT = {("project-list", "get"), ("project-list", "post"), ("example-project-list", "post")}
# Imports of projects are each user's own.
BELONGS_TO_NO_PROJECT |= {("project-import-list", "get"), ("project-import-list", "post")}
BELONGS_TO_NO_PROJECT |= {("project-import-detail", "get"), ("project-import-cancel", "post")}


def address(route: URLPattern, world: World) -> str:
    return reverse(f"api:{route.name}", kwargs={name: world.names[name] for name in route.pattern.converters})


def is_inside_a_project(route: URLPattern, method: str) -> bool:
    return (route.name, method) not in BELONGS_TO_NO_PROJECT


def reader(route: URLPattern) -> str:
    return "owner" if route.name in OWNERS_READ | OWN else "manager"


def test_only_the_token_is_served_outside_the_router() -> None:
    assert [route.name for route in urlpatterns if route not in router.urls] == ["token"]


@pytest.mark.parametrize(("route", "method"), OPERATIONS)
def test_requests_without_a_token_get_401(route: URLPattern, method: str, world: World, api: Api) -> None:
    answer = getattr(api(), method)(address(route, world))
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Token"


@pytest.mark.parametrize(
    ("route", "method"), [operation for operation in OPERATIONS if is_inside_a_project(*operation.values)]
)
def test_outsiders_get_404(route: URLPattern, method: str, world: World, api: Api) -> None:
    answer = getattr(api(world.people["outsider"]), method)(address(route, world), {}, format="json")
    assert answer.status_code == 404


@pytest.mark.parametrize(("route", "method"), READS)
def test_a_viewer_may_read(route: URLPattern, method: str, world: World, api: Api) -> None:
    answer = api(world.people["viewer"]).get(address(route, world))
    if route.name == "project-import-detail":
        assert answer.status_code == 404
        return
    assert answer.status_code == (403 if route.name in OWNERS_READ else 200)


@pytest.mark.parametrize(
    ("route", "method"),
    [
        operation
        for operation in WRITES
        if is_inside_a_project(*operation.values) and operation.values[0].name not in VIEWERS_SEND
    ],
)
def test_a_viewer_may_not_write(route: URLPattern, method: str, world: World, api: Api) -> None:
    answer = getattr(api(world.people["viewer"]), method)(address(route, world), {}, format="json")
    assert answer.status_code == 403
    assert "role" in answer.json()["detail"]


@pytest.mark.parametrize(("route", "method"), LISTS)
def test_a_longer_page_takes_no_more_queries(route: URLPattern, method: str, world: World, api: Api) -> None:
    client, where = api(world.people[reader(route)]), address(route, world)
    with CaptureQueriesContext(connection) as short:
        first = client.get(where, {"page_size": 1}).json()
    with CaptureQueriesContext(connection) as full_queries:
        everything = client.get(where).json()
    assert len(first["results"]) == 1
    assert len(everything["results"]) > 1
    assert len(full_queries) <= len(short) <= 13  # one of them notes the use of the token


@pytest.mark.parametrize(("route", "method"), LISTS)
def test_single_row_pages_add_up_to_the_full_list(route: URLPattern, method: str, world: World, api: Api) -> None:
    client, where = api(world.people[reader(route)]), address(route, world)
    full_list = client.get(where).json()["results"]
    pages, following = [], f"{where}?page_size=1"
    while following and len(pages) <= len(full_list):
        page = client.get(following).json()
        pages += page["results"]
        following = page["next"]
    assert pages == full_list


@pytest.mark.parametrize(("route", "method"), LISTS)
def test_a_cursor_of_another_list_or_an_invented_one_names_no_page(
    route: URLPattern, method: str, world: World, api: Api
) -> None:
    client = api(world.people[reader(route)])
    page, address_of_other = Pages(), "/api/v1/another/"
    page.base_url, page.address = address_of_other, address_of_other
    foreign = parse_qs(urlsplit(page.encode_cursor(Cursor(0, False, "zebra"))).query)["cursor"][0]
    for cursor in (foreign, "cD16ZWJyYQ==", "zebra", ""):
        answer = client.get(address(route, world), {"cursor": cursor})
        assert (answer.status_code, "not of this list" in answer.json()["detail"]) == (404, True)


@pytest.mark.parametrize(("route", "method"), READS)
def test_options_is_answered_and_unknown_methods_get_405_with_a_detail(
    route: URLPattern, method: str, world: World, api: Api
) -> None:
    client, where = api(world.people["owner"]), address(route, world)
    assert client.options(where).status_code == 200
    answer = client.generic("TRACE", where)
    assert (answer.status_code, list(answer.json())) == (405, ["detail"])
