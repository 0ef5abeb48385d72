"""Encrypt what the database must not hold in the clear, with keys derived from the installation's secret."""

import base64
import hmac
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress

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
        fernets = [Fernet(_key(secret, purpose)) for secret in secrets]
        self._first, self._fernet = fernets[0], MultiFernet(fernets)

    def seal(self, values: Mapping[str, str]) -> str:
        return self._fernet.encrypt(json.dumps(dict(values)).encode()).decode()

    def open(self, sealed: str) -> dict[str, str]:
        try:
            text = self._fernet.decrypt(sealed.encode())
        except InvalidToken as error:
            raise SealBrokenError("The sealed text is of another secret, or was changed.") from error
        return {str(name): str(value) for name, value in json.loads(text).items()}

    def reseal(self, sealed: str) -> str:
        """Return the same values, sealed with the first secret; the text itself if it is already."""
        with suppress(InvalidToken):
            self._first.decrypt(sealed.encode())
            return sealed
        return self.seal(self.open(sealed))


class BlindIndex:
    """Find a sealed text without opening any: by a keyed digest, under the first secret or any other.

    A digest begins with the name of its key: so it can be seen that a digest is of an unknown key.

    References
    ----------
    RFC 2104: HMAC, here with SHA-256.
    """

    LENGTH = 8 + 1 + 64  # of a digest

    def __init__(self, secrets: Sequence[str], *, purpose: bytes) -> None:
        keys = [_derived(secret, purpose) for secret in secrets]
        self._keys = {_hmac(key, "name of the key")[:8] + ".": key for key in keys}

    @property
    def beginnings(self) -> tuple[str, ...]:
        """Return how the digests of each secret begin, the first secret's first."""
        return tuple(self._keys)

    def digests(self, text: str) -> list[str]:
        """Return the text's digest under each secret, the first secret's first."""
        return [name + _hmac(key, text) for name, key in self._keys.items()]


def _hmac(key: bytes, text: str) -> str:
    return hmac.new(key, text.encode(errors="surrogatepass"), "sha256").hexdigest()


def _derived(secret: str, purpose: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose).derive(secret.encode())


def _key(secret: str, purpose: bytes) -> bytes:
    return base64.urlsafe_b64encode(_derived(secret, purpose))
