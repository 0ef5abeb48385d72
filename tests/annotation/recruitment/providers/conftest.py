"""Clients that talk to the fake providers; pauses are recorded instead of slept."""

from collections.abc import Callable, Iterator
from decimal import Decimal

import pytest

from annotation.recruitment.providers.base import StudyDraft
from annotation.recruitment.providers.codes import new_codes
from annotation.recruitment.providers.mturk.client import MechanicalTurk
from annotation.recruitment.providers.prolific.client import Prolific
from annotation.recruitment.providers.retry import Backoff
from tests.annotation.recruitment.providers.mturk.fake import FakeMechanicalTurk
from tests.annotation.recruitment.providers.prolific.fake import FakeProlific


@pytest.fixture
def naps() -> list[float]:
    """The pauses a client made between its tries."""
    return []


@pytest.fixture
def backoff(naps: list[float]) -> Backoff:
    return Backoff(sleep=naps.append, uniform=lambda low, high: high)


@pytest.fixture
def prolific(fake_prolific: FakeProlific, backoff: Backoff) -> Iterator[Prolific]:
    with Prolific(
        token=fake_prolific.token,
        workspace=fake_prolific.workspace,
        endpoint=fake_prolific.base_url,
        app_url=fake_prolific.base_url,
        backoff=backoff,
    ) as client:
        yield client


@pytest.fixture
def mturk(fake_mturk: FakeMechanicalTurk, backoff: Backoff) -> Iterator[MechanicalTurk]:
    with MechanicalTurk(
        access_key=fake_mturk.access_key,
        secret_key=fake_mturk.secret_key,
        endpoint=fake_mturk.base_url,
        submit_origins=[fake_mturk.base_url],
        backoff=backoff,
    ) as client:
        yield client


@pytest.fixture
def draft() -> Callable[..., StudyDraft]:
    """Return a function that makes a draft every provider accepts, with a test's changes."""

    def make(**changes: object) -> StudyDraft:
        values: dict[str, object] = {
            "title": "Rate short replies",
            "description": "Read a message and rate the replies to it.",
            "entry_url": Prolific().entry_url("https://assay.example.org/r/abc/"),
            "reward": Decimal("2.50"),
            "places": 5,
            "minutes": 15,
            "reference": "recruitment-1",
            "codes": new_codes(),
        }
        return StudyDraft(**{**values, **changes})  # type: ignore[arg-type]

    return make
