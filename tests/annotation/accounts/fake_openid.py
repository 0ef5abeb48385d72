"""A provider of single sign-on that speaks HTTP on this machine, as one on the internet does by TLS."""

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, quote_plus, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa

CLIENT_ID, CLIENT_SECRET = "assay at the campus", "a secret: of the client"
ADA = {"sub": "a-1815", "email": "Ada@Campus.example", "email_verified": True, "preferred_username": "ada"}


@cache
def curve_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


@cache
def long_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@dataclass
class FakeProvider:
    """Who is signed in there, what of it the ID token says, and how it is signed."""

    issuer: str = ""
    person: dict[str, Any] = field(default_factory=lambda: dict(ADA))
    in_userinfo: tuple[str, ...] = ()  # claims that the token lacks
    changed: dict[str, Any] = field(default_factory=dict)  # claims of the token that are not as they should be
    algorithm: str = "ES256"
    key: Any = field(default_factory=curve_key)  # that signs
    published: str = "first"  # name of the keys
    requests: list[str] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def answer(self, path: str, sent: dict[str, str], headers: dict[str, str]) -> tuple[int, dict[str, Any] | str]:
        self.requests.append(path)
        match path:
            case "/.well-known/openid-configuration":
                names = ("authorization", "token", "userinfo")
                ends = {f"{name}_endpoint": f"{self.issuer}/{name}" for name in names}
                return 200, {"issuer": self.issuer, "jwks_uri": f"{self.issuer}/keys", **ends}
            case "/keys":
                return 200, {"keys": self.keys()}
            case "/authorization":
                code = secrets.token_urlsafe()
                self.codes[code] = sent
                back = urlencode({"code": code, "state": sent["state"], "iss": self.issuer})
                return 302, f"{sent['redirect_uri']}?{back}"
            case "/token":
                return self.token(sent, headers)
            case "/userinfo" if headers["Authorization"] == "Bearer of-ada":
                return 200, {"sub": self.person["sub"], **{name: self.person[name] for name in self.in_userinfo}}
        return 404, {}

    def token(self, sent: dict[str, str], headers: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """Return an ID token for a code, once, to the client that has its secret and began the sign-in."""
        pair = f"{quote_plus(CLIENT_ID)}:{quote_plus(CLIENT_SECRET)}"
        began = self.codes.pop(sent["code"], None)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(sent["code_verifier"].encode()).digest()).rstrip(b"=")
        if (
            began is None
            or headers["Authorization"] != f"Basic {base64.b64encode(pair.encode()).decode()}"
            or (began["code_challenge"], began["code_challenge_method"]) != (challenge.decode(), "S256")
            or began["redirect_uri"] != sent["redirect_uri"]
        ):
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        known = {name: value for name, value in self.person.items() if name not in self.in_userinfo}
        claims = {"iss": self.issuer, "aud": CLIENT_ID, "iat": now, "exp": now + 60, "nonce": began["nonce"], **known}
        claims = {name: value for name, value in {**claims, **self.changed}.items() if value is not None}
        signed = jwt.encode(claims, self.key, self.algorithm, headers={"kid": f"{self.published} {self.algorithm}"})
        return 200, {"id_token": signed, "access_token": "of-ada", "token_type": "Bearer"}

    def keys(self) -> list[dict[str, Any]]:
        published = {"ES256": jwt.algorithms.ECAlgorithm.to_jwk(curve_key().public_key(), as_dict=True)}
        if self.algorithm == "RS256":
            published["RS256"] = jwt.algorithms.RSAAlgorithm.to_jwk(long_key().public_key(), as_dict=True)
        return [{**key, "kid": f"{self.published} {name}", "alg": name} for name, key in published.items()]


@contextmanager
def running_provider() -> Iterator[FakeProvider]:
    provider = FakeProvider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address = urlsplit(self.path)
            self.respond(address.path, dict(parse_qsl(address.query)))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self.respond(self.path, dict(parse_qsl(body)))

        def respond(self, path: str, sent: dict[str, str]) -> None:
            status, answer = provider.answer(path, sent, dict(self.headers))
            self.send_response(status)
            if isinstance(answer, str):
                self.send_header("Location", answer)
                answer = {}
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        provider.issuer = f"http://127.0.0.1:{server.server_address[1]}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield provider
        finally:
            server.shutdown()
            thread.join()
