"""Tokens as numbers; those that no training text has are 0, as padding is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from metrics.scoring.arrays import Ints
from metrics.scoring.qe.inputs import Example, Words

UNKNOWN = 0


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Sorted tokens of sources and of outputs; of shared encoders both are the same."""

    sources: Sequence[str]
    outputs: Sequence[str]

    @classmethod
    def of(cls, examples: Iterable[Example], *, shared: bool) -> Vocabulary:
        """Return all tokens of the examples."""
        sources: set[str] = set()
        outputs: set[str] = set()
        for example in examples:
            sources.update(example.source)
            outputs.update(example.output)
        if shared:
            sources = outputs = sources | outputs
        return cls(sorted(sources), sorted(outputs))

    def source_ids(self, words: Words) -> Ints:
        return _ids(self._source_numbers, words)

    def output_ids(self, words: Words) -> Ints:
        return _ids(self._output_numbers, words)

    @cached_property
    def _source_numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.sources, start=1)}

    @cached_property
    def _output_numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.outputs, start=1)}


def _ids(numbers: dict[str, int], words: Words) -> Ints:
    # A text without tokens is one unknown token, so that every text has a state.
    return np.array([numbers.get(word, UNKNOWN) for word in words] or [UNKNOWN], dtype=np.int64)
