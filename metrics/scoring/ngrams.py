"""Which hypothesis n-gram occurs in which reference: worked out once, shared by everything that scores.

A `MatchTable` holds no weights and no choice of references. BLEU, sentence BLEU and ΔBLEU in both semantics, for any
subset of the references and any order up to the table's, are array arithmetic on it (see `metrics.scoring.statistics`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from metrics.scoring.metric import Preparation
from metrics.scoring.models.store import ModelStore
from metrics.scoring.segments import Segments
from metrics.scoring.texts import Text, check_order, tokenize_texts
from metrics.scoring.token_ids import number_tokens

Ints = NDArray[np.int64]
T = TypeVar("T")

REMEMBERED = 12  # statistics and lengths of subsets: those of a table's rows that metrics share


@dataclass(frozen=True, eq=False)
class OrderMatches:
    """All matches of one n-gram order: references in C tiers, tiers in U cases, and G uses of cases by hypotheses.

    What references give for an n-gram of a segment depends on the hypothesis only by how often it says it. Hypotheses
    that say it equally often therefore share a case: this n-gram, said that often. Of its references those that clip it
    to the same count form a tier.

    Attributes
    ----------
    reference : (M,) int
        Flat index of a reference that holds the n-gram, tier after tier.
    tiers : (C,) int
        Where each tier starts in ``reference``.
    clipped : (C,) float
        min(count in the hypothesis, count in each reference of the tier), at least 1, whole; ascending within a case.
    cases : (U,) int
        First tier of each case.
    hypothesis, case : (G,) int
        Hypothesis row (see `MatchTable.rows`) that says the n-gram, and the case that this is.
    """

    reference: Ints
    tiers: Ints
    clipped: NDArray[np.float64]
    cases: Ints
    hypothesis: Ints
    case: Ints


@dataclass(frozen=True, eq=False)
class LengthPairs:
    """Every (hypothesis, reference) pair of a segment, grouped by hypothesis, with a key that orders by closeness.

    ``key = |hypothesis length - reference length| * radix + reference length``: the smallest key of a group is the
    closest reference length, ties to the shorter. The radix is a power of two. Each hypothesis has its segment's
    references in their order.
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
    hyp_ids, hyp_len = number_tokens(hypotheses, lambda tokens: map(vocabulary.__getitem__, tokens))
    # Tokens that no hypothesis holds can match nothing and share one more number.
    unknown = len(vocabulary)
    ref_ids, reference_len = number_tokens(
        reference_tokens, lambda tokens: map(vocabulary.get, tokens, repeat(unknown))
    )
    orders = _match_orders(
        _Starts(hyp_ids, hyp_len, row_segment),
        _Starts(ref_ids, reference_len, reference_segment),
        unknown + 1,
        max_order,
    )
    lengths = _length_pairs(hyp_len, reference_len, offsets, row_segment)
    return MatchTable(
        max_order,
        tokenize,
        lowercase,
        segments.rows,
        row_segment,
        hyp_len,
        offsets,
        reference_segment,
        reference_len,
        orders,
        lengths,
    )


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


class _Starts:
    """Where n-grams start in texts laid end to end: anywhere at first, then only where a shorter one matched."""

    def __init__(self, ids: Ints, lengths: Ints, segments: Ints) -> None:
        self.ids = ids
        self.ends = np.cumsum(lengths)
        self.at = np.arange(ids.size)
        self.text = np.repeat(np.arange(lengths.size), lengths)
        self.gram = np.repeat(segments, lengths)  # of length 0: one for each segment

    def codes(self, order: int, radix: int) -> Ints:
        """One number per start: that of the (n-1)-gram before, and the last token."""
        return self.gram * radix + self.ids[order - 1 :][self.at]

    def keep(self, places: Ints) -> None:
        self.at, self.text, self.gram = self.at[places], self.text[places], self.gram[places]

    def lengthen(self, order: int) -> None:
        """Keep the starts that leave room for ``order`` tokens."""
        self.keep(np.flatnonzero(self.at + order <= self.ends[self.text]))


def _match_orders(hyp: _Starts, ref: _Starts, radix: int, max_order: int) -> tuple[OrderMatches, ...]:
    """Number the n-grams of each segment, order by order.

    An n-gram can only match where its first n - 1 tokens matched, so the work shrinks with the order, and numbering
    (n-1)-gram and last token as a pair keeps the numbers exact and small: no hashing, no collisions.
    """
    tables = []
    for order in range(1, max_order + 1):
        if order > 1:
            hyp.lengthen(order)
            ref.lengthen(order)
        hyp_codes, ref_codes = hyp.codes(order, radix), ref.codes(order, radix)
        hyp_kept, ref_kept = _perhaps_shared(hyp_codes, ref_codes)
        hyp.keep(hyp_kept)
        known, hyp.gram = np.unique(hyp_codes[hyp_kept], return_inverse=True)
        ref_codes = ref_codes[ref_kept]
        place = np.searchsorted(known, ref_codes)
        exact = np.flatnonzero(known.take(place, mode="clip") == ref_codes)
        ref.keep(ref_kept[exact])
        ref.gram = place[exact]
        shared = np.zeros(known.size, dtype=bool)
        shared[ref.gram] = True
        hyp.keep(np.flatnonzero(shared[hyp.gram]))
        tables.append(_join(hyp, ref, known.size))
    return tuple(tables)


def _perhaps_shared(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """Where codes stand whose low bits are on both sides: nearly all that are on one side only are left out.

    A bit table of the low bits is small enough for the cache, and what follows decides exactly about the few that stay.
    """
    low_bits = (1 << int(8 * left.size).bit_length()) - 1
    left_bits, right_bits = left & low_bits, right & low_bits
    held = np.zeros(low_bits + 1, dtype=bool)
    held[left_bits] = True
    right_kept = np.flatnonzero(held[right_bits])
    held[:] = False
    held[right_bits[right_kept]] = True
    return np.flatnonzero(held[left_bits]), right_kept


def _count(grams: Ints, texts: Ints, radix: int) -> tuple[Ints, Ints, Ints]:
    """Distinct pairs of n-gram and text in ascending order, and how often each occurs."""
    keys, counts = np.unique(grams * radix + texts, return_counts=True)
    gram, text = np.divmod(keys, radix)
    return gram, text, counts


def _join(hyp: _Starts, ref: _Starts, n_grams: int) -> OrderMatches:
    """Cases, tiers and uses of n-grams that are all on both sides."""
    gram, hypothesis, said = _count(hyp.gram, hyp.text, max(hyp.ends.size, 1))
    ref_gram, reference, held = _count(ref.gram, ref.text, max(ref.ends.size, 1))
    # Rarest first, so that references that clip to the same count stand side by side.
    rarest_first = np.argsort(ref_gram * (held.max(initial=0) + 1) + held, kind="stable")
    reference, held = reference[rarest_first], held[rarest_first]
    holders = np.bincount(ref_gram, minlength=n_grams)

    radix = int(said.max(initial=0)) + 1
    keys, case = np.unique(gram * radix + said, return_inverse=True)
    case_gram, case_said = np.divmod(keys, radix)
    starts, rows = ranges((np.cumsum(holders) - holders)[case_gram], holders[case_gram])
    clipped = np.minimum(np.repeat(case_said, holders[case_gram]), held[rows])
    begins = np.ones(rows.size, dtype=bool)
    np.not_equal(clipped[1:], clipped[:-1], out=begins[1:])
    begins[starts] = True
    tiers = np.flatnonzero(begins)
    cases = np.searchsorted(tiers, starts)
    return OrderMatches(reference[rows], tiers, clipped[tiers].astype(np.float64), cases, hypothesis, case)


def ranges(first: Ints, size: Ints) -> tuple[Ints, Ints]:
    """The ranges first[i] .. first[i] + size[i] laid end to end, and where each starts."""
    starts = np.cumsum(size) - size
    return starts, np.arange(int(size.sum())) + np.repeat(first - starts, size)


def _length_pairs(hyp_len: Ints, reference_len: Ints, offsets: Ints, row_segment: Ints) -> LengthPairs:
    size = np.diff(offsets)[row_segment]
    hypothesis = np.flatnonzero(size)
    size = size[hypothesis]
    starts, reference = ranges(offsets[row_segment[hypothesis]], size)
    ref_len = reference_len[reference]
    radix = 1 << int(reference_len.max(initial=0)).bit_length()
    key = np.abs(np.repeat(hyp_len[hypothesis], size) - ref_len) * radix + ref_len
    return LengthPairs(starts, hypothesis, reference, key, radix)
