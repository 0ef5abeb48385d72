"""Checks that refuse a production start with settings of the demo."""

from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.checks import CheckMessage, Critical, Error
from django.core.exceptions import ImproperlyConfigured

from annotation.accounts.services.single_sign_on import setting_problems

DEMO_USERNAMES = ("manager", "viewer")
DEMO_PASSWORD = "assay-demo"  # noqa: S105 - the demo's, refused below


def production_secrets(**_: Any) -> list[CheckMessage]:
    if settings.DEBUG:
        return []
    if settings.SECRET_KEY == settings.DEVELOPMENT_SECRET_KEY or len(settings.SECRET_KEY) < 32:
        return [
            Critical(
                "SECRET_KEY is the development key or shorter than 32 characters.",
                hint="Leave it unset to have one made for this installation, or set SECRET_KEY or SECRET_KEY_FILE.",
                id="assay.C001",
            )
        ]
    return []


def single_sign_on(**_: Any) -> list[CheckMessage]:
    """Name settings of single sign-on that are half set: it is then off."""
    return [Error(problem, id="assay.E002") for problem in setting_problems()]


def refuse_demo_in_production() -> None:
    """Refuse to serve. Servers call this at start, since it needs the database, which system checks must not use."""
    problems = [problem.msg for problem in production_secrets()]
    if not settings.DEBUG:
        users = get_user_model().objects.filter(username__in=DEMO_USERNAMES, is_active=True)
        problems += [
            f"The account {user.username!r} has the demo's password; change it or deactivate it."
            for user in users
            if user.check_password(DEMO_PASSWORD)
        ]
    if problems:
        raise ImproperlyConfigured("Refusing to start in production. " + " ".join(problems))
