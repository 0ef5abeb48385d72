from collections.abc import Callable
from datetime import datetime, timedelta
from importlib import import_module

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.models import ApiToken, User
from annotation.projects.services import api_tokens
from annotation.projects.services.api_tokens import api_token_create

Api = Callable[..., APIClient]
TOKEN = "/api/v1/token/"
PROJECTS = "/api/v1/projects/"


class Newer(MD5PasswordHasher):
    algorithm = "newer"


RIGHT = {"username": "max-manager", "password": "password"}


def signed_in(token: str) -> APIClient:
    return APIClient(HTTP_AUTHORIZATION=f"Token {token}")


def test_username_and_password_are_exchanged_for_a_token_of_the_account(manager: User, api: Api) -> None:
    first = api().post(TOKEN, {**RIGHT, "name": "Notebook", "expires_at": None}, format="json").json()
    form = f"username={RIGHT['username']}&password=password"
    second = api().post(TOKEN, form, content_type="application/x-www-form-urlencoded").json()
    assert (first["name"], first["expires_at"]) == ("Notebook", None)
    assert timedelta(days=29) < datetime.fromisoformat(second["expires_at"]) - timezone.now() <= timedelta(days=30)
    for token in (first["token"], second["token"]):
        assert signed_in(token).get(PROJECTS).json()["results"][0]["role"] == "manager"
        assert token not in str(manager.api_tokens.values())


def test_an_expired_token_is_refused(manager: User, api: Api) -> None:
    row, token = api_token_create(user=manager, name="Soon", expires_at=timezone.now() + timedelta(hours=1))
    assert signed_in(token).get(PROJECTS).status_code == 200
    ApiToken.objects.filter(pk=row.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert signed_in(token).get(PROJECTS).status_code == 401
    passed = {**RIGHT, "expires_at": "2020-01-01T00:00:00Z"}
    assert "has passed" in api().post(TOKEN, passed, format="json").json()["fields"]["expires_at"][0]


def test_the_last_use_is_written_at_most_once_a_minute(manager: User) -> None:
    row, token = api_token_create(user=manager, name="Nightly")
    client = signed_in(token)

    def writes() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(PROJECTS).status_code == 200
        return sum(query["sql"].startswith("UPDATE") for query in queries)

    assert (writes(), writes()) == (1, 0)
    earlier = timezone.now() - timedelta(minutes=2)
    ApiToken.objects.filter(pk=row.pk).update(last_used_at=earlier)
    assert (writes(), writes()) == (1, 0)
    row.refresh_from_db()
    assert row.last_used_at > earlier


def test_an_account_has_a_limited_number_of_tokens(manager: User, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_tokens, "MOST_LIVE", 1)
    assert api().post(TOKEN, RIGHT, format="json").status_code == 200
    assert "Revoke one first" in api().post(TOKEN, RIGHT, format="json").json()["detail"]


def test_without_a_token_in_the_request_none_is_revoked(manager: User) -> None:
    api_token_create(user=manager, name="Nightly")
    client = APIClient()
    client.force_login(manager)
    assert client.delete(TOKEN).status_code == 400
    assert manager.api_tokens.live().count() == 1


def test_a_revoked_token_is_refused(manager: User, api: Api) -> None:
    client = api(manager)
    assert client.delete(TOKEN).status_code == 204
    assert client.get(PROJECTS).status_code == 401
    assert api().delete(TOKEN).status_code == 401


@pytest.mark.parametrize("wrong", [{**RIGHT, "password": "guess"}, {"username": "nobody", "password": "password"}])
def test_wrong_credentials_do_not_reveal_which_part_is_wrong(manager: User, api: Api, wrong: dict[str, str]) -> None:
    answer = api().post(TOKEN, wrong, format="json")
    assert answer.status_code == 400
    assert answer.json()["detail"].startswith("Found no account with this username and password; accepted: ")


def test_a_deactivated_account_gets_no_token(manager: User, api: Api) -> None:
    User.objects.filter(pk=manager.pk).update(is_active=False)
    assert api().post(TOKEN, RIGHT, format="json").status_code == 400


def test_a_new_password_set_by_anyone_ends_every_token(manager: User, api: Api, client) -> None:
    client.force_login(manager)
    fields = {"old_password": "password", "new_password1": "green-kettle-9", "new_password2": "green-kettle-9"}
    program, other = api(manager), api(manager)
    assert client.post("/accounts/password_change/", fields).status_code == 302
    assert program.get(PROJECTS).status_code == other.get(PROJECTS).status_code == 401
    manager.refresh_from_db()
    program = api(manager)
    manager.last_name = "Manager"
    manager.save()
    assert program.get(PROJECTS).status_code == 200
    manager.set_unusable_password()
    manager.save(update_fields=["password"])
    assert program.get(PROJECTS).status_code == 401


def test_to_sign_in_does_not_end_the_token_when_the_hash_is_made_anew(manager: User, api: Api, settings) -> None:
    token = api().post(TOKEN, RIGHT, format="json").json()["token"]
    settings.PASSWORD_HASHERS = ["tests.api.test_tokens.Newer", *settings.PASSWORD_HASHERS]
    assert api().post(TOKEN, RIGHT, format="json").status_code == 200
    assert signed_in(token).get(PROJECTS).status_code == 200
    manager.refresh_from_db()
    assert manager.password.startswith("newer")


def test_tokens_from_before_they_had_names_keep_working_as_hashes(manager: User) -> None:
    sql = import_module("annotation.migrations.0004_api_tokens").HASH_EARLIER_TOKENS
    key = "9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b"
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE authtoken_token (key varchar(40), created timestamptz, user_id bigint)")
        cursor.execute("INSERT INTO authtoken_token VALUES (%s, now(), %s)", [key, manager.pk])
        cursor.execute(sql)
        cursor.execute("SELECT to_regclass('authtoken_token')")
        assert cursor.fetchone() == (None,)
        cursor.execute(sql)  # nothing to do
    assert signed_in(key).get(PROJECTS).status_code == 200
    assert key not in str(manager.api_tokens.values())
