"""The audit log's one way in. Called by the services, inside the transaction of what they record."""

from collections.abc import Mapping
from typing import Any

from annotation.models import AuditEntry, Campaign, Project, Rater, User


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
    """``verb`` is ``noun.act``, such as ``campaign.launch``; ``summary`` is the sentence that people read."""
    owner = campaign.project_id if campaign is not None else project.pk if project is not None else None
    if owner is None:
        raise ValueError("audit_record needs a project or a campaign")
    return AuditEntry.objects.create(
        project_id=owner,
        campaign=campaign,
        actor=by,
        rater=rater,
        verb=verb,
        summary=summary[:300],
        data=dict(data or {}),
    )
