"""Texts to score: hypotheses of systems, references, sources."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from metrics.scoring.arrays import Ints
from metrics.scoring.pairs import Pairs, make_pairs
from metrics.scoring.texts import Text, check_corpus


@dataclass(frozen=True, eq=False)
class Segments:
    """T systems' hypotheses of S segments, and their references.

    Equal hypotheses of a segment share one of H <= T * S rows. The R references are numbered in the given order: those
    of segment s are ``reference_offsets[s]:reference_offsets[s + 1]``.

    Parameters
    ----------
    systems : T sequences of S hypotheses
        Strings, or token sequences.
    references : S sequences; the i-th holds R_i >= 0 references
    sources : S texts, optional
        What the hypotheses answer or rephrase.
    prompts : S strings, optional
        All that a system was given: the meaning representation, or the turns of a conversation, one a line, the last
        of which is answered.

    Raises
    ------
    ValueError
        Unequal numbers of segments, or a string instead of a sequence of strings.

    Examples
    --------
    >>> segments = Segments([["a", "b"], ["a", "c"]], [["x", "y"], ["z"]])
    >>> segments.rows.tolist(), segments.row_texts, segments.reference_segment.tolist()
    ([[0, 1], [0, 2]], ['a', 'b', 'c'], [0, 0, 1])
    """

    systems: Sequence[Sequence[Text]]
    references: Sequence[Sequence[Text]]
    sources: Sequence[Text] | None = None
    prompts: Sequence[str] | None = None

    def __post_init__(self) -> None:
        check_corpus(self.systems, self.references)
        for name, texts in (("sources", self.sources), ("prompts", self.prompts)):
            if texts is not None and len(texts) != len(self.references):
                raise ValueError(f"{name}: found {len(texts)}; accepted: {len(self.references)}, one per segment")

    @property
    def n_systems(self) -> int:
        return len(self.systems)

    @property
    def n_segments(self) -> int:
        return len(self.references)

    @property
    def n_references(self) -> int:
        return int(self.reference_offsets[-1])

    @property
    def rows(self) -> Ints:
        """Return the hypothesis row (T, S) of each system's hypothesis."""
        return self._distinct[0]

    @property
    def row_segment(self) -> Ints:
        """Return the segment (H,) of each hypothesis row, ascending."""
        return self._distinct[1]

    @property
    def row_texts(self) -> list[Text]:
        """Return the H distinct hypotheses."""
        return self._distinct[2]

    @cached_property
    def reference_texts(self) -> list[Text]:
        """Return the R references."""
        return list(chain.from_iterable(self.references))

    @cached_property
    def reference_offsets(self) -> Ints:
        """Return (S + 1,) where the references of each segment start and end."""
        counts = np.fromiter(map(len, self.references), dtype=np.int64, count=self.n_segments)
        return np.concatenate(([0], np.cumsum(counts)))

    @cached_property
    def reference_segment(self) -> Ints:
        """Return the segment (R,) of each reference."""
        return np.repeat(np.arange(self.n_segments), np.diff(self.reference_offsets))

    @cached_property
    def pairs(self) -> Pairs:
        return make_pairs(self.row_segment, self.reference_offsets)

    def row_name(self, row: int) -> str:
        """Name a hypothesis in an error message."""
        return f"hypotheses[{self.row_segment[row]}]"

    def reference_name(self, index: int) -> str:
        """Name a reference in an error message."""
        segment = self.reference_segment[index]
        return f"references[{segment}][{index - self.reference_offsets[segment]}]"

    @cached_property
    def _distinct(self) -> tuple[Ints, Ints, list[Text]]:
        n_systems, n_segments = self.n_systems, self.n_segments
        if n_systems == 1:
            segments = np.arange(n_segments)
            return segments[None, :], segments, list(self.systems[0])
        rows = np.empty((n_systems, n_segments), dtype=np.int64)
        texts: list[Text] = []
        row_segment: list[int] = []
        for segment, alternatives in enumerate(zip(*self.systems, strict=True)):
            row_of: dict[Hashable, int] = {}
            for system, text in enumerate(alternatives):
                key = tuple(text) if isinstance(text, list) else text
                row = row_of.setdefault(key, len(texts))
                if row == len(texts):
                    texts.append(text)
                    row_segment.append(segment)
                rows[system, segment] = row
        return rows, np.array(row_segment, dtype=np.int64), texts
