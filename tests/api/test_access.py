"""Every route of the router, for every kind of caller: a new endpoint is tested by being registered."""

from collections.abc import Callable, Sequence
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, reverse
from rest_framework.pagination import Cursor
from rest_framework.test import APIClient

from annotation.core.pagination import Pages
from config.api import router, urlpatterns
from tests.api.conftest import World

Api = Callable[..., APIClient]

Operation = tuple[URLPattern, str]
Reader = Callable[[URLPattern], APIClient]

OPERATIONS = [(route, method) for route in router.urls for method in sorted(route.callback.actions)]
READS = [(route, method) for route, method in OPERATIONS if method == "get"]
WRITES = [(route, method) for route, method in OPERATIONS if method != "get"]
LISTS = [(route, method) for route, method in READS if route.callback.actions["get"] == "list"]
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


def is_inside_a_project(operation: Operation) -> bool:
    route, method = operation
    return (route.name, method) not in BELONGS_TO_NO_PROJECT


def wrong(operations: Sequence[Operation], check: Callable[[URLPattern, str], None]) -> list[str]:
    """Return the operations that fail the check, each with how, after a request of which nothing is left."""
    failures = []
    assert operations
    for route, method in operations:
        point = transaction.savepoint()
        try:
            check(route, method)
        except Exception as error:  # noqa: BLE001 - of any route; the others are checked, too
            failures.append(f"{method} {route.name}: {error!r}")
        transaction.savepoint_rollback(point)
    return failures


def test_only_the_token_is_served_outside_the_router() -> None:
    assert [route.name for route in urlpatterns if route not in router.urls] == ["token"]


def test_requests_without_a_token_get_401(world: World, api: Api) -> None:
    client = api()

    def check(route: URLPattern, method: str) -> None:
        answer = getattr(client, method)(address(route, world))
        assert answer.status_code == 401
        assert answer["WWW-Authenticate"] == "Token"

    assert wrong(OPERATIONS, check) == []


def test_outsiders_get_404(world: World, api: Api) -> None:
    client = api(world.people["outsider"])

    def check(route: URLPattern, method: str) -> None:
        answer = getattr(client, method)(address(route, world), {}, format="json")
        assert answer.status_code == 404

    assert wrong(list(filter(is_inside_a_project, OPERATIONS)), check) == []


def test_a_viewer_may_read(world: World, api: Api) -> None:
    client = api(world.people["viewer"])

    def check(route: URLPattern, method: str) -> None:
        answer = client.get(address(route, world))
        if route.name == "project-import-detail":
            assert answer.status_code == 404
            return
        assert answer.status_code == (403 if route.name in OWNERS_READ else 200)

    assert wrong(READS, check) == []


def test_a_viewer_may_not_write(world: World, api: Api) -> None:
    client = api(world.people["viewer"])
    writes = [each for each in WRITES if is_inside_a_project(each) and each[0].name not in VIEWERS_SEND]

    def check(route: URLPattern, method: str) -> None:
        answer = getattr(client, method)(address(route, world), {}, format="json")
        assert answer.status_code == 403
        assert "role" in answer.json()["detail"]

    assert wrong(writes, check) == []


@pytest.fixture
def reader(world: World, api: Api) -> Callable[[URLPattern], APIClient]:
    """Return a function that gives the client of one who may read all of a list."""
    clients = {name: api(world.people[name]) for name in ("owner", "manager")}
    return lambda route: clients["owner" if route.name in OWNERS_READ | OWN else "manager"]


def test_a_longer_page_takes_no_more_queries(world: World, reader: Reader) -> None:
    def check(route: URLPattern, method: str) -> None:
        client, where = reader(route), address(route, world)
        with CaptureQueriesContext(connection) as short:
            first = client.get(where, {"page_size": 1}).json()
        with CaptureQueriesContext(connection) as full_queries:
            everything = client.get(where).json()
        assert len(first["results"]) == 1
        assert len(everything["results"]) > 1
        assert len(full_queries) <= len(short) <= 13  # one of them notes the use of the token

    assert wrong(LISTS, check) == []


def test_single_row_pages_add_up_to_the_full_list(world: World, reader: Reader) -> None:
    def check(route: URLPattern, method: str) -> None:
        client, where = reader(route), address(route, world)
        full_list = client.get(where).json()["results"]
        pages, following = [], f"{where}?page_size=1"
        while following and len(pages) <= len(full_list):
            page = client.get(following).json()
            pages += page["results"]
            following = page["next"]
        assert pages == full_list

    assert wrong(LISTS, check) == []


def test_a_cursor_of_another_list_or_an_invented_one_names_no_page(world: World, reader: Reader) -> None:
    page, address_of_other = Pages(), "/api/v1/another/"
    page.base_url, page.address = address_of_other, address_of_other
    foreign = parse_qs(urlsplit(page.encode_cursor(Cursor(0, False, "zebra"))).query)["cursor"][0]

    def check(route: URLPattern, method: str) -> None:
        for cursor in (foreign, "cD16ZWJyYQ==", "zebra", ""):
            answer = reader(route).get(address(route, world), {"cursor": cursor})
            assert (answer.status_code, "not of this list" in answer.json()["detail"]) == (404, True)

    assert wrong(LISTS, check) == []


def test_options_is_answered_and_unknown_methods_get_405_with_a_detail(world: World, api: Api) -> None:
    client = api(world.people["owner"])

    def check(route: URLPattern, method: str) -> None:
        where = address(route, world)
        assert client.options(where).status_code == 200
        answer = client.generic("TRACE", where)
        assert (answer.status_code, list(answer.json())) == (405, ["detail"])

    assert wrong(READS, check) == []


def test_every_route_that_fails_is_named_with_how(world: World) -> None:
    def check(route: URLPattern, method: str) -> None:
        assert route.name != LISTS[1][0].name, "as it must not be"

    failures = wrong(LISTS, check)

    assert len(failures) == 1
    assert failures[0].startswith(f"get {LISTS[1][0].name}: AssertionError(")
    assert "as it must not be" in failures[0]
