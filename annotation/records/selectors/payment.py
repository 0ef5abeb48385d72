"""Payments to raters and their time: as the provider reports them, or else as due."""

from dataclasses import dataclass

import numpy as np

from annotation.core import sql
from annotation.models import Campaign


@dataclass(frozen=True)
class Payment:
    """Amounts in ``currency``; hours of the same raters. Rates are NaN without hours."""

    currency: str
    source: str  # "provider": as the provider reports; "due": screens answered times the campaign's rate
    per_unit: float
    raters: int
    total: float
    bonus: float  # part of the total
    hours: float
    hourly: float  # total over hours
    hourly_median: float  # over raters
    hourly_lowest: float


def payment(campaign: Campaign) -> Payment | None:
    """Return the campaign's payment; None if nothing was paid and nothing is due."""
    if rows := _paid(campaign):
        return _summed(campaign, "provider", np.array(rows))
    if campaign.payment_per_unit == 0:
        return None
    due = [(float(campaign.payment_per_unit) * n, 0.0, seconds) for n, seconds in _screens_and_seconds(campaign)]
    return _summed(campaign, "due", np.array(due)) if due else None


def _paid(campaign: Campaign) -> list[tuple[float, float, float]]:
    """Return for each rater reward, bonus, seconds from start to end; NaN if the provider did not report them all."""
    return sql.rows(
        """
        SELECT sum(b.paid)::float8, coalesce(sum(b.bonus), 0)::float8,
               CASE WHEN bool_and(b.ended_at > b.started_at)
                    THEN sum(extract(epoch FROM b.ended_at - b.started_at))::float8
                    ELSE 'NaN'::float8 END
        FROM annotation_submission b JOIN annotation_recruitment q ON q.id = b.recruitment_id
        WHERE q.campaign_id = %s AND b.paid IS NOT NULL
        GROUP BY coalesce(b.rater_id, -b.id) ORDER BY 1
        """,
        [campaign.pk],
    )


def _screens_and_seconds(campaign: Campaign) -> list[tuple[int, float]]:
    """Return for each rater the screens answered, checks and late ones included, and the time from shown to sent.

    Training and test are not paid by the screen, but their time is time worked.
    """
    return sql.rows(
        """
        SELECT count(*) FILTER (WHERE purpose NOT IN ('training', 'test')),
               sum(extract(epoch FROM ended_at - shown_at))::float8
        FROM annotation_presentation
        WHERE campaign_id = %s AND outcome IN ('submitted', 'late', 'replaced')
        GROUP BY rater_id HAVING count(*) FILTER (WHERE purpose NOT IN ('training', 'test')) > 0
        ORDER BY rater_id
        """,
        [campaign.pk],
    )


def _summed(campaign: Campaign, source: str, rows: np.ndarray) -> Payment:
    amount, hours = rows[:, 0] + rows[:, 1], rows[:, 2] / 3600
    timed = np.isfinite(hours) & (hours > 0)
    rates = amount[timed] / hours[timed]
    nan = float("nan")
    return Payment(
        currency=campaign.payment_currency,
        source=source,
        per_unit=float(campaign.payment_per_unit),
        raters=len(rows),
        total=float(amount.sum()),
        bonus=float(rows[:, 1].sum()),
        hours=float(hours[timed].sum()),
        hourly=float(amount[timed].sum() / hours[timed].sum()) if timed.any() else nan,
        hourly_median=float(np.median(rates)) if timed.any() else nan,
        hourly_lowest=float(rates.min()) if timed.any() else nan,
    )
