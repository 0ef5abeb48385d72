"""The texts of a screen as the simulation knows them, and the rating of a single text."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from annotation.dry_runs.simulation.answers import Ladder, answer, obey
from annotation.dry_runs.simulation.raters import SimulatedRater

Range = tuple[float, float]


@dataclass(frozen=True)
class ShownText:
    """A text on a screen as the simulation knows it.

    Attributes
    ----------
    quality : in [0, 1], of a text without a known answer.
    expected : per question the range of accepted values, of a text whose right answer is known.
    commands : whether the text itself says which answer to give, as attention checks do.
    """

    quality: float = 0.5
    expected: Mapping[str, Range] = field(default_factory=dict)
    commands: bool = False

    def quality_on(self, question: str, ladder: Ladder) -> float:
        """Return its quality; if the right answer is known, what the middle of the accepted range stands for."""
        ends = self.expected.get(question)
        return self.quality if ends is None else ladder.middle(ends)


def rate(rater: SimulatedRater, text: ShownText, question: str, ladder: Ladder) -> float:
    """Return the rater's value for a text by itself.

    An honest rater may miss a known answer, too, unless the text itself commands it.

    >>> exact = SimulatedRater(seed=1, noise=0.0, lapse=0.0)
    >>> rate(exact, ShownText(0.75), "quality", Ladder(1, 5))
    4.0
    >>> rate(exact, ShownText(expected={"quality": (1, 1)}, commands=True), "quality", Ladder(1, 5))
    1.0
    """
    quality = text.quality_on(question, ladder)
    if text.commands and question in text.expected:
        return obey(rater, ladder.nearest(quality), ladder)
    return answer(rater, quality, ladder)
