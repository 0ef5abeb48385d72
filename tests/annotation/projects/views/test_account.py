"""The page of a person's own tokens."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import ApiToken, User
from annotation.projects.services.api_tokens import api_token_create

AsUser = Callable[[User], Client]
PAGE = "/account/tokens/"
REVOKE = "annotation:account-token-revoke"


def test_a_user_makes_several_tokens_each_shown_once_and_revokes_one(manager: User, as_user: AsUser) -> None:
    client = as_user(manager)
    assert "You have no token yet" in client.get(PAGE).text

    made = client.post(PAGE, {"name": "Notebook", "days": 30})
    assert "no-store" in made["Cache-Control"]
    token = re.findall(r'<code id="token">(assay_[^<]+)</code>', made.text)[0]
    client.post(PAGE, {"name": "Nightly import", "days": 0})
    nightly, notebook = ApiToken.objects.filter(user=manager)
    assert token not in client.get(PAGE).text
    assert token not in str(ApiToken.objects.filter(user=manager).values())
    assert (notebook.ending, nightly.expires_at) == (token[-4:], None)
    assert timedelta(days=29) < notebook.expires_at - timezone.now() <= timedelta(days=30)

    assert client.get("/api/v1/projects/", headers={"Authorization": f"Token {token}"}).status_code == 200
    client.post(reverse(REVOKE, args=[notebook.pk]))
    assert Client().get("/api/v1/projects/", headers={"Authorization": f"Token {token}"}).status_code == 401
    assert [each.name for each in manager.api_tokens.live()] == ["Nightly import"]
    shown = client.get(PAGE).text
    assert "or your password changes" in shown
    assert shown.index("Nightly import") < shown.index("Ended") < shown.index("Notebook")
    assert "has ended already" in client.post(reverse(REVOKE, args=[notebook.pk]), follow=True).text


def test_a_form_that_is_sent_twice_makes_one_token(manager: User, as_user: AsUser) -> None:
    client = as_user(manager)
    answers = [client.post(PAGE, {"name": "Notebook", "days": 30}).text for _ in range(2)]
    assert ["You have a token with this name" in text for text in answers] == [False, True]
    assert manager.api_tokens.count() == 1


def test_a_user_cannot_see_or_revoke_the_token_of_another(manager: User, viewer: User, as_user: AsUser) -> None:
    row = api_token_create(user=manager, name="Nightly")[0]
    assert "Nightly" not in as_user(viewer).get(PAGE).text
    as_user(viewer).post(reverse(REVOKE, args=[row.pk]))
    row.refresh_from_db()
    assert row.revoked_at is None


@pytest.mark.parametrize("address", [PAGE, reverse(REVOKE, args=[1])])
def test_anonymous_users_are_redirected_to_login(address: str, client: Client, db: None) -> None:
    answer = client.post(address)
    assert answer.status_code == 302
    assert answer.url.startswith(reverse("login"))


def test_to_revoke_it_rejects_get(manager: User, as_user: AsUser) -> None:
    assert as_user(manager).get(reverse(REVOKE, args=[1])).status_code == 405
