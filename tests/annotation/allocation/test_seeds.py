import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.allocation.seeds import derive_seed, permutation


def test_a_seed_is_the_start_of_the_sha256_of_its_path():
    # Stored seeds must keep their meaning, so the test repeats the definition.
    digest = hashlib.sha256(b'[7, "unit", 12]').hexdigest()
    assert derive_seed(7, "unit", 12) == int(digest[:16], 16) % 2**63


def test_different_paths_give_different_seeds():
    paths = [("a", "b"), ("ab",), ("a",), (1,), ("1",), (), ("b", "a"), (1, "a")]
    assert len({derive_seed(3, *path) for path in paths} | {derive_seed(4)}) == len(paths) + 1


@given(st.integers(), st.lists(st.integers() | st.text(), max_size=3))
def test_a_seed_fits_a_bigint(root, labels):
    assert 0 <= derive_seed(root, *labels) < 2**63


@given(st.integers(), st.integers(0, 30))
def test_a_permutation_holds_every_index_once(seed, size):
    assert sorted(permutation(seed, size)) == list(range(size))


def test_permutations_of_three_all_occur():
    assert len({permutation(seed, 3) for seed in range(60)}) == 6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: derive_seed("x"), "root is 'x'; accepted: a whole number"),
        (lambda: derive_seed(1, 2.5), "label 1 is 2.5; accepted: a whole number or text"),
        (lambda: derive_seed(True), "root is True"),
        (lambda: permutation(1, -1), "size is -1"),
    ],
)
def test_other_types_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
