"""Encrypt what lay in the clear before 0023. Called again, it does rows that differ from their clear text."""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import transaction

from annotation.accounts.services import second_factors
from annotation.core.errors import AnnotationError
from annotation.core.vault import SealBrokenError
from annotation.models import identities
from annotation.recruitment.services import accounts

BATCH = 500
GIVEN_HERE = ("account", "aggregate")
# In notes: the first characters of what a person typed.
ENTERED = re.compile("(?<=^Code entered: “).*(?=”; )", re.DOTALL)
CUT, SHORTEST = 40, 6
SAME_KEY = "Run migrate with the SECRET_KEY that web has (of a generated one: with the ASSAY_DATA_DIR of web). "


def fill(apps: Any, schema_editor: Any) -> None:
    """Encrypt rows while their clear text stays."""
    key_check(apps)
    every: tuple[tuple[str, Callable[[Any], bool], list[str]], ...] = (
        ("RaterIdentity", identity, ["local_id", "sealed", "digest", "session_digest"]),
        ("Submission", submission, ["sealed", "digest", "note"]),
        ("ProviderEvent", event, ["sealed_payload", "digests", "sealed_error"]),
    )
    for name, change, columns in every:
        in_batches(apps.get_model("annotation", name).objects.all(), change, columns)


def finish(apps: Any, schema_editor: Any) -> None:
    """Encrypt what was written since, and what has no column of its own; then the clear text can go."""
    fill(apps, schema_editor)
    in_batches(apps.get_model("annotation", "Recruitment").objects.all(), recruitment, ["options"])


def key_check(apps: Any) -> None:
    """Refuse a key that web may not have: what is encrypted under it could never be read again."""

    def model(name: str) -> Any:
        return apps.get_model("annotation", name).objects

    from_elsewhere = model("RaterIdentity").exclude(provider__in=GIVEN_HERE)
    submissions = model("Submission").all()
    if not (from_elsewhere.exists() or submissions.exists() or model("ProviderEvent").exists()):
        return
    if settings.SECRET_KEY_IS_NEW:
        settings.SECRET_KEY_PATH.unlink(missing_ok=True)  # else the next try would take it for an old one
        raise CommandError(
            "Found no SECRET_KEY but one made just now, and ids of raters to encrypt, in a database that is older. "
            f"{SAME_KEY}Nothing was encrypted."
        )
    at_home = settings.DEBUG and settings.EMBEDDED_POSTGRES and not settings.SECRET_KEY_PATH.exists()
    if settings.SECRET_KEY == settings.DEVELOPMENT_SECRET_KEY and not at_home:
        raise CommandError(
            "Found the development's SECRET_KEY, which everyone knows, and ids of raters to encrypt. "
            f"{SAME_KEY}Leave DEBUG unset. Nothing was encrypted."
        )
    secrets = model("ProviderAccount").exclude(secrets="").values_list("secrets", flat=True)
    factors = model("SecondFactor").values_list("sealed", flat=True)
    sealed: list[tuple[Any, str]] = [(accounts.vault(), each) for each in secrets]
    sealed += [(second_factors.vault(), each) for each in factors]
    if sealed and not any(opens(*each) for each in sealed):
        raise CommandError(
            "Found provider accounts or second factors, none of which this SECRET_KEY opens, and ids of raters to "
            f"encrypt. {SAME_KEY}If that key is lost, go back to the version before, enter the accounts' tokens again "
            "and remove the second factors. Nothing was encrypted."
        )
    unknown = identities.of_unknown_key()
    if not sealed and (from_elsewhere.filter(unknown).exists() or submissions.filter(unknown).exists()):
        raise CommandError(
            "Found ids of raters that an earlier run encrypted under another SECRET_KEY. "
            f"{SAME_KEY}If the earlier run had the wrong one, undo it first: migrate annotation 0020."
        )


def opens(vault: Any, sealed: str) -> bool:
    with suppress(SealBrokenError, AnnotationError):
        vault.open(sealed)
        return True
    return False


def in_batches(rows: Any, change: Callable[[Any], bool], columns: list[str]) -> None:
    """Change all rows, ``BATCH`` of them in a transaction, which others wait for only if they write the same."""
    last = 0
    while True:
        with transaction.atomic():
            batch = list(rows.select_for_update().filter(pk__gt=last).order_by("pk")[:BATCH])
            rows.model.objects.bulk_update([row for row in batch if change(row)], columns)
        if not batch:
            return
        last = batch[-1].pk


def holds(sealed: str, **values: str) -> bool:
    with suppress(identities.IdentityUnreadable):
        return bool(sealed) and identities.opened(sealed) == values
    return False


def identity(row: Any) -> bool:
    if row.provider in GIVEN_HERE:
        before, row.local_id = row.local_id, row.external_id
        return bool(before != row.local_id)
    values = {"external_id": row.external_id, "session": row.session}
    if holds(row.sealed, **values):
        return False
    row.sealed, row.digest = identities.seal(**values), identities.digest_of(row.external_id)
    row.session_digest = identities.digest_of(row.session) if row.session else ""
    return True


def submission(row: Any) -> bool:
    before = row.sealed, row.digest, row.note
    row.note = note_without_ids(row)
    if row.external_id.startswith("erased-"):
        row.sealed, row.digest = "", row.external_id
    elif not holds(row.sealed, external_id=row.external_id):
        row.sealed, row.digest = identities.seal(external_id=row.external_id), identities.digest_of(row.external_id)
    return before != (row.sealed, row.digest, row.note)


def note_without_ids(row: Any) -> str:
    """Return the note without an id that the person typed as the code, whole or cut off."""
    entered = ENTERED.search(row.note)
    if entered is None:
        return str(row.note)
    known = getattr(row.rater, "identity", None)
    code = entered[0]
    for each in filter(None, (row.external_id, known and known.external_id, known and known.session)):
        is_cut = len(code) == CUT and any(code.endswith(each[:n]) for n in range(SHORTEST, len(each)))
        if each in code or is_cut:
            return str(row.note).replace(f"“{code}”", "an id of the rater", 1)
    return str(row.note)


def event(row: Any) -> bool:
    with suppress(identities.IdentityUnreadable):
        error = identities.opened(row.sealed_error)["text"] if row.sealed_error else ""
        if row.sealed_payload and (identities.json_opened(row.sealed_payload), error) == (row.payload, row.error):
            return False
    row.sealed_payload = identities.seal_json(row.payload)
    row.digests = identities.digests_within([row.payload, row.error])
    row.sealed_error = identities.seal(text=row.error) if row.error else ""
    return True


def recruitment(row: Any) -> bool:
    """Encrypt what the provider said of an error."""
    changed = False
    for each in identities.messages_within(row.options):
        if message := each.pop("message", ""):
            each["sealed"], changed = identities.seal(text=message), True
    return changed
