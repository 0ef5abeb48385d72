"""Single sign-on at a provider that answers over HTTP: who comes in, as whom, and who does not."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from annotation.accounts.views import single_sign_on as views
from annotation.models import Identity, Membership, Project, Role, User
from annotation.projects.services.api_tokens import api_token_create
from annotation.projects.services.invitations import invitation_create
from config import checks
from tests.annotation.accounts.conftest import PASSWORD, Phone
from tests.annotation.accounts.fake_openid import ADA, FakeProvider, curve_key, long_key

AsUser = Callable[[User], Client]
BEGIN, RETURN = "/accounts/single-sign-on/", "/accounts/single-sign-on/return/"
OVERVIEW, LINK, LOGIN = "/account/sign-in/", "/account/sign-in/link/", "/accounts/login/"


def there(client: Client, address: str = BEGIN) -> str:
    """Begin, and be sent back by the provider; return the address to which it sends."""
    back = httpx.get(client.get(address).url, verify=False).headers["Location"]
    return back.removeprefix("http://testserver")


def come_in(client: Client, address: str = BEGIN) -> Any:
    return client.get(there(client, address))


def signed_in_as(client: Client) -> str:
    found = re.search(r"Signed in as <strong>([^<]+)", client.get("/projects/").text)
    return found[1] if found else ""


def test_an_invited_person_comes_in_with_a_new_account_and_again_as_the_same(
    provider: FakeProvider, project: Project, owner: User, client: Client
) -> None:
    assert "No account here has the address Ada@Campus.example. Open the link" in come_in(client).text
    _, token = invitation_create(project=project, by=owner, role=Role.MANAGER)
    page = client.get(f"/join/{token}/", follow=True).text
    assert "Sign in with Campus: you get one." in page
    began = re.search(r'href="(/accounts/single-sign-on/\?[^"]+)"', page)[1]
    address = urlsplit(client.get(began).url)
    asked = parse_qs(address.query)
    assert (asked["scope"], asked["code_challenge_method"]) == (["openid email profile"], ["S256"])

    assert come_in(client, began).url == f"/join/{token}/"
    client.post(f"/join/{token}/")
    member = Membership.objects.get(user__username="ada")
    assert (member.role, member.user.email) == (Role.MANAGER, "Ada@campus.example")
    assert not member.user.has_usable_password()
    page = client.get(OVERVIEW).text
    assert "You sign in with Campus." in page
    assert "/accounts/password_change/" not in page
    assert client.get("/accounts/password_change/").status_code == 404
    api_token_create(user=member.user, name="Nightly")
    member.user.save()
    assert member.user.api_tokens.live().count() == 1, "no password has changed"
    client.logout()
    provider.algorithm, provider.key = "RS256", long_key()
    provider.person |= {"email": "ada.king@campus.example"}  # the person is known by another name than the address
    provider.in_userinfo = ("email", "email_verified")
    assert come_in(client).url == "/projects/"
    assert signed_in_as(client) == "ada"
    assert provider.requests.count("/.well-known/openid-configuration") == 1
    assert Identity.objects.get().last_used_at > Identity.objects.get().created_at


def test_a_member_is_known_by_the_verified_address_and_is_asked_for_the_second_factor(
    provider: FakeProvider, manager: User, as_user: AsUser, phone: Phone, client: Client
) -> None:
    User.objects.filter(pk=manager.pk).update(email="ada@campus.example")
    phone.set_up(as_user(manager))
    phone.wait()
    assert come_in(client, f"{BEGIN}?next=/account/tokens/").url == "/accounts/login/code/"
    assert signed_in_as(client) == ""
    assert client.post("/accounts/login/code/", {"code": phone.code()}).url == "/account/tokens/"
    assert signed_in_as(client) == manager.username


@pytest.mark.parametrize(
    ("here", "there_"), [("mike@campus.example", "m\u0131ke@campus.example"), ("m\u0131ke@x.example", "mike@x.example")]
)
def test_letters_that_the_database_takes_for_others_link_no_account(
    provider: FakeProvider, manager: User, client: Client, here: str, there_: str
) -> None:
    """As in CVE-2019-19844: in upper case the dotless i of Turkish is an I."""
    User.objects.filter(pk=manager.pk).update(email=here)
    provider.person |= {"email": there_}
    come_in(client)
    assert signed_in_as(client) == ""
    assert not Identity.objects.exists()


def test_without_password_and_factor_only_a_sign_in_a_moment_ago_is_proof(
    provider: FakeProvider, manager: User, as_user: AsUser, settings: Settings
) -> None:
    client = as_user(manager)
    settings.PASSWORD_SIGN_IN = False
    assert "This is not your password now." in client.post(LINK, {"password": "wrong"}).text
    assert 'href="/accounts/single-sign-on/?' in client.post(LINK, {"password": PASSWORD}).text
    manager.set_unusable_password()
    manager.last_login = timezone.now()
    manager.save()
    client = as_user(manager)
    assert 'href="/accounts/single-sign-on/?' in client.post(LINK, {}).text
    User.objects.filter(pk=manager.pk).update(last_login=timezone.now() - timedelta(minutes=11))
    page = client.post(LINK, {}).text
    assert "Sign out and in again" in page
    assert 'href="/accounts/single-sign-on/?' not in page


def test_a_signed_in_person_links_the_account_after_the_password_and_ends_the_link(
    provider: FakeProvider, manager: User, viewer: User, as_user: AsUser
) -> None:
    provider.person |= {"email_verified": False}
    client = as_user(manager)
    assert "This is not your password now." in client.post(LINK, {"password": "wrong"}).text
    page = client.post(LINK, {"password": PASSWORD}).text
    go = re.search(r'href="(/accounts/single-sign-on/\?[^"]+)"', page)[1].replace("&amp;", "&")
    other = as_user(viewer)
    assert "of another account" in other.get(go).text
    back = there(client, go)
    client_of_thief = as_user(viewer)
    assert client_of_thief.get(back).status_code == 400, "the answer belongs to another browser"
    assert "Your account is linked" in client.get(back, follow=True).text
    assert "your password or Campus" in client.get(OVERVIEW).text
    visitor = Client()
    come_in(visitor)
    assert signed_in_as(visitor) == manager.username
    page = other.post(LINK, {"password": PASSWORD}).text
    go = re.search(r'href="(/accounts/single-sign-on/\?[^"]+)"', page)[1].replace("&amp;", "&")
    assert "is linked to another account here" in come_in(other, go).text
    assert "no longer linked" in client.post("/account/sign-in/unlink/", follow=True).text
    assert not Identity.objects.exists()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"nonce": "of another attempt"}, "belongs to another attempt"),
        ({"nonce": None}, "missing the &quot;nonce&quot; claim"),
        ({"aud": "another client"}, "Audience doesn&#x27;t match"),
        ({"aud": ["assay at the campus", "another"]}, "for another client"),
        ({"azp": "another client"}, "for another client"),
        ({"iss": "https://elsewhere.example"}, "Invalid issuer"),
        ({"exp": 1_000_000_000}, "Signature has expired"),
        ({"sub": None}, "missing the &quot;sub&quot; claim"),
    ],
)
def test_a_token_that_is_not_of_this_attempt_is_refused(
    provider: FakeProvider, client: Client, manager: User, change: dict[str, Any], expected: str
) -> None:
    User.objects.filter(pk=manager.pk).update(email="ada@campus.example")
    provider.changed = change
    answer = come_in(client)
    assert (answer.status_code, expected in answer.text) == (502, True), answer.text
    assert not Identity.objects.exists()


def test_a_signature_counts_only_by_a_published_key(provider: FakeProvider, client: Client, manager: User) -> None:
    User.objects.filter(pk=manager.pk).update(email="ada@campus.example")
    provider.algorithm, provider.key = "none", None
    assert "of no kind that is accepted" in come_in(client).text
    provider.algorithm, provider.key = "HS256", "a secret of thirty-two bytes or more"
    assert "of no kind that is accepted" in come_in(client).text
    provider.algorithm, provider.key = "ES256", ec.generate_private_key(ec.SECP256R1())
    assert "Signature verification failed" in come_in(client).text
    assert signed_in_as(client) == ""
    provider.key, provider.published = curve_key(), "second"  # the provider changed its keys
    assert come_in(client).url == "/projects/"


def test_an_answer_counts_once_in_the_browser_that_began(
    provider: FakeProvider, client: Client, manager: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    User.objects.filter(pk=manager.pk).update(email="ada@campus.example")
    back = there(client)
    state = parse_qs(urlsplit(back).query)["state"][0]
    assert Client().get(back).status_code == 400
    assert client.get(back.replace(state, "another")).status_code == 400
    assert client.get(back).status_code == 400, "the attempt is over"
    assert client.get(there(client).replace("iss=", "iss=https://elsewhere.example#")).status_code == 400
    client.get(BEGIN)
    state = client.session[views.ATTEMPT]["state"]
    cancelled = client.get(RETURN, {"state": state, "error": "access_denied"})
    assert (cancelled.status_code, "did not sign you in: access_denied" in cancelled.text) == (403, True)
    client.get(BEGIN)
    state = client.session[views.ATTEMPT]["state"]
    assert "it answered 400 at /token" in client.get(RETURN, {"state": state, "code": "invented"}).text
    elsewhere = client.get(f"{BEGIN}?next=https://evil.example.org/")
    assert elsewhere.status_code == 302
    assert client.session[views.ATTEMPT]["to"] == "/projects/"
    monkeypatch.setattr(views, "SECONDS", -1)
    assert come_in(client).status_code == 400


def test_failed_sign_ins_are_limited(
    provider: FakeProvider, client: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "FAILED", replace(views.FAILED, most=2))

    def fails() -> int:
        client.get(BEGIN)
        return client.get(RETURN, {"state": client.session[views.ATTEMPT]["state"], "code": "guess"}).status_code

    assert [fails() for _ in range(4)] == [502, 502, 429, 429]


def test_no_account_is_taken_over(
    provider: FakeProvider, client: Client, manager: User, viewer: User, settings: Settings
) -> None:
    settings.OIDC_NEW_ACCOUNTS = "all"
    accounts = User.objects.filter(pk__in=[manager.pk, viewer.pk])
    manager_alone = accounts.filter(pk=manager.pk)
    manager_alone.update(email="ada@campus.example")
    for verified in (False, None, "no"):
        provider.person = {**ADA, "email_verified": verified}
        assert "does not say that your e-mail address is verified" in come_in(client).text
    provider.person = dict(ADA)
    manager_alone.update(is_superuser=True)
    assert "linked only by its owner" in come_in(client).text
    manager_alone.update(is_superuser=False, is_active=False)
    assert "is switched off" in come_in(client).text
    accounts.update(email="ada@campus.example", is_active=True)
    assert "Several accounts here" in come_in(client).text
    accounts.update(email="")
    manager_alone.update(username="Ada", email="ada@campus.example")
    Identity.objects.create(user=manager, issuer=provider.issuer, subject="another person")
    assert "is linked to another person" in come_in(client).text
    assert signed_in_as(client) == ""
    Identity.objects.all().delete()
    settings.OIDC_EMAILS_ARE_VERIFIED = True
    provider.person = {**ADA, "sub": "b", "email_verified": False}
    assert "does not say that your e-mail address is verified" in come_in(client).text
    provider.person = {**ADA, "sub": "b", "email_verified": None}
    come_in(client)
    assert signed_in_as(client) == "Ada"
    provider.person = dict(ADA)
    client.logout()
    manager_alone.update(email="")
    come_in(client)
    assert signed_in_as(client) == "ada-2", "a name that is taken is no account to sign in to"


def test_domains_and_groups_are_asked_for_each_time(
    provider: FakeProvider, client: Client, db: None, settings: Settings
) -> None:
    settings.OIDC_NEW_ACCOUNTS, settings.OIDC_EMAIL_DOMAINS = "all", ["@lab.example"]
    assert "of no domain that is accepted" in come_in(client).text
    settings.OIDC_EMAIL_DOMAINS, settings.OIDC_GROUPS = ["campus.example"], ["raters"]
    assert "in no group that is accepted" in come_in(client).text
    provider.person |= {"groups": ["raters", "staff"]}
    provider.in_userinfo = ("groups",)
    assert come_in(client).url == "/projects/"
    provider.person |= {"groups": []}
    client.logout()
    assert "in no group that is accepted" in come_in(client).text
    assert signed_in_as(client) == ""


def test_passwords_can_be_left_to_superusers(provider: FakeProvider, manager: User, settings: Settings) -> None:
    settings.PASSWORD_SIGN_IN = False
    sent = {"username": manager.username, "password": PASSWORD}
    client = Client()
    page = client.get(LOGIN).text
    assert "Sign in with Campus" in page
    assert "Administrators, with a password" in page
    assert "No account has this username and password." in client.post(LOGIN, sent).text
    assert client.post("/api/v1/token/", sent, content_type="application/json").status_code == 400
    User.objects.filter(pk=manager.pk).update(is_superuser=True)
    assert client.post(LOGIN, sent).url == "/projects/"


def test_settings_that_are_half_set_are_named_and_open_nothing(settings: Settings, client: Client, db: None) -> None:
    def problems() -> str:
        return " ".join(problem.msg for problem in checks.single_sign_on())

    assert problems() == ""
    settings.PASSWORD_SIGN_IN = False
    assert "PASSWORD_SIGN_IN is off without single sign-on" in problems()
    settings.PASSWORD_SIGN_IN, settings.OIDC_ISSUER = True, "http://campus.example"
    assert "OIDC_CLIENT_ID and OIDC_CLIENT_SECRET are not set" in problems()
    assert "accepted: an address that begins with https://" in problems()
    settings.OIDC_NEW_ACCOUNTS, settings.OIDC_SCOPES = "some", ["email"]
    assert "found 'some'; accepted: none, invited, all" in problems()
    assert "found no “openid”" in problems()
    assert "Sign in with" not in client.get(LOGIN).text
    assert [client.get(address).status_code for address in (BEGIN, RETURN)] == [404, 404]


def test_a_provider_that_is_away_or_another_is_named(
    provider: FakeProvider, client: Client, db: None, settings: Settings
) -> None:
    settings.OIDC_ISSUER = f"{provider.issuer}/"
    assert "calls itself otherwise than the setting OIDC_ISSUER" in client.get(BEGIN).text
    settings.OIDC_ISSUER = "http://127.0.0.1:9"
    answer = client.get(BEGIN)
    assert (answer.status_code, "cannot be reached just now" in answer.text) == (502, True)
