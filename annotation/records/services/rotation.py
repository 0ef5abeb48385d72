"""Encrypt again, under the present secret key, what lies under a former one; or give up what no key opens."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
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
from annotation.models.identities import is_lost, is_of_unknown_key, messages_within, of_unknown_key, resealed
from annotation.recruitment.services import accounts
from annotation.recruitment.services.forgetting import unknown_marks_forget

BATCH = 500
IDENTIFIED: tuple[type[Any], ...] = (RaterIdentity, Submission, ProviderEvent)
IDENTITIES, SUBMISSIONS, MESSAGES = "rater identities", "ids of submissions", "messages of providers"
MARKS = "marks of erased submissions"


@dataclass
class Rotated:
    """Counts of rows of one kind, and those whose twin has the present key already."""

    label: str
    rewritten: int = 0
    unreadable: int = 0
    entered_again: bool = False  # if no key opens it: people have what is in it
    doubled: list[str] = field(default_factory=list)


def key_rotate() -> Iterator[Rotated]:
    """Encrypt everything again that is under a former key, kind by kind. Safe to run twice, and while others work."""
    for model in IDENTIFIED:
        yield _rotate(model, lambda row: list(row.SEALED) if row.reseal() else [])
    yield _rotate(Recruitment, _messages_reseal)
    secrets: list[tuple[type[Any], Vault, str]] = [(ProviderAccount, accounts.vault(), "secrets")]
    secrets += [(model, second_factors.vault(), "sealed") for model in (SecondFactor, RecoveryCode)]
    for model, vault, column in secrets:
        yield replace(_rotate(model, partial(_reseal, vault, column)), entered_again=True)


def unreadable_count() -> dict[str, int]:
    """Return how much ``unreadable_forget`` would erase."""
    events = ProviderEvent.objects.iterator(BATCH)
    recruitments = Recruitment.objects.iterator(BATCH)
    return {
        IDENTITIES: RaterIdentity.objects.filter(of_unknown_key()).count(),
        SUBMISSIONS: Submission.objects.filter(of_unknown_key()).count(),
        MESSAGES: sum(_is_lost(event) for event in events),
        MARKS: sum(len(list(filter(is_of_unknown_key, each.options.get("erased", [])))) for each in recruitments),
    }


@transaction.atomic
def unreadable_forget() -> dict[str, int]:
    """Erase ids of raters that no key opens: the same person is a new rater next time."""
    identities, _ = RaterIdentity.objects.filter(of_unknown_key()).delete()
    lost = Concat(Value(Submission.LOST_PREFIX), Cast(F("pk"), models.CharField()))
    submissions = Submission.objects.filter(of_unknown_key()).update(sealed="", digest=lost, submit_to="", note="")
    erased: dict[str, Any] = {"sealed_payload": "", "sealed_error": "", "digests": []}
    messages = 0
    for event in ProviderEvent.objects.iterator(BATCH):
        if _is_lost(event):
            messages += ProviderEvent.objects.filter(pk=event.pk).update(**erased)
    for recruitment in Recruitment.objects.select_for_update().order_by("pk"):
        lost_messages = [each for each in messages_within(recruitment.options) if is_lost(each.get("sealed", ""))]
        for each in lost_messages:
            each["sealed"] = ""
        if lost_messages:
            recruitment.save(update_fields=["options"])
    return {IDENTITIES: identities, SUBMISSIONS: submissions, MESSAGES: messages, MARKS: unknown_marks_forget()}


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
    for each in messages_within(recruitment.options):
        sealed = resealed(each.get("sealed", ""))
        if sealed != each.get("sealed", ""):
            each["sealed"], changed = sealed, ["options"]
    return changed


def _is_lost(event: ProviderEvent) -> bool:
    return is_lost(event.sealed_payload) or is_lost(event.sealed_error)


def _reseal(vault: Vault, column: str, row: Any) -> list[str]:
    sealed = getattr(row, column)
    if not sealed or (new := vault.reseal(sealed)) == sealed:
        return []
    setattr(row, column, new)
    return [column]
