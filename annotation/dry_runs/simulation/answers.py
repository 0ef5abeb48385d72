"""The answers of simulated raters about responses whose quality only the simulation knows."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy import special

from annotation.allocation.handout import order_keys
from annotation.allocation.seeds import derive_seed
from annotation.dry_runs.simulation.raters import SimulatedRater

FloatArray = npt.NDArray[np.float64]

QUALITY_KINDS = ("work", "degraded", "anchor")

DEGRADED_KEEPS = 0.4  # of a text's quality, when it has been made worse
ANCHOR_LEAST = 0.8  # quality of the worst human reference
MAGNITUDE_SPAN = 10.0  # the best text is worth 10 times the standard, the worst a tenth
EPSILON = 1e-9


def latent_quality(responses: npt.ArrayLike, seed: int, *, kind: str = "work") -> FloatArray:
    """Return the true quality of responses, in [0, 1], which no rater knows.

    That of an ordinary response is drawn from a Beta(2, 2) distribution (mean 0.5, standard deviation 0.22), only
    by its id and the seed, not by the other responses. A degraded response keeps 0.4 of its quality;
    human anchors have 0.8 to 1.

    Parameters
    ----------
    responses : int array, shape (n,)
        Ids; of a degraded text, the id of the response it was made from.
    seed : int
    kind : str
        One of ``QUALITY_KINDS``.

    Returns
    -------
    float array, shape (n,)

    Raises
    ------
    ValueError
        An unknown kind, or ids that are no integers.

    Examples
    --------
    >>> latent_quality([4, 5], seed=1).round(3).tolist()
    [0.878, 0.167]
    >>> latent_quality([5], seed=1, kind="degraded").round(3).tolist()
    [0.067]
    """
    if kind not in QUALITY_KINDS:
        raise ValueError(f"kind is {kind!r}; accepted: {', '.join(QUALITY_KINDS)}")
    keys = order_keys(derive_seed(seed, "quality"), np.atleast_1d(np.asarray(responses)))
    uniform = (keys.view(np.uint64) >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 2.0**-54
    quality: FloatArray = special.betaincinv(2.0, 2.0, uniform)
    if kind == "degraded":
        return DEGRADED_KEEPS * quality
    return ANCHOR_LEAST + (1 - ANCHOR_LEAST) * quality if kind == "anchor" else quality


def magnitude_ends(standard_value: float) -> tuple[float, float]:
    """Return ``low`` and ``high`` of a magnitude scale: a tenth and ten times what the standard text counts as.

    >>> magnitude_ends(100)
    (10.0, 1000.0)
    """
    if not 0 < standard_value < math.inf:
        raise ValueError(f"standard_value is {standard_value}; accepted: a number above 0")
    return standard_value / MAGNITUDE_SPAN, standard_value * MAGNITUDE_SPAN


@dataclass(frozen=True)
class Ladder:
    """The values that a rater can choose from, from the lowest to the highest.

    Attributes
    ----------
    low, high : float
        Its ends; if it is logarithmic above 0, see :func:`magnitude_ends`.
    step : float
        Distance of its values; 0 if it takes any number between its ends.
    logarithmic : bool
        Whether raters go by the logarithm.
    zero : bool
        Whether 0 may be chosen.

    Raises
    ------
    ValueError
        A number outside what is accepted, named.
    """

    low: float
    high: float
    step: float = 1.0
    logarithmic: bool = False
    zero: bool = True

    def __post_init__(self) -> None:
        low, high = self.low, self.high
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ValueError(f"scale is [{low}, {high}]; accepted: two finite numbers, low < high")
        if self.logarithmic and low <= 0:
            raise ValueError(f"low is {low}; accepted for a logarithmic scale: a number above 0")
        if not 0 <= self.step <= high - low:
            raise ValueError(f"step is {self.step}; accepted: 0 to {high - low:g}")

    def position(self, value: float) -> float:
        """Return where a value lies between the ends, 0 to 1.

        >>> Ladder(1, 5).position(4)
        0.75
        """
        held = min(max(value, self.low), self.high)
        if self.logarithmic:
            return math.log(held / self.low) / math.log(self.high / self.low)
        return (held - self.low) / (self.high - self.low)

    def middle(self, ends: tuple[float, float]) -> float:
        """Return where the middle of a range of values lies."""
        return (self.position(ends[0]) + self.position(ends[1])) / 2

    def nearest(self, position: float) -> float:
        """Return the value nearest to a position on the ladder, 0 to 1.

        >>> Ladder(1, 5).nearest(0.7)
        4.0
        """
        position = min(max(position, 0.0), 1.0)
        if self.logarithmic:
            value = self.low * math.pow(self.high / self.low, position)
            return max(round(value / self.step), 1) * self.step if self.step else value
        value = self.low + position * (self.high - self.low)
        points = self.points()
        return value if points is None else float(points[np.abs(points - value).argmin()])

    def points(self) -> FloatArray | None:
        """Return its values; None if they lie dense."""
        return _points(self)


@lru_cache(maxsize=256)
def _points(ladder: Ladder) -> FloatArray | None:
    if ladder.step == 0 or ladder.logarithmic:
        return None
    n = math.floor((ladder.high - ladder.low) / ladder.step + EPSILON) + 1
    points = ladder.low + ladder.step * np.arange(n, dtype=np.float64)
    return points if ladder.zero else points[np.abs(points) > EPSILON]


def answer(rater: SimulatedRater, quality: float, ladder: Ladder, *, against: float | None = None) -> float:
    """Return the value the rater gives, drawn from the rater's own random numbers.

    An honest rater who looks perceives ``quality + bias + error``, held to [0, 1]: 0 is the low end of the scale, 1 the
    high end, and what lies between is linear, on a logarithmic scale in the logarithm. Of two responses they perceive
    the difference, each with an error of its own: 0 is the second by far, 0.5 neither, 1 the first by far, and the bias
    falls out. A rater who does not look gives any point with equal chance, a constant spammer always the same.

    Parameters
    ----------
    rater : SimulatedRater
    quality : float
        Of the response, or of the first of two; in [0, 1].
    ladder : Ladder
        Of two responses from -s to +s.
    against : float, optional
        Quality of the second of two responses.

    Returns
    -------
    float
        A value of the ladder; of two responses positive if the first is preferred.

    Raises
    ------
    ValueError
        A number outside what is accepted, named.

    Examples
    --------
    >>> exact = SimulatedRater(seed=1, noise=0.0, lapse=0.0)
    >>> [answer(exact, quality, Ladder(1, 5)) for quality in (0.0, 0.4, 1.0)]
    [1.0, 3.0, 5.0]
    >>> answer(exact, 0.75, Ladder(10, 1000, 0, logarithmic=True))
    316.2277660168379
    >>> answer(exact, 0.9, Ladder(-3, 3, zero=False), against=0.3)
    2.0
    """
    if not 0 <= quality <= 1:
        raise ValueError(f"quality is {quality}; accepted: 0 to 1")
    if against is not None and not 0 <= against <= 1:
        raise ValueError(f"against is {against}; accepted: 0 to 1")
    if against is not None and ladder.low != -ladder.high:
        raise ValueError(f"scale is [{ladder.low}, {ladder.high}]; accepted for two responses: [-s, +s]")
    if not rater.looks():
        return _without_looking(rater, ladder)
    error = rater.noise * float(rater.rng.standard_normal())
    if against is None:
        return ladder.nearest(quality + rater.bias + error)
    return ladder.nearest(0.5 + (quality + error - against - rater.noise * float(rater.rng.standard_normal())) / 2)


def obey(rater: SimulatedRater, expected: float, ladder: Ladder) -> float:
    """Return the answer to an attention check: the expected one from a rater who looks; else as in :func:`answer`.

    >>> obey(SimulatedRater(seed=1, lapse=0.0), 4, Ladder(1, 5))
    4.0
    """
    return float(expected) if rater.looks() else _without_looking(rater, ladder)


def _without_looking(rater: SimulatedRater, ladder: Ladder) -> float:
    if rater.spam == "constant":
        return ladder.nearest(rater.habit)
    points = ladder.points()
    chance = float(rater.rng.random())
    return ladder.nearest(chance) if points is None else float(points[int(chance * len(points))])
