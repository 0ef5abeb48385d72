"""What a simulation of an interval or a test needs to say and to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Hits = npt.NDArray[np.float64]  # 1 the truth was held (or the null rejected), 0 it was not, NaN undefined
Trial = Callable[[np.random.Generator], npt.ArrayLike]

INTERVAL = "95% interval"
WIDER = "interval of at least 95%"
P_VALUE = "p-value"
CAUTIOUS = "cautious p-value"
# What a row that is called so must hold, in percent; rows called otherwise promise nothing.
PROMISED = {INTERVAL: (93, 97), WIDER: (95, 100), P_VALUE: (4, 6), CAUTIOUS: (0, 5)}


@dataclass(frozen=True)
class Setting:
    """Simulated data in words, what one trial gives, how many trials there are, and what is promised of these data.

    ``claims`` is empty where that is what is promised of the whole case.
    """

    label: str
    trial: Trial
    trials: int
    claims: str = ""


@dataclass(frozen=True)
class Case:
    """One interval or p-value that pages, downloads, API or commands show.

    Attributes
    ----------
    shown : what it is called there.
    function : the public function behind it, with its module.
    fields : the fields of results that hold it: ``Class.field`` of its lower end, or of its p-value.
    claims : what is promised of it: one of `PROMISED`, or else the words that the page has for it.
    settings : one row of the table each.
    """

    shown: str
    function: str
    fields: tuple[str, ...]
    settings: tuple[Setting, ...]
    claims: str = INTERVAL


def held(low: npt.ArrayLike, truth: npt.ArrayLike, high: npt.ArrayLike) -> Hits:
    """Return whether each interval holds its truth; NaN where there is none."""
    lows, truths, highs = (np.asarray(values, np.float64) for values in (low, truth, high))
    inside = ((lows <= truths) & (truths <= highs)).astype(np.float64)
    return np.where(np.isnan(lows), np.nan, inside)


def rejected(pvalue: npt.ArrayLike, level: float = 0.05) -> Hits:
    """Return whether each test rejects its null; NaN where it is undefined."""
    values = np.asarray(pvalue, np.float64)
    return np.where(np.isnan(values), np.nan, (values <= level).astype(np.float64))
