"""Forecasts from a finished dry run: what the campaign costs, and whom its rules catch."""

import math
from collections.abc import Collection, Hashable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

import scipy

from annotation.dry_runs.simulation.arrivals import DurationForecast

CENT = Decimal("0.01")


@dataclass(frozen=True)
class CostForecast:
    """Cost of the whole campaign, in the currency of the payment.

    Attributes
    ----------
    screens : paid screens.
    pay, fees, total : to the raters, to the provider, together; rounded to cents.
    total_low, total_high : 95% of the simulated campaigns cost between; ``total`` if none was simulated.
    per_rating : ``total`` over the slots filled; rounded to cents.
    pay_per_hour : what a rater earns in an hour of work, mean over all hours worked; NaN if no time is known.
    """

    screens: int
    pay: Decimal
    fees: Decimal
    total: Decimal
    total_low: Decimal
    total_high: Decimal
    per_rating: Decimal
    pay_per_hour: float


@dataclass(frozen=True)
class DetectionForecast:
    """Whom the rules catch.

    Attributes
    ----------
    spammers, struck_spammers : spammers who answered anything, and those whom the rules exclude or flag.
    recall, recall_low, recall_high : their share, with its 95% Wilson interval; NaN without spammers.
    honest, struck_honest : likewise of honest raters.
    false_alarms, false_alarms_low, false_alarms_high : their share, with its 95% Wilson interval.
    reason : why something is NaN; empty where nothing is.
    """

    spammers: int
    struck_spammers: int
    recall: float
    recall_low: float
    recall_high: float
    honest: int
    struck_honest: int
    false_alarms: float
    false_alarms_low: float
    false_alarms_high: float
    reason: str = ""


def cost_forecast(
    *,
    paid_screens: int,
    paid_seconds: float,
    filled: int,
    places: int,
    payment_per_unit: Decimal,
    fee_percent: Decimal,
    duration: DurationForecast | None = None,
) -> CostForecast:
    """Compute the cost of ``places`` slots, of which a dry run filled ``filled`` with so many paid screens.

    Parameters
    ----------
    paid_screens : int
    paid_seconds : float
        Time spent on them.
    filled, places : int
        1 or more.
    payment_per_unit, fee_percent : Decimal
        0 or more: for each paid screen, and what the provider adds, in percent of the payments.
    duration : DurationForecast, optional
        Its simulated campaigns decide the number of screens. Without them, or if they never end, the dry run's own
        screens are scaled up.

    Raises
    ------
    ValueError
        A number outside its range, named.

    Examples
    --------
    >>> cost = cost_forecast(paid_screens=110, paid_seconds=3600, filled=100, places=1000,
    ...                      payment_per_unit=Decimal("0.12"), fee_percent=Decimal(30))
    >>> cost.screens, str(cost.pay), str(cost.fees), str(cost.total), str(cost.per_rating), cost.pay_per_hour
    (1100, '132.00', '39.60', '171.60', '0.17', 13.2)
    """
    for name, count, least in (("paid_screens", paid_screens, 0), ("filled", filled, 1), ("places", places, 1)):
        if count < least:
            raise ValueError(f"{name} is {count}; accepted: {least} or more")
    for name, amount in (("payment_per_unit", payment_per_unit), ("fee_percent", fee_percent)):
        if not amount >= 0:
            raise ValueError(f"{name} is {amount}; accepted: 0 or more")
    if duration is None or math.isnan(duration.screens):
        screens = low = high = -(-paid_screens * places // filled)
    else:
        simulated = (duration.screens, duration.screens_low, duration.screens_high)
        screens, low, high = (math.ceil(count - 1e-9) for count in simulated)
    pay = screens * payment_per_unit
    fees = pay * fee_percent / 100
    total_low, total_high = (
        _cents(count * payment_per_unit) + _cents(count * payment_per_unit * fee_percent / 100) for count in (low, high)
    )
    earned = float(paid_screens * payment_per_unit)
    return CostForecast(
        screens=screens,
        pay=_cents(pay),
        fees=_cents(fees),
        total=_cents(pay) + _cents(fees),
        total_low=total_low,
        total_high=total_high,
        per_rating=_cents((pay + fees) / places),
        pay_per_hour=earned * 3600 / paid_seconds if paid_seconds > 0 else math.nan,
    )


def detection_forecast(
    *, spammers: Collection[Hashable], struck: Collection[Hashable], worked: Collection[Hashable]
) -> DetectionForecast:
    """Count the spammers whom the rules exclude or flag, and the honest raters who are excluded or flagged by mistake.

    Parameters
    ----------
    spammers, struck, worked : collections of rater identifiers of one kind
        A rater who answered nothing counts nowhere. ``worked`` may name a rater many times.

    References
    ----------
    Wilson, Probable Inference, the Law of Succession, and Statistical Inference, JASA 1927: the intervals.

    Examples
    --------
    >>> result = detection_forecast(spammers={1, 2, 9}, struck={1, 3}, worked=[1, 2, 3, 4, 5])
    >>> result.recall, result.false_alarms.__round__(3)
    (0.5, 0.333)
    """
    present = set(worked)
    guilty = present & set(spammers)
    caught, honest = guilty & set(struck), present - guilty
    wrong = honest & set(struck)
    reasons = [
        f"no {kind} answered anything" for kind, group in (("spammer", guilty), ("honest rater", honest)) if not group
    ]
    recall, alarms = _share(len(caught), len(guilty)), _share(len(wrong), len(honest))
    return DetectionForecast(
        len(guilty), len(caught), *recall, len(honest), len(wrong), *alarms, reason="; ".join(reasons)
    )


def _share(hits: int, n: int) -> tuple[float, float, float]:
    if n == 0:
        return math.nan, math.nan, math.nan
    interval = scipy.stats.binomtest(hits, n).proportion_ci(confidence_level=0.95, method="wilson")
    return hits / n, float(interval.low), float(interval.high)


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, rounding=ROUND_HALF_UP)
