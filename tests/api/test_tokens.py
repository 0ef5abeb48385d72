from collections.abc import Callable

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.models import User

Api = Callable[..., APIClient]
TOKEN = "/api/v1/token/"


class Newer(MD5PasswordHasher):
    algorithm = "newer"


RIGHT = {"username": "max-manager", "password": "password"}


def test_username_and_password_are_exchanged_for_the_token_of_the_account(manager: User, api: Api) -> None:
    token = api().post(TOKEN, RIGHT, format="json").json()["token"]
    assert api().post(
        TOKEN, f"username={RIGHT['username']}&password=password", content_type="application/x-www-form-urlencoded"
    ).json() == {"token": token}
    client = APIClient(HTTP_AUTHORIZATION=f"Token {token}")
    assert client.get(reverse("api:project-list")).json()["results"][0]["role"] == "manager"


def test_a_revoked_token_is_refused(manager: User, api: Api) -> None:
    client = api(manager)
    assert client.delete(TOKEN).status_code == 204
    assert client.get(reverse("api:project-list")).status_code == 401
    assert api().delete(TOKEN).status_code == 401


@pytest.mark.parametrize("wrong", [{**RIGHT, "password": "guess"}, {"username": "nobody", "password": "password"}])
def test_wrong_credentials_do_not_reveal_which_part_is_wrong(manager: User, api: Api, wrong: dict[str, str]) -> None:
    answer = api().post(TOKEN, wrong, format="json")
    assert answer.status_code == 400
    assert answer.json()["detail"] == "Unable to log in with provided credentials."


def test_a_deactivated_account_gets_no_token(manager: User, api: Api) -> None:
    User.objects.filter(pk=manager.pk).update(is_active=False)
    assert api().post(TOKEN, RIGHT, format="json").status_code == 400


def test_a_new_password_ends_the_token_whoever_sets_it(manager: User, api: Api, client) -> None:
    client.force_login(manager)
    fields = {"old_password": "password", "new_password1": "green-kettle-9", "new_password2": "green-kettle-9"}
    program = api(manager)
    assert client.post("/accounts/password_change/", fields).status_code == 302
    assert program.get(reverse("api:project-list")).status_code == 401
    manager.refresh_from_db()
    program = api(manager)
    manager.last_name = "Manager"
    manager.save()
    assert program.get(reverse("api:project-list")).status_code == 200
    manager.set_unusable_password()
    manager.save(update_fields=["password"])
    assert program.get(reverse("api:project-list")).status_code == 401


def test_to_sign_in_does_not_end_the_token_when_the_hash_is_made_anew(manager: User, api: Api, settings) -> None:
    token = api().post(TOKEN, RIGHT, format="json").json()["token"]
    settings.PASSWORD_HASHERS = ["tests.api.test_tokens.Newer", *settings.PASSWORD_HASHERS]
    assert api().post(TOKEN, RIGHT, format="json").json() == {"token": token}
    manager.refresh_from_db()
    assert manager.password.startswith("newer")


def test_the_page_says_what_ends_the_token(manager: User, api: Api, client) -> None:
    api(manager)
    client.force_login(manager)
    assert "or your password changes" in client.get("/account/token/").text
