"""Reads over recruitments and their submissions."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum

from annotation.core import sql
from annotation.core.exports import object_rows
from annotation.models import Campaign, Project, ProviderAccount, Recruitment, identities
from annotation.models import SubmissionStatus as Status

# The columns of the download, with the attributes that they show.
SUBMISSION_COLUMNS = {
    "submission": "shown_id",
    "rater": "rater",
    "status": "status",
    "outcome": "outcome",
    "code_given": "code",
    "screens": "screens",
    "minutes": "minutes",
    "excluded": "excluded",
    "flagged": "flagged",
    "paid": "paid",
    "bonus": "bonus",
    "started_at": "started_at",
    "ended_at": "ended_at",
    "note": "note",
}

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
    SELECT b.id, b.sealed, b.digest, coalesce(r.pseudonym, ''), b.rater_id, b.status, b.outcome, b.code, b.note,
           b.started_at, b.ended_at, b.paid, b.bonus, coalesce(w.n, 0), w.seconds,
           p.excluded_at IS NOT NULL, p.flagged_at IS NOT NULL
    FROM annotation_submission b
    LEFT JOIN annotation_rater r ON r.id = b.rater_id
    LEFT JOIN annotation_participation p ON p.rater_id = b.rater_id AND p.campaign_id = %(campaign)s
    LEFT JOIN LATERAL (
        SELECT count(DISTINCT s.unit_id) FILTER (WHERE s.purpose = 'work')
                   + count(*) FILTER (WHERE s.purpose <> 'work') AS n,
               extract(epoch FROM max(ended_at) - min(shown_at))::float8 AS seconds
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
    """A submission and the rater's work. ``screens`` counts answered work and checks, also late, each unit once."""

    pk: int
    sealed: str
    digest: str
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
    def shown_id(self) -> str:
        """Return the provider's id, or the reason why it cannot be read."""
        return self.digest if self.erased else identities.shown(self.sealed)

    @property
    def label(self) -> str:
        return Status(self.status).label

    @property
    def badge(self) -> str:
        return BADGES[Status(self.status)]

    @property
    def outcome_label(self) -> str:
        return self.outcome.replace("_", " ")

    @property
    def minutes(self) -> float | None:
        """Return the time at the provider or, until it is known, from the first screen to the last answer."""
        if self.started_at and self.ended_at and self.ended_at > self.started_at:
            return (self.ended_at - self.started_at).total_seconds() / 60
        return None if self.seconds is None else self.seconds / 60

    @property
    def erased(self) -> bool:
        return not self.sealed


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
    return [SubmissionRow(*values) for values in sql.rows(_ROWS, parameters)]


def submission_table(recruitment: Recruitment) -> Iterator[tuple[object, ...]]:
    for row in object_rows(submission_rows(recruitment), SUBMISSION_COLUMNS):
        yield tuple(round(float(value), 2) if isinstance(value, float | Decimal) else value for value in row)


def top_ups(recruitment: Recruitment, *, reward: Decimal, rows: Iterable[SubmissionRow]) -> dict[int, Decimal]:
    """Return the amount due to each submission for items beyond what the reward and earlier bonuses pay for."""
    amounts = {}
    for row in rows:
        received = (row.paid if row.paid is not None else reward) + (row.bonus or Decimal(0))
        due = (recruitment.campaign.payment_per_unit * row.screens).quantize(Decimal("0.01")) - received
        if due > 0 and row.status in (Status.APPROVED, Status.AWAITING) and not row.erased and row.rater_id:
            amounts[row.pk] = due
    return amounts


def recruitments_of(campaign: Campaign) -> QuerySet[Recruitment]:
    """Return the campaign's recruitments, newest first, each with counts of its submissions."""
    counts = {f"n_{status.value}": Count("submissions", filter=Q(submissions__status=status)) for status in Status}
    recruitments = campaign.recruitments.select_related("account", "campaign").order_by("-pk")
    return recruitments.annotate(**counts, n_submissions=Count("submissions"))


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
    sums = recruitment.submissions.aggregate(paid=Sum("paid"), bonus=Sum("bonus"))
    return sums["paid"] or Decimal(0), sums["bonus"] or Decimal(0)
