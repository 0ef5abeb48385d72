"""Reads of the invitations to a project."""

from collections.abc import Sequence

from annotation.models import Invitation, Project

LISTED = 50


def invitations_of(project: Project) -> Sequence[Invitation]:
    """Return the newest invitations, with who made and who used them."""
    rows = project.invitations.select_related("created_by").prefetch_related("uses__user")
    return list(rows.order_by("-pk")[:LISTED])
