"""Bonuses. A batch is prepared, checked by a person, and paid once; no uncertain payment is repeated automatically.

Batches are stored with their recruitment, by Assay's ids of submissions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import uuid4

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.core.errors import AnnotationError
from annotation.models import Recruitment, Submission, User
from annotation.models import SubmissionStatus as Status
from annotation.models.identities import digests_of, seal, shown
from annotation.projects.services.audit import audit_record
from annotation.recruitment.providers import PROVIDERS
from annotation.recruitment.providers.base import Bonus, BonusBatch
from annotation.recruitment.providers.errors import ProviderError
from annotation.recruitment.services.accounts import client_of
from annotation.recruitment.services.budget import money_check
from annotation.recruitment.services.changes import locked, options_change
from annotation.recruitment.services.terms import parse_amount, terms_of

MAX_BONUSES = 2000


@dataclass(frozen=True)
class Batch:
    """A stored batch. States: prepared, paying (sent, no answer yet), paid, unknown (perhaps paid), discarded."""

    id: str
    external_id: str
    state: str
    reason: str
    amount: Decimal
    fees: Decimal
    total: Decimal
    currency: str
    prepared_at: datetime
    payments: tuple[tuple[int, Decimal], ...]  # Assay's id of the submission, amount
    message: str = ""  # of the provider; it may name a rater, and is stored encrypted

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> "Batch":
        values = {each.name: stored[each.name] for each in fields(cls) if each.name in stored}
        values["message"] = shown(stored.get("sealed", ""), "text")
        values |= {name: Decimal(stored[name]) for name in ("amount", "fees", "total")}
        payments = tuple((int(pk), Decimal(value)) for pk, value in stored["payments"])
        return cls(**values | {"prepared_at": datetime.fromisoformat(stored["prepared_at"]), "payments": payments})

    @property
    def open(self) -> bool:
        return self.state in ("prepared", "paying", "unknown")


def batches_of(recruitment: Recruitment) -> list[Batch]:
    """Return the batches of a recruitment, newest first."""
    return [Batch.of(stored) for stored in reversed(recruitment.options.get("bonuses", []))]


def batch_of(recruitment: Recruitment, batch_id: str) -> Batch | None:
    return next((batch for batch in batches_of(recruitment) if batch.id == batch_id), None)


def amounts_read(*, recruitment: Recruitment, text: str) -> dict[int, Decimal]:
    """Read lines of a submission's id at the provider, or a rater's name here, and an amount; report all row errors."""
    submissions = list(recruitment.submissions.select_related("rater"))
    by_digest = {submission.digest: submission.pk for submission in submissions}
    by_name: dict[str, list[int]] = {}
    for submission in submissions:
        if submission.rater is not None:
            by_name.setdefault(submission.rater.pseudonym, []).append(submission.pk)
    amounts: dict[int, Decimal] = {}
    problems: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        name, _, money = line.replace(";", ",").replace("\t", ",").partition(",")
        name = name.strip().strip('"')
        matching = [by_digest[each] for each in digests_of(name) if each in by_digest] or by_name.get(name, [])
        if len(matching) != 1:
            problem = "more than one submission of" if matching else "no submission or rater"
            accepted = "a rater or submission of this recruitment"
            problems.append(f"Line {number}: found {problem} {name[:60]!r}; accepted: {accepted}.")
        elif matching[0] in amounts:
            problems.append(f"Line {number}: found {name[:60]!r} a second time; accepted: each rater once.")
        else:
            try:
                amounts[matching[0]] = parse_amount(money, label=f"Line {number}")
            except AnnotationError as error:
                problems.append(error.fields["lines"][0])
    if problems or not amounts:
        shown = problems[:100] or ["Found no line; accepted: one or more lines such as 5f0c…, 1.50."]
        raise AnnotationError("The amounts cannot be read.", fields={"lines": shown})
    return amounts


def bonus_prepare(
    *, recruitment: Recruitment, amounts: Mapping[int, Decimal], reason: str, by: User | None = None
) -> Batch:
    """Prepare a batch at the provider, which computes its cost. Nothing is paid."""
    if recruitment.account is None:
        raise AnnotationError("This study was created by hand: pay bonuses on the provider's pages.")
    reason = " ".join(reason.split())
    if not 1 <= len(reason) <= 200:
        raise AnnotationError.at("reason", f"Found {len(reason)} characters; accepted: 1 to 200. Raters may read them.")
    if not 1 <= len(amounts) <= MAX_BONUSES:
        raise AnnotationError.at("lines", f"Found {len(amounts)} bonuses; accepted: 1 to {MAX_BONUSES:,}.")
    batch_id = uuid4().hex[:12]
    payments = _payments(recruitment, amounts, reason, batch_id)
    with client_of(recruitment.account, patient=False) as client:
        batch = client.bonus_prepare(recruitment.external_id, payments)
    stored = {
        "id": batch_id,
        "external_id": batch.id,
        "state": "prepared",
        "reason": reason,
        "amount": str(batch.amount),
        "fees": str(batch.fees),
        "total": str(batch.total),
        "currency": terms_of(recruitment).currency,
        "prepared_at": batch.prepared_at.isoformat(),
        "payments": [[pk, str(value)] for pk, value in sorted(amounts.items())],
    }
    with transaction.atomic():
        fresh = locked(recruitment)
        options_change(fresh, bonuses=[*fresh.options.get("bonuses", []), stored])
        _audit(fresh, "prepare", f"{len(payments)} bonuses set up, {batch.amount} in all", stored, by)
    return Batch.of(stored)


def bonus_pay(*, recruitment: Recruitment, batch_id: str, by: User | None = None) -> Batch:
    """Pay a prepared batch. It is marked before it is sent, so that two clicks cannot send it twice."""
    if recruitment.account is None:
        raise AnnotationError("This study was created by hand: pay bonuses on the provider's pages.")
    resumes = PROVIDERS[recruitment.provider].bonuses_resume
    accepted = ("prepared", "unknown") if resumes else ("prepared",)
    before = Batch.of(_stored(Recruitment.objects.get(pk=recruitment.pk).options, batch_id, accepted))
    payments = tuple(_payments(recruitment, dict(before.payments), before.reason, batch_id))  # or it stays as it is
    batch = _move(recruitment, batch_id, accepted, "paying", by)
    try:
        with client_of(recruitment.account, patient=False) as client:
            client.bonus_pay(
                BonusBatch(
                    batch.external_id,
                    recruitment.external_id,
                    payments,
                    batch.amount,
                    batch.fees,
                    batch.total,
                    batch.prepared_at,
                )
            )
    except ProviderError as error:
        # If bonuses are paid one by one, some may have been paid before the error.
        certain = not error.unknown and not resumes
        _move(recruitment, batch_id, ("paying",), "prepared" if certain else "unknown", by, message=error.message)
        raise
    except AnnotationError:
        _move(recruitment, batch_id, ("paying",), before.state, by)
        raise
    return _move(recruitment, batch_id, ("paying",), "paid", by)


def bonus_settle(*, recruitment: Recruitment, batch_id: str, paid: bool, by: User | None = None) -> Batch:
    """Record whether an uncertain batch was paid, as a person saw on the provider's pages."""
    return _move(recruitment, batch_id, ("unknown", "paying"), "paid" if paid else "prepared", by)


def bonus_discard(*, recruitment: Recruitment, batch_id: str, by: User | None = None) -> Batch:
    return _move(recruitment, batch_id, ("prepared",), "discarded", by)


# --- Parts ------------------------------------------------------------------------------------------------------------


def _payments(recruitment: Recruitment, amounts: Mapping[int, Decimal], reason: str, batch_id: str) -> list[Bonus]:
    submissions = Submission.objects.filter(pk__in=amounts, recruitment=recruitment).select_related("rater__identity")
    payments, problems = [], []
    for submission in submissions.order_by("pk"):
        rater = submission.rater
        identity = getattr(rater, "identity", None)
        if identity is None or submission.is_erased:
            problems.append(f"{rater or submission.shown_id}: found no id; accepted: raters who are not erased.")
        elif submission.status == Status.ACTIVE:
            problems.append(f"{rater}: found a submission in progress; accepted: a submission that has ended.")
        else:
            reference = f"assay-{recruitment.pk}-{batch_id}-{submission.pk}"
            ids = submission.external_id, identity.external_id
            payments.append(Bonus(*ids, amounts[submission.pk], reference, reason))
    if problems:
        raise AnnotationError("Some of them cannot be paid.", fields={"lines": problems[:100]})
    return payments


def _stored(options: Mapping[str, Any], batch_id: str, accepted: Sequence[str]) -> dict[str, Any]:
    """Return the batch within the options; refuse one in another state."""
    stored: dict[str, Any] | None = next((each for each in options.get("bonuses", []) if each["id"] == batch_id), None)
    if stored is None:
        raise AnnotationError("There is no such batch of bonuses.")
    if stored["state"] not in accepted:
        raise AnnotationError(f"The batch is {stored['state']}; accepted: {' or '.join(accepted)}.")
    return stored


@transaction.atomic
def _move(
    recruitment: Recruitment,
    batch_id: str,
    accepted: Sequence[str],
    to: str,
    by: User | None,
    *,
    message: str = "",
) -> Batch:
    """Compare and swap a batch's state; once it is paid, add the bonuses to the submissions."""
    fresh = locked(recruitment)
    stored = _stored(fresh.options, batch_id, accepted)
    sealed = seal(text=message[:300]) if message else ""
    stored |= {"state": to, "sealed": sealed, "at": timezone.now().isoformat(timespec="seconds")}
    options_change(fresh, bonuses=fresh.options["bonuses"])
    if to == "paid":
        for pk, value in stored["payments"]:
            submissions = Submission.objects.filter(pk=pk, recruitment=fresh)
            submissions.update(bonus=Coalesce(F("bonus"), Decimal(0)) + Decimal(value))
        money_check(fresh)
    label = {"paying": "payment requested", "unknown": "may have been paid", "prepared": "not paid"}.get(to, to)
    _audit(fresh, to, f"Bonuses of {stored['amount']} {stored['currency']}: {label}", stored, by)
    return Batch.of(stored)


def _audit(recruitment: Recruitment, verb: str, summary: str, stored: Mapping[str, Any], by: User | None) -> None:
    audit_record(
        verb=f"bonus.{verb}",
        summary=f"“{recruitment.name}”: {summary}. {stored['reason']}",
        campaign=recruitment.campaign,
        by=by,
        data={name: stored[name] for name in ("id", "amount", "fees", "total", "payments")},
    )
