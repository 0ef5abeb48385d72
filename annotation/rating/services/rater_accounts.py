"""Raters with an account: the same person is the same rater in any browser."""

from django.db import IntegrityError, transaction

from annotation.models import Project, Rater, RaterIdentity, User
from annotation.rating.services.raters import rater_create

PROVIDER = RaterIdentity.ACCOUNT


def rater_of_account(*, project: Project, user: User) -> Rater | None:
    identities = RaterIdentity.objects.select_related("rater")
    identity = identities.filter(project=project, provider=PROVIDER, local_id=str(user.pk)).first()
    return identity.rater if identity else None


def rater_from_account(*, project: Project, user: User, name: str = "") -> Rater:
    """Return the rater of this account, created at the first time. Only the identity names the account."""
    if (rater := rater_of_account(project=project, user=user)) is not None:
        return rater
    identity = {"project": project, "provider": PROVIDER, "local_id": str(user.pk)}
    try:
        with transaction.atomic():
            rater = rater_create(project=project, name=name)
            RaterIdentity.objects.create(rater=rater, **identity)
            return rater
    except IntegrityError:  # of two requests at once the other was first
        return RaterIdentity.objects.get(**identity).rater
