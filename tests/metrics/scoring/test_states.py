from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
import pytest

from metrics.scoring.cider import DocumentFrequencies
from metrics.scoring.metric import CorpusState
from metrics.scoring.states import state_from_bytes, state_to_bytes


def test_arrays_come_back_as_they_were() -> None:
    state = DocumentFrequencies(np.array([3, 2**63 + 1], dtype=np.uint64), np.array([1, 7]), 12)

    restored = state_from_bytes(state_to_bytes(state))

    assert isinstance(restored, DocumentFrequencies)
    assert restored.keys.dtype == np.uint64
    assert (restored.keys.tolist(), restored.counts.tolist(), restored.n_documents) == ([3, 2**63 + 1], [1, 7], 12)


def test_a_field_that_is_neither_array_nor_number_is_named() -> None:
    @dataclass(frozen=True)
    class Odd(CorpusState):
        seen: object

        def joined(self, other: Any) -> CorpusState:
            return self

    with pytest.raises(ValueError, match=r"seen: found \{1\}; accepted: an array, a number"):
        state_to_bytes(Odd({1}))


def test_what_is_no_dataclass_is_refused() -> None:
    class Plain(CorpusState):
        def joined(self, other: Any) -> CorpusState:
            return self

    with pytest.raises(ValueError, match="state: found Plain; accepted: a dataclass"):
        state_to_bytes(Plain())


def test_a_state_of_a_class_that_is_not_here_is_refused() -> None:
    content = BytesIO()
    np.savez(content, told=np.frombuffer(b'{"kind": "elsewhere.State", "rest": {}}', dtype=np.uint8))

    with pytest.raises(ValueError, match=r"state: found one of elsewhere\.State; accepted: .*DocumentFrequencies"):
        state_from_bytes(content.getvalue())
