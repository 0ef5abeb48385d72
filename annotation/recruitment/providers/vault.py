"""Encrypt stored tokens, so that a copy of the database opens no provider account."""

import base64
import json
from collections.abc import Mapping, Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from annotation.recruitment.providers.errors import ProviderError

PURPOSE = b"assay provider credentials 1"


class Vault:
    """Encrypt with the first secret and decrypt with any, so that the installation's secret can be changed.

    References
    ----------
    RFC 5869: the key is derived from the secret for this purpose alone.
    """

    def __init__(self, secrets: Sequence[str]) -> None:
        if not secrets or not all(secrets):
            raise ValueError("found no secret, or an empty one; accepted: one or more, the current one first")
        self._fernet = MultiFernet([Fernet(_key(secret)) for secret in secrets])

    def seal(self, credentials: Mapping[str, str]) -> str:
        return self._fernet.encrypt(json.dumps(dict(credentials)).encode()).decode()

    def open(self, sealed: str) -> dict[str, str]:
        try:
            text = self._fernet.decrypt(sealed.encode())
        except InvalidToken as error:
            raise ProviderError(
                "The stored credentials cannot be read: the installation's secret key has changed since. "
                "Enter the credentials of this account again."
            ) from error
        return {str(name): str(value) for name, value in json.loads(text).items()}


def _key(secret: str) -> bytes:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=PURPOSE).derive(secret.encode())
    return base64.urlsafe_b64encode(derived)
