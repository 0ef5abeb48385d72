"""Which hypothesis n-gram occurs in which reference: worked out once, shared by everything that scores.

A `MatchTable` holds no weights and no choice of references. BLEU, sentence BLEU and ΔBLEU in both semantics, for any
subset of the references and any order up to the table's, are array arithmetic on it (see `metrics.scoring.statistics`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from metrics.scoring.metric import Preparation
from metrics.scoring.models.store import ModelStore
from metrics.scoring.segments import Segments
from metrics.scoring.texts import Text, Tokens, check_order, tokenize_texts

Ints = NDArray[np.int64]
T = TypeVar("T")

REMEMBERED = 8  # statistics of subsets: those of a table's rows that metrics share


@dataclass(frozen=True, eq=False)
class OrderMatches:
    """All matches of one n-gram order: M rows, grouped into G runs, one per (hypothesis, n-gram) with any match.

    Attributes
    ----------
    starts : (G,) int
        First row of each group.
    hypothesis : (G,) int
        Hypothesis row (see `MatchTable.rows`) of each group, ascending.
    reference : (M,) int
        Flat index of the reference that holds the n-gram.
    clipped : (M,) float
        min(count in the hypothesis, count in that reference), at least 1; whole numbers.
    """

    starts: Ints
    hypothesis: Ints
    reference: Ints
    clipped: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LengthPairs:
    """Every (hypothesis, reference) pair of a segment, grouped by hypothesis, with a key that orders by closeness.

    ``key = |hypothesis length - reference length| * radix + reference length``: the smallest key of a group is the
    closest reference length, ties to the shorter.
    """

    starts: Ints
    hypothesis: Ints
    reference: Ints
    key: Ints
    radix: int


@dataclass(frozen=True, eq=False)
class MatchTable:
    """N-gram matches of T systems' hypotheses with the references of S segments.

    Equal hypotheses of one segment share one of H <= T * S rows. References are numbered through, R in all, in the
    order given: those of segment s are ``reference_offsets[s]:reference_offsets[s + 1]``.

    Attributes
    ----------
    max_order : int
        Largest n-gram order in the table.
    tokenize, lowercase : str, bool
        How the texts were tokenised.
    rows : (T, S) int
        Hypothesis row of each system's hypothesis.
    row_segment : (H,) int
        Segment of each hypothesis row.
    hyp_len : (H,) int
        Tokens of each hypothesis row.
    reference_offsets : (S + 1,) int
    reference_segment : (R,) int
    reference_len : (R,) int
    orders : tuple of OrderMatches
        ``orders[n - 1]`` holds the n-grams.
    lengths : LengthPairs
    kept : dict
        What was worked out from the table and may be asked for again (see `remembered`).
    """

    max_order: int
    tokenize: str
    lowercase: bool
    rows: Ints
    row_segment: Ints
    hyp_len: Ints
    reference_offsets: Ints
    reference_segment: Ints
    reference_len: Ints
    orders: tuple[OrderMatches, ...]
    lengths: LengthPairs
    kept: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    def remembered(self, key: Hashable, work: Callable[[], T]) -> T:
        """What ``work`` returned when it was last asked for under this key; the oldest of a few is forgotten."""
        if key not in self.kept:
            while len(self.kept) >= REMEMBERED:
                self.kept.pop(next(iter(self.kept)))
            self.kept[key] = work()
        found: T = self.kept[key]
        return found

    @property
    def n_systems(self) -> int:
        return int(self.rows.shape[0])

    @property
    def n_segments(self) -> int:
        return int(self.rows.shape[1])

    @property
    def n_references(self) -> int:
        return int(self.reference_segment.size)

    def references_per_segment(self) -> Ints:
        return np.diff(self.reference_offsets)


def build_match_table(
    systems: Sequence[Sequence[Text]],
    references: Sequence[Sequence[Text]],
    *,
    max_order: int = 4,
    tokenize: str = "none",
    lowercase: bool = False,
) -> MatchTable:
    """Tokenise, and find every n-gram that hypotheses share with references of the same segment.

    Parameters
    ----------
    systems : T sequences of S hypotheses
        One sequence per system.
    references : S sequences; the i-th holds R_i >= 0 references
    max_order : int, 1 to 4
    tokenize, lowercase
        See `metrics.scoring.texts.tokenize_texts`.

    Returns
    -------
    MatchTable

    Raises
    ------
    ValueError
        Unequal numbers of segments, a text of the wrong kind, an unknown tokeniser.

    Examples
    --------
    >>> table = build_match_table([["a a b"]], [["a c", "a a"]], max_order=2, tokenize="whitespace")
    >>> table.orders[0].reference.tolist(), table.orders[0].clipped.tolist()
    ([0, 1], [1.0, 2.0])
    >>> table.orders[1].reference.tolist()
    [1]
    """
    return match_table(Segments(systems, references), max_order=max_order, tokenize=tokenize, lowercase=lowercase)


def match_table(
    segments: Segments, *, max_order: int = 4, tokenize: str = "none", lowercase: bool = False
) -> MatchTable:
    """`build_match_table` of segments."""
    check_order(max_order)
    row_segment, offsets = segments.row_segment, segments.reference_offsets
    reference_segment = segments.reference_segment
    hypotheses = tokenize_texts(segments.row_texts, tokenize=tokenize, lowercase=lowercase, where=segments.row_name)
    reference_tokens = tokenize_texts(
        segments.reference_texts, tokenize=tokenize, lowercase=lowercase, where=segments.reference_name
    )

    vocabulary: defaultdict[str, int] = defaultdict()
    vocabulary.default_factory = vocabulary.__len__
    hyp_ids, hyp_len = _encode(hypotheses, lambda tokens: map(vocabulary.__getitem__, tokens))
    # -1: a token that no hypothesis holds, which can match nothing.
    ref_ids, reference_len = _encode(reference_tokens, lambda tokens: map(vocabulary.get, tokens, repeat(-1)))
    orders = _match_orders(
        _Positions(hyp_ids, hyp_len, row_segment),
        _Positions(ref_ids, reference_len, reference_segment),
        len(vocabulary),
        max_order,
    )
    lengths = _length_pairs(hyp_len, reference_len, offsets, row_segment)
    return MatchTable(
        max_order, tokenize, lowercase, segments.rows, row_segment, hyp_len,
        offsets, reference_segment, reference_len, orders, lengths,
    )  # fmt: skip


@dataclass(frozen=True)
class NgramPreparation(Preparation):
    """A `MatchTable`: one for all metrics with these tokens, up to the longest order that any of them needs."""

    tokenize: str
    lowercase: bool
    max_order: int

    def __call__(self, segments: Segments, models: ModelStore) -> MatchTable:
        return match_table(segments, max_order=self.max_order, tokenize=self.tokenize, lowercase=self.lowercase)

    def joined(self, other: Preparation) -> Preparation | None:
        if not isinstance(other, NgramPreparation) or (self.tokenize, self.lowercase) != (
            other.tokenize,
            other.lowercase,
        ):
            return None
        return replace(self, max_order=max(self.max_order, other.max_order))


class NgramMetric(Protocol):
    """What a metric on a `MatchTable` has."""

    @property
    def max_order(self) -> int: ...

    @property
    def tokenize(self) -> str: ...

    @property
    def lowercase(self) -> bool: ...


def checked_table(metric: NgramMetric, table: Any) -> MatchTable:
    """The table, which must hold what the metric's signature says."""
    if not isinstance(table, MatchTable):
        raise ValueError(f"prepared: found {type(table).__name__}; accepted: a MatchTable")
    for parameter in ("tokenize", "lowercase"):
        found, wanted = getattr(table, parameter), getattr(metric, parameter)
        if found != wanted:
            raise ValueError(f"table: found {parameter}={found!r}; accepted by this metric: {wanted!r}")
    if table.max_order < metric.max_order:
        raise ValueError(f"table: found max_order={table.max_order}; accepted: {metric.max_order} or more")
    return table


def reference_counts(table: MatchTable) -> str:
    """References per segment for a signature: the number, or the range where it varies."""
    counts = table.references_per_segment()
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low}-{high}"


def _encode(token_lists: Iterable[Tokens], number: Callable[[Iterable[str]], Iterable[int]]) -> tuple[Ints, Ints]:
    """Numbers of all tokens laid end to end, and the length of each text."""
    lengths: list[int] = []

    def measured() -> Iterator[Tokens]:
        for tokens in token_lists:
            lengths.append(len(tokens))
            yield tokens

    ids = np.fromiter(number(chain.from_iterable(measured())), dtype=np.int64)
    return ids, np.array(lengths, dtype=np.int64)


class _Positions:
    """Token positions of many texts laid end to end, narrowed to where an n-gram of the current order starts."""

    def __init__(self, ids: Ints, lengths: Ints, segments: Ints) -> None:
        self.ids = ids
        self.text = np.repeat(np.arange(lengths.size), lengths)
        self.segment = np.repeat(segments, lengths)
        self.remaining = np.repeat(np.cumsum(lengths), lengths) - np.arange(ids.size)
        self.at = np.flatnonzero(ids >= 0)

    def codes(self, order: int, previous: Ints, vocabulary_size: int) -> Ints:
        """One number per n-gram start: its (n-1)-gram's number (its segment for n = 1) and its last token.

        ``previous`` is aligned with ``self.at``, which is narrowed to the starts that leave room for ``order`` tokens.
        """
        return previous * vocabulary_size + self.ids[self.at + (order - 1)]

    def narrow(self, keep: NDArray[np.bool_] | Ints) -> None:
        self.at = self.at[keep]

    def with_room(self, order: int) -> NDArray[np.bool_]:
        return self.remaining[self.at] >= order


def _match_orders(hyp: _Positions, ref: _Positions, vocabulary_size: int, max_order: int) -> tuple[OrderMatches, ...]:
    """Number the n-grams of each segment, order by order.

    An n-gram of a reference can only match where its first n - 1 tokens matched, so the work shrinks with the order,
    and numbering (n-1)-gram and last token as a pair keeps the numbers exact and small: no hashing, no collisions.
    """
    tables = []
    hyp_previous, ref_previous = hyp.segment[hyp.at], ref.segment[ref.at]
    for order in range(1, max_order + 1):
        hyp_codes = hyp.codes(order, hyp_previous, vocabulary_size)
        known, hyp_grams = np.unique(hyp_codes, return_inverse=True)
        ref_codes = ref.codes(order, ref_previous, vocabulary_size)
        ref_grams, found = _look_up(known, ref_codes)
        ref.narrow(found)
        tables.append(_join(hyp.text[hyp.at], hyp_grams, ref.text[ref.at], ref_grams, known.size))

        hyp_keep, ref_keep = hyp.with_room(order + 1), ref.with_room(order + 1)
        hyp.narrow(hyp_keep)
        ref_keep[ref_keep] = ref.ids[ref.at[ref_keep] + order] >= 0
        ref.narrow(ref_keep)
        hyp_previous, ref_previous = hyp_grams[hyp_keep], ref_grams[ref_keep]
    return tuple(tables)


def _look_up(known: Ints, codes: Ints) -> tuple[Ints, Ints]:
    """Numbers of the codes that are known, and where they stand."""
    if known.size == 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    # Most codes are not known. A bit table of their low bits, small enough for the cache, drops nearly all of those
    # before the search proper, which then decides exactly.
    low_bits = (1 << int(16 * known.size).bit_length()) - 1
    possible = np.zeros(low_bits + 1, dtype=bool)
    possible[known & low_bits] = True
    candidates = np.flatnonzero(possible[codes & low_bits])
    codes = codes[candidates]
    place = np.searchsorted(known, codes)
    place[place == known.size] = 0
    exact = known[place] == codes
    return place[exact], candidates[exact]


def _count(left: Ints, right: Ints, radix: int) -> tuple[Ints, Ints, Ints]:
    """Distinct pairs in ascending order, and how often each occurs."""
    keys, counts = np.unique(left * radix + right, return_counts=True)
    first, second = np.divmod(keys, max(radix, 1))
    return first, second, counts


def _join(hyp_text: Ints, hyp_grams: Ints, ref_text: Ints, ref_grams: Ints, n_grams: int) -> OrderMatches:
    """Pair each (hypothesis, n-gram) with the references that hold the n-gram."""
    hypothesis, gram, hyp_count = _count(hyp_text, hyp_grams, n_grams)
    ref_gram, reference, ref_count = _count(ref_grams, ref_text, int(ref_text.max(initial=0)) + 1)
    holders = np.bincount(ref_gram, minlength=n_grams)
    first_holder = np.cumsum(holders) - holders

    matched = np.flatnonzero(holders[gram])
    hypothesis, gram, hyp_count = hypothesis[matched], gram[matched], hyp_count[matched]
    starts, rows = _ranges(first_holder[gram], holders[gram])
    clipped = np.minimum(np.repeat(hyp_count, holders[gram]), ref_count[rows])
    return OrderMatches(starts, hypothesis, reference[rows], clipped.astype(np.float64))


def _ranges(first: Ints, size: Ints) -> tuple[Ints, Ints]:
    """The ranges first[i] .. first[i] + size[i] laid end to end, and where each starts."""
    starts = np.cumsum(size) - size
    return starts, np.arange(int(size.sum())) + np.repeat(first - starts, size)


def _length_pairs(hyp_len: Ints, reference_len: Ints, offsets: Ints, row_segment: Ints) -> LengthPairs:
    size = np.diff(offsets)[row_segment]
    hypothesis = np.flatnonzero(size)
    size = size[hypothesis]
    starts, reference = _ranges(offsets[row_segment[hypothesis]], size)
    ref_len = reference_len[reference]
    radix = int(reference_len.max(initial=0)) + 1
    key = np.abs(np.repeat(hyp_len[hypothesis], size) - ref_len) * radix + ref_len
    return LengthPairs(starts, hypothesis, reference, key, radix)
