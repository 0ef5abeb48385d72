"""Reads for the list of projects."""

from django.db.models import Count, Model, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.models import Campaign, Dataset, Membership, Rater, User


def memberships_of(user: User) -> QuerySet[Membership]:
    """Return the user's memberships, with counts of what each project holds."""
    counts = {"n_datasets": _count(Dataset), "n_campaigns": _count(Campaign), "n_raters": _count(Rater)}
    memberships = Membership.objects.filter(user=user).select_related("project")
    return memberships.annotate(**counts).order_by("project__name", "pk")


def _count(model: type[Model]) -> Coalesce:
    rows = model._default_manager.filter(project=OuterRef("project_id")).order_by().values("project")
    return Coalesce(Subquery(rows.annotate(n=Count("pk")).values("n")), 0)
