"""Permissions: 404 for people outside a project, 403 for members whose role is too low."""

from typing import TypeVar

from django.core.exceptions import ObjectDoesNotExist, PermissionDenied
from django.db import models
from django.http import Http404

from annotation.core import sql
from annotation.models import Membership, Project, Role, User
from annotation.models.accounts import DELETION_ENDED

AnyModel = TypeVar("AnyModel", bound=models.Model)

_MEMBERSHIP, _PROJECT = sql.Columns(Membership, "m"), sql.Columns(Project, "p")
# As `not_being_deleted` has it. Every page of a project asks this.
_OF_MEMBER = f"""
    SELECT {_MEMBERSHIP}, {_PROJECT}
    FROM annotation_membership m
    JOIN annotation_project p ON p.id = m.project_id
    LEFT JOIN annotation_projectdeletion d ON d.project_id = p.id
    WHERE p.slug = %s AND m.user_id = %s AND (d.id IS NULL OR d.state = ANY(%s))
"""  # noqa: S608 - columns of our tables


def get_project_or_404(user: User, slug: str, *, role: Role = Role.VIEWER) -> Project:
    """Return the project for a member whose role is at least ``role``; ``membership`` on it is the user's."""
    row = sql.row(_OF_MEMBER, [slug, user.pk, list(DELETION_ENDED)], prepared=True) if user.is_authenticated else None
    if row is None:
        raise Http404("No such project.")
    membership = _MEMBERSHIP.instance(row[: len(_MEMBERSHIP)])
    if Role(membership.role).rank < role.rank:
        raise PermissionDenied(f"This needs the role {role.label.lower()}; yours in this project is {membership.role}.")
    project = membership.project = _PROJECT.instance(row[len(_MEMBERSHIP) :])
    project.membership = membership  # type: ignore[attr-defined] # for templates: what this user may do here
    return project


def may_manage(project: Project) -> bool:
    """Return whether the user of ``get_project_or_404`` may change what is in the project."""
    return Role(project.membership.role).rank >= Role.MANAGER.rank  # type: ignore[attr-defined]


def get_in_project_or_404(queryset: models.QuerySet[AnyModel], project: Project, **lookup: object) -> AnyModel:
    """Return a row that belongs to the project, or raise 404."""
    try:
        return queryset.get(project=project, **lookup)
    except ObjectDoesNotExist as error:
        raise Http404(f"No such {queryset.model._meta.verbose_name} in this project.") from error
