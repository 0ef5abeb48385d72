"""Trees of arrays and values survive packing and unpacking."""

import numpy as np
import pytest

from annotation.core.packing import packed, unpacked


def test_arrays_keep_their_types_and_values():
    tree = {
        "weights": np.array([0.5, np.nan, -1.0]),
        "places": np.arange(6).reshape(2, 3),
        "flags": np.array([True, False]),
        "none": np.zeros(0, dtype=np.int64),
    }
    restored = unpacked(packed(tree))
    for name, array in tree.items():
        assert restored[name].dtype == array.dtype
        np.testing.assert_array_equal(restored[name], array)


def test_texts_and_numbers_keep_their_positions():
    tree = {"a": [1, 2.5, None, True, "text"], "b": {"c": (3, np.float64(4.5), np.int64(6))}, "nan": float("nan")}
    restored = unpacked(packed(tree))
    assert restored["a"] == [1, 2.5, None, True, "text"]
    assert restored["b"] == {"c": [3, 4.5, 6]}
    assert restored["nan"] != restored["nan"]


def test_none_can_be_packed():
    assert unpacked(packed(None)) is None


def test_objects_are_not_unpickled():
    with pytest.raises(ValueError, match="allow_pickle=False"):
        unpacked(packed({"bad": np.array([object()], dtype=object)}))
