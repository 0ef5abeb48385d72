"""On which scale imported scores may lie: what was found, the raters' scales beside it, and what is proposed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from django.db.models import Exists, OuterRef

from annotation.core.judges import looks_like_judge, looks_like_metric
from annotation.models import Criterion, Dataset, Rating
from metrics.models import ScoreRun
from metrics.selectors.ranges import range_words

Floats = npt.NDArray[np.float64]

RATERS, RANGE, NONE = "raters", "range", "none"  # kinds of scales
JUDGE, UNNAMED = "judge", "unnamed"  # whose points a column seems to hold
STATED, PROPOSED, IN_FILE = "stated", "proposed", "file"  # where a scale comes from
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
BOUNDS = re.compile(rf"({NUMBER})?\.\.({NUMBER})?")
ACCEPTED = "raters, none or LOW..HIGH, such as 1..5"
MOST_POINTS = 21  # different values, for whole or half numbers to look like a judge's points


@dataclass(frozen=True)
class RatersScale:
    """A scale on which texts of the data set are rated, with the criteria that have it."""

    low: float
    high: float
    criteria: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        return range_words(self.low, self.high)

    @property
    def text(self) -> str:
        """Return it as an import takes it."""
        return bounds_text(self.low, self.high)

    @property
    def between(self) -> str:
        """Return its ends as the end of a sentence: ``1 and 5``."""
        return self.text.replace("..", " and ").replace("-", "−")


@dataclass(frozen=True, eq=False)
class ScoresSummary:
    """The scores of a column, their extremes and steps."""

    scores: Floats  # of any shape; NaN for a missing score

    @cached_property
    def values(self) -> Floats:
        return np.unique(self.scores[np.isfinite(self.scores)])

    @property
    def low(self) -> float:
        return float(self.values[0])

    @property
    def high(self) -> float:
        return float(self.values[-1])

    @property
    def steps(self) -> str:
        """Return of what the values are multiples: ``whole numbers``, ``halves``; else empty."""
        for unit, words in ((1, "whole numbers"), (2, "halves")):
            if self.values.size and np.array_equal(self.values * unit, np.rint(self.values * unit)):
                return words
        return ""

    @property
    def are_points(self) -> bool:
        """Return whether they look like points: a few whole or half numbers."""
        return bool(self.steps) and 2 <= self.values.size <= MOST_POINTS

    @property
    def words(self) -> str:
        """Return ``1 to 5, whole numbers``."""
        if not self.values.size:
            return "no score"
        low, high = (f"{end:.4g}".replace("-", "−") for end in (self.low, self.high))
        extent = low if low == high else f"{low} to {high}"
        return f"{extent}, {self.steps}" if self.steps else extent


@dataclass(frozen=True)
class RunScale:
    """The scale that the scores of an imported run are taken to have.

    ``source`` is empty if the import did not ask, ``scores`` if it did not note their extremes.
    """

    lowest: float | None
    highest: float | None
    source: str
    scores: str
    run: ScoreRun

    @classmethod
    def of(cls, run: ScoreRun) -> "RunScale":
        lowest, highest = run.parameters["lowest"], run.parameters["highest"]
        of_import = run.report.get("imported", {})
        source = of_import.get("range_from", "" if lowest is None and highest is None else STATED)
        return cls(lowest, highest, source, of_import.get("scores", ""), run)

    @cached_property
    def raters(self) -> Sequence[RatersScale]:
        return raters_scales(self.run.dataset)

    @property
    def kind(self) -> str:
        return scale_kind(self.lowest, self.highest, self.raters)

    @property
    def words(self) -> str:
        """Return ``1 to 5, the raters’ scale``, ``0 to 1`` or ``not known``."""
        if self.kind == NONE:
            return "no fixed range" if self.source == STATED else "not known"
        low = -np.inf if self.lowest is None else self.lowest
        high = np.inf if self.highest is None else self.highest
        return range_words(low, high) + (", the raters’ scale" if self.kind == RATERS else "")

    @property
    def origin(self) -> str:
        """Return where the scale comes from, as the end of a sentence."""
        if self.kind == NONE:
            return "stated at the import" if self.source == STATED else "none was stated at the import"
        if self.source == PROPOSED:
            return "assumed from its values, as the import proposed"
        return "as the imported archive says" if self.source == IN_FILE else "stated at the import"


def bounds_text(low: float | None, high: float | None) -> str:
    """Return both ends as an import takes them, with all their digits."""
    return "..".join("" if end is None else repr(float(end)).removesuffix(".0") for end in (low, high))


def scale_kind(lowest: float | None, highest: float | None, raters: Sequence[RatersScale]) -> str:
    """Return whether these are the ends of a scale of the raters, another range, or none."""
    if lowest is None and highest is None:
        return NONE
    return RATERS if any((lowest, highest) == (scale.low, scale.high) for scale in raters) else RANGE


def raters_scales(dataset: Dataset) -> list[RatersScale]:
    """Return the scales with two ends on which texts of the data set are rated, those with ratings first."""
    has_ratings = Exists(Rating.objects.filter(campaign=OuterRef("campaign"), value__isnull=False))
    criteria = Criterion.objects.filter(campaign__dataset=dataset).annotate(has_ratings=has_ratings)
    found: dict[tuple[float, float], list[str]] = {}
    for criterion in criteria.order_by("-has_ratings", "-campaign", "position"):
        scale = criterion.scale
        if not scale.is_relative and np.isfinite(scale.ends).all():
            low, high = map(float, scale.ends)
            found.setdefault((low, high), []).append(criterion.name)
    return [RatersScale(low, high, tuple(dict.fromkeys(names))) for (low, high), names in found.items()]


def points_of(name: str, scores: ScoresSummary, *, lower_is_better: bool = False) -> str:
    """Return whose points a column seems to hold: a judge's, ``unnamed`` if its name does not say, or empty for none.

    A column with a metric's name, or of which lower is better, holds no points.
    """
    if not scores.are_points or lower_is_better or looks_like_metric(name):
        return ""
    return JUDGE if looks_like_judge(name) else UNNAMED


def proposed_scale(
    name: str, scores: ScoresSummary, raters: Sequence[RatersScale], *, lower_is_better: bool = False
) -> RatersScale | None:
    """Return the scale of the raters that a column seems to lie on; None if it seems to lie on none.

    It consists of whole or half points of the scale and spreads over half of it; a quarter is enough if the name is
    like a judge's and the points reach the upper half.
    """
    points = points_of(name, scores, lower_is_better=lower_is_better)
    if not points:
        return None
    for scale in raters:
        if scores.low < scale.low or scores.high > scale.high:
            continue
        spread = (scores.high - scores.low) / (scale.high - scale.low)
        generous = points == JUDGE and spread >= 0.25 and scores.high > (scale.low + scale.high) / 2
        if spread >= 0.5 or generous:
            return scale
    return None


def stated_scale(text: str, scores: ScoresSummary, raters: Sequence[RatersScale]) -> tuple[float | None, float | None]:
    """Return the ends that a text states: ``raters``, ``none``, ``1..5``, ``0..``.

    Raises
    ------
    ValueError
        With what was found and what is accepted.
    """
    if text == NONE:
        return None, None
    if text == RATERS:
        fitting = [
            scale for scale in raters if scores.values.size and scale.low <= scores.low <= scores.high <= scale.high
        ]
        if not raters:
            unrated = "found raters, and nothing in this data set is rated on a scale with ends"
            raise ValueError(f"{unrated}; accepted: none or LOW..HIGH")
        scale = (fitting or raters)[0]
        return scale.low, scale.high
    if text == bounds_text(None, None):
        raise ValueError("found neither end; accepted: a lowest or a highest possible score, or no fixed range")
    match = BOUNDS.fullmatch(text)
    if match is None:
        raise ValueError(f"found {text[:80]!r}; accepted: {ACCEPTED}")
    low, high = (None if end is None else float(end) for end in match.groups())
    return low, high
