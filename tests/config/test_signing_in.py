"""Guessing passwords: every way to sign in counts towards the same limits."""

from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.tokens import default_token_generator
from django.test import Client
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from pytest_django import Settings

from annotation.models import User

WAYS = ("/accounts/login/", "/admin/login/", "/api/v1/token/")
RIGHT = "password"
NEW = "thrush-kestrel-plover"


FORM = "application/x-www-form-urlencoded"


def attempt(where: str, password: str, *, name: str = "max-manager", address: str = "10.0.0.1", **headers: str) -> int:
    body = urlencode({"username": name, "password": password})
    return Client().post(where, body, content_type=FORM, REMOTE_ADDR=address, headers=headers).status_code


@pytest.mark.parametrize("where", WAYS)
def test_of_160_wrong_passwords_ten_are_tried(manager: User, where: str) -> None:
    codes = [attempt(where, f"guess-{number}", **{"X-Forwarded-For": f"10.1.0.{number}"}) for number in range(160)]
    assert 429 not in codes[:10]
    assert codes[10:] == [429] * 150
    body = f"username=max-manager&password={RIGHT}"
    answer = Client().post(where, body, content_type=FORM, REMOTE_ADDR="10.0.0.1")
    assert answer.status_code == 429, "the right password is refused, too: an answer would say that it is right"
    assert 0 < int(answer.headers["Retry-After"]) <= 900
    assert "Try again in 1" in answer.text


def test_the_ways_to_sign_in_count_together_and_another_address_is_not_affected(manager: User) -> None:
    ways = [*WAYS] * 4
    assert [attempt(where, "guess") for where in ways].count(429) == 2
    assert attempt("/accounts/login/", RIGHT, address="10.0.0.2") == 302


def test_one_address_cannot_guess_at_many_accounts(db: None) -> None:
    codes = [attempt("/accounts/login/", "guess", name=f"user-{number}") for number in range(31)]
    assert codes == [200] * 30 + [429]


def test_many_addresses_cannot_guess_at_one_account(manager: User) -> None:
    codes = [
        attempt("/api/v1/token/", "guess", name="Max-Manager", address=f"10.0.{number}.1") for number in range(101)
    ]
    assert codes == [400] * 100 + [429]


def test_right_passwords_are_not_counted(manager: User) -> None:
    assert {attempt("/accounts/login/", RIGHT) for _ in range(12)} == {302}


@pytest.mark.parametrize("where", ["/accounts/password_change/", "/admin/password_change/"])
def test_wrong_old_passwords_count_like_wrong_passwords_elsewhere(manager: User, where: str) -> None:
    client = Client(REMOTE_ADDR="10.0.0.1")
    client.force_login(manager)

    def change(old: str) -> Any:
        return client.post(where, {"old_password": old, "new_password1": NEW, "new_password2": NEW})

    first = change("guess")
    assert "This is not your password now." in first.text
    assert [attempt("/accounts/login/", "guess") for _ in range(4)] == [200] * 4
    assert [change(f"guess-{number}").status_code for number in range(10)] == [200] * 5 + [429] * 5
    assert change(RIGHT).status_code == 429, "the right password is refused, too: an answer would say that it is right"
    manager.refresh_from_db()
    assert manager.check_password(RIGHT)


def test_a_password_is_changed_with_the_right_old_one(manager: User) -> None:
    client = Client()
    client.force_login(manager)
    sent = {"old_password": RIGHT, "new_password1": NEW, "new_password2": NEW}
    assert client.post("/accounts/password_change/", sent).url == "/accounts/password_change/done/"
    assert client.get("/projects/").status_code == 200, "the session stays"
    assert attempt("/accounts/login/", NEW) == 302


def test_requests_to_reset_a_password_are_limited(db: None, client: Client, settings: Settings) -> None:
    settings.EMAIL_HOST = "mail.example.org"
    codes = [client.post("/accounts/password_reset/", {"email": "max@example.org"}).status_code for _ in range(11)]
    assert codes == [302] * 10 + [429]


def new_password_page(user: User, client: Client) -> str:
    """Return the address of the page to which the link of a message leads."""
    uid, token = urlsafe_base64_encode(force_bytes(user.pk)), default_token_generator.make_token(user)
    return client.get(f"/accounts/reset/{uid}/{token}/").url


def test_every_form_to_sign_in_says_in_plain_words_what_is_wrong(manager: User, settings: Settings) -> None:
    settings.EMAIL_HOST = "mail.example.org"
    client = Client()
    choose = new_password_page(manager, client)
    both = {"new_password1": "short", "new_password2": "short"}
    cases = [
        ("/accounts/login/", {}, ["Fill in “Username”.", "Fill in “Password”."]),
        ("/accounts/login/", {"username": "ada", "password": "x"}, ["No account has this username and password."]),
        ("/admin/login/", {}, ["Fill in “Username”.", "Fill in “Password”."]),
        ("/accounts/password_reset/", {}, ["Fill in “E-mail address”."]),
        ("/accounts/password_reset/", {"email": "ada"}, ["Give an address such as ada@example.org."]),
        (choose, {}, ["Fill in “New password”.", "Fill in “New password again”."]),
        (choose, both, ["Choose at least 10 characters.", "Not one that many people use."]),
        (choose, dict.fromkeys(both, "1357924680"), ["Choose something with letters, too."]),
        (choose, dict.fromkeys(both, "chocolate1"), ["Many people use this password"]),
        (choose, dict.fromkeys(both, "max-manager1"), ["Choose something less like your username."]),
        (choose, both | {"new_password1": NEW}, ["The two differ."]),
    ]
    for address, sent, expected in cases:
        page = client.post(address, sent).text
        for words in expected:
            assert words in page, (address, sent)
        assert "This field is required" not in page
    assert client.post(choose, dict.fromkeys(both, NEW)).url == "/accounts/reset/done/"
    assert attempt("/accounts/login/", NEW) == 302
    manager.refresh_from_db()
    client.force_login(manager)
    page = client.post("/accounts/password_change/", {}).text
    assert "Fill in “Your password now”." in page
    assert "This field is required" not in page
