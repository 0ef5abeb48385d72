"""Whether the raters that a row was tested against are enough for an answer about all raters."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from annotation.core.numbers import counted
from correlations.results.worth import MarginTest, StandIn, TestedRater
from correlations.stats.worth import ENOUGH_ITEMS, LEVEL, PASS_FROM, benjamini_yekutieli

ENOUGH_RATERS = 3  # as the authors of the test recommend: with two there is no group to be close to
ENOUGH_SHARE = 0.5  # of the ratings, by those who are tested


@dataclass(frozen=True)
class TestedPanel:
    """The tested raters among all, and the test with one margin."""

    stand_in: StandIn
    margin: MarginTest

    @property
    def n_tested(self) -> int:
        return len(self.stand_in.raters)

    @property
    def n_raters(self) -> int:
        return self.n_tested + len(self.stand_in.left_out)

    @cached_property
    def n_ratings(self) -> int:
        """Return how many ratings can be compared with another rater's."""
        return self.ratings_tested + sum(each.outputs for each in self.stand_in.left_out)

    @cached_property
    def ratings_tested(self) -> int:
        return sum(each.outputs for each in self.stand_in.raters)

    @cached_property
    def bars(self) -> list[int]:
        """Return the places of tested raters who agree with the others: to beat another shows nothing."""
        return [place for place, rater in enumerate(self.stand_in.raters) if agrees(rater)]

    @property
    def n_strangers(self) -> int:
        return self.n_tested - len(self.bars)

    @property
    def beaten_bars(self) -> int:
        return sum(self.margin.p_corrected[place] <= LEVEL for place in self.bars)

    @cached_property
    def short_of(self) -> int:
        """Return of how many of the bars the row is shown to fall short by more than the margin."""
        p = benjamini_yekutieli(1 - np.asarray(self.margin.p, dtype=np.float64))
        return int((p[self.bars] <= LEVEL).sum())

    @property
    def too_few(self) -> str:
        """Return why these raters allow no answer, as the end of a sentence; empty if they do."""
        if self.n_tested < ENOUGH_RATERS or self.ratings_tested < ENOUGH_SHARE * self.n_ratings:
            return (
                f"only {self.n_tested:,} of {counted(self.n_raters, 'rater')} rated enough outputs to be tested "
                f"({ENOUGH_ITEMS} each), and gave {self.ratings_tested:,} of {counted(self.n_ratings, 'rating')}"
            )
        if len(self.bars) < ENOUGH_RATERS:
            verb = "is" if len(self.bars) == 1 else "are"
            return (
                f"only {len(self.bars):,} of {counted(self.n_tested, 'tested rater')} {verb} shown to agree with the "
                "other raters at all"
            )
        return ""

    @property
    def passes(self) -> bool:
        """Return whether enough raters are tested, and half of those who agree with the others are beaten."""
        return not self.too_few and self.beaten_bars >= PASS_FROM * len(self.bars)

    @property
    def fails(self) -> bool:
        """Return whether the row is shown to fall short of more raters than a pass allows."""
        return not self.too_few and self.short_of > (1 - PASS_FROM) * len(self.bars)

    @property
    def in_words(self) -> str:
        """Return who was tested, as a sentence."""
        if self.n_tested == self.n_raters:
            text = f"Tested against {'all ' if self.n_tested > 1 else 'the '}{counted(self.n_tested, 'rater')}"
        else:
            text = (
                f"Tested against {self.n_tested:,} of {counted(self.n_raters, 'rater')}, who gave "
                f"{self.ratings_tested:,} of {counted(self.n_ratings, 'rating')}"
            )
        text += f", over {counted(self.stand_in.outputs, 'different output')}"
        if not self.n_strangers:
            return f"{text}."
        verb = "is" if self.n_strangers == 1 else "are"
        return (
            f"{text}; {self.n_strangers:,} of the raters {verb} not shown to agree with the others (r above 0), so "
            f"that beating {'that rater' if self.n_strangers == 1 else 'these'} shows nothing."
        )


def agrees(rater: TestedRater) -> bool:
    """Return whether a rater is shown to agree with the others; yes where an earlier result does not say."""
    return rater.agreement_p is None or rater.agreement_p <= LEVEL
