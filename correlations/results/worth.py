"""What each row of a study is worth: as a ranker, in place of a rater, and in ratings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt

from correlations.results.common import Ends

AnyScores = TypeVar("AnyScores", float, npt.NDArray[np.float64])
Scale = Literal["ratings", "bounds", "line"]  # how scores came onto the scale of the ratings


@dataclass(frozen=True)
class TestedRater:
    """A rater with enough outputs, named by the place among the project's raters.

    ``advantage`` is the share of outputs on which the metric lies at least as close to the others as the rater does;
    ``agreement`` is the rater's own Pearson's r with the others there, and ``agreement_p`` tests that it is above 0.
    """

    rater: int
    outputs: int
    advantage: float
    agreement: float | None = None
    agreement_p: float | None = None  # None in a result made before this version


@dataclass(frozen=True)
class LeftOutRater:
    """A rater with too few outputs to be tested."""

    rater: int
    outputs: int


@dataclass(frozen=True)
class MarginTest:
    """The test with one margin; p-values are in the order of the tested raters."""

    epsilon: float
    winning_rate: float
    passed: bool
    p: tuple[float, ...]
    p_corrected: tuple[float, ...]
    beaten: int


@dataclass(frozen=True)
class AssumedScale:
    """The ends of the scale that imported scores are taken to have, and those of the raters' scale beside them."""

    low: float
    high: float
    lower_is_better: bool
    rating_low: float
    rating_high: float

    def placed(self, score: AnyScores) -> AnyScores:
        """Return a score, or an array of scores, on the raters' scale."""
        share = (score - self.low) / (self.high - self.low)
        share = 1 - share if self.lower_is_better else share
        return self.rating_low + share * (self.rating_high - self.rating_low)


@dataclass(frozen=True)
class StandIn:
    """A row in place of a rater; ``reason`` says why there is no test, or is empty.

    ``assumed`` is None if the row has no scale with two ends. ``same_offset_p`` tests that the system whose scores, on
    the raters' scale and less the ratings, lie farthest from the others' do so by chance; None if the scores are fitted
    to the ratings, or of one system.
    """

    scale: str
    outputs: int
    advantage: float | None
    raters: tuple[TestedRater, ...]
    left_out: tuple[LeftOutRater, ...]
    margins: dict[str, MarginTest]  # by whom the row would replace
    reason: str
    assumed: AssumedScale | None = None
    same_offset_p: float | None = None


@dataclass(frozen=True)
class HelpedMean:
    """A system's mean rating from its rated outputs alone, and with the scores of all its outputs."""

    system: str
    rated: int
    scored: int
    mean: float | None
    mean_interval: Ends | None
    estimate: float | None
    interval: Ends | None
    saved: float | None
    reason: str


@dataclass(frozen=True)
class SameRating:
    """One and the same rating for every output of a row, in place of a rater: what telling nothing can reach.

    ``rating`` is the mean of all ratings. ``closer`` counts the outputs on which the row is closer to the raters than
    it, ``farther`` those on which it is farther. ``lead`` is their difference as a share of the outputs; ``lead_p``
    tests that it is more than the margin.
    """

    rating: float | None
    advantage: float | None
    winning_rates: dict[str, float]  # by whom it would replace
    closer: int
    farther: int
    lead: float | None
    lead_p: dict[str, float | None]


@dataclass(frozen=True)
class FittedScores:
    """A row's scores put on the raters' scale by straight lines, as scores of another unit are, in place of a rater.

    Its fields are as those of ``SameRating``: so a judge can be compared with metrics, whose scores are fitted.
    """

    advantage: float | None
    winning_rates: dict[str, float]
    lead: float | None
    lead_p: dict[str, float | None]


@dataclass(frozen=True)
class PairsRight:
    """How many pairs of outputs the row has right, and with ties calibrated on these very pairs; of how many outputs.

    ``held_out`` has epsilon chosen on other systems; None for pairs of any two outputs.
    """

    pairwise: float | None
    calibrated: float | None
    held_out: float | None
    epsilon: float | None
    outputs: int
    reason: str = ""


@dataclass(frozen=True)
class Ranking:
    """How well the row ranks systems: within items, with ties calibrated, and by its certainty of each pair.

    ``calibrated`` counts scores that differ by at most ``epsilon``, the best choice on these very pairs, as a tie;
    ``held_out`` does so with epsilon chosen on other items; ``chance`` is what a metric that tells nothing reaches.
    ``within_systems`` pairs outputs of one system, and ``over_all`` any two outputs.
    """

    pairwise: float | None
    calibrated: float | None
    held_out: float | None
    epsilon: float | None
    chance: float | None
    soft: float | None
    within_systems: PairsRight
    over_all: PairsRight


@dataclass(frozen=True)
class RowWorth:
    """``saved`` is the share of ratings that the row saves over all systems; of many more outputs, ``at_most``.

    ``fitted`` is None if the scores are put on the raters' scale by lines in any case, or if nothing is tested.
    """

    ranking: Ranking
    stand_in: StandIn
    same_rating: SameRating
    fitted: FittedScores | None
    means: tuple[HelpedMean, ...]
    saved: float | None
    at_most: float | None
