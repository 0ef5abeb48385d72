"""Simulated raters and their traits."""

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from annotation.allocation.seeds import derive_seed, permutation

Spam = Literal["random", "constant"]
SPAM_KINDS: tuple[Spam, ...] = ("random", "constant")

SPAMMER_SPEED = 0.4  # share of an honest rater's time per screen: spammers do not read


@dataclass(frozen=True, eq=False)
class SimulatedRater:
    """One rater's traits and random numbers.

    Two raters with the same traits and seed who get the same questions in the same order give the same answers.

    Attributes
    ----------
    seed : int
        0 or more.
    bias : float
        Added to the quality of every text, as a share of the scale's length: +0.1 is 10 points of 100.
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
        check_not_negative("noise", self.noise)
        check_not_negative("screen_sd", self.screen_sd)
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
        """Draw the time for the next screen, log-normal."""
        return self.median_seconds * math.exp(self.screen_sd * float(self.rng.standard_normal()))

    def leaves(self) -> bool:
        """Draw whether the rater leaves for good at the next screen."""
        return float(self.rng.random()) < self.dropout

    def looks(self) -> bool:
        """Draw whether the rater looks at the text of the next question."""
        return not self.is_spammer and float(self.rng.random()) >= self.lapse


@dataclass(frozen=True)
class PopulationTraits:
    """How the raters of a population are, and how they differ.

    Attributes
    ----------
    bias_sd, noise : float
        Standard deviations, as shares of the scale's length.
    spam_share, dropout, lapse : float
        0 to 1; see :class:`SimulatedRater`.
    median_seconds : float
        Of an honest rater in the middle.
    speed_sd : float
        Standard deviation of the logarithm of time between raters.

    Raises
    ------
    ValueError
        A number outside its range, named.
    """

    bias_sd: float = 0.1
    noise: float = 0.15
    spam_share: float = 0.1
    dropout: float = 0.01
    median_seconds: float = 20.0
    speed_sd: float = 0.4
    lapse: float = 0.02

    def __post_init__(self) -> None:
        check_not_negative("bias_sd", self.bias_sd)
        check_not_negative("speed_sd", self.speed_sd)
        check_share("spam_share", self.spam_share)


def population(n: int, traits: PopulationTraits, *, seed: int) -> list[SimulatedRater]:
    """Draw raters to send through a campaign.

    Biases are normal around 0, median times log-normal around ``median_seconds``. Exactly ``spam_share`` of the raters,
    rounded, are spammers, in turn random and constant ones; they take 0.4 of an honest rater's time. A rater's traits
    depend only on the seed and the rater's index, and a larger share adds spammers to those of a smaller one: two dry
    runs that differ in one number differ in nothing else.

    Parameters
    ----------
    n : int
        1 or more.
    traits : PopulationTraits
    seed : int

    Returns
    -------
    list of SimulatedRater, length n

    Raises
    ------
    ValueError
        A number outside its range, named.

    Examples
    --------
    >>> raters = population(20, PopulationTraits(spam_share=0.15), seed=1)
    >>> [rater.spam for rater in raters if rater.is_spammer]
    ['constant', 'random', 'random']
    """
    if n < 1:
        raise ValueError(f"n is {n}; accepted: 1 or more")
    n_spammers = math.floor(n * traits.spam_share + 0.5)
    spam: dict[int, Spam] = {
        index: SPAM_KINDS[number % len(SPAM_KINDS)]
        for number, index in enumerate(permutation(derive_seed(seed, "spam"), n)[:n_spammers])
    }
    raters = []
    for index in range(n):
        bias, speed = np.random.default_rng(derive_seed(seed, "traits", index)).standard_normal(2)
        pace = SPAMMER_SPEED if index in spam else 1.0
        rater = SimulatedRater(
            seed=derive_seed(seed, "rater", index),
            bias=traits.bias_sd * float(bias),
            noise=traits.noise,
            spam=spam.get(index),
            dropout=traits.dropout,
            median_seconds=pace * traits.median_seconds * math.exp(traits.speed_sd * float(speed)),
            lapse=traits.lapse,
        )
        raters.append(rater)
    return raters


def check_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"{name} is {value}; accepted: 0 to 1")


def check_not_negative(name: str, value: float) -> None:
    if not 0 <= value < math.inf:
        raise ValueError(f"{name} is {value}; accepted: 0 or more")
