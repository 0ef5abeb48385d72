"""Reads over the audit log: who did what, newest first."""

from collections.abc import Iterator
from typing import NamedTuple

from django.db.models import QuerySet

from annotation.models import AuditEntry, Campaign, Project

AUDIT_COLUMNS = ("entry", "at", "verb", "actor", "rater", "campaign", "summary", "data")
SYSTEM = "-"  # stands for acts of nobody with an account


class AuditFilter(NamedTuple):
    """What the log is narrowed to: the act, whole or up to its dot, and a user's name."""

    verb: str = ""
    actor: str = ""


EVERYTHING = AuditFilter()


def audit_entries(
    project: Project, campaign: Campaign | None = None, chosen: AuditFilter = EVERYTHING
) -> QuerySet[AuditEntry]:
    found = AuditEntry.objects.filter(project=project).select_related("actor", "rater", "campaign")
    if campaign is not None:
        found = found.filter(campaign=campaign)
    if "." in chosen.verb:
        found = found.filter(verb=chosen.verb)
    elif chosen.verb:
        found = found.filter(verb__startswith=f"{chosen.verb}.")
    if chosen.actor == SYSTEM:
        found = found.filter(actor=None)
    elif chosen.actor:
        found = found.filter(actor__username=chosen.actor)
    return found.order_by("-pk")


def audit_rows(entries: QuerySet[AuditEntry]) -> Iterator[tuple[object, ...]]:
    """Oldest first, from a server-side cursor; columns as in AUDIT_COLUMNS."""
    fields = ("pk", "at", "verb", "actor__username", "rater__pseudonym", "campaign__name", "summary", "data")
    yield from entries.order_by("pk").values_list(*fields).iterator(chunk_size=2000)


def audit_choices(project: Project, campaign: Campaign | None = None) -> tuple[list[str], list[str]]:
    """The acts and the people there are entries of."""
    entries = audit_entries(project, campaign).order_by()
    verbs = sorted(entries.values_list("verb", flat=True).distinct())
    actors = sorted(entries.exclude(actor=None).values_list("actor__username", flat=True).distinct())
    return verbs, actors
