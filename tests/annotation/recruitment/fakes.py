"""The fake providers, running. Clients and browsers in tests reach them as they would reach the real ones."""

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from tests.annotation.recruitment.providers.mturk.fake import FakeMechanicalTurk
from tests.annotation.recruitment.providers.prolific.fake import FakeProlific


@pytest.fixture
def fake_prolific(settings: Settings) -> Iterator[FakeProlific]:
    with FakeProlific() as fake:
        settings.PROVIDER_SETTINGS = settings.PROVIDER_SETTINGS | {"PROLIFIC_APP_URL": fake.base_url}
        yield fake


@pytest.fixture
def fake_mturk(settings: Settings) -> Iterator[FakeMechanicalTurk]:
    with FakeMechanicalTurk() as fake:
        settings.PROVIDER_SETTINGS = settings.PROVIDER_SETTINGS | {"MTURK_SUBMIT_ORIGINS": [fake.base_url]}
        yield fake
