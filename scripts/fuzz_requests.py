"""Send requests to every route of the pages and the API, as every kind of caller: most nearly right, some wild.

    python -m scripts.fuzz_requests --requests 20000 --seed 1

Links and forms are those of the pages themselves, bodies of the API are valid ones; in most of them one or a few
values are damaged. No answer may be 500 or take ten seconds, no error may be left to the refusals of last resort in
``config.incoming`` (no two requests run at once here), and the process may use no more memory than stated. Each request
is rolled back. Those that go wrong are listed with their numbers, which repeat them: ``--first N --requests 1``.
"""

import argparse
import copy
import io
import json
import logging
import os
import random
import resource
import signal
import socket
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode, urlsplit
from wsgiref.util import setup_testing_defaults

from scripts.fuzz_bodies import Pairs, Valid, encoded, operations, pages

SECONDS = 10  # for an answer: of this process, and of the database for a statement
HANGING = 60  # by the clock, also while it waits
MEMORY_MIB = 1200  # of the process
CHUNKS = 1000  # of a streamed answer that are read
ROLES = ("", "rater", "viewer", "manager", "owner")
# How often each caller sends what was found as the owner.
WEIGHTS = (1, 1, 3, 6, 9)
METHODS = ("GET", "GET", "POST", "POST", "PUT", "PATCH", "DELETE")
NAMES = (
    *("cursor", "page_size", "page", "search", "q", "next", "before", "after", "from", "kind", "item", "order"),
    *("name", "format", "metric", "system", "criterion", "view", "part"),
)
CSRF = "c" * 32

TEXTS = (
    "",
    "0",
    "-1",
    "1",
    "10",
    "1.5",
    "NaN",
    "1e999",
    "-Infinity",
    "true",
    "null",
    "[]",
    "{}",
    str(2**31),
    str(2**63),
    "9" * 30,
    "9" * 5000,
    "\0",
    "a\0b",
    "\ud800",
    "\U0001f600",
    "٣",
    "²",
    "../../etc/passwd",
    "' OR 1=1 --",
    "<script>alert(1)</script>",
    "%s%n{0}",
    "a" * 10_000,
    "[" * 5000,
    '{"a":' * 5000,
    "2024-13-45",
    "cD16ZWJyYQ==",
    "2**3",
    "http://[",
)
RAW_JSON = (
    "[" * 100_000,
    '{"a":' * 100_000,
    '"\\ud800"',
    '{"name": 1e999}',
    "",
    "[",
    "nul",
    "\xff",
    '{"name":' + "9" * 5000 + "}",
)


# The value of the API's world for a page's parameter, by what stands before it in the address.
BEFORE = {
    "campaigns/": "campaign_pk",
    "imports/": "dataset_import_pk",
    "rating-imports/": "rating_import_pk",
    "items/": "item_pk",
    "models/": "model_pk",
    "responses/": "response_pk",
    "runs/": "score_run_pk",
    "studies/": "study_pk",
    "parameter-studies/": "parameter_study_pk",
    "select/": "seed_selecting_pk",
    "lists/": "list_pk",
    "corpora/": "corpus_slug",
    "mining/": "mining_run_pk",
    "references/": "reference_set_slug",
    "in/": "link_token",
    "v": "release_number",
    "edit/": "step",
    "files/": "file_name",
    "apply/": "rules_version",
}
FURTHER = {
    "step": "screen",
    "number": "1",
    "row": "1",
    "rater": "1",
    "version": "1",
    "kind": "gold",
    "provider": "prolific",
}


HEADERS = (
    ("HTTP_ACCEPT", ("application/json", "text/html", "*/*;q=x", "a/b; c*=d''%41", "," * 5000, "\xff")),
    ("HTTP_ACCEPT_LANGUAGE", ("de", "xx-" * 900, "en;q=nan", "\xff")),
    ("HTTP_AUTHORIZATION", ("Token x", "Token", "Token a b", "Basic \xff", "Bearer " + "9" * 5000)),
    ("HTTP_COOKIE", ("sessionid=" + "a" * 5000, "csrftoken=\x00", "messages=W10:x", "=;=;", "a=\xff")),
    ("HTTP_HX_REQUEST", ("true",)),
    ("HTTP_HX_CURRENT_URL", ("http://[", "\xff", "a" * 5000)),
    ("HTTP_IF_MODIFIED_SINCE", ("Thu, 99 Foo 0000 99:99:99 GMT", "0")),
    ("HTTP_IF_NONE_MATCH", ("*", '"', "W/" * 900)),
    ("HTTP_RANGE", ("bytes=0-0", "bytes=9-1", "bytes=-" + "9" * 400)),
    ("HTTP_REFERER", ("http://[", "javascript:alert(1)", "\xff")),
    ("HTTP_X_FORWARDED_FOR", ("", "a" * 5000, "::1, 999.1.1.1")),
    ("CONTENT_LENGTH", ("", "-1", "1", "x")),
    (
        "CONTENT_TYPE",
        ("", "multipart/form-data", "text/plain; charset=base64", "application/json; charset=utf-16", ";"),
    ),
    ("HTTP_X_CSRFTOKEN", ("", "\xff", "c" * 64)),
)


class Route(NamedTuple):
    template: str
    names: tuple[str, ...]


class Request(NamedTuple):
    method: str
    address: str
    body: bytes
    content_type: str
    role: str
    headers: Mapping[str, str]


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


def routes() -> Iterator[Route]:
    """Yield every route of the URL map; those of the API's schema are among them."""
    from django.urls import get_resolver

    yield from _routes(get_resolver(), "")


def _routes(resolver: Any, prefix: str) -> Iterator[Route]:
    from django.urls import URLPattern

    for each in resolver.url_patterns:
        path = prefix + str(each.pattern)
        if not isinstance(each, URLPattern):
            yield from _routes(each, path)
        elif "(?" not in path:
            names = tuple(part.split(">")[0].split(":")[-1] for part in path.split("<")[1:])
            yield Route(path.replace("^", "").replace("$", ""), names)


def json_value(chance: random.Random, depth: int = 0) -> Any:
    roll = chance.random()
    if depth < 3 and roll < 0.15:
        return [json_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    if depth < 3 and roll < 0.3:
        return {chance.choice(NAMES): json_value(chance, depth + 1) for _ in range(chance.randrange(4))}
    return chance.choice((None, True, -1, 0, 1, 2**31, 2**63, 10**30, 1.5, chance.choice(TEXTS), chance.choice(TEXTS)))


# --- Requests ---------------------------------------------------------------------------------------------------------


class Known(NamedTuple):
    """What requests are made from."""

    valid: Sequence[Sequence[Valid]]  # forms, operations of the API, links
    routes: Sequence[Route]
    values: Mapping[str, Any]
    fields: Sequence[str]


def request_of(chance: random.Random, known: Known) -> Request:
    """Draw a request: a form, an operation of the API, a link, or a wild one."""
    (which,) = chance.choices(range(4), (7, 4, 5, 3))
    if which == len(known.valid):
        request = _wild(chance, known)
    else:
        roles = [each.role for each in known.valid[which]]
        (role,) = chance.choices(("owner", "rater", ""), (12, 2, 1))
        fitting = [each for each in known.valid[which] if each.role == (role if role in roles else "owner")]
        request = _nearly_right(chance, chance.choice(fitting), known.fields)
    if chance.random() < 0.1:
        name, values = chance.choice(HEADERS)
        request = request._replace(headers={name: chance.choice(values)})
    return request


def _nearly_right(chance: random.Random, valid: Valid, fields: Sequence[str]) -> Request:
    """Return a valid request of which nothing, a value or a few are damaged."""
    (n_damaged,) = chance.choices((0, 1, 2, 4), (7, 8, 3, 2))
    (role,) = chance.choices(ROLES, WEIGHTS) if valid.role == "owner" else (valid.role,)
    address, body = valid.address, copy.deepcopy(valid.body)
    if valid.kind in ("form", "files"):
        for name, values in valid.options.items():
            if len(values) > 1 and chance.random() < 0.1:
                body = [pair for pair in body if pair[0] != name] + [(name, chance.choice(values))]
        if valid.buttons:
            body.append(chance.choice(valid.buttons))
    for _ in range(n_damaged):
        if body is None or chance.random() < 0.1:
            address = _damaged_query(chance, address, fields)
        elif valid.kind == "json":
            body = _damaged_json(chance, body, fields)
        else:
            _damage_pairs(chance, body, fields)
    content, content_type = (b"", "") if body is None else encoded(body, valid.kind)
    if valid.kind == "json" and chance.random() < 0.03:
        content = chance.choice(RAW_JSON).encode("utf-8", "surrogatepass")
    return Request(valid.method, address, content, content_type, role, {})


def _damage_pairs(chance: random.Random, pairs: Pairs, fields: Sequence[str]) -> None:
    if not pairs or chance.random() < 0.1:
        pairs.append((chance.choice(fields), chance.choice(TEXTS)))
        return
    index = chance.randrange(len(pairs))
    name, value = pairs[index]
    match chance.randrange(6):
        case 0:
            del pairs[index]
        case 1:
            pairs.append((name, chance.choice(TEXTS)))
        case 2 if isinstance(value, tuple):
            pairs[index] = name, (chance.choice(("x", "x.csv", "x.jsonl", "x.zip")), bytes(chance.randbytes(200)))
        case _:
            pairs[index] = name, chance.choice(TEXTS)


def _damaged_json(chance: random.Random, value: Any, fields: Sequence[str]) -> Any:
    """Return the value with one part at any depth replaced, left out or added."""
    if isinstance(value, dict) and value and chance.random() < 0.9:
        name = chance.choice(sorted(value))
        roll = chance.random()
        if roll < 0.12:
            return {each: held for each, held in value.items() if each != name}
        if roll < 0.24:
            return value | {chance.choice([*fields, *TEXTS]): json_value(chance)}
        return value | {name: _damaged_json(chance, value[name], fields)}
    if isinstance(value, list) and value and chance.random() < 0.8:
        index = chance.randrange(len(value))
        if chance.random() < 0.2:
            return value * chance.choice((0, 2, 300))
        return [*value[:index], _damaged_json(chance, value[index], fields), *value[index + 1 :]]
    return json_value(chance)


def _damaged_query(chance: random.Random, address: str, fields: Sequence[str]) -> str:
    parts = urlsplit(address)
    pairs: list[tuple[str, str]] = parse_qsl(parts.query, keep_blank_values=True)
    if pairs and chance.random() < 0.7:
        index = chance.randrange(len(pairs))
        pairs[index] = pairs[index][0], chance.choice(TEXTS)
    else:
        pairs.append((chance.choice([*NAMES, *fields]), chance.choice(TEXTS)))
    return parts._replace(query=urlencode(pairs, errors="surrogatepass")).geturl()


def _wild(chance: random.Random, known: Known) -> Request:
    """Draw a route and any body. Most parts of the address are those of existing rows."""
    address, role = "/" + address_of(chance.choice(known.routes), known.values, chance), chance.choice(ROLES)
    for _ in range(chance.randrange(4)):
        address = _damaged_query(chance, address, known.fields)
    method = chance.choice(METHODS)
    names = chance.sample(known.fields, k=min(len(known.fields), chance.randrange(1, 8)))
    if chance.random() < 0.5:
        content, content_type = encoded({name: json_value(chance) for name in names}, "json")
        if chance.random() < 0.2:
            content = chance.choice(RAW_JSON).encode("utf-8", "surrogatepass")
    else:
        content, content_type = encoded([(name, chance.choice(TEXTS)) for name in names], "form")
    return Request(method, address, content, content_type, role, {})


def address_of(route: Route, values: Mapping[str, Any], chance: random.Random | None = None) -> str:
    """Return a route's address with the values of existing rows; with ``chance``, some values are not."""
    path, *parts = route.template.split("<")
    for part in parts:
        inner, after = part.split(">", 1)
        name = inner.split(":")[-1]
        before = f"{path.rsplit('/', 2)[-2]}/" if path.endswith("/") else path.rsplit("/", 1)[-1]
        value = values.get(name) or values.get(BEFORE.get(before, "")) or FURTHER.get(name) or "1"
        if chance is not None and chance.random() < 0.1:
            value = chance.choice(TEXTS)[:200] or "1"
        path += quote(str(value), safe="", errors="surrogatepass") + after
    return path


# --- Sending ----------------------------------------------------------------------------------------------------------


class Sender:
    """Sends requests to the application as a server does; each is rolled back."""

    def __init__(self) -> None:
        from django.core.signals import got_request_exception
        from django.db import connection

        from config.incoming import Application

        self.application, self.cookies = Application(), {"": f"csrftoken={CSRF}"}
        self.errors: list[str] = []
        self.refused = _Records()
        got_request_exception.connect(self._note)
        refusals = logging.getLogger("assay.refused")
        refusals.setLevel(logging.WARNING)
        refusals.propagate = False
        refusals.addHandler(self.refused)
        with connection.cursor() as cursor:
            cursor.execute(f"SET statement_timeout = '{SECONDS}s'")

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
        signal.setitimer(signal.ITIMER_REAL, HANGING)
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
    from annotation.campaigns.services.documents import campaign_export
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
    documents = {
        "campaigns/import": {"campaign": campaign_export(live), "dataset": "chats"},
        "response-lists": {"dataset": "chats", "name": "Named", "responses": [values["response_pk"]]},
    }
    of_draft = operations(values | {"campaign_pk": draft.pk}, documents, "{campaign_pk}")
    of_api = [*operations(values, documents), *of_draft]
    forms = list({json.dumps(each, default=repr): each for each in found if each.method != "GET"}.values())
    links = list({each.address: each for each in found if each.method == "GET"}.values())
    print(
        f"{len(forms)} forms, {len(links)} links, {len(of_api)} operations of the API, {len(every)} routes", flush=True
    )
    return Known((forms, of_api, links), every, values, field_names())


def run(numbers: range, seed: int) -> int:
    sender = Sender()
    known = known_to(sender)
    counts: Counter[tuple[str, str]] = Counter()
    n_wrong, slowest = 0, (0.0, "")
    for number in numbers:
        request = request_of(random.Random(f"{seed}-{number}"), known)
        began = time.process_time()
        answer = sender.send(request)
        took = time.process_time() - began
        counts[request.role, answer.kind] += 1
        slowest = max(slowest, (took, f"{request.method} {request.address[:120]}"))
        if answer.status >= 500 or answer.left_to or took > SECONDS:
            n_wrong += 1
            caller = request.role or "anonymous"
            print(f"{number}: {answer.status} in {took:.1f} s, {caller} {request.method} {request.address[:160]}")
            print(f"    {request.body[:200]!r} {dict(request.headers)!s:.200}")
            lines = (answer.error or answer.left_to).splitlines()
            print("\n".join(f"    {line[:200]}" for line in lines[-14:]), flush=True)
        if (number + 1) % 1000 == 0:
            print(f"{number + 1}: {_shares(counts)}, {_memory()} MiB", flush=True)
    for role in ROLES:
        of_role = {kind: n for (caller, kind), n in sorted(counts.items()) if caller == role}
        print(f"{role or 'anonymous':10} {of_role}")
    print(f"{len(numbers):,} requests, seed {seed}: {_shares(counts)}; slowest {slowest[0]:.1f} s, {slowest[1]}")
    print(f"{_memory()} MiB; {n_wrong} wrong")
    return n_wrong + (_memory() > MEMORY_MIB)


def _shares(counts: Counter[tuple[str, str]]) -> str:
    kinds: Counter[str] = Counter()
    for (_, kind), n in counts.items():
        kinds[kind] += n
    return ", ".join(f"{kind} {n:,} ({100 * n / max(1, kinds.total()):.0f} %)" for kind, n in sorted(kinds.items()))


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
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
    signal.signal(signal.SIGALRM, late)
    return min(1, run(range(options.first, options.first + options.requests), options.seed))


if __name__ == "__main__":
    sys.exit(main())
