import numpy as np
import pytest

from metrics.subsets import Subset

WEIGHTS = np.array([-0.8, 0.0, 0.1 + 0.2, 0.6, 1.0])
ORIGINAL = np.array([False, True, False, False, False])


@pytest.mark.parametrize(
    ("written", "mask"),
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
def test_a_written_subset_keeps_exactly_these_references(written: str, mask: list[bool]) -> None:
    assert Subset.parse(written).mask(WEIGHTS, ORIGINAL).tolist() == mask


@pytest.mark.parametrize("written", ["all", "original", "w>0", "w>=0.6", "w>=-0.5"])
def test_a_subset_is_what_it_writes(written: str) -> None:
    subset = Subset.parse(written, items="positive")

    assert Subset.parse(str(subset), items="positive") == subset
    assert Subset.from_mapping(subset.as_dict()) == subset


@pytest.mark.parametrize("written", ["", "best", "w<0", "w>", "w>1.5", "w==1"])
def test_anything_else_is_refused_with_what_is_accepted(written: str) -> None:
    with pytest.raises(ValueError, match="accepted"):
        Subset.parse(written)


def test_thresholds_are_compared_and_written_to_nine_decimals_however_computed() -> None:
    subset = Subset("threshold", ">=", 0.1 + 0.2)

    assert subset.mask(np.array([0.3, 0.299999]), np.zeros(2, dtype=bool)).tolist() == [True, False]
    assert Subset("threshold", ">", 0.1 * 3).mask(np.array([0.3]), np.zeros(1, dtype=bool)).tolist() == [False]
    assert str(subset) == "w>=0.3"


@pytest.mark.parametrize("value", [0.1234561, 0.1234562, 1e-6, -0.0, -1, 0.000000001])
def test_what_is_written_names_no_other_threshold(value: float) -> None:
    assert Subset.parse(str(Subset("threshold", ">=", value))).value == value
