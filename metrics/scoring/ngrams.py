"""Which hypothesis n-gram occurs in which reference: computed once, for any weights and subsets of references."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

import numpy as np

from metrics.scoring.arrays import Floats, Ints
from metrics.scoring.metric import Metric, Preparation
from metrics.scoring.models.store import ModelStore
from metrics.scoring.parameters import choice, flag, whole
from metrics.scoring.segments import Segments
from metrics.scoring.texts import TOKENIZERS, Text, check_order, tokenize_texts
from metrics.scoring.token_ids import number_tokens

T = TypeVar("T")

REMEMBERED = 12  # results that metrics share: statistics and lengths of subsets


@dataclass(frozen=True, eq=False)
class OrderMatches:
    """All matches of one n-gram order: references in C tiers, tiers in U cases, and G uses of cases by hypotheses.

    What references add for an n-gram of a segment depends on the hypothesis only by how often it occurs there.
    Hypotheses with equal counts therefore share a case: this n-gram, that count. Its references that clip the n-gram to
    the same count form a tier.

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
        Hypothesis row (see `MatchTable.rows`) that holds the n-gram, and its case.
    """

    reference: Ints
    tiers: Ints
    clipped: Floats
    cases: Ints
    hypothesis: Ints
    case: Ints


@dataclass(frozen=True, eq=False)
class LengthPairs:
    """All pairs of a hypothesis and a reference of its segment, grouped by hypothesis, with a key of closeness.

    ``key = |hypothesis length - reference length| * radix + reference length``: the smallest key of a group is the
    closest reference length, ties to the shorter. The radix is a power of two. Each group has its segment's references
    in their order.
    """

    starts: Ints
    hypothesis: Ints
    reference: Ints
    key: Ints
    radix: int


@dataclass(frozen=True, eq=False)
class MatchTable:
    """N-gram matches of T systems' hypotheses with the references of S segments; rows and references as in `Segments`.

    Attributes
    ----------
    max_order : int
        Largest n-gram order in the table.
    tokenize, lowercase : str, bool
        How the texts were tokenised.
    rows : (T, S) int
    row_segment : (H,) int
    hyp_len : (H,) int
        Tokens of each hypothesis row.
    reference_offsets : (S + 1,) int
    reference_segment : (R,) int
    reference_len : (R,) int
    orders : tuple of OrderMatches
        ``orders[n - 1]`` holds the n-grams.
    lengths : LengthPairs
    results : dict
        See `remembered`.
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
    results: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    def remembered(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return what ``compute`` returned last time for this key; the last `REMEMBERED` results stay."""
        if key not in self.results:
            while len(self.results) >= REMEMBERED:
                self.results.pop(next(iter(self.results)))
            self.results[key] = compute()
        result: T = self.results[key]
        return result

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
    """Tokenise texts, and find the n-grams that hypotheses share with references of the same segment.

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
    """Return `build_match_table` of segments."""
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
    # Tokens that are in no hypothesis match nothing and share one more number.
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
    """A `MatchTable` for all metrics with these tokens, up to the longest order that any of them needs."""

    tokenize: str
    lowercase: bool
    max_order: int

    def __call__(self, segments: Segments, models: ModelStore) -> MatchTable:
        return match_table(segments, max_order=self.max_order, tokenize=self.tokenize, lowercase=self.lowercase)

    def joined(self, other: Preparation) -> Preparation | None:
        if not isinstance(other, NgramPreparation) or replace(other, max_order=self.max_order) != self:
            return None
        return replace(self, max_order=max(self.max_order, other.max_order))

    def checked(self, table: Any) -> MatchTable:
        """Return the table, or raise an error if it is not one that this preparation makes."""
        if not isinstance(table, MatchTable):
            raise ValueError(f"prepared: found {type(table).__name__}; accepted: a MatchTable")
        for name in ("tokenize", "lowercase"):
            value, accepted = getattr(table, name), getattr(self, name)
            if value != accepted:
                raise ValueError(f"table: found {name}={value!r}; accepted by this metric: {accepted!r}")
        if table.max_order < self.max_order:
            raise ValueError(f"table: found max_order={table.max_order}; accepted: {self.max_order} or more")
        return table


@dataclass(frozen=True)
class NgramMetric(Metric):
    """A metric of BLEU's family: it reads a `MatchTable`."""

    is_bleu: ClassVar[bool] = True
    together: ClassVar[str] = "an n-gram may match in any of them"
    #: Papineni et al. (2002), section 2.3: N = 4 "for the baseline".
    usual: ClassVar[Mapping[str, Any]] = MappingProxyType({"max_order": 4})

    max_order: int = whole(2, low=1, high=4, label="Longest n-gram", key="order")
    tokenize: str = choice("none", TOKENIZERS, label="Tokeniser", key="tok")
    lowercase: bool = flag(False, label="Lowercase first", key="lc")

    def preparation(self) -> NgramPreparation:
        return NgramPreparation(self.tokenize, self.lowercase, self.max_order)


def reference_counts(table: MatchTable) -> str:
    """Return the references per segment for a signature: the number, or the range if it varies."""
    counts = table.references_per_segment()
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low}-{high}"


class _Starts:
    """Where n-grams start in texts laid end to end: anywhere at first, then only where a shorter n-gram matched."""

    def __init__(self, ids: Ints, lengths: Ints, segments: Ints) -> None:
        self.ids = ids
        self.ends = np.cumsum(lengths)
        self.at = np.arange(ids.size)
        self.text = np.repeat(np.arange(lengths.size), lengths)
        self.gram = np.repeat(segments, lengths)  # of length 0: one for each segment

    def codes(self, order: int, radix: int) -> Ints:
        """Return a number per start, made of that of its (n-1)-gram and the last token."""
        return self.gram * radix + self.ids[order - 1 :][self.at]

    def keep(self, indices: Ints) -> None:
        self.at, self.text, self.gram = self.at[indices], self.text[indices], self.gram[indices]

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
        gram = np.searchsorted(known, ref_codes)
        exact = np.flatnonzero(known.take(gram, mode="clip") == ref_codes)
        ref.keep(ref_kept[exact])
        ref.gram = gram[exact]
        shared = np.zeros(known.size, dtype=bool)
        shared[ref.gram] = True
        hyp.keep(np.flatnonzero(shared[hyp.gram]))
        tables.append(_join(hyp, ref, known.size))
    return tuple(tables)


def _perhaps_shared(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """Return the indices of codes whose low bits are on both sides, which leaves out nearly all that are on one side.

    A bit table of the low bits fits into the cache; the caller decides exactly about the codes that stay.
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
    """Return the distinct pairs of n-gram and text, ascending, and how often each occurs."""
    keys, counts = np.unique(grams * radix + texts, return_counts=True)
    gram, text = np.divmod(keys, radix)
    return gram, text, counts


def _join(hyp: _Starts, ref: _Starts, n_grams: int) -> OrderMatches:
    """Return the cases, tiers and uses of n-grams that are all on both sides."""
    gram, hypothesis, count = _count(hyp.gram, hyp.text, max(hyp.ends.size, 1))
    ref_gram, reference, held = _count(ref.gram, ref.text, max(ref.ends.size, 1))
    # Rarest first: references that clip to the same count are then neighbours.
    rarest_first = np.argsort(ref_gram * (held.max(initial=0) + 1) + held, kind="stable")
    reference, held = reference[rarest_first], held[rarest_first]
    holders = np.bincount(ref_gram, minlength=n_grams)

    radix = int(count.max(initial=0)) + 1
    keys, case = np.unique(gram * radix + count, return_inverse=True)
    case_gram, case_count = np.divmod(keys, radix)
    starts, rows = ranges((np.cumsum(holders) - holders)[case_gram], holders[case_gram])
    clipped = np.minimum(np.repeat(case_count, holders[case_gram]), held[rows])
    begins = np.ones(rows.size, dtype=bool)
    np.not_equal(clipped[1:], clipped[:-1], out=begins[1:])
    begins[starts] = True
    tiers = np.flatnonzero(begins)
    cases = np.searchsorted(tiers, starts)
    return OrderMatches(reference[rows], tiers, clipped[tiers].astype(np.float64), cases, hypothesis, case)


def ranges(first: Ints, size: Ints) -> tuple[Ints, Ints]:
    """Return the starts of the ranges first[i] .. first[i] + size[i] laid end to end, and all their members."""
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
