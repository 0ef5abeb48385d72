"""Home and health."""

import re
from pathlib import Path

import pytest
from django.core.mail import EmailMessage
from django.db import DatabaseError
from django.test import Client
from pytest_django import Settings

from annotation.core.heartbeats import SCHEDULER, heartbeat, task_heartbeat
from annotation.core.queues import SHORT
from annotation.models import User


def test_home_shows_anonymous_visitors_the_sign_in_link(db: None, client: Client) -> None:
    response = client.get("/")
    assert response.status_code == 200
    assert "Sign in" in response.content.decode()


def test_the_picture_on_the_home_page_draws_its_numbers_at_their_place(db: None, client: Client) -> None:
    picture = client.get("/").content.decode().split("Three systems with scores", 1)[1].split("</svg>", 1)[0]
    axis = re.findall(r'x="(\d+)" y="180" [^>]*>([\d.]+)<', picture)
    (left, low), (right, high) = [(float(x), float(value)) for x, value in (axis[0], axis[-1])]
    marks = [float(x) for x in re.findall(r'cx="(\d+)"', picture)]
    values = [float(value) for value in re.findall(r">(0\.\d\d)\b", picture)]
    assert len(marks) == len(values) == 3
    for x, value in zip(marks, values, strict=True):
        assert x == pytest.approx(left + (value - low) / (high - low) * (right - left))


def test_home_redirects_members_to_their_projects(manager: User, client: Client) -> None:
    client.force_login(manager)
    assert client.get("/").headers["Location"] == "/projects/"


def test_health_is_ok_while_all_parts_work(db: None, client: Client) -> None:
    heartbeat(SCHEDULER)
    task_heartbeat(SHORT)
    response = client.get("/healthz")
    assert response.status_code == 200
    parts = {"web": "ok", "database": "ok", "scheduler": "ok", "worker": "ok", "disk": "ok"}
    assert response.json() == response.json() | parts | {"status": "ok"}


def test_health_names_parts_that_were_never_seen(db: None, client: Client) -> None:
    response = client.get("/healthz")
    assert response.status_code == 503
    parts = {"scheduler": "not seen", "worker": "not seen", "database": "ok"}
    assert response.json() == response.json() | parts | {"status": "degraded"}


def test_health_names_a_database_that_is_down(db: None, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise DatabaseError("down")

    monkeypatch.setattr("config.health.work_state", refuse)
    response = client.get("/healthz")
    assert response.status_code == 503
    assert response.json()["database"] == "down"


def test_health_names_a_disk_that_is_nearly_full(db: None, client: Client, settings: Settings) -> None:
    settings.DISK_FREE_MIN_BYTES = 2**70
    response = client.get("/healthz")
    assert response.status_code == 503
    assert "MiB free, at least 1125899906842624 MiB needed" in response.json()["disk"]


def test_health_names_a_data_folder_that_cannot_be_written(db: None, client: Client, settings: Settings) -> None:
    settings.DATA_DIR = Path("/proc/self")  # not even by root
    response = client.get("/healthz")
    assert response.status_code == 503
    assert response.json()["disk"].startswith("the data folder cannot be written: ")


def test_health_answers_plain_http_behind_a_proxy_that_ends_tls(db: None, client: Client, settings: Settings) -> None:
    settings.SECURE_SSL_REDIRECT = True
    heartbeat(SCHEDULER)
    task_heartbeat(SHORT)
    assert client.get("/").headers["Location"] == "https://testserver/"
    assert client.get("/healthz").status_code == 200


def test_every_response_has_a_policy_without_foreign_or_inline_scripts(db: None, client: Client) -> None:
    policy = client.get("/").headers["Content-Security-Policy"]
    assert "script-src 'self';" in policy
    assert "unsafe-eval" not in policy


def test_schema_is_served_and_documented(manager: User, client: Client) -> None:
    client.force_login(manager)
    assert client.get("/api/schema/").status_code == 200
    assert client.get("/api/docs/").status_code == 200


def test_passwords_can_be_reset_only_if_a_mail_server_is_configured(
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
def test_missing_pages_get_the_products_404_page_even_under_debug(
    manager: User, client: Client, settings: Settings, path: str
) -> None:
    settings.DEBUG = True
    client.force_login(manager)
    response = client.get(path)
    assert response.status_code == 404
    assert "URLconf" not in response.content.decode()
