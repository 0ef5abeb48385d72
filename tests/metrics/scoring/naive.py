"""The equations written out for one segment at a time, in exact fractions: slow, plain, and apart from the product."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

Tokens = Sequence[str]


def ngram_counts(tokens: Tokens, order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + order]) for i in range(len(tokens) - order + 1))


def numerator(
    hypothesis: Tokens, references: Sequence[Tokens], tenths: Sequence[int], order: int, semantics: str = "galley2015"
) -> Fraction:
    """Galley et al. (2015), section 3; or the maxima taken apart, as in the 2018 code."""
    total = Fraction(0)
    for gram, count in ngram_counts(hypothesis, order).items():
        offers = [
            (Fraction(weight, 10), min(count, ngram_counts(reference, order)[gram]))
            for reference, weight in zip(references, tenths, strict=True)
            if ngram_counts(reference, order)[gram]
        ]
        if not offers:
            continue
        if semantics == "galley2015":
            total += max(weight * clipped for weight, clipped in offers)
        else:
            total += max(weight for weight, _ in offers) * max(clipped for _, clipped in offers)
    return total


def denominator(hypothesis: Tokens, tenths: Sequence[int], order: int) -> Fraction:
    return Fraction(max(tenths), 10) * max(len(hypothesis) - order + 1, 0)


def closest_length(hypothesis: Tokens, references: Sequence[Tokens]) -> int:
    return min((abs(len(reference) - len(hypothesis)), len(reference)) for reference in references)[1]


def corpus_score(
    hypotheses: Sequence[Tokens],
    references: Sequence[Sequence[Tokens]],
    tenths: Sequence[Sequence[int]],
    max_order: int,
    semantics: str,
) -> float:
    """ΔBLEU of a corpus whose items all have a positive weight; NaN without any token."""
    hyp_len = sum(map(len, hypotheses))
    ref_len = sum(map(closest_length, hypotheses, references))
    if hyp_len == 0:
        return math.nan if ref_len == 0 else 0.0
    items = list(zip(hypotheses, references, tenths, strict=True))
    above = [max(sum(numerator(h, r, w, n, semantics) for h, r, w in items), 0) for n in range(1, max_order + 1)]
    below = [sum(denominator(h, w, n) for h, _, w in items) for n in range(1, max_order + 1)]
    if semantics == "sacrebleu2018":
        halving = Fraction(1)
        for n in range(max_order):
            if above[n] == 0:
                halving /= 2
                above[n] = halving if below[n] else Fraction(0)
    if not all(above):
        return 0.0
    log_mean = sum(math.log(a / b) for a, b in zip(above, below, strict=True)) / max_order
    return math.exp(min(0.0, 1 - ref_len / hyp_len) + log_mean)


def sentence_score(
    hypothesis: Tokens,
    references: Sequence[Tokens],
    tenths: Sequence[int],
    max_order: int,
    smooth_brevity: bool = False,
) -> float:
    """BLEU+1 with the top weight in the place of one."""
    ref_len = closest_length(hypothesis, references)
    if not hypothesis:
        return math.nan if ref_len == 0 else 0.0
    top = Fraction(max(tenths), 10)
    score = 1.0
    for n in range(1, max_order + 1):
        added = top if n > 1 else Fraction(0)
        above = max(numerator(hypothesis, references, tenths, n), Fraction(0)) + added
        score *= float(above / (denominator(hypothesis, tenths, n) + added)) ** (1 / max_order)
    return score * math.exp(min(0.0, 1 - (ref_len + smooth_brevity) / len(hypothesis)))
