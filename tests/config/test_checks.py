"""Production refuses settings and accounts of a demo."""

from types import SimpleNamespace
from typing import Any
from wsgiref.util import setup_testing_defaults

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError
from pytest_django import Settings

from annotation.models import User
from config import checks, incoming


@pytest.mark.parametrize("key", ["short", "development-only-and-refused-in-production-0123456789"])
def test_production_refuses_a_default_or_short_secret(db: None, settings: Settings, key: str) -> None:
    settings.SECRET_KEY = key
    assert [problem.id for problem in checks.production_secrets()] == ["assay.C001"]
    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY"):
        checks.refuse_demo_in_production()


def test_production_refuses_the_demo_password(db: None) -> None:
    User.objects.create_user("manager", password=checks.DEMO_PASSWORD)
    with pytest.raises(ImproperlyConfigured, match="'manager' has the demo's password"):
        checks.refuse_demo_in_production()


def test_production_accepts_a_new_secret_and_new_passwords(db: None) -> None:
    User.objects.create_user("manager", password="something of our own")
    checks.refuse_demo_in_production()
    assert checks.production_secrets() == []


@pytest.mark.parametrize("answers", [7, 8])
def test_a_pooler_that_no_setting_names_is_refused(answers: int) -> None:
    """PostgreSQL names the process that answers when a connection begins; a pooler names another."""
    opened: Any = SimpleNamespace(
        info=SimpleNamespace(backend_pid=7), execute=lambda _: SimpleNamespace(fetchone=lambda: (answers,))
    )
    if answers == 7:
        checks.refuse_pooler(opened)
    else:
        with pytest.raises(ImproperlyConfigured, match="Name the pooler in DATABASE_POOLER_URL"):
            checks.refuse_pooler(opened)


def test_debug_may_use_the_development_secret(settings: Settings) -> None:
    settings.DEBUG = True
    settings.SECRET_KEY = "short"
    assert checks.production_secrets() == []


def test_a_process_of_web_that_starts_without_the_database_checks_later(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """gunicorn ends all of web if one process cannot start."""
    outcomes: list[type[Exception] | None] = [OperationalError, OperationalError, ImproperlyConfigured, None]
    asked: list[object] = []

    def check() -> None:
        asked.append(outcome := outcomes[len(asked)])
        if outcome:
            raise outcome

    monkeypatch.setattr(incoming, "refuse_to_serve", check)
    application = incoming.GuardedApplication()

    def status() -> str:
        environ: dict[str, object] = {"PATH_INFO": "/healthz"}
        setup_testing_defaults(environ)
        started: list[str] = []
        application(environ, lambda status, headers: started.append(status))
        return started[0][:3]

    assert status() == "503", "it says that the scheduler and the workers are missing"
    with pytest.raises(ImproperlyConfigured):
        status()
    for _ in range(2):
        assert status() == "503"
    assert len(asked) == 4, "once it was answered, it is not asked again"
