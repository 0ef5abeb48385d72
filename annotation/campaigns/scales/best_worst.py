"""The best and the worst of a list (best-worst scaling).

It is asked once for all responses of an item: field 0 holds the position of the best one on screen, field 1 that of the
worst. It is stored as a rating of each response: +1 for the best, -1 for the worst, 0 for the others. Their mean is
(times chosen best - times chosen worst) / times shown, in [-1, +1].

References
----------
J. J. Louviere, T. N. Flynn and A. A. J. Marley. Best-Worst Scaling: Theory, Methods and Applications. 2015.
S. Kiritchenko and S. M. Mohammad. Best-Worst Scaling More Reliable than Rating Scales. ACL 2017, section 3.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from django.utils.translation import gettext

from annotation.campaigns.presentations import AllInList
from annotation.campaigns.scales.base import WholeScale, refused, to_number
from annotation.dry_runs.simulation import ShownText, SimulatedRater


class BestWorst(WholeScale):
    key = "best_worst"
    label = "The best and the worst of a list"
    choice = "The best and the worst of several (lists only)"
    presentations = (AllInList.key,)
    misfit = "asks for the best and the worst of several, which only lists show; accepted here: another scale."
    fewest = 3
    is_relative = True
    shows_numbers = False
    shows_texts = True
    of_means = "as times best less times worst of times shown, −1 to 1"
    summary = "the best and the worst of the responses on screen"
    accepted = "1 for the best, -1 for the worst, 0 for the others"
    sizes = "3", "1 for the best, −1 for the worst, 0 for the others"
    sentence = (
        "a choice of the best and of the worst response on screen (best-worst scaling), "
        "+1 for the best, −1 for the worst and 0 for the others"
    )

    def problems(self) -> Iterator[tuple[str, str]]:
        if self.settings.labels:
            yield "labels", "the best and the worst have names of their own; accepted: no labels."

    def stored(self) -> dict[str, Any]:
        return {**super().stored(), "scale_min": -1, "scale_max": 1, "labels": []}

    @property
    def invitation(self) -> str:
        return gettext("You read a list of texts and choose the best and the worst of them.")

    @property
    def heading(self) -> str:
        return gettext("The best and the worst")

    def words(self) -> dict[str, str]:
        return {"1": gettext("Best"), "0": gettext("Neither best nor worst"), "-1": gettext("Worst")}

    def accepts(self, number: float) -> bool:
        return number in (-1, 0, 1)

    @property
    def has_digits(self) -> bool:
        return True  # each response has one, for the best and then the worst

    def message(self, text: str) -> str:
        return gettext("Please choose the best and the worst response, two different ones.")

    def n_fields(self, n_responses: int) -> int:
        return 2

    def read(self, given: Sequence[object], n_responses: int) -> tuple[list[float], dict[int, str]]:
        accepted = f"the position of a response, 0 to {n_responses - 1}"
        positions = [to_number(field) for field in given]
        problems = {
            number: refused(given[number], accepted)
            for number, position in enumerate(positions)
            if position not in range(n_responses)
        }
        best, worst = positions
        if not problems and best == worst:
            problems = {1: f"Found {given[1]!r}, which is the best, too; accepted: the position of another response."}
        return [float((position == best) - (position == worst)) for position in range(n_responses)], problems

    def held(self, values: Sequence[float]) -> list[str]:
        return [str(values.index(1)), str(values.index(-1))]

    def answers(self, shown: float) -> float:
        return 2.0

    def simulate(self, rater: SimulatedRater, texts: Sequence[ShownText]) -> dict[int, float]:
        """Return the positions of the best and the worst text as the rater perceives them."""
        n = len(texts)
        if n < 2:
            raise ValueError(f"the best and the worst are asked of {n} texts; accepted: two or more")
        if rater.looks():
            perceived = [self._perceived(rater, text) for text in texts]
            best = max(range(n), key=perceived.__getitem__)
            worst = min((position for position in range(n) if position != best), key=perceived.__getitem__)
        elif rater.spam == "constant":
            best = min(int(rater.habit * n), n - 1)
            worst = (best + 1) % n
        else:
            best, worst = rater.rng.choice(n, size=2, replace=False).tolist()
        return {0: float(best), 1: float(worst)}

    def _perceived(self, rater: SimulatedRater, text: ShownText) -> float:
        """Return the quality that the rater perceives; a text that commands an answer gets it."""
        quality = text.quality_on(self.settings.name, self.ladder)
        if text.commands and self.settings.name in text.expected:
            return quality + 1e6 * self.ladder.nearest(quality)
        return quality + rater.noise * float(rater.rng.standard_normal())
