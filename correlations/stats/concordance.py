"""Concordant minus discordant pairs of many samples at once.

Below ``BITSET_LIMIT`` observations the pairs are counted with bit sets: the observations enter in the order of x, each
setting the bit of its y rank, and how many earlier ones lie below is a count of bits. That is n^2 / 64 word operations
per sample and, unlike a merge, runs over all samples of a batch at once. Above it, inversions are counted by merging,
n log n.
"""

from __future__ import annotations

import numpy as np

from correlations.stats.ranks import Ints, RankedBatch

BITSET_LIMIT = 1024  # where the two methods take equal time
_BITSET_BYTES = 4 << 20  # working memory of one block of samples: about what a core's cache holds


def doubled_dominance(x: RankedBatch, y: RankedBatch) -> Ints:
    """Return, for each observation i, 4 sum_j h(x_i - x_j) h(y_i - y_j), with h the Heaviside step and h(0) = 1/2.

    Exact integers of shape (batch, n). The pair (i, i) is in the sum and gives 1.
    """
    batch, n = x.below.shape
    words = n // 64 + 1
    block = max(1, _BITSET_BYTES // ((n + 1) * words * 8))
    counts = np.empty((batch, n), dtype=np.int64)
    for start in range(0, batch, block):
        rows = slice(start, start + block)
        counts[rows] = _dominance_block(x.rows(rows), y.rows(rows), words)
    return counts


def _dominance_block(x: RankedBatch, y: RankedBatch, words: int) -> Ints:
    batch, n = x.below.shape
    position = np.arange(n)
    # Each y gets a distinct rank, ties in any order: thresholds `below` and `upto` fall between groups of ties.
    y_rank = np.empty((batch, n), dtype=np.int64)
    np.put_along_axis(y_rank, y.order, np.broadcast_to(position, (batch, n)), axis=1)
    entering = np.take_along_axis(y_rank, x.order, axis=1)

    entered = np.zeros((batch, n + 1, words), dtype=np.uint64)  # entered[:, k]: the y ranks of the k smallest x
    samples = np.arange(batch)[:, None]
    entered[samples, position + 1, entering >> 6] = np.uint64(1) << (entering & 63).astype(np.uint64)
    np.bitwise_or.accumulate(entered, axis=1, out=entered)
    full = np.zeros((batch, n + 1, words), dtype=np.int32)  # set bits in the words before each word
    np.cumsum(np.bitwise_count(entered[..., :-1]), axis=2, dtype=np.int32, out=full[..., 1:])
    flat_entered, flat_full = entered.ravel(), full.ravel()
    sample_base = samples * ((n + 1) * words)

    def count(first_x: Ints, below_y: Ints) -> Ints:
        """Count, among the ``first_x`` smallest x, those with a y rank under ``below_y``."""
        where = sample_base + first_x * words + (below_y >> 6)
        mask = (np.uint64(1) << (below_y & 63).astype(np.uint64)) - np.uint64(1)
        return np.asarray(flat_full[where] + np.bitwise_count(flat_entered[where] & mask).astype(np.int64))

    # 2h = [<] + [<=] in x and in y: four counts, fewer where there are no ties.
    less_less = count(x.below, y.below)
    less_upto = count(x.below, y.upto) if y.has_ties else less_less
    if not x.has_ties:
        return np.asarray(2 * (less_less + less_upto) + 1)
    return np.asarray(less_less + less_upto + count(x.upto, y.below) + count(x.upto, y.upto))


def concordant_minus_discordant(x: RankedBatch, y: RankedBatch) -> Ints:
    """Count concordant less discordant unordered pairs of each sample, shape (batch,); tied pairs count in neither."""
    batch, n = x.below.shape
    if n <= BITSET_LIMIT:
        return np.asarray((doubled_dominance(x, y).sum(axis=1) - n * n) // 2)
    joint = np.sort(x.below * n + y.below, axis=1)  # by x, then y, so pairs tied in x are never inverted
    discordant = np.array([_inversions(row % n) for row in joint], dtype=np.int64)
    starts = np.ones((batch, n), dtype=bool)
    np.not_equal(joint[:, 1:], joint[:, :-1], out=starts[:, 1:])
    tied_both = np.array([_pairs_in_runs(row) for row in starts], dtype=np.int64)
    untied = n * (n - 1) // 2 - x.tied_pairs() - y.tied_pairs() + tied_both
    return np.asarray(untied - 2 * discordant)


def _pairs_in_runs(starts: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> int:
    lengths = np.diff(np.append(np.flatnonzero(starts), starts.size))
    return int((lengths * (lengths - 1) // 2).sum())


def _inversions(values: Ints) -> int:
    """Count pairs i < j with values[i] > values[j]; ``values`` are integers in 0 .. n - 1. Merges blocks bottom-up."""
    n = values.size
    levels = max(1, (n - 1).bit_length())
    size = 1 << levels
    # The low bits hold the position: equal values stay in order, and it shows which half an element came from.
    keys = np.full(size, n, dtype=np.int64)  # padding, larger than all, at the end: inverts nothing
    keys[:n] = values
    keys = (keys << levels) | np.arange(size)
    total = 0
    for level in range(levels):
        half = 1 << level
        keys = np.sort(keys.reshape(-1, 2 * half), axis=1)
        from_right = (keys >> level) & 1
        # The position of a right element in the merge = the left ones not above it + the right ones before it.
        positions = int((from_right * np.arange(2 * half)).sum())
        blocks = keys.shape[0]
        not_above = positions - blocks * (half * (half - 1) // 2)
        total += blocks * half * half - not_above
    return total
