"""No line of the log gives access to anything."""

import io
import json
import logging
import re
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from django.contrib.auth.tokens import default_token_generator
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from annotation.models import User
from annotation.projects.services.api_tokens import api_token_create
from annotation.recruitment.providers import PROVIDERS
from config.logs import SHARED, without_secrets

VALUES = {
    "link_token": uuid.UUID("16919065-ebe5-4e09-aecc-ab37291f066a"),
    "token": "rqA7x0hUe2Lw4Jk9PzTn1",
    "uidb64": "MTIzNDU2Nzg5",
}


def routes(patterns: list[URLPattern | URLResolver], before: str = "") -> Iterator[str]:
    for each in patterns:
        route = before + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from routes(each.url_patterns, route)
        else:
            yield route


def test_every_address_that_gives_access_is_cut() -> None:
    gives_access = re.compile(r"<(?:\w+:)?(?:link_)?token>")
    found = [route for route in routes(get_resolver().url_patterns) if gives_access.search(route)]
    assert len(found) > 15
    for route in found:
        values = VALUES | ({"token": VALUES["link_token"]} if "uuid:token" in route else {})
        path = "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda part, of=values: str(of.get(part[1], "7")), route)

        event = without_secrets(None, "info", {"path": path, "event": f"Not Found: {path}", "n": 3})

        assert event["path"] == event["event"].removeprefix("Not Found: ")
        assert [str(secret) for secret in values.values() if str(secret)[8:] in str(event)] == [], route
        assert str(event["path"]).startswith(path[:4])


def test_who_comes_by_a_providers_link_is_cut_out_of_it() -> None:
    for provider in PROVIDERS.values():
        query = "&".join(f"{name}=5f3c0ffee0ddba11" for name in provider.parameters)
        line = without_secrets(None, "info", {"event": f"Not Found: /r/in/?{query}&n=3 'x'"})["event"]
        assert "5f3c0ffee0ddba11" not in line
        assert line.endswith("&n=3 'x'")
        assert all(f"{name}=…" in line for name in provider.parameters)


@pytest.mark.django_db
def test_a_tour_leaves_no_secret_in_the_log(manager: User, caplog: pytest.LogCaptureFixture) -> None:
    """Sign in, use a token, a reset link, an invitation and a rater's link that do not exist; and fail."""
    caplog.set_level(logging.INFO)
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    render = structlog.processors.JSONRenderer()
    processors: list[Any] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta, render]
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=SHARED, processors=processors))
    logging.getLogger().addHandler(handler)
    manager.set_password("correct horse battery")
    manager.save()
    _, token = api_token_create(user=manager, name="Tour")
    reset = default_token_generator.make_token(manager)
    link = uuid.uuid4()
    secrets = ["correct horse battery", token, reset, str(link), "rqA7x0hUe2Lw4Jk9PzTn1"]
    client = Client(raise_request_exception=False)
    try:
        client.post(reverse("login"), {"username": manager.username, "password": "correct horse battery"})
        client.get("/api/v1/projects/", headers={"Authorization": f"Token {token}"})
        uid = urlsafe_base64_encode(force_bytes(manager.pk))
        client.get(reverse("password_reset_confirm", args=[uid, reset]))
        client.get(reverse("annotation:rater-landing", args=[link]))
        client.get(reverse("annotation:invitation", args=["rqA7x0hUe2Lw4Jk9PzTn1"]))
        client.get(reverse("annotation:single-sign-on-return"), {"code": "rqA7x0hUe2Lw4Jk9PzTn1"})
        try:
            raise ValueError(f"Cannot read /r/{link}/work/ with {token}")
        except ValueError:
            logging.getLogger("assay.part").exception("ended by an error")
    finally:
        logging.getLogger().removeHandler(handler)

    log = out.getvalue()
    events = [json.loads(line) for line in log.splitlines()]
    assert len(events) > 4
    assert any(str(link)[:8] in str(event) for event in events)
    assert [secret for secret in secrets if secret in log] == []
