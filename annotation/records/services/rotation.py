"""Encrypt again, under the present secret key, what lies under a former one; or give up what no key opens."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.db import IntegrityError, models, transaction
from django.db.models import F, Value
from django.db.models.functions import Cast, Concat

from annotation.accounts.services import second_factors
from annotation.core.errors import AnnotationError
from annotation.core.vault import SealBrokenError, Vault
from annotation.models import (
    ProviderAccount,
    ProviderEvent,
    RaterIdentity,
    RecoveryCode,
    Recruitment,
    SecondFactor,
    Submission,
)
from annotation.models.identities import IdentityUnreadable, of_unknown_key, resealed
from annotation.recruitment.services import accounts

BATCH = 500
IDENTIFIED: tuple[type[Any], ...] = (RaterIdentity, Submission, ProviderEvent)


@dataclass
class Rotated:
    """Counts of rows of one kind, and those whose twin has the present key already."""

    label: str
    rewritten: int = 0
    unreadable: int = 0
    doubled: list[str] = field(default_factory=list)


def key_rotate() -> Iterator[Rotated]:
    """Encrypt everything again that is under a former key, kind by kind. Safe to run twice, and while others work."""
    for model in IDENTIFIED:
        yield _rotate(model, lambda row: list(row.SEALED) if row.reseal() else [])
    yield _rotate(Recruitment, _messages_reseal)
    yield _rotate(ProviderAccount, partial(_reseal, accounts.vault(), "secrets"))
    for model in (SecondFactor, RecoveryCode):
        yield _rotate(model, partial(_reseal, second_factors.vault(), "sealed"))


@transaction.atomic
def unreadable_forget() -> dict[str, int]:
    """Erase ids of raters that no key opens: the same person is a new rater next time."""
    identities, _ = RaterIdentity.objects.filter(of_unknown_key()).delete()
    erased = Concat(Value(Submission.ERASED_PREFIX), Cast(F("pk"), models.CharField()))
    submissions = Submission.objects.filter(of_unknown_key()).update(sealed="", digest=erased)
    messages = 0
    for event in ProviderEvent.objects.exclude(sealed_payload="").iterator(BATCH):
        if _is_lost(event.sealed_payload) or _is_lost(event.sealed_error):
            values: dict[str, Any] = {"sealed_payload": "", "sealed_error": "", "digests": []}
            messages += ProviderEvent.objects.filter(pk=event.pk).update(**values)
    for recruitment in Recruitment.objects.select_for_update().order_by("pk"):
        for each in _messages_of(recruitment):
            if _is_lost(each.get("sealed", "")):
                each["sealed"] = ""
        recruitment.save(update_fields=["options"])
    return {"identities": identities, "submissions": submissions, "messages of providers": messages}


def _rotate(model: type[Any], change: Callable[[Any], list[str]]) -> Rotated:
    rotated, last = Rotated(str(model._meta.verbose_name_plural)), 0
    while True:
        with transaction.atomic():
            rows = model._default_manager.select_for_update(of=("self",))
            batch = list(rows.filter(pk__gt=last).order_by("pk")[:BATCH])
            for row in batch:
                _rotate_row(row, change, rotated)
        if not batch:
            return rotated
        last = batch[-1].pk


def _rotate_row(row: Any, change: Callable[[Any], list[str]], rotated: Rotated) -> None:
    try:
        if columns := change(row):
            with transaction.atomic():
                row.save(update_fields=columns)
            rotated.rewritten += 1
    except (AnnotationError, SealBrokenError):
        rotated.unreadable += 1
    except IntegrityError:
        rotated.doubled.append(str(row))


def _messages_reseal(recruitment: Recruitment) -> list[str]:
    """Encrypt anew what the provider said of errors."""
    changed: list[str] = []
    for each in _messages_of(recruitment):
        sealed = resealed(each.get("sealed", ""))
        if sealed != each.get("sealed", ""):
            each["sealed"], changed = sealed, ["options"]
    return changed


def _messages_of(recruitment: Recruitment) -> list[dict[str, Any]]:
    """Return what options hold of errors: of the last refresh, of payments of bonuses."""
    troubles = [recruitment.options["trouble"]] if recruitment.options.get("trouble") else []
    return [*troubles, *recruitment.options.get("bonuses", [])]


def _is_lost(sealed: str) -> bool:
    try:
        resealed(sealed)
    except IdentityUnreadable:
        return True
    return False


def _reseal(vault: Vault, column: str, row: Any) -> list[str]:
    sealed = getattr(row, column)
    if not sealed or (new := vault.reseal(sealed)) == sealed:
        return []
    setattr(row, column, new)
    return [column]
