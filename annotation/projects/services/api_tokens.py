"""The key of the API: one per account, shown to its owner, replaced or revoked at will."""

from django.db import transaction
from rest_framework.authtoken.models import Token

from annotation.models import User


def api_token_get_or_create(*, user: User) -> Token:
    return Token.objects.get_or_create(user=user)[0]


@transaction.atomic
def api_token_rotate(*, user: User) -> Token:
    """A new token; the old one stops working."""
    api_token_revoke(user=user)
    return Token.objects.create(user=user)


def api_token_revoke(*, user: User) -> None:
    Token.objects.filter(user=user).delete()
