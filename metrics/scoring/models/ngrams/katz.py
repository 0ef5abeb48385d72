"""From counts to a back-off model: Good-Turing discounts, Katz's back-off, pruning by entropy; as SRILM's defaults."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from metrics.scoring.arrays import Bools, Floats, Ints
from metrics.scoring.models.ngrams.backoff import Backoff
from metrics.scoring.models.ngrams.counts import START_ID, NgramCounts, Table
from metrics.scoring.models.ngrams.good_turing import EPSILON, discounts, widened

# SRILM's defaults of -gt<n>min and -gt<n>max.
MIN_COUNTS = (1, 1, 2, 2, 2)
MAX_COUNTS = (1, 7, 7, 7, 7)


def katz(
    counts: NgramCounts, *, min_counts: Sequence[int] = MIN_COUNTS, max_counts: Sequence[int] = MAX_COUNTS
) -> Backoff:
    """Return the model that ``ngram-count -unk`` makes of these counts.

    Parameters
    ----------
    counts : NgramCounts
    min_counts : sequence of int
        For each length, the least count of a sequence that is listed; must not fall.
    max_counts : sequence of int
        For each length, the highest count that is discounted.

    Notes
    -----
    The rest of the probability of single words goes in equal parts to words without any: to <unk>, if the corpus has
    none; if there is no such word, to all. One departure, if counts are too few for any discount: SRILM then leaves
    unseen words nothing; here they keep what `widened` leaves.

    References
    ----------
    Katz 1987, eq. 10 to 16; Stolcke 2002; manual pages ngram-count(1) and ngram-discount(7).
    """
    n_words = len(counts.words)
    model = Backoff(n_words, (), (_single_words(counts.tables[0], n_words, max_counts[0]),), ())
    index = counts.tables[0].rows[:, 0].astype(np.int64)
    for n, table in enumerate(counts.tables[1:], start=2):
        listed, probabilities = _discounted(table, index.size, n_words - 1, min_counts[n - 1], max_counts[n - 1])
        keys = index[table.parent[listed]] * n_words + table.rows[listed, -1]
        model = Backoff(
            n_words,
            (*model.keys, keys),
            (*model.logs, np.log10(probabilities[listed])),
            (*model.weights, np.zeros(model.logs[-1].size)),
        ).normalised(n)
        index = np.where(listed, np.cumsum(listed) - 1, -1)
    return model


def _single_words(table: Table, n_words: int, max_count: int) -> Floats:
    """Return log p (V,) of each word alone; <s> is no event."""
    count = np.zeros(n_words, dtype=np.int64)
    count[table.rows[:, 0]] = table.counts
    event = np.arange(n_words) != START_ID
    seen = event & (count > 0)
    discounted = np.where(event, _discounted_counts(count, seen, max_count), 0.0)
    total, explicit = np.array([count[event].sum()], dtype=np.float64), np.array([discounted.sum()])
    probabilities = discounted / (total if (seen == event).all() else widened(total, explicit))
    left = 1.0 - probabilities.sum()
    left = 0.0 if left < EPSILON * (1 - 1e-6) else left
    unseen = event & ~seen
    heirs = unseen if unseen.any() else event
    probabilities[heirs] += left / heirs.sum()
    with np.errstate(divide="ignore"):
        return np.log10(probabilities)


def _discounted(table: Table, n_contexts: int, n_events: int, min_count: int, max_count: int) -> tuple[Bools, Floats]:
    """Return which sequences are listed, and the probability of each last word."""
    listed = table.counts >= min_count
    discounted = np.where(listed, _discounted_counts(table.counts, np.ones_like(listed), max_count), 0.0)
    total = _summed(table.parent, table.counts, n_contexts)
    explicit = _summed(table.parent, discounted, n_contexts)
    seen = np.bincount(table.parent, minlength=n_contexts)
    denominator = np.where(seen < n_events, widened(total, explicit), total)
    return listed, discounted / denominator[table.parent]


def _discounted_counts(counts: Ints, seen: Bools, max_count: int) -> Floats:
    """Return the counts after the discounts that follow from their frequencies."""
    of_counts = np.bincount(np.minimum(counts[seen], max_count + 2), minlength=max_count + 3)[: max_count + 2]
    factor = discounts(of_counts, max_count)
    factors = np.where(counts < factor.size, factor[np.minimum(counts, factor.size - 1)], 1.0)
    return np.asarray(counts * factors, dtype=np.float64)


def _summed(index: Ints, values: Floats | Ints, size: int) -> Floats:
    return np.bincount(index, weights=values, minlength=size).astype(np.float64)


def pruned(model: Backoff, threshold: float) -> Backoff:
    """Remove sequences whose loss raises the training perplexity, relatively, by less than the threshold.

    Longest first; a sequence that longer ones begin with, or back off to as a history, stays.

    References
    ----------
    Stolcke: Entropy-based pruning of backoff language models. DARPA Broadcast News Transcription and Understanding
    Workshop, 1998, eq. 4 and 5; as SRILM's ``-prune`` does it.
    """
    keys, logs, weights = list(model.keys), list(model.logs), list(model.weights)
    needed = np.zeros(logs[-1].size, dtype=np.bool_)
    for n in range(model.order, 1, -1):
        here = Backoff(model.n_words, tuple(keys), tuple(logs), tuple(weights))
        rows, parent = here.rows(n), here.parents(n)
        stays = needed | ~(_change(here, n) < threshold)
        if n < model.order:
            # Sequences that begin longer ones stay, with new indices.
            index = np.cumsum(stays) - 1
            above, word = np.divmod(keys[n - 1], model.n_words)
            keys[n - 1] = index[above] * model.n_words + word
            weights[n - 1] = weights[n - 1][stays]
        keys[n - 2], logs[n - 1] = keys[n - 2][stays], logs[n - 1][stays]
        # Histories of sequences that stay, and the endings of those that are needed.
        below = np.zeros(logs[n - 2].size, dtype=np.bool_)
        below[parent[stays]] = True
        endings = here.find(rows[needed][:, 1:])
        below[endings[endings >= 0]] = True
        needed = below
    smaller = Backoff(model.n_words, tuple(keys), tuple(logs), tuple(weights))
    for n in range(2, model.order + 1):
        smaller = smaller.normalised(n)
    return smaller


def _change(model: Backoff, n: int) -> Floats:
    """Return the relative change (m,) of perplexity if a sequence of length n, and no other, is removed."""
    rows, parent = model.rows(n), model.parents(n)
    left, left_below, below = model.masses(n, rows)
    log, weight = model.logs[n - 1], model.weights[n - 2][parent]
    probability = 10.0**log
    with np.errstate(divide="ignore", invalid="ignore"):
        new_weight = np.log10(left[parent] + probability) - np.log10(left_below[parent] + below)
        rest = np.where(left[parent] > 0, left[parent] * (new_weight - weight), 0.0)
        history = 10.0 ** model.context_log(model.rows(n - 1))[parent]
        entropy = -history * (probability * (np.log10(below) + new_weight - log) + rest)  # log 10
    return np.asarray(10.0**entropy - 1.0)
