"""The API token of an account: each account has at most one."""

from django.db import transaction
from rest_framework.authtoken.models import Token

from annotation.models import User


@transaction.atomic
def api_token_get_or_create(*, user: User) -> Token:
    _wait(user)
    return Token.objects.get_or_create(user=user)[0]


@transaction.atomic
def api_token_rotate(*, user: User) -> Token:
    """Create a new token; the old one stops working."""
    _wait(user)
    api_token_revoke(user=user)
    return Token.objects.create(user=user)


def _wait(user: User) -> None:
    """Let requests for the account's token that come at the same time wait for each other."""
    User.objects.select_for_update(no_key=True).get(pk=user.pk)


def api_token_revoke(*, user: User) -> None:
    Token.objects.filter(user=user).delete()
