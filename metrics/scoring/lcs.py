"""Lengths of longest common subsequences, of many pairs of texts at once.

Bit-parallel: a row of the dynamic programme is one binary number, and a token advances it with an addition.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
from numpy.typing import NDArray

from metrics.scoring.token_ids import NumberedSegments, TokenIds

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

WORD = 64  # tokens of a hypothesis that fit into one machine word
ONE = np.uint64(1)


def pair_lcs(numbered: NumberedSegments) -> Ints:
    """Length of the longest common subsequence of each hypothesis and reference.

    Hypotheses of up to 64 tokens are worked on together, one token of every reference at a time; longer ones pair by
    pair, as binary numbers of any length. The cost grows with (P pairs) x (tokens of a reference), and for long
    hypotheses by one more factor of (their tokens / 64).

    Parameters
    ----------
    numbered : NumberedSegments

    Returns
    -------
    (P,) int
        0 where either text has no token.

    References
    ----------
    Hyyrö, Bit-Parallel LCS-length Computation Revisited, AWOCA 2004, equation for V' = (V + (V & M)) | (V & ~M).

    Examples
    --------
    >>> from metrics.scoring.segments import Segments
    >>> from metrics.scoring.token_ids import number_segments
    >>> pair_lcs(number_segments(Segments([["a b c d"]], [["b d", "d c b a", "x"]]))).tolist()
    [2, 1, 0]
    """
    pairs = numbered.pairs
    found = np.zeros(len(pairs), dtype=np.int64)
    short = numbered.hypotheses.lengths[pairs.row] <= WORD
    together = np.flatnonzero(short)
    if together.size:
        found[together] = _lcs_together(numbered, together)
    longer = np.flatnonzero(~short)
    if longer.size:
        found[longer] = _lcs_one_by_one(numbered, longer)
    return found


def _lcs_together(numbered: NumberedSegments, chosen: Ints) -> Ints:
    """LCS lengths of the chosen pairs, whose hypotheses fit into one word."""
    hypotheses, references, pairs = numbered.hypotheses, numbered.references, numbered.pairs
    hyp_token, ref_token, vocabulary_sizes = _segment_numbers(numbered)
    # The bits of each (hypothesis, token of its segment's references): where in the hypothesis the token stands.
    row_sizes = vocabulary_sizes[numbered.row_segment]
    row_start = np.cumsum(row_sizes) - row_sizes
    bits = _position_bits(numbered, hyp_token, row_start, int(row_sizes.sum()))

    # Longest reference first: those that still have a token at a position are then the first ones.
    lengths = references.lengths[pairs.reference[chosen]]
    order = np.argsort(-lengths, kind="stable")
    row, reference = pairs.row[chosen[order]], pairs.reference[chosen[order]]
    first_bits, first_token = row_start[row], references.starts[reference]
    still = len(chosen) - np.searchsorted(lengths[order[::-1]], np.arange(int(lengths.max(initial=0))), side="right")
    state = np.full(len(chosen), ~np.uint64(0))
    for position, n in enumerate(still.tolist()):
        mask = bits[first_bits[:n] + ref_token[first_token[:n] + position]]
        held = state[:n] & mask
        state[:n] = (state[:n] + held) | (state[:n] - held)

    inside = _low_bits(hypotheses.lengths[row])
    lcs = np.empty(len(chosen), dtype=np.int64)
    lcs[order] = np.bitwise_count(~state & inside)
    return lcs


def _segment_numbers(numbered: NumberedSegments) -> tuple[Ints, Ints, Ints]:
    """Tokens numbered anew within the references of their segment, where small tables do.

    Returns the hypotheses' tokens (-1 for one that no reference of the segment holds), the references' tokens, and how
    many numbers each segment (S,) uses.
    """
    radix = len(numbered.vocabulary) + 1
    ref_key = _segment_of_token(numbered.references, numbered.reference_segment) * radix + numbered.references.ids
    hyp_key = _segment_of_token(numbered.hypotheses, numbered.row_segment) * radix + numbered.hypotheses.ids
    keys, ref_number = np.unique(ref_key, return_inverse=True)
    sizes = np.bincount(keys // radix, minlength=numbered.rows.shape[1])
    first = np.cumsum(sizes) - sizes
    hyp_number = np.searchsorted(keys, hyp_key)
    known = np.zeros(hyp_key.size, dtype=np.bool_)
    inside = hyp_number < keys.size
    known[inside] = keys[hyp_number[inside]] == hyp_key[inside]
    hyp_token = np.where(known, hyp_number - first[hyp_key // radix], -1)
    return hyp_token, ref_number - first[ref_key // radix], sizes


def _segment_of_token(texts: TokenIds, segment: Ints) -> Ints:
    return np.repeat(segment, texts.lengths)


def _position_bits(numbered: NumberedSegments, token: Ints, row_start: Ints, size: int) -> Words:
    """(size,) words: bit i is set where the hypothesis's token i is that token."""
    texts = numbered.hypotheses
    position = np.arange(texts.ids.size) - np.repeat(texts.starts[:-1], texts.lengths)
    kept = np.flatnonzero((token >= 0) & (position < WORD))
    place = np.repeat(row_start, texts.lengths)[kept] + token[kept]
    bits = np.zeros(size, dtype=np.uint64)
    np.bitwise_or.at(bits, place, ONE << position[kept].astype(np.uint64))
    return bits


def _low_bits(lengths: Ints) -> Words:
    """A word with that many low bits set; up to 64."""
    some = np.minimum(lengths, WORD - 1).astype(np.uint64)
    return np.where(lengths >= WORD, ~np.uint64(0), (ONE << some) - ONE)


def _lcs_one_by_one(numbered: NumberedSegments, chosen: Ints) -> list[int]:
    """LCS lengths of the chosen pairs, whatever their length."""
    masks: dict[int, int] = {}
    masks_of, found = -1, []
    for pair in chosen.tolist():
        row, reference = int(numbered.pairs.row[pair]), int(numbered.pairs.reference[pair])
        if row != masks_of:
            masks, masks_of = token_masks(numbered.hypotheses.text(row)), row
        length = int(numbered.hypotheses.lengths[row])
        found.append(lcs_length(masks, length, numbered.references.text(reference)))
    return found


def token_masks(tokens: list[int]) -> dict[int, int]:
    """For each token a binary number: bit i is set where it is the i-th."""
    masks: dict[int, int] = {}
    for position, token in enumerate(tokens):
        masks[token] = masks.get(token, 0) | 1 << position
    return masks


def lcs_length(masks: dict[int, int], length: int, other: list[int]) -> int:
    """LCS length of a text of ``length`` tokens, given its `token_masks`, and another text."""
    inside = (1 << length) - 1
    known = (masks[token] for token in other if token in masks)
    # A carry past the last token stays outside and is cut off each time, so numbers never grow.
    state = reduce(lambda state, mask: _advanced(state, mask) & inside, known, inside)
    return length - state.bit_count()


def _advanced(state: int, mask: int) -> int:
    held = state & mask
    return (state + held) | (state - held)
