"""Ratings and answers to checks, which exclusion rules read."""

from functools import cached_property

import numpy as np
import numpy.typing as npt

from annotation.weighting.checks import CheckLog
from annotation.weighting.groups import aligned
from annotation.weighting.table import IntArray

_COLUMNS = ("rating", "seconds", "extra", "response", "value", "criterion", "screen", "points")


class RatingLog:
    """The columns that rules may need, one entry per rating.

    Parameters
    ----------
    rater : array of str or int, shape (n,)
        Rater identifiers as rules name them.
    rating : array of str or int, shape (n,), optional
        Rating identifiers.
    seconds : float array, shape (n,), optional
        Time from shown to sent; NaN where unknown.
    extra : bool array, shape (n,), optional
        True for late ratings, whose slot had gone to another rater.
    response : array of str or int, shape (n,), optional
        What was rated.
    value : float array, shape (n,), optional
        The rating, in units of its scale; NaN for "cannot judge".
    criterion : array of str or int, shape (n,), optional
        What was rated; by default a single criterion.
    screen : array of str or int, shape (n,), optional
        What each rating was sent with; by default nothing else.
    points : float array, shape (n,), optional
        How many values the rating's scale has; NaN where any number is one.
    checks : CheckLog, optional
        Answers to checks, whose raters (and criteria) are named as here.
    """

    def __init__(
        self,
        rater: npt.ArrayLike,
        *,
        rating: npt.ArrayLike | None = None,
        seconds: npt.ArrayLike | None = None,
        extra: npt.ArrayLike | None = None,
        response: npt.ArrayLike | None = None,
        value: npt.ArrayLike | None = None,
        criterion: npt.ArrayLike | None = None,
        screen: npt.ArrayLike | None = None,
        points: npt.ArrayLike | None = None,
        checks: CheckLog | None = None,
    ) -> None:
        self.rater = np.asarray(rater)
        self.rating = None if rating is None else np.asarray(rating)
        self.seconds = None if seconds is None else np.asarray(seconds, dtype=np.float64)
        self.extra = None if extra is None else np.asarray(extra, dtype=np.bool_)
        self.response = None if response is None else np.asarray(response)
        self.value = None if value is None else np.asarray(value, dtype=np.float64)
        self.criterion = None if criterion is None else np.asarray(criterion)
        self.screen = None if screen is None else np.asarray(screen)
        self.points = None if points is None else np.asarray(points, dtype=np.float64)
        self.checks = checks
        for name in _COLUMNS:
            column = getattr(self, name)
            if column is not None:
                aligned(name, column, self.rater.shape, per="rating")
        if checks is not None and len(checks) and len(self) and _is_text(checks.rater) != _is_text(self.rater):
            raise ValueError(
                f"checks name raters by {checks.rater.dtype} values and ratings by {self.rater.dtype}; accepted: alike"
            )

    def __len__(self) -> int:
        return len(self.rater)

    def need(self, column: str, rule: str) -> np.ndarray:
        """Return a column; if it is missing, the error names the rule that needs it."""
        values: np.ndarray | None = getattr(self, column)
        if values is None:
            raise ValueError(f"exclusion rule {rule!r} needs the column {column!r}, and these ratings have none")
        return values

    def need_checks(self, rule: str) -> CheckLog:
        """Return the answers to checks, raters as codes of ``raters``; the error names the rule that needs them."""
        if self._coded_checks is None:
            raise ValueError(f"exclusion rule {rule!r} needs the answers to checks, and this log has none")
        return self._coded_checks

    @cached_property
    def raters(self) -> npt.NDArray[np.generic]:
        """Return all who rated or answered a check, in order."""
        if self.checks is None or len(self.checks) == 0:
            return np.unique(self.rater)
        if len(self) == 0:
            return np.unique(self.checks.rater)
        return np.unique(np.concatenate([self.rater, self.checks.rater]))

    @cached_property
    def code(self) -> IntArray:
        """Return each rating's rater as an index of ``raters``."""
        return np.searchsorted(self.raters, self.rater) if len(self) else np.zeros(0, dtype=np.int64)

    @cached_property
    def _coded_checks(self) -> CheckLog | None:
        if self.checks is None or len(self.checks) == 0:
            return self.checks
        return self.checks.recoded(np.searchsorted(self.raters, self.checks.rater))


def _is_text(column: npt.NDArray[np.generic]) -> bool:
    return column.dtype.kind in "USO"
