"""Every route of the router, for every kind of caller: a new endpoint is tested by being registered."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, reverse
from rest_framework.test import APIClient

from config.api import router, urlpatterns
from tests.api.conftest import World

Api = Callable[..., APIClient]

OPERATIONS = [
    pytest.param(route, method, id=f"{method} {route.name}")
    for route in router.urls
    for method in sorted(route.callback.actions)
]
READS = [each for each in OPERATIONS if each.values[1] == "get"]
WRITES = [each for each in OPERATIONS if each.values[1] != "get"]
LISTS = [each for each in READS if each.values[0].callback.actions["get"] == "list"]
# A list of projects shows an outsider their own.
BELONGS_TO_NO_PROJECT = {("project-list", "get"), ("project-list", "post")}


def address(route: URLPattern, world: World) -> str:
    return reverse(f"api:{route.name}", kwargs={name: world.names[name] for name in route.pattern.converters})


def is_inside_a_project(route: URLPattern, method: str) -> bool:
    return (route.name, method) not in BELONGS_TO_NO_PROJECT


def test_only_the_token_is_served_outside_the_router() -> None:
    assert [route.name for route in urlpatterns if route not in router.urls] == ["token"]


@pytest.mark.parametrize(("route", "method"), OPERATIONS)
def test_without_a_token_it_answers_401(route: URLPattern, method: str, world: World, api: Api) -> None:
    answer = getattr(api(), method)(address(route, world))
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Token"


@pytest.mark.parametrize(("route", "method"), [each for each in OPERATIONS if is_inside_a_project(*each.values)])
def test_to_an_outsider_it_does_not_exist(route: URLPattern, method: str, world: World, api: Api) -> None:
    answer = getattr(api(world.people["outsider"]), method)(address(route, world), {}, format="json")
    assert answer.status_code == 404


@pytest.mark.parametrize(("route", "method"), READS)
def test_a_viewer_may_read(route: URLPattern, method: str, world: World, api: Api) -> None:
    answer = api(world.people["viewer"]).get(address(route, world))
    assert answer.status_code == 200, answer.content


@pytest.mark.parametrize(("route", "method"), [each for each in WRITES if is_inside_a_project(*each.values)])
def test_a_viewer_may_not_write(route: URLPattern, method: str, world: World, api: Api) -> None:
    answer = getattr(api(world.people["viewer"]), method)(address(route, world), {}, format="json")
    assert answer.status_code == 403
    assert "role" in answer.json()["detail"]


@pytest.mark.parametrize(("route", "method"), LISTS)
def test_a_longer_page_costs_no_more_queries(route: URLPattern, method: str, world: World, api: Api) -> None:
    client, where = api(world.people["manager"]), address(route, world)
    with CaptureQueriesContext(connection) as short:
        first = client.get(where, {"page_size": 1}).json()
    with CaptureQueriesContext(connection) as whole:
        everything = client.get(where).json()
    assert len(first["results"]) == 1
    assert len(everything["results"]) > 1
    assert len(whole) <= len(short) <= 12


@pytest.mark.parametrize(("route", "method"), LISTS)
def test_pages_one_by_one_are_the_whole_list(route: URLPattern, method: str, world: World, api: Api) -> None:
    client, where = api(world.people["manager"]), address(route, world)
    whole = client.get(where).json()["results"]
    pages, following = [], f"{where}?page_size=1"
    while following and len(pages) <= len(whole):
        page = client.get(following).json()
        pages += page["results"]
        following = page["next"]
    assert pages == whole


@pytest.mark.parametrize(("route", "method"), READS)
def test_options_and_a_method_it_does_not_know_are_answered_in_words(
    route: URLPattern, method: str, world: World, api: Api
) -> None:
    client, where = api(world.people["owner"]), address(route, world)
    assert client.options(where).status_code == 200
    answer = client.generic("TRACE", where)
    assert (answer.status_code, list(answer.json())) == (405, ["detail"])
