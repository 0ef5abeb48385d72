"""BLEU by sacrebleu, ΔBLEU with loops and exact weights, units and coefficients by scipy."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
from sacrebleu.metrics import BLEU
from scipy import stats

from tests.demo import raw

Weighted = list[tuple[str, Fraction]]
TWELFTHS = 12  # of which every weight is a whole number: six values of two criteria on a scale of four steps


@cache
def plain_bleu(order: int = 2) -> BLEU:
    return BLEU(max_ngram_order=order, tokenize="none", smooth_method="none", lowercase=True)


@cache
def smoothed_bleu(order: int = 2) -> BLEU:
    return BLEU(
        max_ngram_order=order,
        tokenize="none",
        smooth_method="add-k",
        smooth_value=1,
        effective_order=True,
        lowercase=True,
    )


@cache
def bleu_plus_one(hypothesis: str, texts: tuple[str, ...], order: int = 2) -> float:
    """Compute BLEU+1 (Nakov et al. 2012) with sacrebleu."""
    return smoothed_bleu(order).sentence_score(hypothesis, list(texts)).score / 100


@cache
def ngrams(text: str, order: int) -> Counter[tuple[str, ...]]:
    tokens = text.lower().split()
    return Counter(tuple(tokens[i : i + order]) for i in range(len(tokens) - order + 1))


def delta_sums(hypothesis: str, references: Weighted, order: int = 2) -> list[Fraction]:
    """Return [hyp_len, ref_len, numerators, denominators] of an item (Galley et al. 2015, section 3)."""
    length = len(hypothesis.split())
    closest = min((abs(len(text.split()) - length), len(text.split())) for text, _ in references)[1]
    weights = [weight * TWELFTHS for _, weight in references]
    assert all(weight.denominator == 1 for weight in weights)
    top = max(weights).numerator
    above, below = [], []
    for n in range(1, order + 1):
        counts = [(ngrams(text, n), weight.numerator) for (text, _), weight in zip(references, weights, strict=True)]
        numerator = denominator = 0
        for gram, count in ngrams(hypothesis, n).items():
            matches = [weight * min(count, held[gram]) for held, weight in counts if held[gram]]
            numerator += max(matches, default=0)
            denominator += top * count
        above.append(Fraction(numerator, TWELFTHS))
        below.append(Fraction(denominator, TWELFTHS))
    return [Fraction(length), Fraction(closest), *above, *below]


@cache
def bleu_sums(hypothesis: str, texts: tuple[str, ...], order: int = 2) -> list[Fraction]:
    """Return sacrebleu's counts for an item, in the order of `delta_sums`."""
    score = plain_bleu(order).corpus_score([hypothesis], [[text] for text in texts])
    return [Fraction(n) for n in (score.sys_len, score.ref_len, *score.counts, *score.totals)]


def score_of_sums(sums: Sequence[float]) -> tuple[float, bool]:
    """Return the score, and whether it is 0 because a numerator is not positive."""
    hyp_len, ref_len, *rest = sums
    order = len(rest) // 2
    if min(rest[:order]) <= 0:
        return 0.0, True
    logs = [np.log(float(above) / float(below)) for above, below in zip(rest[:order], rest[order:], strict=True)]
    return float(np.exp(np.mean(logs) + min(0.0, 1 - float(ref_len) / float(hyp_len)))), False


def item_sums(metric: str, subset: str, order: int = 2) -> dict[str, dict[str, list[Fraction]]]:
    """Map item and system to the sums that a unit adds up ([score, 1] for sBLEU), without unusable items."""
    sums_by_item = {}
    for item in raw.item_names():
        references = raw.chosen(item, subset)
        if not references or (metric == "delta_bleu" and max(weight for _, weight in references) <= 0):
            continue
        texts = tuple(text for text, _ in references)
        sums_by_item[item] = {
            system: _sums(metric, raw.outputs()[system, item], references, texts, order)
            for system in raw.HYPOTHESIS_NAMES
        }
    return sums_by_item


def _sums(metric: str, hypothesis: str, references: Weighted, texts: tuple[str, ...], order: int) -> list[Fraction]:
    if metric == "delta_bleu":
        return delta_sums(hypothesis, references, order)
    if metric == "bleu":
        return bleu_sums(hypothesis, texts, order)
    return [Fraction(bleu_plus_one(hypothesis, texts, order)), Fraction(1)]


def unit_score(metric: str, sums: np.ndarray) -> tuple[float, bool]:
    return (sums[0] / sums[1], False) if metric == "sbleu" else score_of_sums(sums)


class SlowStudy:
    """A study with new units for every pair, of the items on which the metric is defined; all outputs are rated.

    Weights are scaled to whole numbers, so that ties are exact.
    """

    def __init__(self, metric: str, subset: str, *, order: int = 2) -> None:
        self.metric = metric
        scale = TWELFTHS if metric == "delta_bleu" else 1
        sums = item_sums(metric, subset, order)
        means = raw.mean_rating(raw.HYPOTHESIS_NAMES)
        self.items = tuple(sums)
        width = len(next(iter(sums.values()))[raw.HYPOTHESIS_NAMES[0]])
        scales = [1, 1, *[scale] * (width - 2)]
        self.sums = {
            system: np.array(
                [[float(value * s) for value, s in zip(sums[item][system], scales, strict=True)] for item in sums]
            )
            for system in raw.HYPOTHESIS_NAMES
        }
        self.human = {
            system: np.array([float(12 * means[item, raw.outputs()[system, item]]) for item in sums])
            for system in raw.HYPOTHESIS_NAMES
        }

    def observations(self, rng: np.random.Generator, size: int, items: np.ndarray | None = None) -> np.ndarray:
        """Return metric and rating differences of all units and pairs, mirrored, of shape (2, N)."""
        differences = []
        for a, b in combinations(raw.HYPOTHESIS_NAMES, 2):
            order = rng.permutation(len(self.items) if items is None else items)
            for start in range(0, len(order), size):
                unit = order[start : start + size]
                m = [unit_score(self.metric, self.sums[s][unit].sum(axis=0))[0] for s in (a, b)]
                # Round off what the order of summation adds to means of sentence scores.
                h = [self.human[s][unit].sum() / unit.size for s in (a, b)]
                differences.append((round(m[0] - m[1], 13), round(h[0] - h[1], 11)))
        half = np.array(differences).T
        return np.concatenate([half, -half], axis=1)

    def coefficients(self, seed: int, n: int, size: int = 100) -> np.ndarray:
        """Return rho and tau of n assignments, of shape (n, 2)."""
        rng = np.random.default_rng(seed)
        return np.array([_coefficients(self.observations(rng, size)) for _ in range(n)])

    def bootstrap(self, seed: int, n: int, per_replicate: int, size: int = 100) -> np.ndarray:
        """Return rho of n resamples of the items, averaged over some assignments, of shape (n,)."""
        rng = np.random.default_rng(seed)
        total = len(self.items)
        replicates = []
        for _ in range(n):
            items = rng.integers(0, total, total)
            replicates.append(
                np.mean([_coefficients(self.observations(rng, size, items))[0] for _ in range(per_replicate)])
            )
        return np.array(replicates)


def _coefficients(differences: np.ndarray) -> tuple[float, float]:
    return stats.spearmanr(*differences).statistic, stats.kendalltau(*differences).statistic
