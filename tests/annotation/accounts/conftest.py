"""A phone with an authenticator app, and a provider of single sign-on."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from django.test import Client
from pytest_django import Settings

from annotation.accounts import one_time_codes
from annotation.accounts.services import second_factors
from tests.annotation.accounts.fake_openid import CLIENT_ID, CLIENT_SECRET, FakeProvider, running_provider

PASSWORD = "password"  # of the cast
SET_UP = "/account/second-factor/"


@dataclass
class Phone:
    """The step of time that is now, and the key that the app was given."""

    step: int = 50_000_000
    key: str = ""

    def code(self) -> str:
        return one_time_codes.code_of_step(self.key, self.step)

    def wait(self, steps: int = 1) -> None:
        self.step += steps

    def set_up(self, client: Client, password: str = PASSWORD) -> list[str]:
        """Scan the picture and type the code; return the recovery codes that the page shows."""
        page = client.get(SET_UP).text
        self.key = re.search(r'<code id="key">([A-Z2-7 ]+)</code>', page)[1].replace(" ", "")
        return shown_codes(client.post(SET_UP, {"code": self.code(), "password": password}).text)


def shown_codes(page: str) -> list[str]:
    return re.findall(r"<code>([a-z2-9]{5} [a-z2-9]{5})</code>", page)


@pytest.fixture
def phone(monkeypatch: pytest.MonkeyPatch) -> Phone:
    phone = Phone()
    monkeypatch.setattr(second_factors, "step_at", lambda moment: phone.step)
    return phone


@pytest.fixture
def provider(settings: Settings) -> Iterator[FakeProvider]:
    """A provider of single sign-on, and the settings that name it."""
    with running_provider() as provider:
        settings.OIDC_ISSUER, settings.OIDC_NAME = provider.issuer, "Campus"
        settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = CLIENT_ID, CLIENT_SECRET
        yield provider
