"""Reads for the list of projects."""

from typing import Any

from django.db.models import Case, Count, Exists, F, Model, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.functions import Coalesce

from annotation.models import Campaign, Dataset, Membership, ProjectDeletion, Rater, Role, User
from annotation.models.accounts import not_being_deleted


def memberships_of(user: User) -> QuerySet[Membership]:
    """Return the user's memberships, with counts of what each project holds.

    ``n_raters`` is None if it is not known: raters came in as imported medians or means alone.
    """
    for_many = Q(identity__provider="aggregate")  # the rater who stands for those of imported medians
    people, unknown = Rater.objects.exclude(for_many), Rater.objects.filter(for_many, project=OuterRef("project_id"))
    counts = {"n_datasets": _count(Dataset), "n_campaigns": _count(Campaign), "n_people": _count(Rater, people)}
    n_raters = Case(When(Q(Exists(unknown), n_people=0), then=None), default=F("n_people"))
    memberships = Membership.objects.filter(not_being_deleted("project"), user=user).select_related("project")
    return memberships.annotate(**counts).annotate(n_raters=n_raters).order_by("project__name", "pk")


def deletions_of(user: User) -> QuerySet[ProjectDeletion]:
    """Return the deletions that have not ended well, to the owners of the projects and to those who began them."""
    owned = Q(project__memberships__user=user, project__memberships__role=Role.OWNER)
    return ProjectDeletion.objects.filter(owned | Q(requested_by=user)).select_related("project").distinct()


def _count(model: type[Model], rows: QuerySet[Any] | None = None) -> Coalesce:
    every = model._default_manager.all() if rows is None else rows
    of_project = every.filter(project=OuterRef("project_id")).order_by().values("project")
    return Coalesce(Subquery(of_project.annotate(n=Count("pk")).values("n")), 0)
