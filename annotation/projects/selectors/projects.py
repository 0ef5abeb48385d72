"""Reads for the list of projects."""

from typing import Any

from django.db.models import Count, Model, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.models import Campaign, Dataset, Membership, ProjectDeletion, Rater, Role, User
from annotation.models.accounts import not_being_deleted


def memberships_of(user: User) -> QuerySet[Membership]:
    """Return the user's memberships, with counts of what each project holds."""
    people = Rater.objects.exclude(identity__provider="aggregate")  # that one stands for imported medians
    counts = {"n_datasets": _count(Dataset), "n_campaigns": _count(Campaign), "n_raters": _count(Rater, people)}
    memberships = Membership.objects.filter(not_being_deleted("project"), user=user).select_related("project")
    return memberships.annotate(**counts).order_by("project__name", "pk")


def deletions_of(user: User) -> QuerySet[ProjectDeletion]:
    """Return the deletions that have not ended well, to the owners of the projects and to those who began them."""
    owned = Q(project__memberships__user=user, project__memberships__role=Role.OWNER)
    return ProjectDeletion.objects.filter(owned | Q(requested_by=user)).select_related("project").distinct()


def _count(model: type[Model], rows: QuerySet[Any] | None = None) -> Coalesce:
    every = model._default_manager.all() if rows is None else rows
    of_project = every.filter(project=OuterRef("project_id")).order_by().values("project")
    return Coalesce(Subquery(of_project.annotate(n=Count("pk")).values("n")), 0)
