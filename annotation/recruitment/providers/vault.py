"""Encrypt stored tokens, so that a copy of the database opens no provider account."""

from collections.abc import Sequence

from annotation.core import vault
from annotation.recruitment.providers.errors import ProviderError

PURPOSE = b"assay provider credentials 1"


class Vault(vault.Vault):
    """The vault of provider accounts."""

    def __init__(self, secrets: Sequence[str]) -> None:
        super().__init__(secrets, purpose=PURPOSE)

    def open(self, sealed: str) -> dict[str, str]:
        try:
            return super().open(sealed)
        except vault.SealBrokenError as error:
            raise ProviderError(
                "The stored credentials cannot be read: the installation's secret key has changed since. "
                "Enter the credentials of this account again."
            ) from error
