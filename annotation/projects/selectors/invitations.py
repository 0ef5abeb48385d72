"""Reads of the invitations to a project."""

from collections.abc import Sequence

from annotation.models import Invitation, Project

LISTED = 50


def invitations_of(project: Project) -> Sequence[Invitation]:
    """Return all invitations that still run, then the newest of the others, with who made and who used them."""
    rows = project.invitations.with_standing().select_related("created_by").prefetch_related("uses__user")
    running = list(rows.running().order_by("-pk"))
    others = rows.exclude(pk__in=[row.pk for row in running]).order_by("-pk")
    return [*running, *others[: max(0, LISTED - len(running))]]
