"""JSON over HTTP with timeouts and retries; tokens are sent to the configured host only."""

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
MAX_CHARACTERS = 2000  # of a provider's answer


@cache
def _tls() -> ssl.SSLContext:
    """Return what all connections trust: to read the certificates takes longer than a request."""
    return httpx.create_ssl_context()


class JsonApi:
    """An API at one address. Redirects are not followed, so that a token goes to no other host."""

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
        """Return the decoded answer (None if it is empty) and its headers.

        ``idempotent``: whether repeating the request is harmless; by default GET, PUT and DELETE are.
        """
        safe = method in {"GET", "PUT", "DELETE"} if idempotent is None else idempotent
        url = self._absolute(path)
        return self._backoff.run(lambda: self._request(method, url, params, body), idempotent=safe)

    def _absolute(self, path: str) -> str:
        """Return the absolute address; refuse another host, which an answer may name."""
        url = urljoin(f"{self.base_url}/", path.lstrip("/")) if "://" not in path else path
        if urlsplit(url)[:2] != urlsplit(self.base_url)[:2]:
            raise ProviderError(f"{self.name} points to {url}; accepted: an address at {self.base_url}.", answer=url)
        return url

    def _request(
        self, method: str, url: str, params: Mapping[str, str | int] | None, body: object
    ) -> tuple[Any, httpx.Headers]:
        writes = method != "GET"
        try:
            response = self._client.request(method, url, params=params, json=body)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            message = f"{self.name} could not be reached."
            raise ProviderError(message, answer=str(error), retriable=True, sent=False) from error
        except httpx.HTTPError as error:
            timeout = isinstance(error, httpx.TimeoutException)
            message = f"{self.name} did not answer in time." if timeout else f"The connection to {self.name} broke off."
            raise ProviderError(message, answer=str(error), retriable=True, unknown=writes) from error
        if not response.is_success:
            self._refuse(response, writes=writes)
        if not response.content:
            return None, response.headers
        try:
            return response.json(), response.headers
        except ValueError as error:
            raise ProviderError(
                f"{self.name} answered with something other than JSON.",
                answer=response.text[:MAX_CHARACTERS],
                status=response.status_code,
                unknown=writes,
            ) from error

    def _refuse(self, response: httpx.Response, *, writes: bool) -> NoReturn:
        status = response.status_code
        answer, fields = explained(response)
        text = f"{self.name} said: {answer}" if answer else f"{self.name} answered with status {status}."
        if status in {401, 403}:
            raise AccessRefused(
                f"{self.name} does not accept this token, or the token's account may not do this. {answer}".strip(),
                answer=answer,
                status=status,
            )
        if status == 404:
            raise NotFound(text, answer=answer, status=status)
        busy, broken = status == BUSY, status >= 500
        raise ProviderError(
            text,
            answer=answer,
            status=status,
            retriable=busy or broken,
            retry_after=retry_after(response.headers.get("Retry-After", "")),
            unknown=broken and writes,
            fields=fields,
        )


def explained(response: httpx.Response) -> tuple[str, dict[str, list[str]]]:
    """Return the message of an error answer, as one text and by field."""
    try:
        data = response.json()
    except ValueError:
        return " ".join(response.text.split())[:MAX_CHARACTERS], {}
    error = data.get("error", data) if isinstance(data, dict) else data
    if not isinstance(error, dict):
        return _text(error), {}
    detail = error.get("detail") or error.get("message") or error.get("title") or ""
    fields = {name: _texts(value) for name, value in detail.items()} if isinstance(detail, dict) else {}
    return _text(detail)[:MAX_CHARACTERS], fields


def _texts(value: object) -> list[str]:
    return [_text(part) for part in value] if isinstance(value, list) else [_text(value)]


def _text(value: object) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_text(part)}" for name, part in value.items())
    if isinstance(value, list):
        return " ".join(_text(part) for part in value)
    return "" if value is None else str(value)


def retry_after(value: str) -> float | None:
    """Return the seconds of a ``Retry-After`` header, which holds seconds or a date (RFC 9110, 10.2.3)."""
    if value.strip().isdigit():
        return float(value)
    try:
        then = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return max(0.0, (then - datetime.now(UTC)).total_seconds())
