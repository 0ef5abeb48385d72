"""Explain the score of one segment n-gram by n-gram, by plain counting: tests compare it with the array code."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from metrics.scoring.statistics import SEMANTICS, exact_weights
from metrics.scoring.texts import Text, Tokens, check_choice, check_flag, check_order, tokenize_texts

Ngram: TypeAlias = tuple[str, ...]
Starts: TypeAlias = tuple[int, ...]

NO_POSITIVE = "no reference has a positive weight"
BOTH_EMPTY = "neither the hypothesis nor its closest reference has a token"


@dataclass(frozen=True)
class Offer:
    """The match of an n-gram with one reference that holds it.

    Attributes
    ----------
    reference : int
        Index of the reference.
    starts : tuple of ints
        Where the n-gram starts in that reference, in tokens.
    clipped : int
        The smaller of the counts in the hypothesis and in this reference.
    weight : float
        The reference's weight.
    value : float
        ``weight`` times ``clipped``: what the n-gram would add if no other reference held it.
    """

    reference: int
    starts: Starts
    clipped: int
    weight: float
    value: float


@dataclass(frozen=True)
class NgramContribution:
    """One distinct n-gram of a hypothesis.

    Attributes
    ----------
    ngram : tuple of tokens
    positions : tuple of ints
        Where it starts in the hypothesis, in tokens.
    count : int
        Its count in the hypothesis.
    clipped : int
        How many of these count; 0 if no reference holds the n-gram.
    reference : int or None
        Index of the reference that won the match: the first with the maximum. With "sacrebleu2018" the reference whose
        weight counts; ``clipped`` may be of another.
    weight : float or None
        That reference's weight.
    contribution : float
        What it adds to the numerator of its order; may be negative.
    ceiling : float
        What it adds to the denominator: the top weight times ``count``.
    offers : tuple of Offer
        For each reference that holds the n-gram, in the order of the references, the winner included.
    counted_by : int or None
        Index of the reference whose count is ``clipped``: the winner, except perhaps with "sacrebleu2018".
    """

    ngram: Ngram
    positions: Starts
    count: int
    clipped: int
    reference: int | None
    weight: float | None
    contribution: float
    ceiling: float
    offers: tuple[Offer, ...] = ()
    counted_by: int | None = None

    @property
    def order(self) -> int:
        return len(self.ngram)


@dataclass(frozen=True)
class OrderTotal:
    """All n-grams of one order together.

    Attributes
    ----------
    order : int
    n_grams : int
        In the hypothesis, with repetitions.
    terms : tuple of (float, int)
        The numerator as a sum: each weight that won a match, highest first, and the number of its n-grams.
    numerator, denominator : float
        Sums of the contributions and of the ceilings.
    precision : float
        Numerator over denominator, a negative one set to 0; NaN if the hypothesis has no n-gram of this order.
    added : float
        What the sentence score adds to both: 0 for unigrams, else the top weight.
    smoothed : float
        The precision that the sentence score uses.
    """

    order: int
    n_grams: int
    terms: tuple[tuple[float, int], ...]
    numerator: float
    denominator: float
    precision: float
    added: float
    smoothed: float


@dataclass(frozen=True)
class NgramExplanation:
    """One hypothesis against the weighted references of its segment, and all parts of its score.

    Attributes
    ----------
    tokens : tuple of str
        Of the hypothesis.
    reference_tokens : tuple of tuples of str
    parts : tuple of NgramContribution
        By order and then by first position.
    totals : tuple of OrderTotal
        One per order.
    top_weight : float
        The highest weight.
    hyp_len, ref_len : int
        Tokens of the hypothesis and of its closest reference, ties to the shorter.
    closest : int
        Index of that reference.
    brevity_penalty : float
        In [0, 1].
    score : float
        Of this sentence alone, in [0, 1], as `metrics.scoring.delta_bleu.sentence_delta_bleu`; NaN with a ``reason``.
    reason : str
        Why the score is NaN; empty otherwise.
    weight_scale : int
        Factor that makes all weights whole numbers, so that sums and ties are exact (`metrics.scoring.statistics`); 1
        if there is none.
    """

    tokens: Ngram
    reference_tokens: tuple[Ngram, ...]
    parts: tuple[NgramContribution, ...]
    totals: tuple[OrderTotal, ...]
    top_weight: float
    hyp_len: int
    ref_len: int
    closest: int
    brevity_penalty: float
    score: float
    reason: str
    weight_scale: int

    def won(self, reference: int) -> float:
        """Return what the n-grams that this reference won add in total; may be negative."""
        return exact_sum((part.contribution for part in self.parts if part.reference == reference), self.weight_scale)


def exact_sum(contributions: Iterable[float], weight_scale: int) -> float:
    """Return the sum of contributions, without intermediate rounding if the weights have a scale.

    Parameters
    ----------
    contributions : iterable of floats
        Multiples of ``1 / weight_scale``, unless that is 1.
    weight_scale : int
        As in `NgramExplanation`.

    Examples
    --------
    >>> 0.1 + 0.2, exact_sum([0.1, 0.2], 10)
    (0.30000000000000004, 0.3)
    """
    if weight_scale == 1:
        return math.fsum(contributions)
    return sum(round(amount * weight_scale) for amount in contributions) / weight_scale


def explain_hypothesis(
    hypothesis: Text,
    references: Sequence[Text],
    weights: Sequence[float] | None = None,
    *,
    max_order: int = 2,
    semantics: str = "galley2015",
    tokenize: str = "none",
    lowercase: bool = False,
    smooth_brevity: bool = False,
) -> NgramExplanation:
    """Explain one sentence's ΔBLEU: every n-gram, every reference that holds it, every sum.

    Parameters
    ----------
    hypothesis : text
    references : sequence of R >= 1 texts
    weights : sequence of R finite numbers, optional
        ΔBLEU's weights; unitless, in [-1, +1]. Without them every weight is 1, which is BLEU.
    max_order, semantics, tokenize, lowercase, smooth_brevity
        As in `metrics.scoring.delta_bleu.sentence_delta_bleu`.

    Returns
    -------
    NgramExplanation
        If no weight is above 0, ``score`` is NaN with a reason: the denominator would not be positive.

    Raises
    ------
    ValueError
        No reference, weights that do not fit the references or are not finite, or a parameter that is not accepted.

    References
    ----------
    Galley et al., ΔBLEU: A Discriminative Metric for Generation Tasks with Intrinsically Diverse Targets, ACL 2015, §3.
    Nakov, Guzmán, Vogel, Optimizing for Sentence-Level BLEU+1 Yields Short Translations, COLING 2012.

    Examples
    --------
    The two semantics differ where one reference has the better weight and another the more copies:

    >>> for semantics in SEMANTICS:
    ...     explanation = explain_hypothesis("a a", ["a", "a a"], [0.9, 0.5], max_order=1, semantics=semantics)
    ...     print(explanation.totals[0].terms, explanation.totals[0].numerator, explanation.totals[0].denominator)
    ((0.5, 2),) 1.0 1.8
    ((0.9, 2),) 1.8 1.8
    >>> [(offer.reference, offer.clipped, offer.value) for offer in explanation.parts[0].offers]
    [(0, 1, 0.9), (1, 2, 1.0)]

    What each n-gram adds:

    >>> for part in explain_hypothesis("a a b", ["a b", "a a", "c b"], [0.5, 0.2, -0.4]).parts:
    ...     print(" ".join(part.ngram), part.count, part.clipped, part.reference, part.contribution)
    a 2 1 0 0.5
    b 1 1 0 0.5
    a a 1 1 1 0.2
    a b 1 1 0 0.5
    """
    check_order(max_order)
    check_choice("semantics", semantics, SEMANTICS)
    check_flag("smooth_brevity", smooth_brevity)
    whole, scale = _whole_weights(references, weights)
    tokens, *reference_tokens = tokenize_texts([hypothesis, *references], tokenize=tokenize, lowercase=lowercase)
    starts_by_reference = [_starts(reference, max_order) for reference in reference_tokens]
    top = max(whole)
    parts = tuple(
        _contribution(ngram, starts, starts_by_reference, whole, scale, semantics)
        for ngram, starts in _starts(tokens, max_order).items()
    )
    totals = tuple(_total(order, parts, top, scale) for order in range(1, max_order + 1))
    closest = _closest(len(tokens), list(map(len, reference_tokens)))
    ref_len = len(reference_tokens[closest])
    penalty = _brevity_penalty(len(tokens), ref_len + smooth_brevity)
    reason = NO_POSITIVE if top <= 0 else "" if len(tokens) or ref_len else BOTH_EMPTY
    return NgramExplanation(
        tuple(tokens),
        tuple(map(tuple, reference_tokens)),
        parts,
        totals,
        top / scale,
        len(tokens),
        ref_len,
        closest,
        penalty,
        math.nan if reason else _sentence_score(totals, penalty),
        reason,
        scale,
    )


def _whole_weights(references: Sequence[Text], weights: Sequence[float] | None) -> tuple[list[float], int]:
    """Return the weights as whole numbers, if possible, and their scale."""
    if not references:
        raise ValueError("references: found no reference; accepted: one or more")
    weights = [1.0] * len(references) if weights is None else weights
    if len(weights) != len(references):
        raise ValueError(f"weights: found {len(weights)}; accepted: {len(references)}, one per reference")
    for index, weight in enumerate(weights):
        if not math.isfinite(weight):
            raise ValueError(f"weights[{index}]: found {weight}; accepted: finite numbers")
    whole, scale = exact_weights(np.asarray(weights, dtype=np.float64))
    return whole.tolist(), scale


def _starts(tokens: Tokens, max_order: int) -> dict[Ngram, list[int]]:
    """Return where each distinct n-gram starts, by order, then by first position."""
    starts: dict[Ngram, list[int]] = {}
    for order in range(1, max_order + 1):
        for start in range(len(tokens) - order + 1):
            starts.setdefault(tuple(tokens[start : start + order]), []).append(start)
    return starts


def _contribution(
    ngram: Ngram,
    starts: list[int],
    starts_by_reference: Sequence[Mapping[Ngram, list[int]]],
    whole: Sequence[float],
    scale: int,
    semantics: str,
) -> NgramContribution:
    count = len(starts)
    clipped = {i: min(count, len(held[ngram])) for i, held in enumerate(starts_by_reference) if ngram in held}
    ceiling = max(whole) * count / scale
    if not clipped:
        return NgramContribution(ngram, tuple(starts), count, 0, None, None, 0.0, ceiling)
    if semantics == "galley2015":  # §3: the maximum over the references that hold it of weight times clipped count
        winner = max(clipped, key=lambda index: whole[index] * clipped[index])
        counted_by = winner
    else:  # two maxima, independent of each other
        winner = max(clipped, key=lambda index: whole[index])
        counted_by = max(clipped, key=lambda index: clipped[index])
    offers = tuple(
        Offer(i, tuple(starts_by_reference[i][ngram]), matches, whole[i] / scale, whole[i] * matches / scale)
        for i, matches in clipped.items()
    )
    credit = clipped[counted_by]
    return NgramContribution(
        ngram,
        tuple(starts),
        count,
        credit,
        winner,
        whole[winner] / scale,
        whole[winner] * credit / scale,
        ceiling,
        offers,
        counted_by,
    )


def _total(order: int, parts: Iterable[NgramContribution], top: float, scale: int) -> OrderTotal:
    of_order = [part for part in parts if part.order == order]
    counted: dict[float, int] = {}
    for part in of_order:
        if part.weight is not None:
            whole = part.weight * scale if scale == 1 else float(round(part.weight * scale))
            counted[whole] = counted.get(whole, 0) + part.clipped
    n_grams = sum(part.count for part in of_order)
    # Whole numbers until one division at the end, so that 0.1 + 0.2 is 0.3.
    numerator, denominator = sum(whole * n for whole, n in counted.items()), top * n_grams
    added = top if order > 1 else 0.0
    smoothed = _ratio(max(numerator, 0.0) + added, denominator + added)
    return OrderTotal(
        order,
        n_grams,
        tuple((whole / scale, counted[whole]) for whole in sorted(counted, reverse=True)),
        numerator / scale,
        denominator / scale,
        _ratio(max(numerator, 0.0), denominator),
        added / scale,
        smoothed,
    )


def _ratio(above: float, below: float) -> float:
    return above / below if below > 0 else math.nan


def _closest(hyp_len: int, lengths: Sequence[int]) -> int:
    return min(range(len(lengths)), key=lambda index: (abs(lengths[index] - hyp_len), lengths[index]))


def _brevity_penalty(hyp_len: int, ref_len: int) -> float:
    if hyp_len == 0:
        return 1.0 if ref_len == 0 else 0.0
    return min(1.0, math.exp(1.0 - ref_len / hyp_len))


def _sentence_score(totals: Sequence[OrderTotal], penalty: float) -> float:
    if penalty == 0 or totals[0].numerator <= 0:
        return 0.0
    return penalty * math.prod(total.smoothed for total in totals) ** (1 / len(totals))
