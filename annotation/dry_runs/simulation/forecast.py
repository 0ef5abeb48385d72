"""What a finished dry run foretells of the campaign it played through."""

import math
from collections.abc import Collection, Hashable, Sequence
from dataclasses import asdict, dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from annotation.dry_runs.simulation.arrivals import DurationForecast, Workload, duration_forecast
from annotation.dry_runs.simulation.raters import SimulatedRater

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

CENT = Decimal("0.01")


class SimulatedLog:
    """Every screen that simulated raters answered, one entry each.

    Parameters
    ----------
    rater : int array, shape (n,)
        Place of the rater in the population, from 0.
    seconds : float array, shape (n,)
        Time on the screen by the rater's own (virtual) clock.
    fills : bool array, shape (n,)
        True where the answer fills a place of a unit at the end; False for checks, repeats, late answers and answers
        that were replaced.
    paid : bool array, shape (n,), optional
        Whether the screen is paid; by default all are.

    Raises
    ------
    ValueError
        Columns of different length, a rater below 0, times that are not finite or negative.
    """

    def __init__(
        self,
        rater: npt.ArrayLike,
        seconds: npt.ArrayLike,
        fills: npt.ArrayLike,
        paid: npt.ArrayLike | None = None,
    ) -> None:
        self.rater: IntArray = np.asarray(rater, dtype=np.int64)
        self.seconds: FloatArray = np.asarray(seconds, dtype=np.float64)
        self.fills: BoolArray = np.asarray(fills, dtype=np.bool_)
        self.paid: BoolArray = np.ones(self.rater.shape, np.bool_) if paid is None else np.asarray(paid, dtype=np.bool_)
        for name in ("seconds", "fills", "paid"):
            found = getattr(self, name).shape
            if found != self.rater.shape:
                raise ValueError(f"{name} has shape {found}; accepted: {self.rater.shape}, one per screen")
        if self.rater.size and self.rater.min() < 0:
            raise ValueError(f"rater holds {self.rater.min()}; accepted: places in the population, from 0")
        if not (np.isfinite(self.seconds) & (self.seconds >= 0)).all():
            raise ValueError("seconds holds a time that is negative or not finite; accepted: 0 or more")

    def __len__(self) -> int:
        return len(self.rater)


@dataclass(frozen=True)
class CostForecast:
    """What the whole campaign costs, in the currency of the payment.

    Attributes
    ----------
    screens : paid screens.
    pay, fees, total : to the raters, to the provider, together; rounded to cents.
    total_low, total_high : 95% of the campaigns played through cost between; ``total`` where they were not played.
    per_rating : ``total`` over the places filled; rounded to cents.
    pay_per_hour : what a rater earns in an hour of work, in the mean over all hours worked; NaN where no time is known.
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
class WidthForecast:
    """How sure the weights will be.

    Attributes
    ----------
    mean_width, median_width : of the 95% intervals, high less low, on the scale of the weights ([-1, +1]).
    n : weights with an interval.
    n_without : weights without one.
    reason : why the widths are NaN; empty where they are not.
    """

    mean_width: float
    median_width: float
    n: int
    n_without: int
    reason: str = ""


@dataclass(frozen=True)
class DetectionForecast:
    """Whether the rules catch whom they should.

    Attributes
    ----------
    spammers, struck_spammers : spammers who answered anything, and those of them whom the rules struck.
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


@dataclass(frozen=True)
class Forecast:
    """All that a dry run foretells."""

    cost: CostForecast
    duration: DurationForecast
    width: WidthForecast
    detection: DetectionForecast

    def to_dict(self) -> dict[str, Any]:
        """As data that JSON can hold: money as text, NaN as None."""
        return {part: {name: _plain(value) for name, value in found.items()} for part, found in asdict(self).items()}


def forecast(
    log: SimulatedLog,
    raters: Sequence[SimulatedRater],
    *,
    workload: Workload,
    struck: Collection[int],
    low: npt.ArrayLike,
    high: npt.ArrayLike,
    payment_per_unit: Decimal,
    fee_percent: Decimal,
    arrivals_per_hour: float,
    seed: int,
    n_replicates: int | None = None,
    qualifies: Sequence[bool] | None = None,
) -> Forecast:
    """Cost, duration, certainty and detection of a campaign from its dry run.

    Where the dry run filled only some of the campaign's places, cost and duration are those of all of them, with as
    many checks per unit as in the dry run. The cost is that of the campaigns that :func:`duration_forecast` plays
    through; where these never end, the dry run's own, scaled up.

    Parameters
    ----------
    log : SimulatedLog
    raters : sequence of SimulatedRater
        The population that worked, in the order that ``log.rater`` names.
    workload : Workload
        Of the whole campaign.
    struck : collection of int
        Raters whom the rules exclude or flag, as ``log.rater`` names them.
    low, high : float array, shape (R,)
        Ends of the weights' intervals; NaN where there is none.
    payment_per_unit : Decimal
        For each paid screen.
    fee_percent : Decimal
        What the provider adds, in percent of the payments.
    arrivals_per_hour : float
    seed : int
    n_replicates, qualifies
        See :func:`duration_forecast`.

    Raises
    ------
    ValueError
        A parameter outside its range, a log in which nothing fills a place, or a rater beyond the population.
    """
    if len(log) and log.rater.max() >= len(raters):
        raise ValueError(f"log names rater {log.rater.max()}; accepted: 0 to {len(raters) - 1}")
    filled = int(log.fills.sum())
    if filled == 0:
        raise ValueError("log has no answer that fills a place; accepted: at least one")
    spammers = {place for place, rater in enumerate(raters) if rater.is_spammer}
    duration = duration_forecast(
        workload,
        raters,
        arrivals_per_hour=arrivals_per_hour,
        rng=np.random.default_rng(seed),
        n_replicates=n_replicates,
        qualifies=qualifies,
    )
    played = duration.screens, duration.screens_low, duration.screens_high
    return Forecast(
        cost=cost_forecast(
            paid_screens=int(log.paid.sum()),
            paid_seconds=float(log.seconds[log.paid].sum()),
            filled=filled,
            places=workload.places,
            payment_per_unit=payment_per_unit,
            fee_percent=fee_percent,
            played=None if math.isnan(duration.screens) else played,
        ),
        duration=duration,
        width=width_forecast(low, high),
        detection=detection_forecast(spammers=spammers, struck=struck, worked=log.rater.tolist()),
    )


def cost_forecast(
    *,
    paid_screens: int,
    paid_seconds: float,
    filled: int,
    places: int,
    payment_per_unit: Decimal,
    fee_percent: Decimal,
    played: tuple[float, float, float] | None = None,
) -> CostForecast:
    """What ``places`` places cost when ``filled`` of them took so many paid screens.

    Parameters
    ----------
    paid_screens : int
    paid_seconds : float
        Time spent on them.
    filled, places : int
        1 or more.
    payment_per_unit, fee_percent : Decimal
        0 or more.
    played : three floats, optional
        Screens of the whole campaign as played through: mean, and the ends of its interval.

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
    counts = [math.ceil(count - 1e-9) for count in played] if played else [-(-paid_screens * places // filled)] * 3
    screens, low, high = counts
    pay = screens * payment_per_unit
    fees = pay * fee_percent / 100
    totals = [
        _cents(count * payment_per_unit) + _cents(count * payment_per_unit * fee_percent / 100) for count in (low, high)
    ]
    earned = float(paid_screens * payment_per_unit)
    return CostForecast(
        screens=screens,
        pay=_cents(pay),
        fees=_cents(fees),
        total=_cents(pay) + _cents(fees),
        total_low=totals[0],
        total_high=totals[1],
        per_rating=_cents((pay + fees) / places),
        pay_per_hour=earned * 3600 / paid_seconds if paid_seconds > 0 else math.nan,
    )


def width_forecast(low: npt.ArrayLike, high: npt.ArrayLike) -> WidthForecast:
    """Mean and median width of intervals; those with a NaN end are counted apart.

    >>> width_forecast([0.1, -0.5, float("nan")], [0.5, 0.3, 0.0]).mean_width.__round__(3)
    0.6
    """
    ends = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    if ends[0].shape != ends[1].shape:
        raise ValueError(f"high has shape {ends[1].shape}; accepted: {ends[0].shape}, that of low")
    width = ends[1] - ends[0]
    known = width[~np.isnan(width)]
    if known.size and known.min() < 0:
        raise ValueError("an interval ends below where it begins; accepted: low <= high")
    n_without = int(width.size - known.size)
    if not known.size:
        return WidthForecast(math.nan, math.nan, 0, n_without, "no weight has an interval: it takes two raters")
    return WidthForecast(float(known.mean()), float(np.median(known)), int(known.size), n_without)


def detection_forecast(
    *, spammers: Collection[Hashable], struck: Collection[Hashable], worked: Collection[Hashable]
) -> DetectionForecast:
    """Of the spammers who worked, how many the rules struck; of the honest raters, how many by mistake.

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
        f"no {who} answered anything" for who, group in (("spammer", guilty), ("honest rater", honest)) if not group
    ]
    recall, alarms = _share(len(caught), len(guilty)), _share(len(wrong), len(honest))
    return DetectionForecast(
        len(guilty), len(caught), *recall, len(honest), len(wrong), *alarms, reason="; ".join(reasons)
    )


def _share(hits: int, n: int) -> tuple[float, float, float]:
    if n == 0:
        return math.nan, math.nan, math.nan
    interval = stats.binomtest(hits, n).proportion_ci(confidence_level=0.95, method="wilson")
    return hits / n, float(interval.low), float(interval.high)


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, rounding=ROUND_HALF_UP)


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return str(value)
    return None if isinstance(value, float) and math.isnan(value) else value
