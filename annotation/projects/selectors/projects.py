"""Reads for the list of projects."""

from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.models import (
    Campaign,
    Dataset,
    Membership,
    Rater,
    User,
)


def memberships_of(user: User) -> QuerySet[Membership]:
    """Return the user's memberships, with counts of what each project holds."""
    return (
        Membership.objects.filter(user=user)
        .select_related("project")
        .annotate(
            n_datasets=Coalesce(_count(Dataset, "project"), 0),
            n_campaigns=Coalesce(_count(Campaign, "project"), 0),
            n_raters=Coalesce(_count(Rater, "project"), 0),
        )
        .order_by("project__name", "pk")
    )


def _count(model: Any, name: str) -> Subquery:
    rows = model.objects.filter(**{name: OuterRef("project_id")}).order_by().values(name)
    return Subquery(rows.annotate(n=Count("pk")).values("n"))
