"""An n-gram of a hypothesis and the references that hold it, with numbers as text."""

from dataclasses import dataclass, field
from typing import NamedTuple

from annotation.core.numbers import counted
from annotation.models import ReleaseWeight, Response
from metrics.scoring.explain.ngrams import NgramContribution, exact_sum

MINUS = "−"


def written(value: float, scale: int, *, plus: bool = False, bracket: bool = False) -> str:
    """Return a multiple of a weight as text: tenths and thousandths exactly, others with four decimals.

    >>> written(1.2000000000000002, 10), written(-0.4, 10, bracket=True), written(1 / 3, 1)
    ('1.2', '(−0.4)', '0.3333')
    """
    text = f"{abs(value):.{ {10: 1, 1000: 3}.get(scale, 4) }f}"
    whole, _, decimals = text.partition(".")
    text = f"{whole}.{decimals.rstrip('0') or '0'}"
    if float(text) == 0 or value == 0:
        return text
    if value < 0:
        return f"({MINUS}{text})" if bracket else f"{MINUS}{text}"
    return f"+{text}" if plus else text


@dataclass(frozen=True)
class TypedText:
    """A typed text; equal texts are equal, so that a hypothesis that is a reference is recognised."""

    text: str
    pk: None = None


@dataclass(frozen=True)
class TypedReference:
    response: TypedText
    weight: float
    is_original: bool = False
    low: None = None


Text = Response | TypedText
Weighed = ReleaseWeight | TypedReference


@dataclass
class Reference:
    """A reference of the item, with its number on the page."""

    number: int
    row: Weighed
    response: Text
    counts: bool  # is in the subset
    tokens: tuple[str, ...]
    scale: int = 1
    won: "list[Ngram]" = field(default_factory=list)

    @property
    def weight(self) -> float:
        return self.row.weight

    @property
    def key(self) -> str:
        return f"r{self.number}"

    @property
    def added(self) -> float:
        """Return what its matches add to all hypotheses; may be negative."""
        return exact_sum((ngram.amount for ngram in self.won), self.scale)

    @property
    def won_words(self) -> str:
        """Return how many n-grams it won, and how many they are with repeats, which count each time."""
        times = sum(ngram.part.clipped for ngram in self.won)
        repeats = f" ({times:,} with repeats)" if times != len(self.won) else ""
        return f"{counted(len(self.won), 'n-gram')}{repeats}"

    @property
    def written_weight(self) -> str:
        return written(self.weight, self.scale)

    @property
    def written_added(self) -> str:
        return written(self.added, self.scale, plus=True)


class Holder(NamedTuple):
    """A reference that holds an n-gram, and what it would add."""

    reference: Reference
    starts: tuple[int, ...]
    clipped: int
    value: float
    wins: bool
    written: str

    @property
    def n_starts(self) -> int:
        return len(self.starts)


@dataclass
class Ngram:
    """A distinct n-gram of a hypothesis."""

    key: str
    part: NgramContribution
    holders: list[Holder]
    scale: int
    reference: Reference | None  # the winner
    is_chosen: bool = False  # its winner is the reference chosen on the page

    @property
    def winner_pk(self) -> int | None:
        return self.reference.response.pk if self.reference else None

    @property
    def text(self) -> str:
        return " ".join(self.part.ngram)

    @property
    def amount(self) -> float:
        return self.part.contribution

    @property
    def sign(self) -> str:
        return "positive" if self.amount > 0 else "negative" if self.amount < 0 else "zero"

    @property
    def others(self) -> list[Holder]:
        return [holder for holder in self.holders if not holder.wins]

    @property
    def counted_by(self) -> Reference | None:
        """Return the reference whose count applies, if it is not the winner."""
        lender = next((h.reference for h in self.holders if h.clipped == self.part.clipped), None)
        winner = next((h for h in self.holders if h.wins), None)
        return None if winner is None or winner.clipped == self.part.clipped else lender

    @property
    def held(self) -> str:
        """Return its positions in each reference that holds it, for the script: ``3:0,7 5:2``."""
        return " ".join(f"{holder.reference.number}:{','.join(map(str, holder.starts))}" for holder in self.holders)

    @property
    def written_product(self) -> str:
        return f"{self.part.clipped} × {written(self.part.weight or 0.0, self.scale, bracket=True)}"

    @property
    def written_amount(self) -> str:
        return written(self.amount, self.scale, plus=True)

    @property
    def written_ceiling(self) -> str:
        return written(self.part.ceiling, self.scale)

    @property
    def description(self) -> str:
        """Describe the line beneath the n-gram for screen readers."""
        winner = self.reference
        by = f"won by reference {winner.number}, " if winner else ""
        verb = "adds" if self.amount > 0 else "takes away" if self.amount < 0 else "adds nothing"
        amount = f" {written(abs(self.amount), self.scale)}" if self.amount else ""
        return f"{self.text}: {self.part.order}-gram, {by}{verb}{amount}"
