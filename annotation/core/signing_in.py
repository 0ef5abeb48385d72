"""Check passwords, and limit wrong ones: the pages to sign in, the administration and the API all ask here.

Wrong codes of a second factor count towards the same limits: see ``annotation.accounts.services.second_factors``.
"""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.http import HttpRequest

from annotation.core import sql
from annotation.core.limits import Limit, client_address, limit_count, limit_uncount
from annotation.models import User

# An account is refused everywhere only after guesses from many addresses: one address cannot lock it for others.
PER_ACCOUNT_AND_ADDRESS = Limit(
    "password-account-address", most=10, seconds=900, uses="wrong passwords for this account from your address"
)
PER_ADDRESS = Limit("password-address", most=30, seconds=900, uses="wrong passwords from your address")
PER_ACCOUNT = Limit("password-account", most=100, seconds=3600, uses="wrong passwords for this account")

_USER = sql.Columns(User, "u")
_OF_SESSION = f"SELECT {_USER} FROM annotation_user u WHERE u.id = %s"  # noqa: S608 - columns of our table


class LimitedPasswords(ModelBackend):
    """Django's check of a password, refused with 429 after too many wrong ones.

    Each attempt is counted before it is checked, so that attempts at the same time cannot pass the limit together.
    """

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **kwargs: Any
    ) -> User | None:
        if username is None or password is None:
            return super().authenticate(request, username, password, **kwargs)
        attempt_count(request, username)
        user = super().authenticate(request, username, password, **kwargs)
        if user is None or not user.signs_in_with_password:
            return None
        attempt_uncount(request, username)
        return user

    def get_user(self, user_id: int) -> User | None:
        """Return the person of a session, by a prepared statement: every page asks."""
        row = sql.row(_OF_SESSION, [user_id], prepared=True)
        user = _USER.instance(row) if row else None
        return user if user and self.user_can_authenticate(user) else None


def attempt_count(request: HttpRequest | None, username: str) -> None:
    """Count an attempt to sign in to an account, before it is known whether it is right; 429 above a limit."""
    for limit, subject in _counts(request, username):
        limit_count(limit=limit, subject=subject)


def attempt_uncount(request: HttpRequest | None, username: str) -> None:
    """Take an attempt back that was right."""
    for limit, subject in _counts(request, username):
        limit_uncount(limit=limit, subject=subject)


def _counts(request: HttpRequest | None, username: str) -> list[tuple[Limit, str]]:
    """Return the limits that an attempt counts towards, the narrowest first."""
    account = username.casefold()
    if request is None:  # a command
        return [(PER_ACCOUNT, account)]
    address = client_address(request)
    return [(PER_ACCOUNT_AND_ADDRESS, f"{account}\n{address}"), (PER_ADDRESS, address), (PER_ACCOUNT, account)]
