"""Limits on how often something may be done, counted in the database: all processes share them.

A limit is a constant beside what it bounds::

    ARRIVALS = Limit("arrivals", most=60, seconds=600, uses="new raters from your address")

    limit_count(limit=ARRIVALS, subject=client_address(request))

Above the limit ``limit_count`` raises ``LimitReached``, which pages and the API answer with 429 and ``Retry-After``.
"""

import hashlib
import ipaddress
from dataclasses import dataclass
from datetime import timedelta
from math import ceil

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone

from annotation.core import sql
from annotation.core.errors import LimitReached

IPV6_NETWORK = 64  # bits: a household or a rented machine has all addresses below them


@dataclass(frozen=True)
class Limit:
    """At most ``most`` uses by a subject within ``seconds`` of the first. ``uses`` names them for people."""

    name: str
    most: int
    seconds: int
    uses: str

    def key(self, subject: str) -> str:
        """Return the subject's key: of bounded length, and no readable address or name."""
        return f"{self.name}:{hashlib.sha256(subject.encode('utf-8', 'surrogatepass')).hexdigest()}"


def limit_count(*, limit: Limit, subject: str) -> None:
    """Count a use; raise ``LimitReached`` above the limit.

    Call it outside a transaction that may be rolled back: the count would be lost with it.
    """
    uses, seconds = sql.row(
        "INSERT INTO annotation_limitcount AS c (key, uses, ends_at)"
        " VALUES (%(key)s, 1, clock_timestamp() + %(seconds)s * interval '1 second')"
        " ON CONFLICT (key) DO UPDATE SET"
        " uses = CASE WHEN c.ends_at <= clock_timestamp() THEN 1 ELSE LEAST(c.uses + 1, %(most)s + 1) END,"
        " ends_at = CASE WHEN c.ends_at <= clock_timestamp() THEN excluded.ends_at ELSE c.ends_at END"
        " RETURNING uses, extract(epoch FROM ends_at - clock_timestamp())::float",
        {"key": limit.key(subject), "seconds": limit.seconds, "most": limit.most},
    )
    if uses > limit.most:
        raise LimitReached(_refusal(limit, seconds), seconds=max(1, ceil(seconds)))


def limit_uncount(*, limit: Limit, subject: str) -> None:
    """Take back a use that turned out not to count, such as a sign-in with the right password."""
    sql.execute("UPDATE annotation_limitcount SET uses = uses - 1 WHERE key = %s AND uses > 0", [limit.key(subject)])


def limits_sweep() -> None:
    """Delete counts whose window has ended."""
    sql.execute("DELETE FROM annotation_limitcount WHERE ends_at < clock_timestamp()")


def client_address(request: HttpRequest) -> str:
    """Return the caller's address; an IPv6 address as its network.

    ``X-Forwarded-For`` counts only as far as ``NUM_PROXIES`` trusted proxies have written it.
    """
    address: str = request.META.get("REMOTE_ADDR", "")
    forwarded: str = request.META.get("HTTP_X_FORWARDED_FOR", "")
    if settings.NUM_PROXIES and forwarded:
        named = forwarded.split(",")
        address = named[-min(settings.NUM_PROXIES, len(named))].strip()
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(parsed.ipv4_mapped or ipaddress.ip_network((parsed, IPV6_NETWORK), strict=False))
    return str(parsed)


def _refusal(limit: Limit, seconds: float) -> str:
    again = timezone.now() + timedelta(seconds=seconds)
    return (
        f"Too many {limit.uses}: accepted are {limit.most} in {_in_words(limit.seconds)}."
        f" Try again in {_in_words(seconds)}, at {again:%H:%M:%S} UTC."
    )


def _in_words(seconds: float) -> str:
    number, unit = (ceil(seconds / 60), "minute") if seconds > 90 else (max(1, ceil(seconds)), "second")
    return f"{number} {unit}{'' if number == 1 else 's'}"
