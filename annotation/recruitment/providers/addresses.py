"""Check addresses, and add parameters to them."""

from collections.abc import Mapping
from urllib.parse import quote, urlsplit, urlunsplit

from annotation.recruitment.providers.errors import ProviderError

LOOPBACK = {"127.0.0.1", "localhost", "::1"}


def origin(url: str) -> str:
    """Return scheme, host and port as browsers compare them; empty for a text that is no web address."""
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
    """Return the address with parameters added; characters in ``verbatim`` are not escaped."""
    parts = urlsplit(url)
    added = "&".join(f"{quote(name)}={quote(value, safe=verbatim)}" for name, value in parameters.items())
    query = f"{parts.query}&{added}" if parts.query else added
    return urlunsplit(parts._replace(query=query))


def require_https(url: str, *, field: str) -> None:
    """Refuse an address without encryption; this host's loopback address is accepted for tests."""
    parts = urlsplit(url)
    if (parts.scheme == "https" and parts.hostname) or (parts.scheme == "http" and parts.hostname in LOOPBACK):
        return
    raise ProviderError.at(field, f"Found {url!r}; accepted: an address that begins with https://.")
