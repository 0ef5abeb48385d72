"""The product's own web server on loopback, and the browsers of simulated raters, one per rater."""

import http.client
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler

PART = "X-Rater-Part"  # as static/js/rater-send.js requests the next screen in the answer to the last
GO = "X-Rater-Go"
TIMEOUT = 60
PORT = 0  # any free port


class _Server(ThreadedWSGIServer):
    daemon_threads = False  # closing waits for its threads, and they close their database connections
    block_on_close = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore browsers that hang up; errors of the application have been answered and logged."""


class _Quiet(WSGIRequestHandler):
    wbufsize = -1  # one write per answer: small ones would wait for each other's acknowledgement
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        """Write nothing: the request log has it."""


@contextmanager
def serving() -> Iterator[http.client.HTTPConnection]:
    """Serve the whole application on a local port, and yield a connection to it."""
    server = _Server(("127.0.0.1", PORT), _Quiet)
    server.set_app(WSGIHandler())
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="dry-run", daemon=True)
    thread.start()
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=TIMEOUT)
    try:
        yield connection
    finally:
        connection.close()
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass(frozen=True)
class Page:
    """A server's response; ``go`` is the path that a redirect, or a part with a header, leads to."""

    status: int
    text: str
    go: str = ""


@dataclass
class Browser:
    """A rater's browser: its own cookies over the shared connection."""

    connection: http.client.HTTPConnection
    cookies: dict[str, str] = field(default_factory=dict)

    def get(self, path: str) -> Page:
        return self._request("GET", path, None, {})

    def post(self, path: str, data: Mapping[str, str], *, part: bool = False) -> Page:
        headers = {"Content-Type": "application/x-www-form-urlencoded", **({PART: "1"} if part else {})}
        return self._request("POST", path, urlencode(data), headers)

    def _request(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> Page:
        host, scheme = _host(), "https" if settings.BEHIND_TLS else "http"
        sent = {
            "Host": host,
            "Referer": f"{scheme}://{host}{path}",
            "Accept-Language": "en",
            "User-Agent": "Assay dry run",
            "Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()),
            **({"X-Forwarded-Proto": scheme} if settings.BEHIND_TLS else {}),
            **headers,
        }
        self.connection.request(method, path, body, sent)
        response = self.connection.getresponse()
        text = response.read().decode("utf-8", "replace")
        for line in response.headers.get_all("Set-Cookie") or []:
            self._store_cookies(line)
        parts = urlsplit(response.headers.get("Location") or response.headers.get(GO) or "")
        return Page(response.status, text, f"{parts.path}?{parts.query}" if parts.query else parts.path)

    def _store_cookies(self, line: str) -> None:
        """Store cookies whatever their path and ``Secure`` say: all requests go to one campaign, on this machine."""
        try:
            read = SimpleCookie(line)
        except CookieError:
            return
        for name, morsel in read.items():
            if morsel["max-age"] == "0" or morsel["max-age"] == 0:
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = morsel.coded_value


def _host() -> str:
    """Return a host name that this installation accepts."""
    for host in settings.ALLOWED_HOSTS:
        if host != "*":
            return str(host).removeprefix(".")
    return "127.0.0.1"


@dataclass
class Form:
    """A form of a page: its target, the values of its fields, and the values that its choices offer."""

    action: str
    name: str = ""
    values: dict[str, str] = field(default_factory=dict)
    choices: dict[str, list[str]] = field(default_factory=dict)


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.forms: list[Form] = []
        self.open: Form | None = None
        self.select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.open = Form(attributes.get("action", ""), attributes.get("id", ""))
            self.forms.append(self.open)
        elif self.open is not None and tag in ("input", "textarea", "select", "option"):
            self._field(self.open, tag, attributes)

    def _field(self, form: Form, tag: str, attributes: dict[str, str]) -> None:
        if tag == "option":
            form.choices.setdefault(self.select, []).append(attributes.get("value", ""))
            return
        name = attributes.get("name", "")
        if tag == "select":
            self.select = name
        if not name:
            return
        if attributes.get("type") in ("radio", "checkbox"):
            form.choices.setdefault(name, []).append(attributes.get("value", "on"))
            form.values.setdefault(name, "")
        else:
            form.values[name] = attributes.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.open = None


def forms(text: str) -> list[Form]:
    """Return the forms of a page, in order."""
    parser = _Forms()
    parser.feed(text)
    parser.close()
    return parser.forms
