"""Production refuses settings and accounts of a demo."""

import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from annotation.models import User
from config import checks


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


def test_debug_may_use_the_development_secret(settings: Settings) -> None:
    settings.DEBUG = True
    settings.SECRET_KEY = "short"
    assert checks.production_secrets() == []
