"""What a simulated rater says about a response whose quality only the simulation knows."""

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy import special

from annotation.allocation import derive_seed, order_keys
from annotation.simulation.raters import SimulatedRater

FloatArray = npt.NDArray[np.float64]

ANSWER_KINDS = ("likert", "slider", "magnitude", "preference")
QUALITY_KINDS = ("work", "degraded", "anchor")

DEGRADED_KEEPS = 0.4  # of a text's quality, when it has been made worse
ANCHOR_LEAST = 0.8  # quality of the worst human reference
MAGNITUDE_SPAN = 10.0  # the best text is worth so many times the standard, the worst so many times less
EPSILON = 1e-9


def latent_quality(responses: npt.ArrayLike, seed: int, *, kind: str = "work") -> FloatArray:
    """Quality of responses, in [0, 1], as the simulation knows it and no rater does.

    That of an ordinary response is drawn from a Beta(2, 2) distribution (mean 0.5, standard deviation 0.22), by its id
    and the seed alone: asking for one response or for many gives it the same quality. Made worse, a response keeps 0.4
    of its own; human anchors stand between 0.8 and 1.

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
    """``low`` and ``high`` of a magnitude scale: a tenth and ten times what the standard text counts as.

    >>> magnitude_ends(100)
    (10.0, 1000.0)
    """
    if not 0 < standard_value < math.inf:
        raise ValueError(f"standard_value is {standard_value}; accepted: a number above 0")
    return standard_value / MAGNITUDE_SPAN, standard_value * MAGNITUDE_SPAN


def answer(
    rater: SimulatedRater,
    quality: float,
    low: float,
    high: float,
    step: float,
    *,
    kind: str = "likert",
    against: float | None = None,
    ties: bool = False,
) -> float:
    """The value the rater gives, drawn from the rater's own random numbers.

    An honest rater who looks perceives ``quality + bias + error``, held to [0, 1]: 0 is the low end of the scale, 1 the
    high end, and what lies between is linear, of a magnitude in its logarithm. Of two responses they perceive the
    difference, each with an error of its own: 0 is the second by far, 0.5 neither, 1 the first by far, and the bias
    falls out. A rater who does not look gives any point with equal chance, a constant spammer always the same.

    Parameters
    ----------
    rater : SimulatedRater
    quality : float
        Of the response, or of the first of two; in [0, 1].
    low, high : float
        Ends of the scale; of a magnitude above 0, see :func:`magnitude_ends`; of a preference -s and +s.
    step : float
        Distance of the points of the scale; 0 where any number between the ends is taken.
    kind : str
        One of ``ANSWER_KINDS``.
    against : float, optional
        Of a preference: quality of the second response.
    ties : bool
        Of a preference: may the two be called equal?

    Returns
    -------
    float
        A point of the scale; of a preference positive where the first is preferred.

    Raises
    ------
    ValueError
        A number or kind outside what is accepted, named.

    Examples
    --------
    >>> exact = SimulatedRater(seed=1, noise=0.0, lapse=0.0)
    >>> [answer(exact, quality, 1, 5, 1) for quality in (0.0, 0.4, 1.0)]
    [1.0, 3.0, 5.0]
    >>> answer(exact, 0.75, 10, 1000, 0, kind="magnitude")
    316.2277660168379
    >>> answer(exact, 0.9, -3, 3, 1, kind="preference", against=0.3)
    2.0
    """
    _check_scale(low, high, step, kind)
    if not 0 <= quality <= 1:
        raise ValueError(f"quality is {quality}; accepted: 0 to 1")
    if (against is not None) != (kind == "preference") or not 0 <= (against or 0) <= 1:
        raise ValueError(f"against is {against}; accepted: 0 to 1 where kind is 'preference', else None")
    if not rater.looks():
        return _without_looking(rater, low, high, step, kind, ties)
    error = rater.noise * float(rater.rng.standard_normal())
    if against is None:
        place = quality + rater.bias + error
    else:
        place = 0.5 + (quality + error - against - rater.noise * float(rater.rng.standard_normal())) / 2
    return _value_at(min(max(place, 0.0), 1.0), low, high, step, kind, ties)


def obey(
    rater: SimulatedRater,
    expected: float,
    low: float,
    high: float,
    step: float,
    *,
    kind: str = "likert",
    ties: bool = False,
) -> float:
    """The answer to an attention check: what it asks for, from a rater who looks; else as in :func:`answer`.

    >>> obey(SimulatedRater(seed=1, lapse=0.0), 4, 1, 5, 1)
    4.0
    """
    _check_scale(low, high, step, kind)
    return float(expected) if rater.looks() else _without_looking(rater, low, high, step, kind, ties)


def nearest_value(place: float, low: float, high: float, step: float, *, kind: str, ties: bool = False) -> float:
    """The value of the scale nearest to a place on it, 0 to 1.

    >>> nearest_value(0.7, 1, 5, 1, kind="likert")
    4.0
    """
    _check_scale(low, high, step, kind)
    return _value_at(min(max(place, 0.0), 1.0), low, high, step, kind, ties)


def _without_looking(rater: SimulatedRater, low: float, high: float, step: float, kind: str, ties: bool) -> float:
    if rater.spam == "constant":
        return _value_at(rater.habit, low, high, step, kind, ties)
    points = _points(low, high, step, kind, ties)
    chance = float(rater.rng.random())
    if points is None:
        return _value_at(chance, low, high, step, kind, ties)
    return float(points[int(chance * len(points))])


def _value_at(place: float, low: float, high: float, step: float, kind: str, ties: bool) -> float:
    points = _points(low, high, step, kind, ties)
    if kind == "magnitude":
        value = low * math.pow(high / low, place)
        return max(round(value / step), 1) * step if step else value
    value = low + place * (high - low)
    return value if points is None else float(points[np.abs(points - value).argmin()])


@lru_cache(maxsize=256)
def _points(low: float, high: float, step: float, kind: str, ties: bool) -> FloatArray | None:
    """The values a scale takes; None where they lie dense."""
    if step == 0 or kind == "magnitude":
        return None
    points = low + step * np.arange(math.floor((high - low) / step + EPSILON) + 1, dtype=np.float64)
    return points if kind != "preference" or ties else points[np.abs(points) > EPSILON]


def _check_scale(low: float, high: float, step: float, kind: str) -> None:
    if kind not in ANSWER_KINDS:
        raise ValueError(f"kind is {kind!r}; accepted: {', '.join(ANSWER_KINDS)}")
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"scale is [{low}, {high}]; accepted: two finite numbers, low < high")
    if kind == "magnitude" and low <= 0:
        raise ValueError(f"low is {low}; accepted for a magnitude: a number above 0")
    if kind == "preference" and low != -high:
        raise ValueError(f"scale is [{low}, {high}]; accepted for a preference: [-s, +s]")
    if not 0 <= step <= high - low:
        raise ValueError(f"step is {step}; accepted: 0 to {high - low:g}")
    if kind in ("likert", "preference") and step == 0:
        raise ValueError(f"step is 0; accepted for {kind}: above 0")
