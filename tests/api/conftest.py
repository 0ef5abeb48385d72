"""The world that all tests of one module share, and signed-in clients of the API."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import pytest
from django.db import transaction
from rest_framework.test import APIClient

from annotation.models import User
from annotation.projects.services.api_tokens import api_token_get_or_create
from tests.api.world import build_world
from tests.snapshots import recalled_world


class World(NamedTuple):
    people: Mapping[str, User]
    names: Mapping[str, Any]


@pytest.fixture(scope="module")
def built_world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    """Built once a process, copied in for each module, in a transaction that its tests' own transactions nest in."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield World(*recalled_world("api", build_world))
        transaction.set_rollback(True)


@pytest.fixture
def world(built_world: World, db: None) -> World:
    return built_world


@pytest.fixture
def api(db: None) -> Callable[[User | None], APIClient]:
    """A client with somebody's token, or with none."""

    def client_of(user: User | None = None) -> APIClient:
        client = APIClient()
        if user is not None:
            client.credentials(HTTP_AUTHORIZATION=f"Token {api_token_get_or_create(user=user).key}")
        return client

    return client_of
