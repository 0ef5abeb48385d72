"""AM and FM of one hypothesis, taken apart: which words brought texts together, which words surprised."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from annotation.core.numbers import finite_or_none
from metrics.models import TrainedModel
from metrics.scoring.explain.am import AmExplanation, KnownWord, explain_am
from metrics.scoring.explain.fm import FluencyExplanation, explain_fluency, fluency_ratio
from metrics.scoring.models.language_model import LanguageModel
from metrics.scoring.models.lsa import LsaModel
from metrics.scoring.models.store import ModelStore
from metrics.scoring.rounding import rounded_parts

SHOWN_PAIRS = 10
DIGITS = 4
# A probability of one in ten thousand fills a bar.
FULL_BAR = math.log(10_000)


@dataclass(frozen=True)
class AgainstReference:
    """The score with one reference as the only one."""

    number: int
    value: float
    is_best: bool
    is_told: bool


@dataclass(frozen=True)
class TintedWord:
    """A word as it stands in the text, and what it adds; ``tint`` from -1 to 1, of the strongest."""

    text: str
    is_known: bool
    amount: float
    tint: float

    @property
    def sign(self) -> str:
        return "plus" if self.amount > 0 else "minus" if self.amount < 0 else "nil"

    @property
    def strength(self) -> str:
        return f"{abs(self.tint):.2f}"


@dataclass(frozen=True)
class PairLine:
    """Two words and what they add, rounded so that the column adds up."""

    hypothesis: KnownWord
    reference: KnownWord
    amount: float
    strength: str

    @property
    def sign(self) -> str:
        return "plus" if self.amount > 0 else "minus" if self.amount < 0 else "nil"


@dataclass
class Adequacy:
    """AM, or why there is none."""

    model: TrainedModel | None
    reason: str = ""
    references: list[AgainstReference] = field(default_factory=list)
    told: AmExplanation | None = None
    versus: int = 0
    hypothesis: list[TintedWord] = field(default_factory=list)
    reference: list[TintedWord] = field(default_factory=list)
    pairs: list[PairLine] = field(default_factory=list)
    n_others: int = 0
    others: float = 0.0

    @property
    def score(self) -> float | None:
        return max((one.value for one in self.references), default=None)

    @property
    def is_cut(self) -> bool:
        """Whether a negative cosine counts as 0."""
        return self.told is not None and self.told.cosine < 0

    @property
    def unknown(self) -> list[str]:
        return sorted({word.text for word in (*self.hypothesis, *self.reference) if not word.is_known})


@dataclass(frozen=True)
class SpokenWord:
    """A word under the language model, its logarithm rounded so that the row adds up."""

    text: str
    is_known: bool
    is_end: bool
    order: int
    backed_off: bool
    probability: float
    log: float | None  # None where the probability is 0
    bar: str


@dataclass(frozen=True)
class Spoken:
    """A text under the language model."""

    words: list[SpokenWord]
    told: FluencyExplanation

    @property
    def n_words(self) -> int:
        return self.told.n_words

    @property
    def total(self) -> float | None:
        return finite_or_none(self.told.log_probability)

    @property
    def per_word(self) -> float | None:
        return finite_or_none(self.told.per_word)

    @property
    def probability(self) -> float:
        return self.told.probability


@dataclass
class Fluency:
    """FM, or why there is none."""

    model: TrainedModel | None
    reason: str = ""
    references: list[AgainstReference] = field(default_factory=list)
    hypothesis: Spoken | None = None
    reference: Spoken | None = None
    versus: int = 0

    @property
    def score(self) -> float | None:
        return max((one.value for one in self.references), default=None)

    @property
    def reference_title(self) -> str:
        return f"Reference {self.versus}"

    @property
    def told(self) -> float | None:
        """The score against the reference shown."""
        return next((one.value for one in self.references if one.is_told), None)

    @property
    def smaller(self) -> float | None:
        return self._probabilities[0] if self._probabilities else None

    @property
    def larger(self) -> float | None:
        return self._probabilities[-1] if self._probabilities else None

    @property
    def _probabilities(self) -> list[float]:
        return sorted(one.probability for one in (self.hypothesis, self.reference) if one)


@dataclass(frozen=True)
class Combined:
    """``λ AM + (1 - λ) FM`` in numbers that add up as they are written."""

    balance: float
    am: float
    fm: float
    of_am: float
    of_fm: float
    score: float
    am_number: int
    fm_number: int

    @property
    def rest(self) -> float:
        return 1 - self.balance


def adequacy(
    model: TrainedModel | None,
    models: ModelStore,
    hypothesis: str,
    references: Sequence[str],
    k: int,
    versus: int | None = None,
) -> Adequacy:
    """Word by word against the best reference, or the one of this number."""
    if model is None:
        return Adequacy(None, "No LSA space has been trained in this project.")
    try:
        space: LsaModel = models.load(LsaModel.kind, model.reference)
        found = [explain_am(space, hypothesis, reference, k=k) for reference in references]
    except (ValueError, OSError) as error:
        return Adequacy(model, str(error))
    if not found:
        return Adequacy(model, "AM compares with references: there is none.")
    best = max(range(len(found)), key=lambda place: found[place].cosine)
    shown = best if versus is None else versus - 1
    told = found[shown]
    against = [AgainstReference(place + 1, one.score, place == best, place == shown) for place, one in enumerate(found)]
    pairs, n_others, others = _pair_lines(told)
    return Adequacy(
        model,
        "",
        against,
        told,
        shown + 1,
        _tinted(told.hypothesis_words, told.hypothesis, told.of_hypothesis.tolist()),
        _tinted(told.reference_words, told.reference, told.of_reference.tolist()),
        pairs,
        n_others,
        others,
    )


def fluency(
    model: TrainedModel | None,
    models: ModelStore,
    hypothesis: str,
    references: Sequence[str],
    order: int,
    versus: int | None = None,
) -> Fluency:
    """Word by word beside the best reference, or the one of this number."""
    if model is None:
        return Fluency(None, "No n-gram model has been trained in this project.")
    try:
        language: LanguageModel = models.load(LanguageModel.kind, model.reference)
        own = explain_fluency(language, hypothesis, order=order)
        found = [explain_fluency(language, reference, order=order) for reference in references]
    except (ValueError, OSError) as error:
        return Fluency(model, str(error))
    if not found:
        return Fluency(model, "FM compares with references: there is none.", hypothesis=_spoken(own))
    ratios = [fluency_ratio(own, other) for other in found]
    best = max(range(len(found)), key=ratios.__getitem__)
    shown = best if versus is None else versus - 1
    against = [AgainstReference(place + 1, one, place == best, place == shown) for place, one in enumerate(ratios)]
    return Fluency(model, "", against, _spoken(own), _spoken(found[shown]), shown + 1)


def combined(near: Adequacy, fluent: Fluency, balance: float) -> Combined | None:
    """The best AM and the best FM, which two references may give."""
    if near.score is None or fluent.score is None:
        return None
    parts = rounded_parts([balance * near.score, (1 - balance) * fluent.score], DIGITS)
    numbers = [next(one.number for one in of.references if one.is_best) for of in (near, fluent)]
    score = balance * near.score + (1 - balance) * fluent.score
    return Combined(balance, near.score, fluent.score, parts[0], parts[1], score, numbers[0], numbers[1])


def _pair_lines(told: AmExplanation) -> tuple[list[PairLine], int, float]:
    """The largest pairs, how many others there are, and what those add together."""
    largest = told.largest(SHOWN_PAIRS)
    n_others = told.amounts.size - len(largest)
    rest = told.cosine - math.fsum(pair.amount for pair in largest)
    *written, others = rounded_parts([*(pair.amount for pair in largest), rest], DIGITS)
    top = abs(largest[0].amount) if largest else 1.0
    lines = [
        PairLine(
            told.hypothesis[pair.hypothesis],
            told.reference[pair.reference],
            amount,
            f"{abs(pair.amount) / top:.2f}",
        )
        for pair, amount in zip(largest, written, strict=True)
    ]
    return lines, n_others, others


def _tinted(words: Sequence[str], known: Sequence[KnownWord], amounts: Sequence[float]) -> list[TintedWord]:
    """Each occurrence takes its share of what its word adds."""
    shares = {word.text: amount / word.count for word, amount in zip(known, amounts, strict=True)}
    strongest = max(map(abs, shares.values()), default=0.0) or 1.0
    return [
        TintedWord(word, word in shares, shares.get(word, 0.0), shares.get(word, 0.0) / strongest) for word in words
    ]


def _spoken(told: FluencyExplanation) -> Spoken:
    logs = [word.log_probability for word in told.words]
    written = rounded_parts(logs, 3) if all(map(math.isfinite, logs)) else logs
    last = len(logs) - 1
    return Spoken(
        [
            SpokenWord(
                word.text,
                word.is_known,
                place == last,
                word.order,
                word.backed_off,
                word.probability,
                finite_or_none(log),
                f"{min(1.0, -word.log_probability / FULL_BAR):.2f}",
            )
            for place, (word, log) in enumerate(zip(told.words, written, strict=True))
        ],
        told,
    )
