import pytest
from cryptography.fernet import Fernet, InvalidToken
from hypothesis import given
from hypothesis import strategies as st

from annotation.recruitment.providers.errors import ProviderError
from annotation.recruitment.providers.vault import Vault


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=200), max_size=4))
def test_sealed_credentials_can_be_opened(credentials: dict[str, str]) -> None:
    vault = Vault(["a secret"])
    assert vault.open(vault.seal(credentials)) == credentials


def test_credentials_are_unreadable_in_the_sealed_text() -> None:
    sealed = Vault(["a secret"]).seal({"token": "plain-as-day"})
    assert "plain" not in sealed
    assert sealed != Vault(["a secret"]).seal({"token": "plain-as-day"})


def test_another_secret_opens_nothing() -> None:
    sealed = Vault(["a secret"]).seal({"token": "x"})
    with pytest.raises(ProviderError, match="Enter the credentials of this account again"):
        Vault(["another secret"]).open(sealed)


def test_a_changed_text_is_refused() -> None:
    sealed = Vault(["a secret"]).seal({"token": "x"})
    with pytest.raises(ProviderError):
        Vault(["a secret"]).open(sealed[:-6] + "AAAA==")


def test_the_secret_can_be_changed_without_losing_accounts() -> None:
    sealed = Vault(["old"]).seal({"token": "x"})
    both = Vault(["new", "old"])
    resealed = both.seal(both.open(sealed))
    assert Vault(["new"]).open(resealed) == {"token": "x"}
    with pytest.raises(ProviderError):
        Vault(["old"]).open(resealed)


def test_the_key_is_not_the_secret_itself() -> None:
    """A key of Fernet's made from the same secret for another purpose opens nothing."""
    secret = Fernet.generate_key().decode()
    sealed = Vault([secret]).seal({"token": "x"})
    with pytest.raises(InvalidToken):
        Fernet(secret).decrypt(sealed.encode())


@pytest.mark.parametrize("secrets", [[], [""], ["good", ""]])
def test_it_needs_secrets(secrets: list[str]) -> None:
    with pytest.raises(ValueError, match="accepted: one or more"):
        Vault(secrets)
