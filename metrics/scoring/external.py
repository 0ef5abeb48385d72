"""Scores made elsewhere: by COMET, BLEURT, BERTScore, a judge that is itself a language model, or by hand.

    score of a system = mean of its segments' scores      level=segment
                      = as it was given                   level=system

Nothing is computed here but the mean. The range and the direction are those that whoever imports the scores states;
without a bound the range is open. A segment without a score does not count; a system without any has none (NaN). Scores
of systems alone have no segments, hence neither intervals nor a place in a comparison over sampled units.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.metric import Metric, MetricStatistics, mean_statistics
from metrics.scoring.parameters import choice, flag, real, text

SEGMENT, SYSTEM = "segment", "system"
NAME_CHARACTERS = 80
CONTENT = re.compile(r"(sha256:[0-9a-f]{64})?")
NOT_IN_FILE = "no score in the file"  # why a segment or a system has none
NOT_COMPUTED = "Its scores are made elsewhere and imported from a file; here nothing can compute them."


@dataclass(frozen=True)
class External(Metric):
    """A metric of somebody else, told by its name and by the content of its scores; see the module."""

    name: ClassVar[str] = "external"
    label: ClassVar[str] = "Scored elsewhere"
    summary: ClassVar[str] = "Scores that another program or person gave, imported from a file."
    group: ClassVar[str] = "external"
    needs_references: ClassVar[bool] = False
    low: ClassVar[float] = -math.inf
    high: ClassVar[float] = math.inf

    scorer: str = text("", label="Name of the metric", key="name", hint="As reports shall call it: COMET-22, say.")
    lower_is_better: bool = flag(False, label="Lower is better", key="lower", hint="As with an error rate.")
    lowest: float | None = real(
        None,
        low=-math.inf,
        high=math.inf,
        label="Lowest possible score",
        key="low",
        hint="Empty: no bound.",
        optional=True,
    )
    highest: float | None = real(
        None,
        low=-math.inf,
        high=math.inf,
        label="Highest possible score",
        key="high",
        hint="Empty: no bound.",
        optional=True,
    )
    level: str = choice(SEGMENT, (SEGMENT, SYSTEM), label="Scores of", key="level")
    content: str = text("", label="Content hash of the scores", key="content")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check()
        # What the class can only say of all such metrics, each of them knows of itself.
        own = {"label": self.scorer or self.label, "higher_is_better": not self.lower_is_better}
        if self.lowest is not None:
            own["low"] = float(self.lowest)
        if self.highest is not None:
            own["high"] = float(self.highest)
        for attribute, value in own.items():
            object.__setattr__(self, attribute, value)

    def _check(self) -> None:
        name = self.scorer
        if name != name.strip() or len(name) > NAME_CHARACTERS or _unprintable(name):
            accepted = f"a name of up to {NAME_CHARACTERS} characters without |, line breaks, or spaces around it"
            raise ValueError(f"scorer: found {name[: 2 * NAME_CHARACTERS]!r}; accepted: {accepted}")
        for bound in ("lowest", "highest"):
            value = getattr(self, bound)
            if value is not None and not math.isfinite(value):
                raise ValueError(f"{bound}: found {value!r}; accepted: a finite number, or none")
        if self.lowest is not None and self.highest is not None and self.lowest >= self.highest:
            raise ValueError(f"highest: found {self.highest:g}; accepted: a number above the lowest, {self.lowest:g}")
        if not CONTENT.fullmatch(self.content):
            raise ValueError(f"content: found {self.content[:80]!r}; accepted: sha256: and 64 hexadecimal digits")

    @classmethod
    def unavailable(cls) -> str:
        return NOT_COMPUTED

    def signature_fields(self) -> list[tuple[str, object]]:
        """As any metric's, the content by the first twelve digits of its hash."""
        written = dict(super().signature_fields())
        return list((written | {"content": self.content[7:19] or "none"}).items())

    def preparation(self) -> NoReturn:
        raise ValueError(f"{self.name}: found texts to score; accepted: stored scores. {NOT_COMPUTED}")

    def statistics(
        self,
        prepared: Any,
        *,
        weights: ArrayLike | None = None,
        reference_mask: ArrayLike | None = None,
        state: Any = None,
    ) -> MetricStatistics:
        """The mean over segments.

        Parameters
        ----------
        prepared : (T, S) float
            The stored scores; NaN where a segment has none.
        weights, reference_mask, state
            Not read.

        Raises
        ------
        ValueError
            The scores are of systems, not of segments.
        """
        if self.level != SEGMENT:
            raise ValueError("level: found scores of systems alone; accepted here: scores of segments")
        return mean_statistics(np.asarray(prepared, dtype=np.float64))


def _unprintable(name: str) -> bool:
    return any(character == "|" or unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in name)
