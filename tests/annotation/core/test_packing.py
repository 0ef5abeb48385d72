"""Arrays with words about them, there and back."""

import numpy as np
import pytest

from annotation.core.packing import packed, unpacked


def test_arrays_come_back_with_their_types_and_values():
    tree = {
        "weights": np.array([0.5, np.nan, -1.0]),
        "places": np.arange(6).reshape(2, 3),
        "flags": np.array([True, False]),
        "none": np.zeros(0, dtype=np.int64),
    }
    found = unpacked(packed(tree))
    for name, array in tree.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


def test_words_and_numbers_stand_where_they_stood():
    tree = {"a": [1, 2.5, None, True, "text"], "b": {"c": (3, np.float64(4.5), np.int64(6))}, "nan": float("nan")}
    found = unpacked(packed(tree))
    assert found["a"] == [1, 2.5, None, True, "text"]
    assert found["b"] == {"c": [3, 4.5, 6]}
    assert found["nan"] != found["nan"]


def test_nothing_is_something_to_pack():
    assert unpacked(packed(None)) is None


def test_objects_are_not_unpickled():
    with pytest.raises(ValueError, match="allow_pickle=False"):
        unpacked(packed({"bad": np.array([object()], dtype=object)}))
