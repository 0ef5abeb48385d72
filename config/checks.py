"""Checks that refuse a start: in production with settings of the demo, and through a pooler that no setting names."""

from typing import Any

import psycopg
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.checks import CheckMessage, Critical, Error
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

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


def refuse_to_serve() -> None:
    """Raise if this process must not serve.

    Servers call this at start, since it needs the database, which system checks must not use.
    """
    refuse_demo_in_production()
    if not settings.DATABASE_POOLER_URL:
        with connection.cursor() as cursor:
            refuse_pooler(cursor.connection)


def refuse_pooler(opened: psycopg.Connection[Any]) -> None:
    """Raise if the connection is not to PostgreSQL itself: a pooler names another process than the one that answers."""
    (process,) = opened.execute("SELECT pg_backend_pid()").fetchone()  # type: ignore[misc]
    if process != opened.info.backend_pid:
        raise ImproperlyConfigured(
            "DATABASE_URL leads to a connection pooler, such as PgBouncer. Name the pooler in DATABASE_POOLER_URL, and "
            "in DATABASE_URL the PostgreSQL server itself, which queue, backups and migrations need."
        )


def refuse_demo_in_production() -> None:
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
