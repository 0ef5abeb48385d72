"""Encrypt what the database must not hold in the clear, with keys derived from the installation's secret."""

import base64
import json
from collections.abc import Mapping, Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


class SealBrokenError(Exception):
    """A sealed text was changed, or sealed with another secret."""


class Vault:
    """Encrypt with the first secret and decrypt with any, so that the installation's secret can be changed.

    References
    ----------
    RFC 5869: the key is derived from the secret for this purpose alone.
    """

    def __init__(self, secrets: Sequence[str], *, purpose: bytes) -> None:
        if not secrets or not all(secrets):
            raise ValueError("found no secret, or an empty one; accepted: one or more, the current one first")
        self._fernet = MultiFernet([Fernet(_key(secret, purpose)) for secret in secrets])

    def seal(self, values: Mapping[str, str]) -> str:
        return self._fernet.encrypt(json.dumps(dict(values)).encode()).decode()

    def open(self, sealed: str) -> dict[str, str]:
        try:
            text = self._fernet.decrypt(sealed.encode())
        except InvalidToken as error:
            raise SealBrokenError("The sealed text is of another secret, or was changed.") from error
        return {str(name): str(value) for name, value in json.loads(text).items()}


def _key(secret: str, purpose: bytes) -> bytes:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose).derive(secret.encode())
    return base64.urlsafe_b64encode(derived)
