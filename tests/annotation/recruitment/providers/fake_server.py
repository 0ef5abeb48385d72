"""A small HTTP server in a thread, on loopback, that a fake provider answers through."""

import json
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, parse_qsl, urlsplit


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]  # names in lower case
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    def form(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(self.body.decode(), keep_blank_values=True).items()}

    def cookie(self, name: str) -> str:
        pairs = (part.strip().partition("=") for part in self.headers.get("cookie", "").split(";"))
        return next((value for key, _, value in pairs if key == name), "")


@dataclass(frozen=True)
class Answer:
    status: int = 200
    data: Any = None  # sent as JSON unless it is text
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = ""

    def encoded(self) -> tuple[bytes, str]:
        if self.data is None:
            return b"", self.content_type or "application/json"
        if isinstance(self.data, str) and self.content_type:
            return self.data.encode(), self.content_type
        return json.dumps(self.data).encode(), self.content_type or "application/json"


def page(title: str, inner: str, status: int = 200) -> Answer:
    html = f"<!doctype html><html lang=en><link rel=icon href=data:,><title>{title}</title><h1>{title}</h1>{inner}"
    return Answer(status, html, content_type="text/html; charset=utf-8")


@dataclass
class Trouble:
    """What happens to the next requests instead of an answer."""

    times: int
    where: str  # a part of the path, or of the operation
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    data: Any = None
    seconds: float = 0.0
    drop: bool = False
    after: bool = False  # the work is done, and only its answer is lost


class FakeServer(ABC):
    """Start and stop with ``with``; every request is recorded in ``requests``."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.lock = threading.RLock()
        self._troubles: list[Trouble] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @abstractmethod
    def answer(self, request: Request) -> Answer:
        """Return what the provider's own server would answer."""

    def name(self, request: Request) -> str:
        """Return the text in which a trouble's ``where`` is searched."""
        return f"{request.method} {request.path}"

    def fail(self, status: int, *, where: str = "", times: int = 1, data: Any = None, **headers: str) -> None:
        """Answer the next requests with this status; ``retry_after="3"`` becomes the header."""
        header_values = {name.replace("_", "-").title(): value for name, value in headers.items()}
        self._troubles.append(Trouble(times, where, status=status, headers=header_values, data=data))

    def hang(self, seconds: float, *, where: str = "", times: int = 1) -> None:
        self._troubles.append(Trouble(times, where, seconds=seconds))

    def drop(self, *, where: str = "", times: int = 1, after: bool = False) -> None:
        """Cut the connection; with ``after``, only once the work has been done."""
        self._troubles.append(Trouble(times, where, drop=True, after=after))

    def count(self, where: str) -> int:
        return sum(where in self.name(request) for request in self.requests)

    def _next_trouble(self, request: Request) -> Trouble | None:
        for trouble in self._troubles:
            if trouble.times and trouble.where in self.name(request):
                trouble.times -= 1
                return trouble
        return None

    def respond(self, request: Request) -> Answer | None:
        """Answer a request; None cuts the connection."""
        with self.lock:
            self.requests.append(request)
            trouble = self._next_trouble(request)
        if trouble and trouble.seconds:
            time.sleep(trouble.seconds)
        if trouble and trouble.status:
            return Answer(trouble.status, trouble.data, trouble.headers)
        if trouble and trouble.drop and not trouble.after:
            return None
        with self.lock:
            answer = self.answer(request)
        return None if trouble and trouble.drop else answer

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        respond: Callable[[Request], Answer | None] = self.respond

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else each answer waits 40 ms for an acknowledgement
            wbufsize = -1

            def handle_any(self) -> None:
                parts = urlsplit(self.path)
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                query = dict(parse_qsl(parts.query, keep_blank_values=True))
                answer = respond(Request(self.command, parts.path, query, headers, body))
                if answer is None:
                    self.close_connection = True
                    return
                content, kind = answer.encoded()
                self.send_response(answer.status)
                for name, value in {"Content-Type": kind, **answer.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = handle_any  # noqa: N815 - http.server's names

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's signature
                pass

        return Handler


class FakeProvider(FakeServer):
    """A fake of a provider, which the contract test can drive. It is in ``<key>/fake.py``."""

    values: dict[str, str]  # of the provider's account fields

    @property
    def settings(self) -> dict[str, object]:
        """Return environment variables that lead to the fake instead of to the provider's own addresses."""
        return {}

    @abstractmethod
    def rater_comes(self, study: str) -> tuple[str, str]:
        """Take a place in the study; return the id of the submission and the address that the rater opens."""

    @abstractmethod
    def rater_finishes(self, submission: str, *, code: str, fields: dict[str, str]) -> None:
        """End the stay with a completion code, or with the fields of the form that was posted back."""
