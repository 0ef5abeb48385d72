"""JSON over HTTP with the manners every provider expects: timeouts, patience, no token to strangers."""

import ssl
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any, NoReturn
from urllib.parse import urljoin, urlsplit

import httpx

from annotation.recruitment.providers.errors import AccessRefused, NotFound, ProviderError
from annotation.recruitment.providers.retry import Backoff

TIMEOUT = httpx.Timeout(20.0, connect=5.0)
BUSY = 429
MAX_SAID = 2000  # of a provider's answer, kept for the record


@cache
def _tls() -> ssl.SSLContext:
    """Return what all connections trust: to read the certificates takes longer than a request."""
    return httpx.create_ssl_context()


class JsonApi:
    """One API at one address. Redirects are not followed: a token goes to the configured host and nowhere else."""

    def __init__(self, base_url: str, *, name: str, headers: Mapping[str, str], backoff: Backoff) -> None:
        self.base_url = base_url.rstrip("/")
        self.name = name
        self._backoff = backoff
        self._client = httpx.Client(
            headers={"Accept": "application/json", "User-Agent": "Assay", **headers},
            timeout=TIMEOUT,
            follow_redirects=False,
            verify=_tls(),
        )

    def close(self) -> None:
        self._client.close()

    def call(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str | int] | None = None,
        body: object = None,
        idempotent: bool | None = None,
    ) -> tuple[Any, httpx.Headers]:
        """The decoded answer (None where it is empty) and its headers.

        ``idempotent`` says whether repeating the request is harmless; reads are.
        """
        safe = method in {"GET", "PUT", "DELETE"} if idempotent is None else idempotent
        url = self._within(path)
        return self._backoff.run(lambda: self._once(method, url, params, body), idempotent=safe)

    def _within(self, path: str) -> str:
        """The absolute address; one that an answer names must lie at the same host."""
        url = urljoin(f"{self.base_url}/", path.lstrip("/")) if "://" not in path else path
        if urlsplit(url)[:2] != urlsplit(self.base_url)[:2]:
            raise ProviderError(f"{self.name} points to {url}; accepted: an address at {self.base_url}.", said=url)
        return url

    def _once(
        self, method: str, url: str, params: Mapping[str, str | int] | None, body: object
    ) -> tuple[Any, httpx.Headers]:
        read = method == "GET"
        try:
            response = self._client.request(method, url, params=params, json=body)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise ProviderError(
                f"{self.name} could not be reached.", said=str(error), retriable=True, sent=False
            ) from error
        except httpx.TimeoutException as error:
            raise ProviderError(
                f"{self.name} did not answer in time.", said=str(error), retriable=True, unknown=not read
            ) from error
        except httpx.HTTPError as error:
            raise ProviderError(
                f"The connection to {self.name} broke off.", said=str(error), retriable=True, unknown=not read
            ) from error
        if not response.is_success:
            self._refuse(response, read=read)
        if not response.content:
            return None, response.headers
        try:
            return response.json(), response.headers
        except ValueError as error:
            raise ProviderError(
                f"{self.name} answered with something other than JSON.",
                said=response.text[:MAX_SAID],
                status=response.status_code,
                unknown=not read,
            ) from error

    def _refuse(self, response: httpx.Response, *, read: bool) -> NoReturn:
        status = response.status_code
        said, fields = explained(response)
        text = f"{self.name} said: {said}" if said else f"{self.name} answered with status {status}."
        if status in {401, 403}:
            raise AccessRefused(
                f"{self.name} does not accept this token, or the token's account may not do this. {said}".strip(),
                said=said,
                status=status,
            )
        if status == 404:
            raise NotFound(text, said=said, status=status)
        busy, broken = status == BUSY, status >= 500
        raise ProviderError(
            text,
            said=said,
            status=status,
            retriable=busy or broken,
            retry_after=retry_after(response.headers.get("Retry-After", "")),
            unknown=broken and not read,
            fields=fields,
        )


def explained(response: httpx.Response) -> tuple[str, dict[str, list[str]]]:
    """What an error answer says, as one text and by field."""
    try:
        data = response.json()
    except ValueError:
        return " ".join(response.text.split())[:MAX_SAID], {}
    error = data.get("error", data) if isinstance(data, dict) else data
    if not isinstance(error, dict):
        return _text(error), {}
    detail = error.get("detail") or error.get("message") or error.get("title") or ""
    fields = {name: _texts(said) for name, said in detail.items()} if isinstance(detail, dict) else {}
    return _text(detail)[:MAX_SAID], fields


def _texts(value: object) -> list[str]:
    return [_text(part) for part in value] if isinstance(value, list) else [_text(value)]


def _text(value: object) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_text(said)}" for name, said in value.items())
    if isinstance(value, list):
        return " ".join(_text(part) for part in value)
    return "" if value is None else str(value)


def retry_after(value: str) -> float | None:
    """Seconds a ``Retry-After`` header asks for, given as seconds or as a date (RFC 9110, 10.2.3)."""
    if value.strip().isdigit():
        return float(value)
    try:
        then = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return max(0.0, (then - datetime.now(UTC)).total_seconds())
