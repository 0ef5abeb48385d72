"""Tests with real servers are collected only if a command names them: they take minutes, and Debian's packages."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import DjangoDbBlocker

MOST_SECONDS = 300
FOLDER = Path(__file__).resolve().parent


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    named = (Path(argument.partition("::")[0]).resolve() for argument in config.args)
    if any(path == FOLDER or FOLDER in path.parents for path in named):
        return None
    return True if FOLDER in collection_path.parents and collection_path.name.startswith("test_") else None


@pytest.fixture(autouse=True)
def _database_of_a_site(django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Let a test use a database of its own: that of the other tests is not made."""
    with django_db_blocker.unblock():
        yield


@pytest.fixture(autouse=True)
def _not_for_ever() -> Iterator[None]:
    """Work that never ends fails: the client waits for it."""

    def end(*_: object) -> None:
        raise TimeoutError(f"Not within {MOST_SECONDS} s.")

    previous = signal.signal(signal.SIGALRM, end)
    signal.alarm(MOST_SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, previous)
