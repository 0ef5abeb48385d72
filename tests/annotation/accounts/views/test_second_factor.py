"""The second factor: set up, asked for in every form to sign in, its codes shown, removed."""

import logging
from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from annotation.accounts.views import second_step
from annotation.models import RecoveryCode, SecondFactor, User
from tests.annotation.accounts.conftest import PASSWORD, SET_UP, Phone, shown_codes

AsUser = Callable[[User], Client]
OVERVIEW, CODES, REMOVE = "/account/sign-in/", "/account/second-factor/codes/", "/account/second-factor/remove/"
LOGIN, STEP = "/accounts/login/", "/accounts/login/code/"


def with_password(user: User, where: str = LOGIN, to: str = "/projects/", password: str = PASSWORD) -> Client:
    """Return a client that gave the password and was sent to the page for the code."""
    client = Client()
    answer = client.post(where, {"username": user.username, "password": password, "next": to})
    assert answer.url == STEP
    return client


def is_signed_in(client: Client) -> bool:
    return client.get("/projects/").status_code == 200


def test_a_person_sets_it_up_is_asked_for_it_and_removes_it(manager: User, as_user: AsUser, phone: Phone) -> None:
    desk = as_user(manager)
    assert "You sign in with your password alone." in desk.get(OVERVIEW).text
    page = desk.get(SET_UP)
    assert "no-store" in page["Cache-Control"]
    assert '<svg viewBox="0 0 ' in page.text
    refused = desk.post(SET_UP, {"code": "000000", "password": "wrong"}).text
    assert "This is not your password now." in refused
    assert "This is not the code of the app now." in desk.post(SET_UP, {"code": "000000", "password": PASSWORD}).text
    assert not SecondFactor.objects.exists()
    codes = phone.set_up(desk)
    assert len(codes) == 10
    stored = str([*SecondFactor.objects.values(), *RecoveryCode.objects.values(), desk.session.items()])
    assert [text for text in (phone.key, *codes, codes[0].replace(" ", "")) if text in stored] == []
    assert "10 left" in desk.get(OVERVIEW).text
    assert desk.get(SET_UP).url == OVERVIEW

    client = with_password(manager)
    assert not is_signed_in(client)
    assert "is wrong, too old, or was used before" in client.post(STEP, {"code": phone.code()}).text  # set it up
    phone.wait()
    code = phone.code()
    assert client.post(STEP, {"code": f"{code[:3]} {code[3:]}"}).url == "/projects/"
    assert is_signed_in(client)
    assert "You used a recovery code" not in client.get("/projects/").text
    again = with_password(manager, to="?page=2")
    assert "was used before" in again.post(STEP, {"code": code}).text
    assert again.post(STEP, {"code": codes[0].upper().replace(" ", "-")}).url == "?page=2"
    assert "9 are left" in again.get("/projects/").text
    assert "was used before" in with_password(manager).post(STEP, {"code": codes[0]}).text

    assert "This is not your password now." in desk.post(CODES, {"password": "wrong"}).text
    shown = desk.post(CODES, {"password": PASSWORD})
    assert shown_codes(shown.text) == codes
    assert shown.text.count("<s>") == 1
    new = shown_codes(desk.post(CODES, {"password": PASSWORD, "renew": "1"}).text)
    assert len(set(new) - set(codes)) == 10
    assert "was used before" in with_password(manager).post(STEP, {"code": codes[1]}).text

    assert "This is not your password now." in desk.post(REMOVE, {"password": "wrong"}).text
    assert "The second factor is removed." in desk.post(REMOVE, {"password": PASSWORD}, follow=True).text
    assert not RecoveryCode.objects.exists()
    assert Client().post(LOGIN, {"username": manager.username, "password": PASSWORD}).url == "/projects/"


@pytest.fixture
def protected(manager: User, as_user: AsUser, phone: Phone) -> User:
    manager.is_staff = manager.is_superuser = True
    manager.save()
    phone.set_up(as_user(manager))
    phone.wait()
    return manager


def test_no_other_form_goes_around_it(protected: User, phone: Phone) -> None:
    admin = with_password(protected, "/admin/login/", "/admin/annotation/")
    assert admin.get("/admin/").status_code == 302
    assert admin.post(STEP, {"code": phone.code()}).url == "/admin/annotation/"
    token = {"username": protected.username, "password": PASSWORD}
    refused = Client().post("/api/v1/token/", token, content_type="application/json")
    assert (refused.status_code, "has a second factor" in refused.text) == (400, True)
    assert Client().get(STEP).url == LOGIN
    elsewhere = Client().post(LOGIN, {**token, "next": "https://evil.example.org/"}, follow=True)
    assert elsewhere.redirect_chain[-1][0] == STEP
    assert elsewhere.client.session[second_step.WAITING]["to"] == "/projects/"


def test_wrong_codes_count_like_wrong_passwords(protected: User, phone: Phone) -> None:
    client = with_password(protected)
    codes = [client.post(STEP, {"code": f"wrong {number}"}).status_code for number in range(12)]
    assert codes == [200] * 10 + [429] * 2
    assert client.post(STEP, {"code": phone.code()}).status_code == 429, "an answer would say that it is right"
    assert Client().post(LOGIN, {"username": protected.username, "password": "wrong"}).status_code == 429


def test_the_password_is_remembered_for_ten_minutes_and_until_it_changes(
    protected: User, phone: Phone, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, late = with_password(protected), with_password(protected)
    protected.set_password("thrush-kestrel-plover")
    protected.save()
    assert client.post(STEP, {"code": phone.code()}).url == LOGIN
    late = with_password(protected, password="thrush-kestrel-plover")
    monkeypatch.setattr(second_step, "SECONDS", -1)
    assert late.post(STEP, {"code": phone.code()}).url == LOGIN
    assert not is_signed_in(late)


def test_an_administrator_removes_what_is_lost(protected: User, caplog: pytest.LogCaptureFixture) -> None:
    out = StringIO()
    with caplog.at_level(logging.INFO):
        call_command("remove_second_factor", protected.username, stdout=out)
    assert out.getvalue() == "Removed the second factor of max-manager.\n"
    assert "second factor removed" in caplog.text
    assert "command, run by" in caplog.text
    with pytest.raises(CommandError, match="has no second factor"):
        call_command("remove_second_factor", protected.username)
    with pytest.raises(CommandError, match="found 'ann'"):
        call_command("remove_second_factor", "ann")


def test_a_changed_secret_key_says_so_and_opens_nothing(protected: User, phone: Phone, settings: Settings) -> None:
    client, secret = with_password(protected), settings.SECRET_KEY
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another-key" * 5, [secret]
    sessions = with_password(protected)
    assert sessions.post(STEP, {"code": phone.code()}).url == "/projects/"
    settings.SECRET_KEY_FALLBACKS = []
    client = with_password(protected)
    phone.wait()
    assert "secret key has changed" in client.post(STEP, {"code": phone.code()}).text


@pytest.mark.parametrize("page", [OVERVIEW, SET_UP, CODES, REMOVE])
def test_its_pages_are_of_the_signed_in(page: str, client: Client, manager: User, as_user: AsUser) -> None:
    assert client.get(page).url == f"{reverse('login')}?next={page}"
    if page in (CODES, REMOVE):
        assert as_user(manager).post(page, {"password": PASSWORD}).url == OVERVIEW
