"""Two people who change one thing at once: the second to save sees what the first changed, and overwrites nothing."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Model, QuerySet

from annotation.core.errors import Overtaken
from annotation.models import AuditEntry, Project, User
from annotation.projects.services.audit import audit_record, who_made

SHOWN = 300  # characters of another person's text in a refusal
Value = TypeVar("Value")
Row = TypeVar("Row", bound=Model)
NOUNS = {"dataset": "data set", "project": "project"}  # by the noun of the audit log's verb


def version_of(values: Mapping[str, Any]) -> str:
    """Return digests of the values that a page or an answer shows, to be sent back as ``seen`` with changes."""
    return ".".join(sorted(_digest(name, value) for name, value in values.items()))


def changed_since(values: Mapping[str, Value], seen: str) -> dict[str, Value]:
    """Return those values that are others than were seen: what the user left alone must not undo another's change."""
    shown = set(seen.split("."))
    return {name: value for name, value in values.items() if _digest(name, value) not in shown}


def overtaken_check(
    *,
    stored: Mapping[str, Any],
    new: Mapping[str, Any],
    seen: str,
    changes: QuerySet[AuditEntry],
    by: User | None,
) -> None:
    """Refuse to replace stored values that another request changed since they were ``seen``; without it, check nothing.

    ``changes`` are the recorded changes, newest first. To make the same change again is no conflict.
    """
    if not seen:
        return
    changed = changed_since(stored, seen)
    lost = {name: value for name, value in changed.items() if name in new and new[name] != value}
    if not lost:
        return
    who = who_made(changes.select_related("actor").order_by("-pk").first(), by)
    what = ", ".join(name.replace("_", " ") for name in lost)
    raise Overtaken(
        f"{who} changed this after you read it: {what}. Nothing of yours was saved.",
        fields={name: [f"{who} changed this meanwhile{_to(value)}."] for name, value in lost.items()},
        version=version_of(stored),
    )


def columns_of(row: Model, columns: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in columns}


@transaction.atomic
def row_describe(
    *,
    row: Row,
    project: Project,
    noun: str,
    columns: Sequence[str],
    described: Mapping[str, str],
    seen: str,
    by: User | None,
) -> Row:
    """Change some of these columns of a row that describe it, and record who did; return the changed row."""
    if unknown := described.keys() - set(columns):
        raise TypeError(f"unknown columns: {', '.join(sorted(unknown))}")
    fresh = type(row)._default_manager.select_for_update(of=("self",)).get(pk=row.pk)
    stored, new = columns_of(fresh, columns), changed_since(described, seen)
    changes = project.audit_entries.filter(verb=f"{noun}.update", data__row=fresh.pk)
    overtaken_check(stored=stored, new=new, seen=seen, changes=changes, by=by)
    if changed := [name for name, value in new.items() if value != stored[name]]:
        for name in changed:
            setattr(fresh, name, new[name])
        fresh.save(update_fields=changed)
        summary = f"Changed the {NOUNS[noun]} “{fresh}”: {', '.join(changed)}."
        data = {"row": fresh.pk, "fields": changed}
        audit_record(verb=f"{noun}.update", summary=summary, project=project, by=by, data=data)
    return fresh


def _digest(name: str, value: object) -> str:
    return sha256(repr((name, value)).encode("utf-8", "surrogatepass")).hexdigest()[:10]


def _to(value: object) -> str:
    if value is None or value == "":
        return ": it is empty now"
    if isinstance(value, Mapping):  # an answer with options; only its text is shown
        value = value.get("text") or b""
    if isinstance(value, bytes):  # a secret
        return ""
    if not isinstance(value, str):
        return f" to {value}"
    return f" to “{value[:SHOWN]}{'…' * (len(value) > SHOWN)}”"
