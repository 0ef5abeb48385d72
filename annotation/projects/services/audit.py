"""Write the audit log. Services call it inside the transaction of the change that they record."""

from collections.abc import Mapping
from typing import Any

from annotation.models import AuditEntry, Campaign, Project, Rater, User


def who_made(entry: AuditEntry | None, by: User | None) -> str:
    """Return who made a change, to begin a sentence for the user ``by``."""
    if entry is None or entry.actor is None:
        return "Another user"
    return "You" if entry.actor == by else entry.actor.username


def audit_record(
    *,
    verb: str,
    summary: str,
    project: Project | None = None,
    campaign: Campaign | None = None,
    by: User | None = None,
    rater: Rater | None = None,
    data: Mapping[str, Any] | None = None,
) -> AuditEntry:
    """Add an entry. ``verb`` is ``noun.act``, such as ``campaign.launch``; ``summary`` is a sentence for people."""
    project_id = campaign.project_id if campaign is not None else project.pk if project is not None else None
    if project_id is None:
        raise ValueError("audit_record needs a project or a campaign")
    return AuditEntry.objects.create(
        project_id=project_id,
        campaign=campaign,
        actor=by,
        rater=rater,
        verb=verb,
        summary=summary[:300],
        data=dict(data or {}),
    )
