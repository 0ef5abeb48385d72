"""Reads over the audit log: who did what, newest first."""

from collections.abc import Iterator
from typing import NamedTuple

from django.db.models import QuerySet

from annotation.models import AuditEntry, Campaign, Project

AUDIT_COLUMNS = ("entry", "at", "verb", "actor", "rater", "campaign", "summary", "data")
SYSTEM = "-"  # the filter for entries without an account


class AuditFilter(NamedTuple):
    """Filter the log by action, whole or up to its dot, and by username."""

    verb: str = ""
    actor: str = ""


EVERYTHING = AuditFilter()


def audit_entries(
    project: Project, campaign: Campaign | None = None, chosen: AuditFilter = EVERYTHING
) -> QuerySet[AuditEntry]:
    entries = AuditEntry.objects.filter(project=project).select_related("actor", "rater", "campaign")
    if campaign is not None:
        entries = entries.filter(campaign=campaign)
    if "." in chosen.verb:
        entries = entries.filter(verb=chosen.verb)
    elif chosen.verb:
        entries = entries.filter(verb__startswith=f"{chosen.verb}.")
    if chosen.actor == SYSTEM:
        entries = entries.filter(actor=None)
    elif chosen.actor:
        entries = entries.filter(actor__username=chosen.actor)
    return entries.order_by("-pk")


def audit_rows(entries: QuerySet[AuditEntry]) -> Iterator[tuple[object, ...]]:
    """Yield rows of AUDIT_COLUMNS, oldest first, from a server-side cursor."""
    fields = ("pk", "at", "verb", "actor__username", "rater__pseudonym", "campaign__name", "summary", "data")
    yield from entries.order_by("pk").values_list(*fields).iterator(chunk_size=2000)


def audit_choices(project: Project, campaign: Campaign | None = None) -> tuple[list[str], list[str]]:
    """Return the actions and the usernames that have entries."""
    entries = audit_entries(project, campaign).order_by()
    verbs = sorted(entries.values_list("verb", flat=True).distinct())
    actors = sorted(entries.exclude(actor=None).values_list("actor__username", flat=True).distinct())
    return verbs, actors
