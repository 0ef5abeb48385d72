"""Explain an AM score word by word: the cosine of two texts is a sum over pairs of words, one of each.

    cos(h, r) = sum_v sum_w  n_v m_w (u_v . u_w) / (|h| |r|)

u_v the row of word v in the first k left singular vectors, n_v and m_w how often v and w occur; a part may be negative.

D'Haro, Banchs, Hori, Li: Automatic evaluation of end-to-end dialog systems with adequacy-fluency metrics. Computer
Speech and Language 55, 2019, equation 1.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from metrics.scoring.arrays import Floats
from metrics.scoring.models.lsa import OFF, LsaModel
from metrics.scoring.texts import Text


@dataclass(frozen=True)
class KnownWord:
    """A word of the space and how often the text holds it."""

    text: str
    count: int


class WordPair(NamedTuple):
    """Indices of a word of the hypothesis and of a word of the reference, and what they add to the cosine."""

    hypothesis: int
    reference: int
    amount: float


@dataclass(frozen=True, eq=False)
class AmExplanation:
    """A hypothesis against one reference.

    Attributes
    ----------
    hypothesis_words, reference_words : lists of str
        As the model reads them, in order, known or not.
    hypothesis, reference : lists of H and R KnownWord
        Distinct known words, in order of first occurrence.
    amounts : (H, R) float
        What each pair of them adds to the cosine, which is their sum.
    cosine : float
        In [-1, 1]; 0 if a text is the origin: none of its words is known, or they cancel.
    """

    hypothesis_words: list[str]
    reference_words: list[str]
    hypothesis: list[KnownWord]
    reference: list[KnownWord]
    amounts: Floats
    cosine: float

    @property
    def score(self) -> float:
        """Return AM: the cosine, a negative one cut to 0."""
        return min(1.0, max(0.0, self.cosine))

    @property
    def of_hypothesis(self) -> Floats:
        """Return what each word of the hypothesis (H,) adds, with all of the reference."""
        return np.asarray(self.amounts.sum(axis=1))

    @property
    def of_reference(self) -> Floats:
        """Return what each word of the reference (R,) adds, with all of the hypothesis."""
        return np.asarray(self.amounts.sum(axis=0))

    def largest(self, n: int) -> list[WordPair]:
        """Return the n pairs that add or subtract most, the largest first."""
        sizes = np.abs(self.amounts).ravel()
        top = np.argsort(-sizes, kind="stable")[:n]
        rows, columns = np.unravel_index(top[sizes[top] > 0], self.amounts.shape)
        return [
            WordPair(row, column, float(self.amounts[row, column]))
            for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
        ]


def explain_am(model: LsaModel, hypothesis: Text, reference: Text, *, k: int) -> AmExplanation:
    """Explain the cosine of two texts as a sum over pairs of words.

    Parameters
    ----------
    model : LsaModel
    hypothesis, reference : texts
    k : int
        Dimensions used, 1 to the model's.

    Returns
    -------
    AmExplanation
        Its ``score`` is that of `metrics.scoring.am.Am` with this reference alone.

    Raises
    ------
    ValueError
        The model has no k dimensions.

    References
    ----------
    D'Haro et al. 2019, equation 1; the cosine of sums as a sum of products.
    """
    model.check_dimensions(k)
    hypothesis_words, reference_words = model.words_in(hypothesis), model.words_in(reference)
    left_words, left = _weighted(model, hypothesis_words, k)
    right_words, right = _weighted(model, reference_words, k)
    norms = _length(left, left_words) * _length(right, right_words)
    amounts = left @ right.T / norms if norms > 0 else np.zeros((len(left_words), len(right_words)))
    return AmExplanation(hypothesis_words, reference_words, left_words, right_words, amounts, float(amounts.sum()))


def _weighted(model: LsaModel, words: list[str], k: int) -> tuple[list[KnownWord], Floats]:
    """Return the distinct known words, and their vectors times their counts (H, k)."""
    counts = Counter(words)
    indices = {word: index for word in counts if (index := model.index(word)) is not None}
    known = [KnownWord(word, counts[word]) for word in indices]
    rows = np.asarray(model.components[:k, list(indices.values())].T, dtype=np.float64)
    return known, rows * np.array([word.count for word in known], dtype=np.float64)[:, None]


def _length(rows: Floats, words: list[KnownWord]) -> float:
    """Return the length of the sum of the rows; 0 if it is only rounding, as in `metrics.scoring.models.lsa`."""
    total = rows.sum(axis=0)
    square = float(total @ total)
    return 0.0 if square <= OFF**2 * sum(word.count**2 for word in words) else square**0.5
