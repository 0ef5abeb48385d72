"""OpenID Connect, the authorization code flow with PKCE: what is sent to a provider, and how its answers are checked.

References
----------
OpenID Connect Core 1.0 and Discovery 1.0, RFC 7636 (PKCE), RFC 9207 (the issuer in the answer).
"""

import base64
import hashlib
import json
import secrets
import ssl
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from typing import Any, Self
from urllib.parse import quote_plus, urlsplit

import httpx
from django.core.cache import cache as memory

TIMEOUT = httpx.Timeout(10.0, connect=5.0)  # a person waits
LARGEST = 1024 * 1024  # bytes of an answer
REMEMBERED = 3600  # seconds: addresses and keys of a provider
LOOPBACK = ("127.0.0.1", "localhost", "::1")  # a provider for practice, on this machine
EMAIL = frozenset({"email", "email_verified"})
ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")


class OpenIdError(Exception):
    """The provider cannot be asked, or its answer cannot be trusted. The message is for people."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True)
class Attempt:
    """Three random values that tie the answer of the provider to the browser that asked: kept in its session."""

    state: str
    nonce: str
    verifier: str

    @classmethod
    def new(cls) -> Self:
        return cls(*(secrets.token_urlsafe(32) for _ in range(3)))

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


@dataclass(frozen=True)
class Provider:
    """A provider, and Assay as one of its clients."""

    issuer: str
    client_id: str
    client_secret: str

    def authorization_address(self, attempt: Attempt, *, back: str, scopes: Collection[str]) -> str:
        """Return where the browser goes, to come ``back`` with a code."""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(attempt.verifier.encode()).digest()).rstrip(b"=")
        parameters = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": back,
            "scope": " ".join(scopes),
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": challenge.decode(),
            "code_challenge_method": "S256",
        }
        return str(httpx.URL(self._metadata["authorization_endpoint"]).copy_merge_params(parameters))

    def claims(self, code: str, attempt: Attempt, *, back: str, needed: Collection[str]) -> dict[str, Any]:
        """Return what the provider says about the person, for the code that the browser brought back.

        The claims are of the signed ID token. Those of ``needed`` that it lacks are asked for at the userinfo
        endpoint, with the access token.
        """
        answer = self._exchange(code, attempt, back)
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise OpenIdError("The provider sent no ID token.")
        claims = self._claims_of_token(token, attempt.nonce)
        endpoint = self._metadata.get("userinfo_endpoint")
        if endpoint and any(name not in claims for name in needed):
            more = _read(endpoint, headers={"Authorization": f"Bearer {answer.get('access_token', '')}"})
            if more.get("sub") != claims["sub"]:
                raise OpenIdError("The provider described two different people.")
            claims = _joined(claims, more)
        return claims

    def is_from_here(self, issuer: str | None) -> bool:
        """Return whether an answer that may name its issuer names this one."""
        return issuer is None or issuer == self.issuer

    @cached_property
    def _metadata(self) -> Mapping[str, Any]:
        """Return the provider's addresses, from its discovery document."""
        found = _remembered(f"{self.issuer.rstrip('/')}/.well-known/openid-configuration")
        if found.get("issuer") != self.issuer:
            raise OpenIdError("The provider calls itself otherwise than the setting OIDC_ISSUER.")
        for name in ENDPOINTS:
            if not is_safe_address(found.get(name)):
                raise OpenIdError(f"The provider names no safe address as {name}.")
        if "userinfo_endpoint" in found and not is_safe_address(found["userinfo_endpoint"]):
            raise OpenIdError("The provider names no safe address as userinfo_endpoint.")
        return found

    def _exchange(self, code: str, attempt: Attempt, back: str) -> dict[str, Any]:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": back,
            "code_verifier": attempt.verifier,
        }
        methods = self._metadata.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        headers = {}
        if "client_secret_basic" in methods:  # RFC 6749, section 2.3.1: both parts are encoded
            pair = f"{quote_plus(self.client_id)}:{quote_plus(self.client_secret)}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        else:
            form |= {"client_id": self.client_id, "client_secret": self.client_secret}
        return _read(self._metadata["token_endpoint"], headers=headers, form=form)

    def _claims_of_token(self, token: str, nonce: str) -> dict[str, Any]:
        from annotation.accounts import id_tokens  # its library takes part in no installation without single sign-on

        address = self._metadata["jwks_uri"]
        key = id_tokens.key_of(token, _remembered(address))
        if key is None:  # providers change their keys
            key = id_tokens.key_of(token, _remembered(address, afresh=True))
        if key is None:
            raise OpenIdError("The ID token is signed with a key that the provider does not publish.")
        return id_tokens.checked_claims(token, key, issuer=self.issuer, client_id=self.client_id, nonce=nonce)


def _joined(claims: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return the claims of both, the token's first. An address and whether it is verified come from one of them."""
    source = claims if EMAIL.issubset(claims) or "email" not in more else more
    return {
        **{name: value for name, value in {**more, **claims}.items() if name not in EMAIL},
        **{name: value for name, value in source.items() if name in EMAIL},
    }


def is_safe_address(address: Any) -> bool:
    """Return whether this is an address by TLS, or one of this machine."""
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except (AttributeError, TypeError, ValueError):
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and host in LOOPBACK))


@cache
def _tls() -> ssl.SSLContext:
    """Return the certificates that are trusted: to read them takes longer than the rest of a sign-in."""
    return httpx.create_ssl_context()


def _remembered(address: str, *, afresh: bool = False) -> dict[str, Any]:
    key = f"openid:{hashlib.sha256(address.encode()).hexdigest()}"
    found: dict[str, Any] | None = None if afresh else memory.get(key)
    if found is None:
        found = _read(address)
        memory.set(key, found, REMEMBERED)
    return found


def _read(
    address: str, *, headers: Mapping[str, str] | None = None, form: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return the JSON object at an address; ``form`` is posted to it. Redirects are not followed."""
    try:
        with (
            httpx.Client(timeout=TIMEOUT, follow_redirects=False, verify=_tls()) as client,
            client.stream(
                "GET" if form is None else "POST",
                address,
                headers={"Accept": "application/json", **(headers or {})},
                data=form,
            ) as response,
        ):
            body = b""
            for part in response.iter_bytes():
                body += part
                if len(body) > LARGEST:
                    raise OpenIdError("The provider's answer is too long.")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise OpenIdError("The provider cannot be reached just now. Try again in a minute.") from error
    if response.status_code != httpx.codes.OK:
        raise OpenIdError(f"The provider refused: it answered {response.status_code} at {urlsplit(address).path}.")
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise OpenIdError("The provider's answer is not JSON.") from error
    if not isinstance(found, dict):
        raise OpenIdError("The provider's answer is not a JSON object.")
    return found
