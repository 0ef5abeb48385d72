"""Addresses: checked before they are trusted, and added to without losing what they hold."""

from collections.abc import Mapping
from urllib.parse import quote, urlsplit, urlunsplit

from annotation.recruitment.providers.errors import ProviderError

LOOPBACK = {"127.0.0.1", "localhost", "::1"}


def origin(url: str) -> str:
    """Scheme, host and port, in the form browsers compare; empty for anything that has no such thing."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        return ""
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.password:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    standard = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}" + (f":{port}" if port and port != standard else "")


def with_query(url: str, parameters: Mapping[str, str], *, verbatim: str = "") -> str:
    """The address with parameters added; characters in ``verbatim`` stay as they are."""
    parts = urlsplit(url)
    added = "&".join(f"{quote(name)}={quote(value, safe=verbatim)}" for name, value in parameters.items())
    query = f"{parts.query}&{added}" if parts.query else added
    return urlunsplit(parts._replace(query=query))


def require_https(url: str, *, field: str) -> None:
    """Raters' ids and a provider's messages travel encrypted; a loopback address is for trying things out."""
    parts = urlsplit(url)
    if parts.scheme == "https" and parts.hostname:
        return
    if parts.scheme == "http" and parts.hostname in LOOPBACK:
        return
    raise ProviderError.at(field, f"Found {url!r}; accepted: an address that begins with https://.")
