"""Send requests to every route of the pages and the API, as every kind of caller: most nearly right, some wild.

Links and forms are those of the pages themselves, bodies of the API are valid ones; in most of them one or a few
values are damaged. No answer may be 500 or take ten seconds, no error may be left to the refusals of last resort in
``config.incoming`` (no two requests run at once here), and the process may use no more memory than stated. Each request
is rolled back.
"""

import io
import json
import logging
import os
import random
import signal
import socket
import time
import traceback
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from wsgiref.util import setup_testing_defaults

from scripts.fuzz.bodies import documents_of, operations
from scripts.fuzz.drawing import ROLES, Known, Request, address_of, request_of, routes
from scripts.fuzz.forms import pages
from scripts.fuzz.outcome import Outcome

SECONDS = 10  # for an answer: of this process, and of the database for a statement
HANGING = 60  # by the clock, also while it waits
BUSY_TURNS = 10  # as often HANGING seconds, if other programs leave this one no processor
MEMORY_MIB = 1200  # of the process
PIECE = 5000  # requests in a process
CHUNKS = 1000  # of a streamed answer that are read
CSRF = "c" * 32


class Answer(NamedTuple):
    status: int
    location: str = ""
    text: str = ""  # its begin
    error: str = ""
    left_to: str = ""  # the error that only the refusals of last resort caught

    @property
    def kind(self) -> str:
        """Return the class of the status; to be sent to sign in counts as a refusal."""
        return "4xx" if "/accounts/login/" in self.location else f"{self.status // 100}xx"


class Late(BaseException):
    """The answer takes too long; no view catches it."""


class Sender:
    """Sends requests to the application as a server does; each is rolled back."""

    def __init__(self) -> None:
        from django.core.signals import got_request_exception
        from django.db import connection

        from config.incoming import Application

        self.application, self.cookies = Application(), {"": f"csrftoken={CSRF}"}
        self.errors: list[str] = []
        self.turns = 0  # of HANGING seconds that the request has taken
        self.refused = _Records()
        got_request_exception.connect(self._note)
        refusals = logging.getLogger("assay.refused")
        refusals.setLevel(logging.WARNING)
        refusals.propagate = False
        refusals.addHandler(self.refused)
        with connection.cursor() as cursor:
            cursor.execute(f"SET statement_timeout = '{SECONDS}s'")

    def hangs(self, *_: object) -> None:
        """Give up a request that waits; on a busy machine later, since it may only wait for its turn to run."""
        self.turns += 1
        if self.turns >= BUSY_TURNS or os.getloadavg()[0] <= len(os.sched_getaffinity(0)):
            raise Late

    def _note(self, **_: Any) -> None:
        self.errors.append(traceback.format_exc(limit=-6))

    def signed_in(self, role: str, cookies: Mapping[str, Any]) -> None:
        """Send these cookies for a role from now on."""
        pairs = {name: morsel.value for name, morsel in cookies.items()} | {"csrftoken": CSRF}
        self.cookies[role] = "; ".join(f"{name}={value}" for name, value in pairs.items())

    def send(self, request: Request) -> Answer:
        from django.core.signals import request_finished, request_started
        from django.db import close_old_connections, connection, transaction

        for moment in (request_started, request_finished):
            moment.disconnect(close_old_connections)  # the transaction around the request lasts longer
        self.errors.clear()
        self.refused.last = ""
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.setitimer(signal.ITIMER_REAL, HANGING, HANGING)
        self.turns = 0
        try:
            with transaction.atomic():
                answer = self._send(request)
                transaction.set_rollback(True)
        except Late:
            connection.close()
            answer = Answer(500, error="It took too long:\n" + traceback.format_exc(limit=-6))
        except Exception:  # noqa: BLE001 - of the handler itself, or of the page for errors
            answer = Answer(500, error=traceback.format_exc(limit=-6))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
        return answer._replace(error=answer.error or "\n".join(self.errors), left_to=self.refused.last)

    def _send(self, request: Request) -> Answer:
        parts = urlsplit(request.address)
        environ: dict[str, Any] = {
            "REQUEST_METHOD": request.method,
            "PATH_INFO": _as_latin(parts.path),
            "QUERY_STRING": parts.query,
            "HTTP_HOST": "localhost",
            "HTTP_COOKIE": self.cookies[request.role],
            "HTTP_X_CSRFTOKEN": CSRF,
            "CONTENT_TYPE": request.content_type,
            "CONTENT_LENGTH": str(len(request.body)),
            "wsgi.input": io.BytesIO(request.body),
            **request.headers,
        }
        setup_testing_defaults(environ)
        started: list[tuple[str, list[tuple[str, str]]]] = []
        chunks = self.application(environ, lambda status, headers: started.append((status, headers)))
        begin = b""
        try:
            for number, chunk in enumerate(chunks):
                begin += chunk if len(begin) < 2_000_000 else b""
                if number > CHUNKS:
                    break
        finally:
            chunks.close()  # type: ignore[attr-defined] # a Django response
        status, headers = started[0]
        location = dict(headers).get("Location", "")
        return Answer(int(status[:3]), location, begin.decode("utf-8", "replace"))


def _as_latin(path: str) -> str:
    """Return the path as servers hand it over: its bytes, each as one character."""
    from urllib.parse import unquote_to_bytes

    return unquote_to_bytes(path).decode("latin-1")


class _Records(logging.Handler):
    """Keeps the error of the last refusal of last resort."""

    last = ""

    def emit(self, record: logging.LogRecord) -> None:
        if isinstance(record.msg, dict) and "exception" in record.msg:
            self.last = str(record.msg["exception"])


def late(*_: object) -> None:
    raise Late


# --- Running ----------------------------------------------------------------------------------------------------------


def no_network(*_: object, **__: object) -> Any:
    raise socket.gaierror("The fuzz target reaches no other host.")


def field_names() -> list[str]:
    """Return the names of the API's properties, which forms mostly share."""
    from drf_spectacular.generators import SchemaGenerator

    schemas = SchemaGenerator().get_schema(request=None, public=True)["components"]["schemas"]
    return sorted({name for each in schemas.values() for name in each.get("properties", {})})


def known_to(sender: Sender) -> Known:
    """Build a world, sign everyone in, and look through the pages."""
    from django.test import Client

    from annotation.campaigns.fields.table import CampaignDraft, CriterionDraft
    from annotation.campaigns.services.writing import campaign_create
    from annotation.models import Campaign, Project
    from tests.api.world import build_world

    people, values = build_world()
    project = Project.objects.get(slug=values["project_slug"])
    live = Campaign.objects.get(pk=values["campaign_pk"])
    values = {**values, "link_token": live.link_token}
    dataset = project.datasets.get(slug="chats")
    criteria = [CriterionDraft("quality", "How good?")]
    draft = campaign_create(project=project, draft=CampaignDraft(dataset=dataset, name="Drafted", criteria=criteria))
    for role in ROLES[2:]:
        client = Client()
        client.force_login(people[role])
        sender.signed_in(role, client.cookies)
    rater = Client()
    rater.post(f"/r/{values['link_token']}/consent/", {"agree": "on", "consent": "on"})
    rater.get(f"/r/{values['link_token']}/work/")
    sender.signed_in("rater", rater.cookies)

    def get(address: str, role: str) -> str:
        answer = sender.send(Request("GET", address, b"", "", role, {}))
        return answer.text if answer.status == 200 else ""

    every = sorted(route for route in set(routes()) if route.template != "healthz")  # no worker runs: it says 503
    begin = ["/" + address_of(route, values) for route in every]
    begin += [
        "/" + address_of(route, values | {"campaign_pk": draft.pk}) for route in every if "campaign" in route.template
    ]
    begin = [address for address in dict.fromkeys(begin) if not address.startswith(("/r/", "/api/", "/static/"))]
    found = [*pages(begin, "owner", get), *pages([f"/r/{values['link_token']}/work/"], "rater", get)]
    found += pages(["/accounts/login/", "/accounts/password_reset/"], "", get)
    documents = documents_of(values)
    of_draft = operations(values | {"campaign_pk": draft.pk}, documents, "{campaign_pk}")
    of_api = [*operations(values, documents), *of_draft]
    forms = list({json.dumps(each, default=repr): each for each in found if each.method != "GET"}.values())
    links = list({each.address: each for each in found if each.method == "GET"}.values())
    print(
        f"{len(forms)} forms, {len(links)} links, {len(of_api)} operations of the API, {len(every)} routes", flush=True
    )
    return Known((forms, of_api, links), every, values, field_names())


def run(numbers: range, seed: int) -> Outcome:
    """Send the requests of these numbers, to a new database."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    os.environ["LOG_LEVEL"] = "CRITICAL"  # refusals are what is expected
    import django

    django.setup()
    from django.db import connection
    from django.test.utils import setup_test_environment

    logging.getLogger("django").setLevel(logging.CRITICAL)
    setup_test_environment()
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    socket.getaddrinfo = no_network
    signal.signal(signal.SIGPROF, late)
    sender, outcome = Sender(), Outcome(MEMORY_MIB)
    signal.signal(signal.SIGALRM, sender.hangs)
    known = known_to(sender)
    for number in numbers:
        _send_one(outcome, sender, number, request_of(random.Random(f"{seed}-{number}"), known))
    outcome.measure_memory()
    return outcome


def _send_one(outcome: Outcome, sender: Sender, number: int, request: Request) -> None:
    began = time.process_time()
    answer = sender.send(request)
    took = time.process_time() - began
    caller = request.role or "stranger"
    outcome.counts[caller, answer.kind] += 1
    outcome.took(took, f"{request.method} {request.address[:120]}")
    if answer.status >= 500 or answer.left_to or took > SECONDS:
        lines = (answer.error or answer.left_to).splitlines()[-14:]
        found = [
            f"request {number}: {answer.status} in {took:.1f} s, {caller} {request.method} {request.address[:160]}",
            f"    {request.body[:200]!r} {dict(request.headers)!s:.200}",
            *(f"    {line[:200]}" for line in lines),
        ]
        outcome.wrong("\n".join(found))
    if outcome.counts.total() % 1000 == 0:
        print(f"requests to {number}: {outcome.n_wrong} wrong", flush=True)
