"""Time-based one-time codes, as authenticator apps make them, and recovery codes.

References
----------
RFC 6238 (time steps of 30 seconds), RFC 4226 (six digits, HMAC-SHA-1: what every app can do).
"""

import base64
import hmac
import secrets
from datetime import datetime

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.hotp import HOTP
from cryptography.hazmat.primitives.twofactor.totp import TOTP

SECONDS, DIGITS = 30, 6
HASH = SHA1()  # noqa: S303 - in HMAC it is no weakness
SECRET_BYTES = 20  # RFC 4226, section 4: the length of the hash
STEPS_APART = 1  # a phone's clock may be half a minute ahead or behind
RECOVERY_CODES = 10
# No letter or digit that looks like another: codes are copied by hand.
ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
RECOVERY_LENGTH = 10  # of 31 characters: 49 bits


def secret_new() -> str:
    """Return a new secret in Base32, as people can type it."""
    return base64.b32encode(secrets.token_bytes(SECRET_BYTES)).decode()


def step_at(moment: datetime) -> int:
    return int(moment.timestamp()) // SECONDS


def code_of_step(secret: str, step: int) -> str:
    return HOTP(base64.b32decode(secret), DIGITS, HASH).generate(step).decode()


def step_of_code(secret: str, code: str, *, now: int, after: int) -> int | None:
    """Return the time step near ``now`` and later than ``after`` that has this code, or None."""
    for step in range(now - STEPS_APART, now + STEPS_APART + 1):
        if step > after and is_same(code_of_step(secret, step), code):
            return step
    return None


def address_for_apps(secret: str, *, account: str, product: str) -> str:
    """Return the otpauth address that a QR code holds."""
    return TOTP(base64.b32decode(secret), DIGITS, HASH, SECONDS).get_provisioning_uri(account, product)


def recovery_codes_new() -> list[str]:
    return ["".join(secrets.choice(ALPHABET) for _ in range(RECOVERY_LENGTH)) for _ in range(RECOVERY_CODES)]


def is_same(code: str, given: str) -> bool:
    """Return whether a code was given, in any case and with spaces or dashes; without a hint in the time it takes."""
    return hmac.compare_digest(code.encode(), plain(given).encode())


def plain(given: str) -> str:
    """Return a code as it was made, in lower case, without the spaces and dashes that people and apps write."""
    return "".join(given.casefold().replace("-", "").split())


def in_groups(text: str, size: int) -> str:
    """Return a text in groups that are easy to read off.

    Examples
    --------
    >>> in_groups("JBSWY3DP", 4)
    'JBSW Y3DP'
    """
    return " ".join(text[start : start + size] for start in range(0, len(text), size))
