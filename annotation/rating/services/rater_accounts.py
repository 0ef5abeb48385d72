"""Raters who come with an account of the product: the same person is the same rater, in any browser."""

from django.db import IntegrityError, transaction

from annotation.models import Project, Rater, RaterIdentity, User
from annotation.rating.services.raters import rater_create

PROVIDER = "account"


def rater_of_account(*, project: Project, user: User) -> Rater | None:
    identity = RaterIdentity.objects.select_related("rater").filter(
        project=project, provider=PROVIDER, external_id=str(user.pk)
    )
    found = identity.first()
    return found.rater if found else None


def rater_from_account(*, project: Project, user: User, name: str = "") -> Rater:
    """The rater of this account, made at the first time. Who it is stands in the identity alone."""
    known = rater_of_account(project=project, user=user)
    if known is not None:
        return known
    try:
        with transaction.atomic():
            rater = rater_create(project=project, name=name)
            RaterIdentity.objects.create(rater=rater, project=project, provider=PROVIDER, external_id=str(user.pk))
            return rater
    except IntegrityError:  # two requests at once: the other one was first
        return RaterIdentity.objects.get(project=project, provider=PROVIDER, external_id=str(user.pk)).rater
