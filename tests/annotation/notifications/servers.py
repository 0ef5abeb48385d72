"""A web server and a mail server on loopback that keep what they are sent."""

import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Receiver:
    """What a web server has received, and what it answers."""

    port: int = 0
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    answer: list[bytes] = field(default_factory=lambda: [b"thank you\nvery much"])
    pause: float = 0.0  # seconds after each part of the answer
    received: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?from=assay"


@contextmanager
def web_server() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.received.append((self.path, dict(self.headers), body))
            self.send_response(receiver.status)
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(ConnectionError):  # the client may have read enough
                for part in receiver.answer:
                    self.wfile.write(part)
                    time.sleep(receiver.pause)

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    with _serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as port:
        receiver.port = port
        yield receiver


@dataclass
class Mailbox:
    port: int = 0
    received: list[EmailMessage] = field(default_factory=list)


@contextmanager
def mail_server() -> Iterator[Mailbox]:
    """Serve as much of SMTP (RFC 5321) as a client needs to send."""
    mailbox = Mailbox()

    class Handler(socketserver.StreamRequestHandler):
        def say(self, text: str) -> None:
            self.wfile.write(f"{text}\r\n".encode())

        def handle(self) -> None:
            self.say("220 mailbox")
            while line := self.rfile.readline():
                match line[:4].upper():
                    case b"DATA":
                        self.say("354 go on")
                        lines = []
                        while (part := self.rfile.readline()) != b".\r\n":
                            lines.append(part.removeprefix(b".") if part.startswith(b"..") else part)
                        mailbox.received.append(message_from_bytes(b"".join(lines), policy=policy.default))
                        self.say("250 taken")
                    case b"QUIT":
                        self.say("221 bye")
                        return
                    case _:
                        self.say("250 fine")

    with _serving(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)) as port:
        mailbox.port = port
        yield mailbox


@contextmanager
def _serving(server: socketserver.TCPServer) -> Iterator[int]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
