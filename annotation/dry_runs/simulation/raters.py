"""Who the simulated raters are."""

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from annotation.allocation.seeds import derive_seed, permutation

Spam = Literal["random", "constant"]
SPAM_KINDS: tuple[Spam, ...] = ("random", "constant")

SPAMMER_SPEED = 0.4  # of an honest rater's time per screen: who does not read is quick


@dataclass(frozen=True, eq=False)
class SimulatedRater:
    """One rater's traits, and the random numbers of everything they do.

    Two raters with the same traits and seed who are asked the same questions in the same order say the same.

    Attributes
    ----------
    seed : int
        0 or more.
    bias : float
        Added to the quality of whatever they rate, as a share of the scale's length: +0.1 is 10 points of 100.
    noise : float
        Standard deviation of a normal error added each time, as a share of the scale's length; 0 or more.
    spam : "random", "constant" or None
        ``random`` gives any value, ``constant`` always the same; None is an honest rater.
    dropout : float
        Probability of leaving for good at a screen instead of answering it; 0 to 1.
    median_seconds : float
        Median time per screen, above 0.
    screen_sd : float
        Standard deviation of the logarithm of the time from one screen to another; 0 or more.
    lapse : float
        Probability that an honest rater answers without looking; 0 to 1.

    Raises
    ------
    ValueError
        A trait outside its range, named.

    Examples
    --------
    >>> SimulatedRater(seed=3, screen_sd=0.0, median_seconds=12.0).seconds()
    12.0
    """

    seed: int
    bias: float = 0.0
    noise: float = 0.15
    spam: Spam | None = None
    dropout: float = 0.0
    median_seconds: float = 20.0
    screen_sd: float = 0.4
    lapse: float = 0.02
    rng: np.random.Generator = field(init=False, repr=False)
    habit: float = field(init=False, repr=False)  # where on any scale a constant spammer clicks, 0 to 1

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise ValueError(f"seed is {self.seed}; accepted: 0 or more")
        if not math.isfinite(self.bias):
            raise ValueError(f"bias is {self.bias}; accepted: a finite number")
        _check_not_negative("noise", self.noise)
        _check_not_negative("screen_sd", self.screen_sd)
        if self.spam not in (None, *SPAM_KINDS):
            raise ValueError(f"spam is {self.spam!r}; accepted: None, {', '.join(SPAM_KINDS)}")
        check_share("dropout", self.dropout)
        check_share("lapse", self.lapse)
        if not 0 < self.median_seconds < math.inf:
            raise ValueError(f"median_seconds is {self.median_seconds}; accepted: a number above 0")
        object.__setattr__(self, "rng", np.random.default_rng(self.seed))
        object.__setattr__(self, "habit", float(self.rng.random()))

    @property
    def is_spammer(self) -> bool:
        return self.spam is not None

    def seconds(self) -> float:
        """Time for the next screen, log-normal."""
        return self.median_seconds * math.exp(self.screen_sd * float(self.rng.standard_normal()))

    def leaves(self) -> bool:
        """Whether the rater leaves for good at the next screen."""
        return float(self.rng.random()) < self.dropout

    def looks(self) -> bool:
        """Whether the rater looks at what the next question is about."""
        return not self.is_spammer and float(self.rng.random()) >= self.lapse


def population(
    n: int,
    *,
    seed: int,
    bias_sd: float = 0.1,
    noise: float = 0.15,
    spam_share: float = 0.1,
    dropout: float = 0.01,
    median_seconds: float = 20.0,
    speed_sd: float = 0.4,
    screen_sd: float = 0.4,
    lapse: float = 0.02,
) -> list[SimulatedRater]:
    """Raters to send through a campaign.

    Biases are normal around 0, median times log-normal around ``median_seconds``. Exactly ``spam_share`` of the raters,
    rounded, are spammers, in turn random and constant ones; they take 0.4 of an honest rater's time. A rater's traits
    depend on the seed and the rater's place alone, and a larger share adds spammers to those there were: two dry runs
    that differ in one number differ in nothing else.

    Parameters
    ----------
    n : int
        1 or more.
    seed : int
    bias_sd, noise : float
        Standard deviations, as shares of the scale's length.
    spam_share, dropout, lapse : float
        0 to 1; see :class:`SimulatedRater`.
    median_seconds : float
        Of an honest rater in the middle.
    speed_sd, screen_sd : float
        Standard deviations of the logarithm of time: between raters, and of one rater from screen to screen.

    Returns
    -------
    list of SimulatedRater, length n

    Raises
    ------
    ValueError
        A number outside its range, named.

    Examples
    --------
    >>> raters = population(20, seed=1, spam_share=0.15)
    >>> [rater.spam for rater in raters if rater.is_spammer]
    ['constant', 'random', 'random']
    """
    if n < 1:
        raise ValueError(f"n is {n}; accepted: 1 or more")
    _check_not_negative("bias_sd", bias_sd)
    _check_not_negative("speed_sd", speed_sd)
    check_share("spam_share", spam_share)
    n_spammers = math.floor(n * spam_share + 0.5)
    spam: dict[int, Spam] = {
        place: SPAM_KINDS[number % len(SPAM_KINDS)]
        for number, place in enumerate(permutation(derive_seed(seed, "spam"), n)[:n_spammers])
    }
    raters = []
    for place in range(n):
        bias, speed = np.random.default_rng(derive_seed(seed, "traits", place)).standard_normal(2)
        pace = SPAMMER_SPEED if place in spam else 1.0
        rater = SimulatedRater(
            seed=derive_seed(seed, "rater", place),
            bias=bias_sd * float(bias),
            noise=noise,
            spam=spam.get(place),
            dropout=dropout,
            median_seconds=pace * median_seconds * math.exp(speed_sd * float(speed)),
            screen_sd=screen_sd,
            lapse=lapse,
        )
        raters.append(rater)
    return raters


def check_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"{name} is {value}; accepted: 0 to 1")


def _check_not_negative(name: str, value: float) -> None:
    if not 0 <= value < math.inf:
        raise ValueError(f"{name} is {value}; accepted: 0 or more")
