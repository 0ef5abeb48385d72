"""Explain an FM score word by word: a text's log probability is the sum of that of its words and of the sentence's end.

A word whose n-gram is not listed has the probability of the longest shorter one that is, times back-off weights.

D'Haro, Banchs, Hori, Li: Automatic evaluation of end-to-end dialog systems with adequacy-fluency metrics. Computer
Speech and Language 55, 2019, equations 2 and 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from metrics.scoring.adequacy_fluency_text import words_of
from metrics.scoring.arrays import Floats, Ids, Ints
from metrics.scoring.models.language_model import LN_10, LanguageModel
from metrics.scoring.models.ngrams.backoff import Backoff
from metrics.scoring.models.ngrams.counts import END, UNKNOWN_ID
from metrics.scoring.texts import Text


@dataclass(frozen=True)
class WordProbability:
    """One word of a text, or its end.

    Attributes
    ----------
    text : str
        As the model reads it; </s> at the end.
    is_known : bool
        Whether the model lists the word; otherwise it counts as <unk>.
    order : int
        Length of the longest listed n-gram that ends in the word.
    longest : int
        Length of the longest possible n-gram: less than the requested order near the start.
    log_probability : float
        Natural logarithm, given the words before it; -inf if the probability is 0.
    """

    text: str
    is_known: bool
    order: int
    longest: int
    log_probability: float

    @property
    def backed_off(self) -> bool:
        """Return whether a shorter n-gram was used."""
        return self.order < self.longest

    @property
    def probability(self) -> float:
        return math.exp(self.log_probability)


@dataclass(frozen=True)
class FluencyExplanation:
    """A text under a language model.

    Attributes
    ----------
    words : tuple of WordProbability
        The last is the sentence's end.
    """

    words: tuple[WordProbability, ...]

    @property
    def n_words(self) -> int:
        """Return N, without the end."""
        return len(self.words) - 1

    @property
    def log_probability(self) -> float:
        return math.fsum(word.log_probability for word in self.words)

    @property
    def per_word(self) -> float:
        """Return the log of p, equation 2: the end is in the sum and not in N."""
        return self.log_probability / self.n_words

    @property
    def probability(self) -> float:
        """Return p, equation 2."""
        return math.exp(self.per_word)


def explain_fluency(model: LanguageModel, text: Text, *, order: int) -> FluencyExplanation:
    """Return the probability of each word.

    Parameters
    ----------
    model : LanguageModel
    text : text
        Without a word it is read as _EMPTY_, as by the metric.
    order : int
        Longest n-gram used, 1 to the model's order.

    Raises
    ------
    ValueError
        The model has no such order.

    References
    ----------
    D'Haro et al. 2019, equation 2; Katz: Estimation of probabilities from sparse data. IEEE Transactions on Acoustics,
    Speech, and Signal Processing 35(3), 1987.
    """
    model.check_order(order)
    (words,) = words_of([text], tokenize=model.tokenize, clean=model.clean)
    stream = model.numbers(words)
    logs, orders = _by_word(model.backoff, stream, order)
    return FluencyExplanation(
        tuple(
            WordProbability(word, number != UNKNOWN_ID, used, min(order, position), log * LN_10)
            for position, (word, number, used, log) in enumerate(
                zip([*words, END], stream[1:].tolist(), orders[1:].tolist(), logs[1:].tolist(), strict=True), start=2
            )
        )
    )


def fluency_ratio(left: FluencyExplanation, right: FluencyExplanation) -> float:
    """Return FM of two texts: the smaller probability over the larger (equation 3); 1 if both are 0."""
    return 1.0 if left.per_word == right.per_word else math.exp(-abs(left.per_word - right.per_word))


def _by_word(backoff: Backoff, stream: Ids, order: int) -> tuple[Floats, Ints]:
    """Return log10 p of each word (m,) of one sentence, and the length of the n-gram that gave it."""
    steps = list(backoff.steps(stream, order))
    return steps[-1][2], np.max([np.where(index >= 0, n, 0) for n, index, _ in steps], axis=0)
