"""Reads over recruitments and their submissions."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import connection
from django.db.models import Count, Q, QuerySet

from annotation.models import Campaign, Project, ProviderAccount, Recruitment
from annotation.models import SubmissionStatus as Status

SUBMISSION_COLUMNS = [
    "submission",
    "rater",
    "status",
    "outcome",
    "code_given",
    "screens",
    "minutes",
    "excluded",
    "flagged",
    "paid",
    "bonus",
    "started_at",
    "ended_at",
    "note",
]

BADGES = {
    Status.ACTIVE: "running",
    Status.AWAITING: "queued",
    Status.APPROVED: "done",
    Status.REJECTED: "failed",
    Status.RETURNED: "cancelled",
    Status.TIMED_OUT: "cancelled",
    Status.SCREENED_OUT: "closed",
}

_ROWS = """
    SELECT b.id, b.external_id, coalesce(r.pseudonym, ''), b.rater_id, b.status, b.outcome, b.code, b.note,
           b.started_at, b.ended_at, b.paid, b.bonus, coalesce(w.n, 0), w.seconds,
           p.excluded_at IS NOT NULL, p.flagged_at IS NOT NULL
    FROM annotation_submission b
    LEFT JOIN annotation_rater r ON r.id = b.rater_id
    LEFT JOIN annotation_participation p ON p.rater_id = b.rater_id AND p.campaign_id = %(campaign)s
    LEFT JOIN LATERAL (
        SELECT count(*) AS n, extract(epoch FROM max(ended_at) - min(shown_at))::float8 AS seconds
        FROM annotation_presentation s
        WHERE s.campaign_id = %(campaign)s AND s.rater_id = b.rater_id AND b.outcome <> 'screened_out'
          AND s.outcome IN ('submitted', 'late', 'replaced') AND s.purpose NOT IN ('training', 'test')
    ) w ON true
    WHERE b.recruitment_id = %(recruitment)s AND b.id > %(after)s
      AND (%(status)s = '' OR b.status = %(status)s) AND (%(ids)s::bigint[] IS NULL OR b.id = ANY(%(ids)s))
    ORDER BY b.id LIMIT %(limit)s
"""


@dataclass(frozen=True)
class SubmissionRow:
    """A submission and its rater's work here. ``screens`` counts work and checks, including late answers."""

    pk: int
    external_id: str
    rater: str
    rater_id: int | None
    status: str
    outcome: str
    code: str
    note: str
    started_at: datetime | None
    ended_at: datetime | None
    paid: Decimal | None
    bonus: Decimal | None
    screens: int
    seconds: float | None
    excluded: bool
    flagged: bool

    @property
    def label(self) -> str:
        return Status(self.status).label

    @property
    def badge(self) -> str:
        """Return the status badge to show."""
        return BADGES[Status(self.status)]

    @property
    def outcome_label(self) -> str:
        return self.outcome.replace("_", " ")

    @property
    def minutes(self) -> float | None:
        """Return the time at the provider; until it is known, from the first screen to the last answer here."""
        if self.started_at and self.ended_at and self.ended_at > self.started_at:
            return (self.ended_at - self.started_at).total_seconds() / 60
        return None if self.seconds is None else self.seconds / 60

    @property
    def erased(self) -> bool:
        return self.external_id.startswith("erased-")


def submission_rows(
    recruitment: Recruitment,
    *,
    status: str = "",
    after: int = 0,
    size: int | None = None,
    ids: Iterable[int] | None = None,
) -> list[SubmissionRow]:
    parameters: dict[str, Any] = {
        "campaign": recruitment.campaign_id,
        "recruitment": recruitment.pk,
        "after": after,
        "status": status if status in Status.values else "",
        "ids": None if ids is None else list(ids),
        "limit": size,
    }
    with connection.cursor() as cursor:
        cursor.execute(_ROWS, parameters)
        return [SubmissionRow(*values) for values in cursor.fetchall()]


def submission_table(recruitment: Recruitment) -> Iterator[tuple[object, ...]]:
    for row in submission_rows(recruitment):
        minutes = None if row.minutes is None else round(row.minutes, 2)
        yield (
            row.external_id,
            row.rater,
            row.status,
            row.outcome,
            row.code,
            row.screens,
            minutes,
            row.excluded,
            row.flagged,
            _float(row.paid),
            _float(row.bonus),
            row.started_at,
            row.ended_at,
            row.note,
        )


def _float(amount: Decimal | None) -> float | None:
    return None if amount is None else float(amount)


def top_ups(recruitment: Recruitment, *, reward: Decimal, rows: Iterable[SubmissionRow]) -> dict[int, Decimal]:
    """Return the amount due to each submission for items beyond what the reward and earlier bonuses pay for."""
    each = recruitment.campaign.payment_per_unit
    amounts = {}
    for row in rows:
        received = (row.paid if row.paid is not None else reward) + (row.bonus or Decimal(0))
        due = (each * row.screens).quantize(Decimal("0.01")) - received
        if due > 0 and row.status in (Status.APPROVED, Status.AWAITING) and not row.erased and row.rater_id:
            amounts[row.pk] = due
    return amounts


def recruitments_of(campaign: Campaign) -> QuerySet[Recruitment]:
    """Return the campaign's recruitments, newest first, each with counts of its submissions."""
    counts = {f"n_{status.value}": Count("submissions", filter=Q(submissions__status=status)) for status in Status} | {
        "n_submissions": Count("submissions")
    }
    return campaign.recruitments.select_related("account", "campaign").annotate(**counts).order_by("-pk")


def status_counts(recruitment: Recruitment) -> dict[str, int]:
    """Return the number of submissions for every status."""
    counts = dict(recruitment.submissions.order_by().values_list("status").annotate(n=Count("pk")))
    return {status.value: counts.get(status.value, 0) for status in Status}


def accounts_of(project: Project) -> QuerySet[ProviderAccount]:
    return project.provider_accounts.annotate(n_recruitments=Count("recruitments")).order_by("name", "pk")


def seconds_per_screen(campaign: Campaign) -> float | None:
    """Return the campaign's median pace, or None if it is not known yet."""
    pace = getattr(campaign, "pace", None)
    return None if pace is None else float(pace.median_seconds or 0) or None


def spent(recruitment: Recruitment) -> tuple[Decimal, Decimal]:
    """Return the rewards and the bonuses paid, without the provider's fees."""
    paid = recruitment.submissions.exclude(paid=None).values_list("paid", flat=True)
    bonus = recruitment.submissions.exclude(bonus=None).values_list("bonus", flat=True)
    return sum(filter(None, paid), Decimal(0)), sum(filter(None, bonus), Decimal(0))
