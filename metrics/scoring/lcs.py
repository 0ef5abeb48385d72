"""Lengths of longest common subsequences of many pairs of texts; a row of the dynamic programme is a binary number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from metrics.scoring.arrays import Ints
from metrics.scoring.token_ids import NumberedSegments, TokenIds

Words = NDArray[np.uint64]

WORD = 64  # tokens of a hypothesis that fit into one machine word
ONE = np.uint64(1)


def pair_lcs(numbered: NumberedSegments) -> Ints:
    """Return the length of the longest common subsequence of each hypothesis and reference.

    Hypotheses of up to 64 tokens are processed together, one token of every reference at a time; longer ones pair by
    pair, as binary numbers of any length. The cost grows with (P pairs) x (tokens of a reference), and for long
    hypotheses with (their tokens / 64), too.

    Parameters
    ----------
    numbered : NumberedSegments

    Returns
    -------
    (P,) int
        0 if either text has no token.

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
    lengths = np.zeros(len(pairs), dtype=np.int64)
    is_short = numbered.hypotheses.lengths[pairs.row] <= WORD
    for chosen, compute in ((np.flatnonzero(is_short), _lcs_together), (np.flatnonzero(~is_short), _lcs_pair_by_pair)):
        if chosen.size:
            lengths[chosen] = compute(numbered, chosen)
    return lengths


def _lcs_together(numbered: NumberedSegments, chosen: Ints) -> Ints:
    """Return the LCS lengths of the chosen pairs, whose hypotheses fit into a machine word."""
    hypotheses, pairs = numbered.hypotheses, numbered.pairs
    hyp_token, known, vocabulary_sizes = _segment_numbers(numbered)
    # The bits of each (hypothesis, token of its segment): the positions of the token.
    row_sizes = vocabulary_sizes[numbered.row_segment]
    row_start = np.cumsum(row_sizes) - row_sizes
    bits = _position_bits(hypotheses, hyp_token, row_start, int(row_sizes.sum()))

    # Longest reference first: those that have a token at a position are then the first ones.
    lengths = known.lengths[pairs.reference[chosen]]
    order = np.argsort(-lengths, kind="stable")
    row, reference = pairs.row[chosen[order]], pairs.reference[chosen[order]]
    first_bits, first_token = row_start[row], known.starts[reference]
    still = len(chosen) - np.searchsorted(lengths[order[::-1]], np.arange(int(lengths.max(initial=0))), side="right")
    state = np.full(len(chosen), ~np.uint64(0))
    for position, n in enumerate(still.tolist()):
        mask = bits[first_bits[:n] + known.ids[first_token[:n] + position]]
        held = state[:n] & mask
        state[:n] = (state[:n] + held) | (state[:n] - held)

    inside = _low_bits(hypotheses.lengths[row])
    lcs = np.empty(len(chosen), dtype=np.int64)
    lcs[order] = np.bitwise_count(~state & inside)
    return lcs


def _segment_numbers(numbered: NumberedSegments) -> tuple[Ints, TokenIds, Ints]:
    """Number tokens within the hypotheses of their segment, so that tables are small.

    Returns the hypotheses' tokens, the references without tokens that are in no hypothesis of their segment, and how
    many numbers each segment (S,) uses.
    """
    hypotheses, references = numbered.hypotheses, numbered.references
    radix = max(len(numbered.vocabulary), 1)
    hyp_key = np.repeat(numbered.row_segment, hypotheses.lengths) * radix + hypotheses.ids
    keys, hyp_number = np.unique(hyp_key, return_inverse=True)
    sizes = np.bincount(keys // radix, minlength=numbered.rows.shape[1])
    first = np.cumsum(sizes) - sizes

    held = np.zeros(radix, dtype=np.bool_)
    held[hypotheses.ids] = True
    at = np.flatnonzero(held[references.ids])
    text = np.repeat(np.arange(references.lengths.size), references.lengths)[at]
    segment = numbered.reference_segment[text]
    ref_key = segment * radix + references.ids[at]
    ref_number = np.minimum(np.searchsorted(keys, ref_key), max(keys.size - 1, 0))
    inside = np.flatnonzero(keys[ref_number] == ref_key) if keys.size else np.empty(0, dtype=np.int64)
    lengths = np.bincount(text[inside], minlength=references.lengths.size)
    known = TokenIds(ref_number[inside] - first[segment[inside]], np.concatenate(([0], np.cumsum(lengths))))
    return hyp_number - first[hyp_key // radix], known, sizes


def _position_bits(hypotheses: TokenIds, token: Ints, row_start: Ints, size: int) -> Words:
    """Return words (size,) whose bit i is set if the hypothesis's token i is that token."""
    position = np.arange(hypotheses.ids.size) - np.repeat(hypotheses.starts[:-1], hypotheses.lengths)
    short = np.flatnonzero(position < WORD)
    index = np.repeat(row_start, hypotheses.lengths)[short] + token[short]
    bits = np.zeros(size, dtype=np.uint64)
    np.bitwise_or.at(bits, index, ONE << position[short].astype(np.uint64))
    return bits


def _low_bits(lengths: Ints) -> Words:
    """Return words with that many low bits set; up to 64."""
    shifts = np.minimum(lengths, WORD - 1).astype(np.uint64)
    return np.where(lengths >= WORD, ~np.uint64(0), (ONE << shifts) - ONE)


def _lcs_pair_by_pair(numbered: NumberedSegments, chosen: Ints) -> Ints:
    """Return the LCS lengths of the chosen pairs, of any length."""
    masks: dict[int, int] = {}
    masked_row, lengths = -1, []
    for pair in chosen.tolist():
        row, reference = int(numbered.pairs.row[pair]), int(numbered.pairs.reference[pair])
        if row != masked_row:
            masks, masked_row = token_masks(numbered.hypotheses.text(row)), row
        length = int(numbered.hypotheses.lengths[row])
        lengths.append(lcs_length(masks, length, numbered.references.text(reference)))
    return np.array(lengths, dtype=np.int64)


def token_masks(tokens: list[int]) -> dict[int, int]:
    """Return for each token a binary number whose bit i is set if it is the i-th."""
    masks: dict[int, int] = {}
    for position, token in enumerate(tokens):
        masks[token] = masks.get(token, 0) | 1 << position
    return masks


def lcs_length(masks: dict[int, int], length: int, other: list[int]) -> int:
    """Return the LCS length of a text of ``length`` tokens, given by its `token_masks`, and another text."""
    state = inside = (1 << length) - 1
    for token in other:
        matches = state & masks.get(token, 0)
        # A carry past the last token is cut off, so that numbers do not grow.
        state = ((state + matches) | (state - matches)) & inside
    return length - state.bit_count()
