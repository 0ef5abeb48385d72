"""A person sets up a second factor on a phone, and comes in again: by password and code, and by single sign-on."""

import pytest
from playwright.sync_api import expect
from pytest_django import Settings

from annotation.accounts.one_time_codes import code_of_step
from annotation.accounts.services import second_factors
from annotation.models import SecondFactor, User
from tests.annotation.accounts.fake_openid import CLIENT_ID, CLIENT_SECRET, running_provider
from tests.browser.support import PHONE, assert_everyone_can_read, sign_in

STEP = 50_000_000


@pytest.mark.usefixtures("transactional_db")
def test_a_second_factor_is_set_up_and_asked_for(
    live_server, new_page, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    User.objects.create_user("ada", "ada@campus.example", "password")
    monkeypatch.setattr(second_factors, "step_at", lambda moment: STEP + SecondFactor.objects.count())
    page = new_page(**PHONE)
    sign_in(page, live_server.url, "ada", "password")
    page.goto(f"{live_server.url}/account/sign-in/")
    page.get_by_role("link", name="Set up an authenticator app").click()
    expect(page.get_by_role("img", name="QR code of the key below, for ada")).to_be_visible()
    key = page.locator("#key").inner_text().replace(" ", "")
    page.get_by_label("Code", exact=True).fill("000000")
    page.get_by_label("Your password").fill("password")
    page.get_by_role("button", name="Turn the second factor on").click()
    expect(page.get_by_text("This is not the code of the app now.")).to_be_visible()
    assert_everyone_can_read(page)
    page.get_by_label("Code", exact=True).fill(code_of_step(key, STEP))
    page.get_by_label("Your password").fill("password")
    page.get_by_role("button", name="Turn the second factor on").click()
    expect(page.get_by_role("heading", name="Keep your recovery codes")).to_be_visible()
    recovery = page.locator(".recovery-codes code").first.inner_text()
    assert_everyone_can_read(page)

    page.context.clear_cookies()
    page.goto(f"{live_server.url}/accounts/login/")
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password").fill("password")
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Enter your code")).to_be_visible()
    page.get_by_label("Code", exact=True).fill("000000")
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("This code is wrong")).to_be_visible()
    assert_everyone_can_read(page)
    page.get_by_label("Code", exact=True).fill(code_of_step(key, STEP + 1))
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Projects")).to_be_visible()

    with running_provider() as provider:
        settings.OIDC_ISSUER, settings.OIDC_NAME = provider.issuer, "Campus"
        settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = CLIENT_ID, CLIENT_SECRET
        page.context.clear_cookies()
        page.goto(f"{live_server.url}/accounts/login/")
        assert_everyone_can_read(page)
        page.get_by_role("link", name="Sign in with Campus").click()
        page.get_by_label("Code", exact=True).fill(recovery)
        page.get_by_role("main").get_by_role("button", name="Sign in").click()
        expect(page.get_by_text("You used a recovery code. 9 are left")).to_be_visible()
        page.goto(f"{live_server.url}/account/sign-in/")
        expect(page.get_by_text("You sign in with your password or Campus")).to_be_visible()
        assert_everyone_can_read(page)
