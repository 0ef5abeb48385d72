"""The duration of a campaign: raters arrive, work at their own speed and leave, on a virtual clock."""

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from annotation.dry_runs.simulation.raters import SimulatedRater

FloatArray = npt.NDArray[np.float64]

BUDGET = 200_000  # answers simulated over all replicates: about two seconds
REPLICATES = (3, 200)
RATERS_PER_SLOT = 20  # with more raters than this for each slot, hardly any rater answers anything
INTERVAL = 0.95


@dataclass(frozen=True)
class Workload:
    """The work of a campaign.

    Attributes
    ----------
    units, ratings_per_unit : units and the k slots of each, both 1 or more; a rater fills one slot of a unit at most.
    max_units_per_rater : most units a rater may answer; None is no limit.
    checks_per_unit : screens that fill no slot (checks, repeats), per unit answered; 0 or more.
    screens_before_work : training and test screens before a rater's first unit, in the mean; 0 or more.
    lease_seconds : how long a unit stays with a rater who has left; above 0.
    seconds_between_units : least time from one unit handed out to a rater to the next; 0 or more.
    """

    units: int
    ratings_per_unit: int
    max_units_per_rater: int | None = None
    checks_per_unit: float = 0.0
    screens_before_work: float = 0.0
    lease_seconds: float = 600.0
    seconds_between_units: float = 0.0

    def __post_init__(self) -> None:
        minima = {"units": 1, "ratings_per_unit": 1, "checks_per_unit": 0, "screens_before_work": 0}
        for name, least in (minima | {"lease_seconds": 0, "seconds_between_units": 0}).items():
            if not least <= getattr(self, name) < math.inf:
                raise ValueError(f"{name} is {getattr(self, name)}; accepted: {least} or more")
        if self.max_units_per_rater is not None and self.max_units_per_rater < 1:
            raise ValueError(f"max_units_per_rater is {self.max_units_per_rater}; accepted: 1 or more, or None")

    @property
    def slots(self) -> int:
        return self.units * self.ratings_per_unit


@dataclass(frozen=True)
class DurationForecast:
    """Time until every slot is filled.

    Attributes
    ----------
    hours : from opening to the last answer, mean over the replicates.
    hours_low, hours_high : 95% of the replicates lie between.
    hours_p10, hours_p50, hours_p90 : a tenth, half and nine tenths of the replicates take no longer.
    raters : raters who take at least one unit, mean; ``raters_low``, ``raters_high`` as above.
    rater_hours : time raters spend on screens, all together, mean.
    screens : screens answered, including those that fill no slot, mean; ``screens_low``, ``screens_high`` as above.
    n_replicates : simulated campaigns.
    reason : why all of these are NaN; empty where they are not.
    """

    hours: float = math.nan
    hours_low: float = math.nan
    hours_high: float = math.nan
    hours_p10: float = math.nan
    hours_p50: float = math.nan
    hours_p90: float = math.nan
    raters: float = math.nan
    raters_low: float = math.nan
    raters_high: float = math.nan
    rater_hours: float = math.nan
    screens: float = math.nan
    screens_low: float = math.nan
    screens_high: float = math.nan
    n_replicates: int = 0
    reason: str = ""


def duration_forecast(
    workload: Workload,
    raters: Sequence[SimulatedRater],
    *,
    arrivals_per_hour: float,
    rng: np.random.Generator,
    n_replicates: int | None = None,
    qualifies: Sequence[bool] | None = None,
) -> DurationForecast:
    """Simulate the campaign on a virtual clock, many times.

    Raters arrive as a Poisson process, each with the traits of one of ``raters`` drawn with replacement, and go from
    screen to screen at their own speed until they leave, reach the limit or find no unit that is free and new to them.
    Units go out as the product hands them out: one of those with the fewest slots filled or held; a slot that a
    leaver holds comes back when its lease ends.

    Parameters
    ----------
    workload : Workload
    raters : sequence of SimulatedRater
        At least one. Their own random numbers are left alone.
    arrivals_per_hour : float
        Above 0.
    rng : numpy.random.Generator
    n_replicates : int, optional
        By default as many as some two seconds allow, 3 to 200.
    qualifies : sequence of bool, optional
        Whether each of ``raters`` passes the qualification test; the others leave after the screens before the work.

    Returns
    -------
    DurationForecast
        NaN with a reason when in some replicate raters leave without filling the slots.

    Raises
    ------
    ValueError
        A parameter outside its range, named.

    Examples
    --------
    >>> raters = [SimulatedRater(seed=1, median_seconds=36.0, screen_sd=0.0)]
    >>> rng = np.random.default_rng(5)
    >>> result = duration_forecast(Workload(100, 1), raters, arrivals_per_hour=1e6, rng=rng, n_replicates=50)
    >>> round(result.hours, 3), result.raters
    (0.01, 100.0)
    """
    if not raters:
        raise ValueError("raters is empty; accepted: at least one")
    if not 0 < arrivals_per_hour < math.inf:
        raise ValueError(f"arrivals_per_hour is {arrivals_per_hour}; accepted: a number above 0")
    if qualifies is not None and len(qualifies) != len(raters):
        raise ValueError(f"qualifies has {len(qualifies)} entries; accepted: {len(raters)}, one per rater")
    if n_replicates is None:
        n_replicates = min(max(BUDGET // workload.slots, REPLICATES[0]), REPLICATES[1])
    if n_replicates < 1:
        raise ValueError(f"n_replicates is {n_replicates}; accepted: 1 or more")
    runs = []
    for _ in range(n_replicates):
        run = _Run(workload, raters, qualifies or [True] * len(raters), arrivals_per_hour, rng).play()
        if run is None:
            reason = "raters leave before the slots are filled, however many come"
            return DurationForecast(n_replicates=n_replicates, reason=reason)
        runs.append(run)
    hours, n_raters, rater_hours, screens = np.array(runs, dtype=np.float64).T
    low, middle, high = np.quantile(hours, [0.1, 0.5, 0.9]).tolist()
    return DurationForecast(
        **_summary("hours", hours),
        **_summary("raters", n_raters),
        **_summary("screens", screens),
        hours_p10=low,
        hours_p50=middle,
        hours_p90=high,
        rater_hours=float(rater_hours.mean()),
        n_replicates=n_replicates,
    )


def _summary(name: str, values: FloatArray) -> dict[str, Any]:
    low, high = np.quantile(values, [(1 - INTERVAL) / 2, (1 + INTERVAL) / 2]).tolist()
    return {name: float(values.mean()), f"{name}_low": low, f"{name}_high": high}


@dataclass(slots=True)
class _Worker:
    """A rater's simulated stay."""

    traits: SimulatedRater
    qualifies: bool
    answered: int = 0
    done: set[int] = field(default_factory=set)


class _Slots:
    """The units by the number of their slots that are filled or held; moving a unit takes constant time.

    ``level[u]`` is that number for unit u, ``index[u]`` its index in the list of that level.
    """

    def __init__(self, units: int, k: int) -> None:
        self.levels: list[list[int]] = [list(range(units)), *([] for _ in range(k))]
        self.level = [0] * units
        self.index = list(range(units))
        self.free = units * k

    def take(self, avoid: set[int], uniform: Iterator[float]) -> int | None:
        for units in self.levels[:-1]:
            unit = self._pick(units, avoid, uniform)
            if unit is not None:
                self._move(unit, 1)
                return unit
        return None

    def give_back(self, unit: int) -> None:
        self._move(unit, -1)

    @staticmethod
    def _pick(units: list[int], avoid: set[int], uniform: Iterator[float]) -> int | None:
        for _ in range(8 if units else 0):
            unit = units[int(next(uniform) * len(units))]
            if unit not in avoid:
                return unit
        left = [unit for unit in units if unit not in avoid]
        return left[int(next(uniform) * len(left))] if left else None

    def _move(self, unit: int, by: int) -> None:
        units = self.levels[self.level[unit]]
        last = units.pop()
        if last != unit:
            units[self.index[unit]] = last
            self.index[last] = self.index[unit]
        self.level[unit] += by
        self.free -= by
        self.index[unit] = len(self.levels[self.level[unit]])
        self.levels[self.level[unit]].append(unit)


class _Run:
    """A simulated campaign, from opening to the last answer; times in seconds."""

    def __init__(
        self,
        workload: Workload,
        raters: Sequence[SimulatedRater],
        qualifies: Sequence[bool],
        per_hour: float,
        rng: np.random.Generator,
    ) -> None:
        self.workload, self.raters, self.qualifies = workload, raters, qualifies
        self.gap = 3600.0 / per_hour
        self.uniform, self.normal = _uniforms(rng), _normals(rng)
        self.slots = _Slots(workload.units, workload.ratings_per_unit)
        self.queue: list[tuple[float, int, str, _Worker | None, int]] = []
        self.events = self.screens = 0
        self.filled = self.worked = self.lost = 0
        self.seconds = 0.0

    def play(self) -> tuple[float, int, float, int] | None:
        """Return hours, raters who took a unit, hours on screens, screens answered; None if all raters leave."""
        most = 1000 + RATERS_PER_SLOT * self.workload.slots
        self._schedule(self._next_arrival(0.0), "arrive")
        while True:
            now, _, event, worker, unit = heapq.heappop(self.queue)
            if event == "arrive":
                if self.worked + self.lost > most:
                    return None
                if not self.slots.free:  # a rater who comes before anything changes leaves again
                    self._schedule(self._next_arrival(self.queue[0][0]), "arrive")
                    continue
                self._schedule(self._next_arrival(now), "arrive")
                index = int(next(self.uniform) * len(self.raters))
                worker = _Worker(self.raters[index], self.qualifies[index])
                self._get_ready(now, worker, self._whole(self.workload.screens_before_work))
            elif worker is None:
                self.slots.give_back(unit)
            elif event == "take":
                self._take(now, worker)
            else:
                self.filled += 1
                if self.filled == self.workload.slots:
                    return now / 3600, self.worked, self.seconds / 3600, self.screens
                if worker.answered != self.workload.max_units_per_rater:
                    self._get_ready(now, worker, self._whole(self.workload.checks_per_unit))

    def _take(self, now: float, worker: _Worker) -> None:
        unit = self.slots.take(worker.done, self.uniform)
        if unit is None:
            return
        self.worked += not worker.done
        worker.done.add(unit)
        if next(self.uniform) < worker.traits.dropout:
            self._schedule(now + self.workload.lease_seconds, "lapse", None, unit)
            return
        worker.answered += 1
        self._schedule(now + self._screen(worker), "done", worker, unit)

    def _get_ready(self, now: float, worker: _Worker, screens: int) -> None:
        """Send the rater through screens that fill no slot, and then to the next unit."""
        start = now
        for _ in range(screens):
            if next(self.uniform) < worker.traits.dropout:
                self.lost += 1
                return
            now += self._screen(worker)
        if not worker.qualifies:
            self.lost += 1
            return
        if worker.done:
            now = max(now, start + self.workload.seconds_between_units)
        self._schedule(now, "take", worker)

    def _screen(self, worker: _Worker) -> float:
        seconds = worker.traits.median_seconds * math.exp(worker.traits.screen_sd * next(self.normal))
        self.seconds += seconds
        self.screens += 1
        return seconds

    def _whole(self, screens: float) -> int:
        """Draw a whole number with this mean."""
        least = math.floor(screens)
        return least + (next(self.uniform) < screens - least)

    def _next_arrival(self, now: float) -> float:
        return now - self.gap * math.log1p(-next(self.uniform))

    def _schedule(self, when: float, event: str, worker: _Worker | None = None, unit: int = -1) -> None:
        self.events += 1  # equal times keep their order
        heapq.heappush(self.queue, (when, self.events, event, worker, unit))


def _uniforms(rng: np.random.Generator) -> Iterator[float]:
    while True:
        yield from rng.random(4096).tolist()


def _normals(rng: np.random.Generator) -> Iterator[float]:
    while True:
        yield from rng.standard_normal(4096).tolist()
