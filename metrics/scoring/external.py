"""Scores made elsewhere: by COMET, BLEURT, BERTScore, a language model as judge, or by hand.

A system's score is the mean of its segments' scores, or as imported (``level="system"``): then it has no interval and
cannot be compared over sampled units. Range and direction are stated by the person who imports the scores.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.arrays import Floats
from metrics.scoring.metric import MeanMetric
from metrics.scoring.parameters import choice, flag, real, text

SEGMENT, SYSTEM = "segment", "system"
NAME_CHARACTERS = 80
CONTENT = re.compile(r"(sha256:[0-9a-f]{64})?")
NOT_IN_FILE = "no score in the file"  # why a segment or a system has none
NOT_COMPUTED = "Its scores are made elsewhere and imported from a file; here nothing can compute them."


def _bound(label: str, key: str) -> Any:
    return real(None, low=-math.inf, high=math.inf, label=label, key=key, hint="Empty: no bound.", optional=True)


@dataclass(frozen=True)
class External(MeanMetric):
    """A metric computed elsewhere, identified by its name and by the content of its scores."""

    name: ClassVar[str] = "external"
    label: ClassVar[str] = "Scored elsewhere"
    summary: ClassVar[str] = "Scores that another program or person gave, imported from a file."
    group: ClassVar[str] = "external"
    needs_references: ClassVar[bool] = False
    low: ClassVar[float] = -math.inf
    high: ClassVar[float] = math.inf

    scorer: str = text("", label="Name of the metric", key="name", hint="As reports shall call it: COMET-22, say.")
    lower_is_better: bool = flag(False, label="Lower is better", key="lower", hint="As with an error rate.")
    lowest: float | None = _bound("Lowest possible score", "low")
    highest: float | None = _bound("Highest possible score", "high")
    level: str = choice(SEGMENT, (SEGMENT, SYSTEM), label="Scores of", key="level")
    content: str = text("", label="Content hash of the scores", key="content")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check()
        # Class attributes of other metrics, here of each instance.
        object.__setattr__(self, "label", self.scorer or self.label)
        object.__setattr__(self, "higher_is_better", not self.lower_is_better)
        for attribute, bound in (("low", self.lowest), ("high", self.highest)):
            if bound is not None:
                object.__setattr__(self, attribute, float(bound))

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
        """Return them with the first twelve digits of the content's hash."""
        written = dict(super().signature_fields())
        return list((written | {"content": self.content[7:19] or "none"}).items())

    def preparation(self) -> NoReturn:
        raise ValueError(f"{self.name}: found texts to score; accepted: stored scores. {NOT_COMPUTED}")

    def segment_scores(
        self, prepared: ArrayLike, weights: ArrayLike | None, reference_mask: ArrayLike | None
    ) -> Floats:
        """Return the stored scores (T, S), which are ``prepared``; NaN for a segment without one."""
        if self.level != SEGMENT:
            raise ValueError("level: found scores of systems alone; accepted here: scores of segments")
        return np.asarray(prepared, dtype=np.float64)


def _unprintable(name: str) -> bool:
    return any(character == "|" or unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in name)
