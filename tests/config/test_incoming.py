"""Requests that no view should have to expect: too large, unstorable, overtaken by another."""

import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from wsgiref.util import setup_testing_defaults

import pytest
from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError, IntegrityError, connection
from django.http import HttpRequest
from django.test import Client
from django.urls import URLPattern, get_resolver
from pytest_django import Settings
from rest_framework.test import APIClient

from annotation.models import Membership, Project, ReferenceSet, User
from config.incoming import Application, refusal_of

ROOT = Path(__file__).resolve().parents[2]
LARGE = 2 * 1024 * 1024
MULTIPART = "multipart/form-data; boundary=x"


class Unread(io.BytesIO):
    """A body that must not be read."""

    def read(self, *_: Any) -> bytes:
        raise AssertionError("the body was read")


def send(client: Client, where: str, size: int, content_type: str = MULTIPART, **headers: Any) -> Any:
    request = {"wsgi.input": Unread(), "CONTENT_LENGTH": str(size), "CONTENT_TYPE": content_type}
    return client.generic("POST", where, b"", content_type, **request, **headers)


# --- Size -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "where", ["/accounts/login/", "/admin/login/", "/r/0b0c1cde-58a5-4e0e-9a77-2c9a9e1a8d11/", "/api/v1/token/"]
)
def test_a_large_body_without_signing_in_is_refused_unread(db: None, client: Client, where: str) -> None:
    answer = send(client, where, 400 * 1024 * 1024)
    assert answer.status_code == 413
    assert "at most 1.0 MB" in answer.content.decode()


def test_signed_in_users_send_files_only_to_addresses_that_take_files(
    project: Project, manager: User, client: Client, settings: Settings
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE, settings.UPLOAD_MAX_BYTES = LARGE, LARGE
    client.force_login(manager)
    assert send(client, "/account/tokens/", LARGE + 1).status_code == 413
    assert send(client, "/p/chit-chat/imports/new/", 2 * LARGE + 1).status_code == 413
    with pytest.raises(AssertionError, match="the body was read"):
        send(client, "/p/chit-chat/imports/new/", 2 * LARGE)


def test_programs_upload_with_their_token_and_not_with_an_invented_one(
    project: Project, manager: User, settings: Settings
) -> None:
    where = "/api/v1/projects/chit-chat/dataset-imports/"
    client = APIClient()
    token = APIClient().post("/api/v1/token/", {"username": manager.username, "password": "password"}, format="json")
    assert send(client, where, LARGE, HTTP_AUTHORIZATION="Token invented").status_code == 413
    with pytest.raises(AssertionError, match="the body was read"):
        send(client, where, LARGE, HTTP_AUTHORIZATION=f"Token {token.json()['token']}")


def test_every_view_that_reads_files_is_marked() -> None:
    marked = {pattern.callback.__name__ for pattern in patterns() if getattr(pattern.callback, "takes_uploads", False)}
    reading = set()
    for path in ROOT.glob("[acm]*/**/views/**/*.py"):
        for function in re.split(r"\n(?=def )", path.read_text()):
            if "request.FILES" in function:
                reading.add(re.match(r"def (\w+)", function)[1])  # type: ignore[index]
    assert reading <= marked, reading - marked


def patterns(resolver: Any = None) -> Iterator[URLPattern]:
    for each in (resolver or get_resolver()).url_patterns:
        if isinstance(each, URLPattern):
            yield each
        else:
            yield from patterns(each)


# --- Values -----------------------------------------------------------------------------------------------------------

MALFORMED_JSON = {
    "deep lists": "[" * 100_000,
    "deep lists, closed": '{"name": ' + "[" * 70 + "]" * 70 + "}",
    "deep objects": '{"a":' * 100_000,
    "half a surrogate pair": '{"name": "\\ud800"}',
    "half a surrogate pair in a name": '{"\\udfff": 1}',
    "NUL": '{"name": "a\\u0000b"}',
    "infinity": '{"name": 1e999}',
    "5,000 digits": f'{{"name": {"9" * 5000}}}',
    "70 bits": f'{{"name": {2**70}}}',
    "not UTF-8": b'{"name": "\xff"}',
}


@pytest.mark.parametrize("body", MALFORMED_JSON.values(), ids=MALFORMED_JSON)
def test_json_that_cannot_be_stored_is_refused_to_strangers_and_users(manager: User, body: str | bytes) -> None:
    client = APIClient()
    assert client.post("/api/v1/token/", body, content_type="application/json").status_code == 400
    client.force_login(manager)
    answer = client.post("/api/v1/projects/", body, content_type="application/json")
    assert answer.status_code == 400
    assert re.search(r"accepted|JSON", answer.json()["detail"])


@pytest.mark.parametrize(
    "where",
    [
        "/projects/?q=%00",
        "/projects/?%00=1",
        "/p/chit-chat%00/",
        "/accounts/login/?next=%00",
        "/api/v1/projects/?cursor=%00",
        f"/projects/?page={'9' * 5000}",
        f"/p/chit-chat/campaigns/{2**63}/",
        f"/api/v1/projects/chit-chat/campaigns/{10**40}/",
    ],
)
def test_an_address_that_cannot_be_looked_up_is_refused(
    project: Project, manager: User, client: Client, where: str
) -> None:
    client.force_login(manager)
    assert client.get(where).status_code == 400


def through_the_handler(**headers: str) -> tuple[int, str]:
    """Send a request as a server does: Django's test client would fail where the handler reads the headers."""
    environ = {"PATH_INFO": "/accounts/login/", "QUERY_STRING": "next=%ff", "HTTP_HOST": "localhost", **headers}
    setup_testing_defaults(environ)
    statuses = []
    body = b"".join(Application()(environ, lambda status, _: statuses.append(status)))
    return int(statuses[0][:3]), body.decode()


@pytest.mark.parametrize("charset", ["latin-1", "base64", "rot13", "idna", "undefined", "punycode", "utf-7"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_another_charset_is_refused_before_anything_is_decoded(db: None, charset: str, method: str) -> None:
    status, page = through_the_handler(REQUEST_METHOD=method, CONTENT_TYPE=f"text/plain; charset={charset}")
    assert (status, f"Found the charset &#x27;{charset}&#x27;" in page) == (400, True)


def test_utf_8_is_accepted(db: None) -> None:
    assert through_the_handler(CONTENT_TYPE='text/plain; charset="UTF-8"')[0] == 200


@pytest.mark.parametrize("header", ["CONTENT_TYPE", "HTTP_ACCEPT"])
@pytest.mark.parametrize("value", ["text/plain; a*=nonsense''%41", "text/plain; a*=punycode''%ff"])
def test_a_header_that_cannot_be_read_is_refused(db: None, header: str, value: str) -> None:
    status, answer = through_the_handler(**{header: value}, PATH_INFO="/api/v1/projects/")
    assert (status, "cannot be read" in answer) == (400, True)


@pytest.mark.parametrize("length", ["x", "-1", "9" * 5000, "\xb2"])
def test_a_length_that_is_no_number_is_refused(db: None, length: str) -> None:
    status, page = through_the_handler(REQUEST_METHOD="POST", CONTENT_LENGTH=length)
    assert (status, "Content-Length" in page) == (400, True)


def test_a_cookie_with_nul_is_refused(db: None, client: Client) -> None:
    client.cookies["sessionid"] = "a\0b"
    assert client.get("/").status_code == 400


def test_too_many_fields_are_refused_with_a_page_of_the_product(db: None, client: Client) -> None:
    body = "&".join(f"f{n}=1" for n in range(1001))
    answer = client.post("/accounts/login/", body, content_type="application/x-www-form-urlencoded")
    assert (answer.status_code, "cannot be read" in answer.text) == (400, True)


# --- Errors that the request caused -----------------------------------------------------------------------------------


def refused(act: Callable[[], object], method: str = "POST") -> int | None:
    request = HttpRequest()
    request.method = method
    try:
        act()
    except (DatabaseError, UnicodeError, ObjectDoesNotExist) as error:
        refusal = refusal_of(error, request)
        return refusal[0] if refusal else None
    raise AssertionError("nothing was raised")


def sql(statement: str, *values: object) -> Callable[[], object]:
    return lambda: connection.cursor().execute(statement, values)


@pytest.mark.django_db(transaction=True)
def test_what_the_database_refuses_is_a_refusal_and_what_the_program_did_wrong_stays_an_error(
    project: Project, manager: User
) -> None:
    assert refused(sql("SELECT %s::int", 2**40)) == 400
    assert refused(sql("SELECT %s", "a\0b")) == 400
    assert refused(sql("SELECT %s", "\ud800")) == 400
    assert refused(lambda: Membership.objects.create(project=project, user=manager, role="viewer")) == 409
    assert refused(lambda: Project.objects.get(pk=0)) == 409
    assert refused(lambda: Project.objects.get(pk=0), "GET") is None
    assert refused(lambda: Membership.objects.update(role="king")) is None
    assert refused(sql("SELECT nothing")) is None
    assert refused(sql("SELECT 1 / 0")) is None
    assert refused(sql("SELECT 'x'::date")) is None
    assert refused(lambda: Project.objects.filter(pk=project.pk).update(name="x" * 500)) is None
    with pytest.raises(IntegrityError):
        ReferenceSet.objects.create(project=project, name="x")
