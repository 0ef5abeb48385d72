"""Shared data for the tests of a module, and authenticated API clients."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import pytest
from django.db import transaction
from rest_framework.test import APIClient

from annotation.models import User
from annotation.projects.services.api_tokens import api_token_create
from tests.api.world import build_world
from tests.snapshots import recalled_world


class World(NamedTuple):
    people: Mapping[str, User]
    names: Mapping[str, Any]


@pytest.fixture(scope="module")
def built_world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    """Build the data once per process, and copy it for each module in a transaction around its tests."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield World(*recalled_world("api", build_world))
        transaction.set_rollback(True)


@pytest.fixture
def world(built_world: World, db: None) -> World:
    return built_world


@pytest.fixture
def api(db: None) -> Callable[[User | None], APIClient]:
    """Return a function that makes a client with a user's token, or without one."""

    def client_of(user: User | None = None) -> APIClient:
        client = APIClient()
        if user is not None:
            client.credentials(HTTP_AUTHORIZATION=f"Token {api_token_create(user=user, name='Tests')[1]}")
        return client

    return client_of
