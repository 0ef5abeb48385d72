"""Encrypt what lay in the clear before 0023. A row is done once; calling it again goes on where it was left."""

from collections.abc import Callable
from typing import Any

from django.db import transaction

from annotation.models import identities

BATCH = 500


def encrypt(apps: Any, schema_editor: Any) -> None:
    every: tuple[tuple[str, dict[str, str], Callable[[Any], None], list[str]], ...] = (
        ("RaterIdentity", {"sealed": "", "local_id": ""}, identity, ["local_id", "sealed", "digest", "session_digest"]),
        ("Submission", {"digest": ""}, submission, ["sealed", "digest"]),
        ("ProviderEvent", {"sealed_payload": ""}, event, ["sealed_payload", "digests", "sealed_error"]),
        ("Recruitment", {}, recruitment, ["options"]),
    )
    for name, undone, change, columns in every:
        in_batches(apps.get_model("annotation", name).objects.filter(**undone), change, columns)


def in_batches(rows: Any, change: Callable[[Any], None], columns: list[str]) -> None:
    """Change all rows, ``BATCH`` of them in a transaction, which others wait for only if they write the same."""
    last = 0
    while True:
        with transaction.atomic():
            batch = list(rows.select_for_update().filter(pk__gt=last).order_by("pk")[:BATCH])
            for row in batch:
                change(row)
            rows.model.objects.bulk_update(batch, columns)
        if not batch:
            return
        last = batch[-1].pk


def identity(row: Any) -> None:
    if row.provider in ("account", "aggregate"):
        row.local_id = row.external_id
        return
    row.sealed = identities.seal(external_id=row.external_id, session=row.session)
    row.digest = identities.digest_of(row.external_id)
    row.session_digest = identities.digest_of(row.session) if row.session else ""


def submission(row: Any) -> None:
    if row.external_id.startswith("erased-"):
        row.digest = row.external_id
        return
    row.sealed, row.digest = identities.seal(external_id=row.external_id), identities.digest_of(row.external_id)


def event(row: Any) -> None:
    row.sealed_payload, row.digests = identities.seal_json(row.payload), identities.digests_within(row.payload)
    row.sealed_error = identities.seal(text=row.error) if row.error else ""


def recruitment(row: Any) -> None:
    """Encrypt what the provider said of an error."""
    troubles = [row.options["trouble"]] if row.options.get("trouble") else []
    for each in [*troubles, *row.options.get("bonuses", [])]:
        if message := each.pop("message", ""):
            each["sealed"] = identities.seal(text=message)
