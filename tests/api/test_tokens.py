from collections.abc import Callable

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.models import User

Api = Callable[..., APIClient]
TOKEN = "/api/v1/token/"
RIGHT = {"username": "max-manager", "password": "password"}


def test_username_and_password_are_exchanged_for_the_one_token_of_the_account(manager: User, api: Api) -> None:
    token = api().post(TOKEN, RIGHT, format="json").json()["token"]
    assert api().post(
        TOKEN, f"username={RIGHT['username']}&password=password", content_type="application/x-www-form-urlencoded"
    ).json() == {"token": token}
    client = APIClient(HTTP_AUTHORIZATION=f"Token {token}")
    assert client.get(reverse("api:project-list")).json()["results"][0]["role"] == "manager"


def test_a_revoked_token_opens_nothing(manager: User, api: Api) -> None:
    client = api(manager)
    assert client.delete(TOKEN).status_code == 204
    assert client.get(reverse("api:project-list")).status_code == 401
    assert api().delete(TOKEN).status_code == 401


@pytest.mark.parametrize("wrong", [{**RIGHT, "password": "guess"}, {"username": "nobody", "password": "password"}])
def test_wrong_credentials_say_nothing_about_which_is_wrong(manager: User, api: Api, wrong: dict[str, str]) -> None:
    answer = api().post(TOKEN, wrong, format="json")
    assert answer.status_code == 400
    assert answer.json()["detail"] == "Unable to log in with provided credentials."


def test_an_account_that_was_deactivated_gets_no_token(manager: User, api: Api) -> None:
    User.objects.filter(pk=manager.pk).update(is_active=False)
    assert api().post(TOKEN, RIGHT, format="json").status_code == 400


def test_guessing_from_one_address_is_slowed_down_and_made_up_addresses_do_not_help(manager: User, api: Api) -> None:
    answers = [
        api().post(TOKEN, {"username": f"u{n}", "password": "x"}, format="json", HTTP_X_FORWARDED_FOR=f"10.0.0.{n}")
        for n in range(11)
    ]
    assert [answer.status_code for answer in answers] == [400] * 10 + [429]
    assert int(answers[-1]["Retry-After"]) > 0


def test_guessing_at_one_account_from_many_addresses_is_slowed_down(manager: User, api: Api) -> None:
    guess = {"username": "Max-Manager", "password": "x"}
    codes = [api().post(TOKEN, guess, format="json", REMOTE_ADDR=f"10.0.0.{n}").status_code for n in range(31)]
    assert codes == [400] * 30 + [429]
