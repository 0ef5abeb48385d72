import numpy as np
import pytest

from metrics.subsets import Subset

WEIGHTS = np.array([-0.8, 0.0, 0.1 + 0.2, 0.6, 1.0])
ORIGINAL = np.array([False, True, False, False, False])


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("all", [True] * 5),
        ("original", [False, True, False, False, False]),
        ("single", [False, True, False, False, False]),
        ("w>0", [False, False, True, True, True]),
        ("w>=0", [False, True, True, True, True]),
        ("w >= 0.3", [False, False, True, True, True]),
        ("w>0.3", [False, False, False, True, True]),
        ("w≥0.6", [False, False, False, True, True]),
        ("W>=-1", [True] * 5),
    ],
)
def test_what_people_write_keeps_those_references(written: str, kept: list[bool]) -> None:
    assert Subset.parse(written).mask(WEIGHTS, ORIGINAL).tolist() == kept


@pytest.mark.parametrize("written", ["all", "original", "w>0", "w>=0.6", "w>=-0.5"])
def test_a_subset_is_what_it_writes(written: str) -> None:
    subset = Subset.parse(written, items="positive")

    assert Subset.parse(str(subset), items="positive") == subset
    assert Subset.from_mapping(subset.as_dict()) == subset


@pytest.mark.parametrize("written", ["", "best", "w<0", "w>", "w>1.5", "w==1"])
def test_anything_else_is_refused_with_what_is_accepted(written: str) -> None:
    with pytest.raises(ValueError, match="accepted"):
        Subset.parse(written)
