"""Where the score of one segment comes from, n-gram by n-gram.

Plain counting, apart from the array code that scores corpora: each checks the other in the tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from metrics.scoring.statistics import SEMANTICS
from metrics.scoring.texts import Text, Tokens, check_choice, check_order, tokenize_texts


@dataclass(frozen=True)
class NgramContribution:
    """One distinct n-gram of a hypothesis.

    Attributes
    ----------
    ngram : tuple of tokens
    positions : tuple of ints
        Where it starts in the hypothesis, in tokens.
    count : int
        How often the hypothesis holds it.
    clipped : int
        How many of these count; 0 if no reference holds the n-gram.
    reference : int or None
        Index of the reference that won the match: of those that yield the maximum, the first. With "sacrebleu2018" it
        is the one whose weight counts; ``clipped`` may be another's.
    weight : float or None
        That reference's weight.
    contribution : float
        What it adds to the numerator of its order; may be negative.
    ceiling : float
        What it adds to the denominator: the top weight times ``count``.
    """

    ngram: tuple[str, ...]
    positions: tuple[int, ...]
    count: int
    clipped: int
    reference: int | None
    weight: float | None
    contribution: float
    ceiling: float

    @property
    def order(self) -> int:
        return len(self.ngram)


def explain_segment(
    hypothesis: Text,
    references: Sequence[Text],
    weights: Sequence[float] | None = None,
    *,
    max_order: int = 2,
    semantics: str = "galley2015",
    tokenize: str = "none",
    lowercase: bool = False,
) -> tuple[NgramContribution, ...]:
    """Contributions of all distinct n-grams, by order and then by first position.

    Parameters
    ----------
    hypothesis : text
    references : sequence of R >= 1 texts
    weights : sequence of R numbers, optional
        ΔBLEU's weights. Without them every weight is 1, which is BLEU.
    max_order, semantics, tokenize, lowercase
        As in `metrics.scoring.delta_bleu.corpus_delta_bleu`.

    Returns
    -------
    tuple of NgramContribution
        Sums of ``contribution`` and ``ceiling`` per order are the segment's numerators and denominators.

    Raises
    ------
    ValueError
        No reference, or weights that do not fit the references.

    Examples
    --------
    >>> for part in explain_segment("a a b", ["a b", "a a", "c b"], [0.5, 0.2, -0.4]):
    ...     print(" ".join(part.ngram), part.count, part.clipped, part.reference, part.contribution)
    a 2 1 0 0.5
    b 1 1 0 0.5
    a a 1 1 1 0.2
    a b 1 1 0 0.5
    """
    check_order(max_order)
    check_choice("semantics", semantics, SEMANTICS)
    if not references:
        raise ValueError("references: found no reference; accepted: one or more")
    weights = [1.0] * len(references) if weights is None else weights
    if len(weights) != len(references):
        raise ValueError(f"weights: found {len(weights)}; accepted: {len(references)}, one per reference")
    tokens, *reference_tokens = tokenize_texts([hypothesis, *references], tokenize=tokenize, lowercase=lowercase)
    reference_counts = [Counter(ngram for ngram, _ in _ngrams(own, max_order)) for own in reference_tokens]
    positions: dict[tuple[str, ...], list[int]] = {}
    for ngram, start in _ngrams(tokens, max_order):
        positions.setdefault(ngram, []).append(start)
    top_weight = max(weights)
    return tuple(
        _contribution(ngram, starts, [own[ngram] for own in reference_counts], weights, top_weight, semantics)
        for ngram, starts in positions.items()
    )


def _ngrams(tokens: Tokens, max_order: int) -> list[tuple[tuple[str, ...], int]]:
    return [
        (tuple(tokens[start : start + order]), start)
        for order in range(1, max_order + 1)
        for start in range(len(tokens) - order + 1)
    ]


def _contribution(
    ngram: tuple[str, ...],
    starts: list[int],
    reference_counts: list[int],
    weights: Sequence[float],
    top_weight: float,
    semantics: str,
) -> NgramContribution:
    count = len(starts)
    clipped = [min(count, found) for found in reference_counts]
    holders = [index for index, found in enumerate(clipped) if found]
    ceiling = top_weight * count
    if not holders:
        return NgramContribution(ngram, tuple(starts), count, 0, None, None, 0.0, ceiling)
    if semantics == "galley2015":
        winner = max(holders, key=lambda index: weights[index] * clipped[index])
        credit = clipped[winner]
    else:
        winner = max(holders, key=lambda index: weights[index])
        credit = max(clipped)
    weight = float(weights[winner])
    return NgramContribution(ngram, tuple(starts), count, credit, winner, weight, weight * credit, ceiling)
