"""Home and health."""

from datetime import timedelta

import pytest
from django.core.mail import EmailMessage
from django.db import DatabaseError
from django.db.models.functions import Now
from django.test import Client
from pytest_django import Settings

from annotation.core import jobs
from annotation.models import Heartbeat, User


def test_home_says_what_assay_is_to_a_stranger(db: None, client: Client) -> None:
    response = client.get("/")
    assert response.status_code == 200
    assert "Sign in" in response.content.decode()


def test_home_brings_a_member_to_the_projects(manager: User, client: Client) -> None:
    client.force_login(manager)
    assert client.get("/").headers["Location"] == "/projects/"


def test_health_is_ok_while_web_database_and_worker_live(db: None, client: Client) -> None:
    jobs.heartbeat("worker")
    response = client.get("/healthz")
    assert response.status_code == 200
    assert response.json()["worker"] == "ok"


def test_health_names_a_worker_that_was_never_seen(db: None, client: Client) -> None:
    response = client.get("/healthz")
    assert response.status_code == 503
    assert response.json() == response.json() | {"status": "degraded", "worker": "not seen", "database": "ok"}


def test_health_names_a_worker_that_fell_silent(db: None, client: Client) -> None:
    jobs.heartbeat("worker")
    Heartbeat.objects.update(seen_at=Now() - timedelta(hours=1))
    response = client.get("/healthz")
    assert response.status_code == 503
    assert response.json()["worker_last_seen_seconds"] == pytest.approx(3600, abs=60)


def test_health_names_a_database_that_is_down(db: None, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> float:
        raise DatabaseError("down")

    monkeypatch.setattr("config.views.jobs.worker_age_seconds", refuse)
    response = client.get("/healthz")
    assert response.status_code == 503
    assert response.json()["database"] == "down"


def test_every_answer_carries_a_policy_without_foreign_or_inline_scripts(db: None, client: Client) -> None:
    policy = client.get("/").headers["Content-Security-Policy"]
    assert "script-src 'self';" in policy
    assert "unsafe-eval" not in policy


def test_schema_is_served_and_documented(manager: User, client: Client) -> None:
    client.force_login(manager)
    assert client.get("/api/schema/").status_code == 200
    assert client.get("/api/docs/").status_code == 200


def test_a_password_can_be_reset_by_mail_only_where_there_is_a_mail_server(
    manager: User, client: Client, settings: Settings, mailoutbox: list[EmailMessage]
) -> None:
    User.objects.filter(pk=manager.pk).update(email="max@example.org")
    assert client.get("/accounts/password_reset/").status_code == 404
    assert "Forgot your password?" not in client.get("/accounts/login/").content.decode()
    settings.EMAIL_HOST = "mail.example.org"
    assert "Forgot your password?" in client.get("/accounts/login/").content.decode()
    assert client.post("/accounts/password_reset/", {"email": "max@example.org"}).status_code == 302
    assert [message.to for message in mailoutbox] == [["max@example.org"]]


@pytest.mark.parametrize("path", ["/p/nobodys/", "/r/0b0c1cde-58a5-4e0e-9a77-2c9a9e1a8d11/"])
def test_what_does_not_exist_gets_the_products_own_page_under_debug_too(
    manager: User, client: Client, settings: Settings, path: str
) -> None:
    settings.DEBUG = True
    client.force_login(manager)
    response = client.get(path)
    assert response.status_code == 404
    assert "URLconf" not in response.content.decode()
