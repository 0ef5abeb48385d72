"""The scale of the ratings: predictions are rounded to their precision and clipped to their range."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.arrays import Floats

_SAME = 1e-6  # of the range: ratings that differ by less are equal
_MOST_STEPS = 1000


@dataclass(frozen=True)
class RatingScale:
    """Ratings from ``low`` to ``high`` in steps of ``step``; 0 if they have no common step."""

    low: float
    high: float
    step: float

    @classmethod
    def of(cls, ratings: ArrayLike, *, low: float | None = None, high: float | None = None) -> RatingScale:
        """Return the range of the ratings, unless given, and the largest step that all of them are whole steps apart.

        Raises
        ------
        ValueError
            A rating outside of the given range, or no range: all ratings are equal.

        Examples
        --------
        >>> RatingScale.of([1, 2.5, 6, 4])
        RatingScale(low=1.0, high=6.0, step=0.5)
        """
        values = np.unique(np.asarray(ratings, dtype=np.float64))
        lowest = float(values[0]) if low is None else float(low)
        highest = float(values[-1]) if high is None else float(high)
        if values[0] < lowest or values[-1] > highest:
            raise ValueError(f"ratings: found {values[0]:g} to {values[-1]:g}; accepted: {lowest:g} to {highest:g}")
        if not lowest < highest:
            raise ValueError(f"ratings: found {lowest:g} alone; accepted: ratings that differ")
        tolerance = _SAME * (highest - lowest)
        step = 0.0
        for value in [*values.tolist(), highest]:
            step = _common(step, value - lowest, tolerance)
        step = round(step, 9)
        return cls(lowest, highest, step if step * _MOST_STEPS >= highest - lowest else 0.0)

    def rounded(self, predictions: ArrayLike) -> Floats:
        """Return predictions rounded to whole steps from ``low``, halves up, and clipped to the range.

        Examples
        --------
        >>> RatingScale(1, 6, 0.5).rounded([0.2, 3.25, 3.24, 7]).tolist()
        [1.0, 3.5, 3.0, 6.0]
        """
        values = np.asarray(predictions, dtype=np.float64)
        if self.step:
            values = self.low + np.floor((values - self.low) / self.step + 0.5) * self.step
        return np.clip(values, self.low, self.high)

    def lowered(self, rating: float, errors: int, points: float = 1.0) -> float:
        """Return the rating of an output after errors were put into it.

        ``points`` less for each error; a rating near the highest falls to two points below that at the first. It stays
        on the scale.

        References
        ----------
        Dušek, Novikova and Rieser: Referenceless quality estimation for natural language generation. LGNL 2017,
        section 3.3: "by 1 for each generated error. If the original rating was 5.5 or 6, the rating is lowered to 4
        with the first introduced error and by 1 for each additional error."

        Examples
        --------
        >>> [RatingScale(1, 6, 0.5).lowered(rating, 1) for rating in (6, 5.5, 5, 4.5, 1)]
        [4.0, 4.0, 4.0, 3.5, 1]
        """
        if not errors:
            return rating
        first = self.high - 2 * points if rating > self.high - points else rating - points
        return max(self.low, first - points * (errors - 1))


def _common(first: float, second: float, tolerance: float) -> float:
    """Return the greatest common divisor of two non-negative numbers, by Euclid's algorithm."""
    while second > tolerance:
        remainder = first % second
        first, second = second, 0.0 if second - remainder < tolerance else remainder
    return first
