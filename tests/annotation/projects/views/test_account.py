"""The page of a person's own token."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.authtoken.models import Token

from annotation.models import User

AsUser = Callable[[User], Client]


def test_a_user_creates_replaces_and_revokes_their_token(manager: User, as_user: AsUser) -> None:
    client, page = as_user(manager), reverse("annotation:account-token")
    assert "You have no token yet" in client.get(page).content.decode()

    client.post(reverse("annotation:account-token-rotate"))
    first = Token.objects.get(user=manager).key
    shown = client.get(page)
    assert first in shown.content.decode()
    assert "no-store" in shown["Cache-Control"]

    client.post(reverse("annotation:account-token-rotate"))
    assert Token.objects.get(user=manager).key != first

    client.post(reverse("annotation:account-token-revoke"))
    assert not Token.objects.filter(user=manager).exists()


def test_a_user_cannot_see_or_revoke_the_token_of_another(manager: User, viewer: User, as_user: AsUser) -> None:
    key = Token.objects.create(user=manager).key
    assert key not in as_user(viewer).get(reverse("annotation:account-token")).content.decode()
    as_user(viewer).post(reverse("annotation:account-token-revoke"))
    assert Token.objects.get(user=manager).key == key


@pytest.mark.parametrize("name", ["account-token", "account-token-rotate", "account-token-revoke"])
def test_anonymous_users_are_redirected_to_login(name: str, client: Client, db: None) -> None:
    answer = client.get(reverse(f"annotation:{name}"))
    assert answer.status_code == 302
    assert answer.url.startswith(reverse("login"))


@pytest.mark.parametrize("name", ["account-token-rotate", "account-token-revoke"])
def test_it_rejects_get(name: str, manager: User, as_user: AsUser) -> None:
    assert as_user(manager).get(reverse(f"annotation:{name}")).status_code == 405
