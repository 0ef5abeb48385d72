from collections.abc import Iterator

import pytest
from pytest_django import Settings

from tests.annotation.recruitment.providers.mturk.fake import FakeMechanicalTurk
from tests.annotation.recruitment.providers.prolific.fake import FakeProlific


@pytest.fixture
def prolific() -> Iterator[FakeProlific]:
    with FakeProlific() as fake:
        yield fake


@pytest.fixture
def mturk(settings: Settings) -> Iterator[FakeMechanicalTurk]:
    with FakeMechanicalTurk() as fake:
        settings.PROVIDER_SETTINGS = settings.PROVIDER_SETTINGS | {"MTURK_SUBMIT_ORIGINS": [fake.base_url]}
        yield fake
