"""The entry of a weighting scheme. Each scheme's file makes its entry; ``schemes`` lists them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from annotation.weighting.aggregation import Centre, Contributions, Spread, centres, pooled_spread
from annotation.weighting.result import WeightResult
from annotation.weighting.table import FloatArray, Ratings, as_table, scale_is_open

MAX_PARAMETER = 1e9


class WeightScheme(Protocol):
    """The arguments of every scheme; each may have further parameters with defaults."""

    def __call__(self, ratings: Ratings, low: float, high: float) -> WeightResult: ...


@dataclass(frozen=True)
class SchemeParameter:
    """A number above 0 that a scheme takes by this name."""

    name: str
    default: float
    label: str

    @property
    def words(self) -> str:
        return self.name.replace("_", " ")

    def check(self, value: object) -> None:
        """Raise a ValueError that names the parameter, unless the value is a number above 0.

        >>> SchemeParameter("clip", 2.0, "Largest z-score").check(0)
        Traceback (most recent call last):
        ValueError: 'clip' is 0; accepted: a number above 0, up to 1e+09
        """
        is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
        if not is_number or not 0 < value <= MAX_PARAMETER:  # type: ignore[operator]
            raise ValueError(f"{self.name!r} is {str(value)[:40]}; accepted: a number above 0, up to {MAX_PARAMETER:g}")


@dataclass(frozen=True, eq=False)
class WeighedResponse:
    """A response's judgements and the weight that a scheme made of them."""

    values: FloatArray
    low: float
    high: float
    mean: float
    n: int
    weight: float
    parameters: Mapping[str, float]

    @property
    def scale(self) -> str:
        """Return the scale for the end of a sentence; empty if it has no ends."""
        return "" if scale_is_open(self.low, self.high) else f" on {self.low:g}–{self.high:g}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Scheme:
    """A weighting scheme, for computing and for people.

    Attributes
    ----------
    key : its name in releases, signatures, requests and commands.
    label, about : its name for people, and what it does in a few words.
    method, formula : a sentence for documents, and what it computes.
    weights : ratings in, weights with intervals out.
    contributions : what each rating says; takes the table, both ends of the scale and the parameters.
    centre : mean or median of a response's contributions.
    explain : the steps from a response's judgements to its weight, a line each.
    influence : how exact the weights without a rater are.
    spread : of the ratings about their response's weight, from their contributions and the parameters.
    histograms : what histograms hold beyond the judgements that weigh; empty if nothing.
    parameters : what may be chosen, in the order of the form.
    needs_ends : whether the scale must have two ends.
    raters_apart : whether what a rating says depends on the ratings of its own rater alone.
    """

    key: str
    label: str
    about: str
    method: str
    formula: str
    weights: WeightScheme
    contributions: Callable[..., Contributions]
    centre: Centre
    explain: Callable[[WeighedResponse], list[str]]
    influence: str
    spread: Callable[..., Spread] = pooled_spread
    histograms: str = ""
    parameters: tuple[SchemeParameter, ...] = ()
    needs_ends: bool = True
    raters_apart: bool = True

    @property
    def defaults(self) -> dict[str, float]:
        return {parameter.name: parameter.default for parameter in self.parameters}

    def centres(self, ratings: Ratings, low: float, high: float) -> FloatArray:
        """Return the weights alone, with default parameters, shape (R,)."""
        return centres(self.contributions(as_table(ratings), low, high), self.centre)

    def chosen(self, stored: Mapping[str, float]) -> dict[str, float]:
        """Return this scheme's parameters out of all those of a release."""
        return {parameter.name: stored[parameter.name] for parameter in self.parameters}


def two_decimals(value: float, *, plus: bool = False) -> str:
    """Write a number with a real minus sign, and with a plus sign on request; 0 has no sign.

    >>> two_decimals(-0.5), two_decimals(0.5, plus=True), two_decimals(-0.001)
    ('−0.50', '+0.50', '0.00')
    """
    text = f"{abs(value):.2f}"
    if float(text) == 0:
        return text
    return f"−{text}" if value < 0 else f"+{text}" if plus else text
