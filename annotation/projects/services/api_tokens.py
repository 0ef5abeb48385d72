"""API tokens of accounts: any number, each with a name. A token is shown once, when it is made; its hash is stored."""

import hashlib
import secrets
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from annotation.core.errors import AnnotationError
from annotation.models import ApiToken, User

MOST_LIVE = 50  # of an account; a program that signs in at each start reaches it and reads why
USE_PRECISION = timedelta(minutes=1)


def api_token_digest(token: str) -> str:
    """Return the hash that is stored. A token has 240 random bits: no slow hash is needed against guessing."""
    return hashlib.sha256(token.encode()).hexdigest()


@transaction.atomic
def api_token_create(*, user: User, name: str, expires_at: datetime | None = None) -> tuple[ApiToken, str]:
    """Create a token; return its row and the token itself, which cannot be read again."""
    User.objects.select_for_update(no_key=True).get(pk=user.pk)  # requests that come at the same time wait
    if expires_at is not None and expires_at <= timezone.now():
        raise AnnotationError.at("expires_at", "This moment has passed; accepted: a later one, or none.")
    if user.api_tokens.live().count() >= MOST_LIVE:
        raise AnnotationError.at("name", f"You have {MOST_LIVE} tokens, the most accepted. Revoke one first.")
    token = f"assay_{secrets.token_urlsafe(30)}"
    row = ApiToken.objects.create(
        user=user, name=name, digest=api_token_digest(token), ending=token[-4:], expires_at=expires_at
    )
    row.refresh_from_db()
    return row, token


def api_token_revoke(*, user: User, pk: int) -> bool:
    """End a token of the user. Return whether there was one that worked."""
    return bool(user.api_tokens.live().filter(pk=pk).update(revoked_at=Now()))


def api_token_used(*, token: ApiToken) -> None:
    """Note that the token is in use, at most once a minute: most requests write nothing."""
    earlier = timezone.now() - USE_PRECISION
    if token.last_used_at is None or token.last_used_at <= earlier:
        unnoted = Q(last_used_at=None) | Q(last_used_at__lte=earlier)
        ApiToken.objects.filter(unnoted, pk=token.pk).update(last_used_at=Now())
