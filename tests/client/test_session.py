"""The Python client against a server that is away, busy or odd: a small one of our own, over HTTP."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from assay_client import ApiError, Assay, Gone, Unreachable, session

Answer = tuple[int, dict[str, str], object]


class Server:
    """Gives the answers that a test lists, one after another, and keeps what was sent."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.requests: list[tuple[str, str, str | None, bytes]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                outer.requests.append((self.command, self.path, self.headers.get("Authorization"), sent))
                status, headers, body = outer.answers.pop(0)
                content = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(content))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = answer  # noqa: N815 - the names that the server calls

            def log_message(self, *_: object) -> None: ...

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture
def assay(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Assay]:
    monkeypatch.setattr(session, "PAUSES", (0.0, 0.0))
    with Assay(server.url, token="abc") as connection:
        yield connection


def test_reading_is_tried_again_while_the_server_is_away(server: Server, assay: Assay) -> None:
    server.answers = [(503, {}, {}), (502, {}, {}), (200, {}, {"slug": "lab"})]
    assert assay.get("projects/lab/") == {"slug": "lab"}
    assert [request[:3] for request in server.requests] == [("GET", "/api/v1/projects/lab/", "Token abc")] * 3


def test_what_may_have_been_done_is_not_done_again(server: Server, assay: Assay, tmp_path: Path) -> None:
    server.answers = [(503, {}, b"away"), (200, {}, {})]
    with pytest.raises(ApiError, match=r"the server answered Service Unavailable \(status 503\)"):
        assay.post("projects/", {"name": "Lab"})
    assert len(server.requests) == 1


def test_a_request_that_was_put_off_is_sent_again_whole(server: Server, assay: Assay, tmp_path: Path) -> None:
    server.answers = [(429, {"Retry-After": "0"}, {"detail": "Too many."}), (201, {}, {"url": "/api/v1/x/"})]
    file = tmp_path / "texts.jsonl"
    file.write_text('{"id": "1"}\n')
    assert assay.upload("x/", {"file": file}, name="Texts", options={"scale_min": 1}) == {"url": "/api/v1/x/"}
    bodies = [sent for *_, sent in server.requests]
    assert all(b'{"id": "1"}' in body and b'{"scale_min": 1}' in body for body in bodies)
    assert len(bodies) == 2

    server.answers = [(429, {"Retry-After": "3600"}, {"detail": "Too many wrong passwords."})]
    with pytest.raises(ApiError, match="Too many wrong passwords"):
        assay.post("token/", {})


def test_the_token_goes_to_the_named_server_alone(server: Server, assay: Assay) -> None:
    elsewhere = "https://elsewhere.example.org/api/v1/projects/?cursor=abc"
    server.answers = [
        (200, {}, {"next": elsewhere, "results": [{"slug": "a"}]}),
        (200, {}, {"next": None, "results": []}),
    ]
    assert list(assay.projects()) == [{"slug": "a"}]
    assert [path for _, path, *_ in server.requests] == [
        "/api/v1/projects/?page_size=1000",
        "/api/v1/projects/?cursor=abc",
    ]


def test_without_a_server_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "PAUSES", (0.0,))
    server = Server()
    server.close()
    with Assay(server.url, token="abc") as assay, pytest.raises(Unreachable, match=r"GET projects/: .*refused"):
        list(assay.projects())


def test_a_download_is_there_whole_or_not_at_all(server: Server, assay: Assay, tmp_path: Path) -> None:
    server.answers = [(200, {}, b"%PDF-"), (404, {}, {"detail": "Not found."})]
    assert assay.download("studies/1/report.pdf/", tmp_path / "report.pdf").read_bytes() == b"%PDF-"
    with pytest.raises(Gone, match="Not found"):
        assay.download("studies/2/report.pdf/", tmp_path / "other.pdf")
    assert [path.name for path in tmp_path.iterdir()] == ["report.pdf"]
