"""AM and FM of a hypothesis, word by word: which words make texts similar, which are improbable."""

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
FULL_BAR = math.log(10_000)  # a probability of one in ten thousand fills a bar


@dataclass(frozen=True)
class AgainstReference:
    """The score with one reference alone."""

    number: int
    value: float
    is_best: bool
    is_shown: bool


@dataclass(frozen=True)
class TintedWord:
    """A word of the text and what it adds; ``tint`` from -1 to 1, relative to the strongest."""

    text: str
    is_known: bool
    amount: float
    tint: float

    @property
    def sign(self) -> str:
        return _sign(self.amount)

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
        return _sign(self.amount)


def _sign(amount: float) -> str:
    return "plus" if amount > 0 else "minus" if amount < 0 else "nil"


@dataclass
class _Part:
    """A score with each reference, or the reason why there is none."""

    model: TrainedModel | None
    reason: str = ""
    references: list[AgainstReference] = field(default_factory=list)
    versus: int = 0  # number of the reference shown

    @property
    def score(self) -> float | None:
        return max((reference.value for reference in self.references), default=None)


@dataclass
class Adequacy(_Part):
    """AM."""

    explanation: AmExplanation | None = None
    hypothesis: list[TintedWord] = field(default_factory=list)
    reference: list[TintedWord] = field(default_factory=list)
    pairs: list[PairLine] = field(default_factory=list)
    n_others: int = 0
    others: float = 0.0

    @property
    def is_cut(self) -> bool:
        """Whether a negative cosine counts as 0."""
        return self.explanation is not None and self.explanation.cosine < 0

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
    explanation: FluencyExplanation
    total: float | None
    per_word: float | None


@dataclass
class Fluency(_Part):
    """FM."""

    hypothesis: Spoken | None = None
    reference: Spoken | None = None

    @property
    def reference_title(self) -> str:
        return f"Reference {self.versus}"

    @property
    def shown_score(self) -> float | None:
        """Return the score with the reference shown."""
        return next((reference.value for reference in self.references if reference.is_shown), None)

    @property
    def probabilities(self) -> list[float]:
        """Return the texts' probabilities, the smaller one first."""
        return sorted(text.explanation.probability for text in (self.hypothesis, self.reference) if text)


@dataclass(frozen=True)
class Combined:
    """``λ AM + (1 - λ) FM`` in rounded numbers that add up."""

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
    """Compare with the best reference, or the one with this number, word by word."""
    if model is None:
        return Adequacy(None, "No LSA space has been trained in this project.")
    try:
        space: LsaModel = models.load(LsaModel.kind, model.reference)
        explanations = [explain_am(space, hypothesis, reference, k=k) for reference in references]
    except (ValueError, OSError) as error:
        return Adequacy(model, str(error))
    if not explanations:
        return Adequacy(model, "AM compares with references: there is none.")
    best = max(range(len(explanations)), key=lambda i: explanations[i].cosine)
    shown = best if versus is None else versus - 1
    explanation = explanations[shown]
    pairs, n_others, others = _pair_lines(explanation)
    return Adequacy(
        model,
        "",
        _against([each.score for each in explanations], best, shown),
        shown + 1,
        explanation,
        _tinted(explanation.hypothesis_words, explanation.hypothesis, explanation.of_hypothesis.tolist()),
        _tinted(explanation.reference_words, explanation.reference, explanation.of_reference.tolist()),
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
    """Compare with the best reference, or the one with this number, word by word."""
    if model is None:
        return Fluency(None, "No n-gram model has been trained in this project.")
    try:
        language: LanguageModel = models.load(LanguageModel.kind, model.reference)
        spoken = explain_fluency(language, hypothesis, order=order)
        others = [explain_fluency(language, reference, order=order) for reference in references]
    except (ValueError, OSError) as error:
        return Fluency(model, str(error))
    if not others:
        return Fluency(model, "FM compares with references: there is none.", hypothesis=_spoken(spoken))
    ratios = [fluency_ratio(spoken, other) for other in others]
    best = max(range(len(others)), key=ratios.__getitem__)
    shown = best if versus is None else versus - 1
    return Fluency(model, "", _against(ratios, best, shown), shown + 1, _spoken(spoken), _spoken(others[shown]))


def _against(scores: Sequence[float], best: int, shown: int) -> list[AgainstReference]:
    return [AgainstReference(i + 1, score, i == best, i == shown) for i, score in enumerate(scores)]


def combined(am: Adequacy, fm: Fluency, balance: float) -> Combined | None:
    """Combine the best AM and the best FM, which can come from two references."""
    if am.score is None or fm.score is None:
        return None
    parts = rounded_parts([balance * am.score, (1 - balance) * fm.score], DIGITS)
    numbers = [next(each.number for each in part.references if each.is_best) for part in (am, fm)]
    score = balance * am.score + (1 - balance) * fm.score
    return Combined(balance, am.score, fm.score, parts[0], parts[1], score, numbers[0], numbers[1])


def _pair_lines(explanation: AmExplanation) -> tuple[list[PairLine], int, float]:
    """Return the largest pairs, the number of others, and what these add together."""
    largest = explanation.largest(SHOWN_PAIRS)
    n_others = explanation.amounts.size - len(largest)
    rest = explanation.cosine - math.fsum(pair.amount for pair in largest)
    *written, others = rounded_parts([*(pair.amount for pair in largest), rest], DIGITS)
    top = abs(largest[0].amount) if largest else 1.0
    lines = [
        PairLine(
            explanation.hypothesis[pair.hypothesis],
            explanation.reference[pair.reference],
            amount,
            f"{abs(pair.amount) / top:.2f}",
        )
        for pair, amount in zip(largest, written, strict=True)
    ]
    return lines, n_others, others


def _tinted(words: Sequence[str], known: Sequence[KnownWord], amounts: Sequence[float]) -> list[TintedWord]:
    """Give each occurrence its share of what its word adds."""
    shares = {word.text: amount / word.count for word, amount in zip(known, amounts, strict=True)}
    strongest = max(map(abs, shares.values()), default=0.0) or 1.0
    return [
        TintedWord(word, word in shares, shares.get(word, 0.0), shares.get(word, 0.0) / strongest) for word in words
    ]


def _spoken(explanation: FluencyExplanation) -> Spoken:
    logs = [word.log_probability for word in explanation.words]
    rounded = rounded_parts(logs, 3) if all(map(math.isfinite, logs)) else logs
    last = len(logs) - 1
    return Spoken(
        [
            SpokenWord(
                word.text,
                word.is_known,
                i == last,
                word.order,
                word.backed_off,
                word.probability,
                finite_or_none(log),
                f"{min(1.0, -word.log_probability / FULL_BAR):.2f}",
            )
            for i, (word, log) in enumerate(zip(explanation.words, rounded, strict=True))
        ],
        explanation,
        finite_or_none(explanation.log_probability),
        finite_or_none(explanation.per_word),
    )
