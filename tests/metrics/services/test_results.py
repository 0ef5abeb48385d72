import numpy as np
import pytest

from metrics.services.results import NAMED_ITEMS, blocks, joined_report

REPORT = {"items": 2, "items_scored": 1, "items_partly": 1, "references": 3, "references_in_release": 4}


@pytest.mark.parametrize("cuts", [[], [1], [4], [5, 10], [3, 3, 7], [0, 12]])
def test_blocks_are_the_same_wherever_the_parts_were_cut(cuts: list[int]) -> None:
    packed = np.arange(2 * 12 * 3.0).reshape(2, 12, 3)

    regrouped = list(blocks(np.split(packed, cuts, axis=1), size=5))

    assert [block.shape for block in regrouped] == [(2, 5, 3), (2, 5, 3), (2, 2, 3)]
    np.testing.assert_array_equal(np.concatenate(regrouped, axis=1), packed)


def test_counts_of_shards_add_up_and_the_first_items_are_named() -> None:
    names = [str(number) for number in range(NAMED_ITEMS)]
    shards = [
        REPORT | {"dropped": {"no output": ["a"]}, "aggregate": {"kind": "mean"}},
        REPORT | {"dropped": {"no output": names, "no reference": ["b"]}},
    ]

    report = joined_report(shards)

    assert report["dropped"] == [
        {"reason": "no output", "count": NAMED_ITEMS + 1, "items": ["a", *names[:-1]]},
        {"reason": "no reference", "count": 1, "items": ["b"]},
    ]
    assert (report["items"], report["references"], report["aggregate"]) == (4, 6, {"kind": "mean"})
    assert report["items_partly"] == 2
