"""A whole screen answered: every question about every text, whatever the screen is for."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from annotation.simulation.answers import answer, magnitude_ends, nearest_value, obey
from annotation.simulation.raters import SimulatedRater

Place = tuple[int, str]  # position on screen from 0, name of the question
Range = tuple[float, float]

MOST_MAGNITUDE = 1e6


@dataclass(frozen=True)
class Scale:
    """One question: its name, and the scale it is answered on.

    Attributes
    ----------
    kind : one of ``ANSWER_KINDS``.
    low, high : ends; of a preference -s and +s.
    step : distance of its points; 0 where any number between the ends is taken.
    ties : of a preference, whether two texts may be called equal.
    """

    name: str
    kind: str
    low: float
    high: float
    step: float = 1.0
    ties: bool = False

    @classmethod
    def magnitude(cls, name: str, standard_value: float) -> "Scale":
        """The part of a magnitude scale that raters use: a tenth to ten times the standard.

        >>> Scale.magnitude("informativeness", 100).high
        1000.0
        """
        low, high = magnitude_ends(standard_value)
        return cls(name, "magnitude", low, min(high, MOST_MAGNITUDE), 0.0)

    def place(self, value: float) -> float:
        """Where a value lies between the ends, 0 to 1; of a magnitude in its logarithm.

        >>> Scale("quality", "likert", 1, 5).place(4)
        0.75
        """
        held = min(max(value, self.low), self.high)
        if self.kind == "magnitude":
            return math.log(held / self.low) / math.log(self.high / self.low)
        return (held - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class ShownText:
    """One text on a screen as the simulation knows it.

    Attributes
    ----------
    quality : in [0, 1], of a text that nothing is expected of.
    expected : per question the range of accepted values, of a text whose right answer is known.
    commands : whether the text itself says which answer to give, as attention checks do.
    """

    quality: float = 0.5
    expected: Mapping[str, Range] = field(default_factory=dict)
    commands: bool = False


def answer_screen(rater: SimulatedRater, texts: Sequence[ShownText], scales: Sequence[Scale]) -> dict[Place, float]:
    """What the rater answers, text by text in the order shown.

    A text whose right answer is known has the quality that the middle of the accepted range stands for: an honest rater
    may miss it, too. All questions about one text see the same quality.

    Parameters
    ----------
    rater : SimulatedRater
    texts : sequence of ShownText
        At least one; two where a preference is asked.
    scales : sequence of Scale

    Returns
    -------
    dict
        A value for every text and question; of a preference one at position 0, above 0 where the first is preferred.

    Raises
    ------
    ValueError
        No texts, or a preference about other than two.

    Examples
    --------
    >>> exact = SimulatedRater(seed=1, noise=0.0, lapse=0.0)
    >>> texts = [ShownText(0.75), ShownText(expected={"quality": (1, 1)}, commands=True)]
    >>> answer_screen(exact, texts, [Scale("quality", "likert", 1, 5)])
    {(0, 'quality'): 4.0, (1, 'quality'): 1.0}
    >>> answer_screen(exact, [ShownText(0.9), ShownText(0.3)], [Scale("better", "preference", -3, 3)])
    {(0, 'better'): 2.0}
    """
    if not texts:
        raise ValueError("texts is empty; accepted: at least one")
    said: dict[Place, float] = {}
    for scale in scales:
        if scale.kind == "preference":
            said[0, scale.name] = _prefer(rater, texts, scale)
            continue
        for position, text in enumerate(texts):
            said[position, scale.name] = _rate(rater, text, scale)
    return said


def _rate(rater: SimulatedRater, text: ShownText, scale: Scale) -> float:
    wanted = text.expected.get(scale.name)
    if wanted is None:
        return answer(rater, text.quality, scale.low, scale.high, scale.step, kind=scale.kind)
    place = _middle(wanted, scale)
    if text.commands:
        return obey(rater, _nearest(place, scale), scale.low, scale.high, scale.step, kind=scale.kind)
    return answer(rater, place, scale.low, scale.high, scale.step, kind=scale.kind)


def _prefer(rater: SimulatedRater, texts: Sequence[ShownText], scale: Scale) -> float:
    if len(texts) != 2:
        raise ValueError(f"a preference is asked about {len(texts)} texts; accepted: two")
    known = next((at for at, text in enumerate(texts) if scale.name in text.expected), None)
    if known is None:
        first, second = texts[0].quality, texts[1].quality
    else:  # what is expected of the second text is the opposite for the first
        middle = _middle(texts[known].expected[scale.name], scale)
        first = middle if known == 0 else 1 - middle
        second = 1 - first
        if texts[known].commands:
            wanted = _nearest(first, scale)
            return obey(rater, wanted, scale.low, scale.high, scale.step, kind=scale.kind, ties=scale.ties)
    return answer(rater, first, scale.low, scale.high, scale.step, kind=scale.kind, against=second, ties=scale.ties)


def _middle(wanted: Range, scale: Scale) -> float:
    return (scale.place(wanted[0]) + scale.place(wanted[1])) / 2


def _nearest(place: float, scale: Scale) -> float:
    return nearest_value(place, scale.low, scale.high, scale.step, kind=scale.kind, ties=scale.ties)
