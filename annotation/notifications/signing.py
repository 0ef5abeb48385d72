"""Sign webhooks, so that the receiver knows that they are Assay's and new."""

import hashlib
import hmac
import secrets
from collections.abc import Sequence

PURPOSE = b"assay webhook 1"
HEADER = "Assay-Signature"


def secret_new(key: str) -> tuple[str, str, str]:
    """Return a new secret, the seed from which it is derived again, and its digest; only the latter two are stored."""
    seed = secrets.token_hex(32)
    secret = _derived(seed, key)
    return secret, seed, _digest(secret)


def secret_of(seed: str, digest: str, keys: Sequence[str]) -> str:
    """Return the secret of a seed under the installation's key or a former one; empty if none of them made it."""
    candidates = (_derived(seed, key) for key in keys)
    return next((secret for secret in candidates if hmac.compare_digest(_digest(secret), digest)), "")


def signature(secret: str, body: bytes, timestamp: int) -> str:
    """Return the header's value: ``t=SECONDS,v1=HEX``, HMAC-SHA256 over ``SECONDS.BODY``.

    Examples
    --------
    >>> signature("secret", b"{}", 1700000000)[:32]
    't=1700000000,v1=b8569b78799ff9e3'
    """
    signed = hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={timestamp},v1={signed}"


def _derived(seed: str, key: str) -> str:
    return "assay_" + hmac.new(key.encode(), PURPOSE + seed.encode(), hashlib.sha256).hexdigest()


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
