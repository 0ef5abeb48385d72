"""Results are serialised and parsed strictly."""

import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest

from correlations.results.codec import Result, ResultError, spread_by_short


@dataclass(frozen=True)
class Part:
    name: str
    share: float | None
    spread: float | None = None  # was added later


@dataclass(frozen=True)
class Example(Result):
    VERSION: ClassVar[int] = 3

    parts: tuple[Part, ...]
    ends: tuple[float, float] | None
    values: dict[str, float | None] = field(metadata=spread_by_short("first_"))
    counts: dict[str, int]
    negated: bool
    value: Any


EXAMPLE = Example((Part("a", 0.5), Part("b", None)), (0.1, 1), {"spearman": 0.4}, {"why": 2}, False, ["as", "it", "is"])
WRITTEN = {
    "version": 3,
    "parts": [{"name": "a", "share": 0.5, "spread": None}, {"name": "b", "share": None, "spread": None}],
    "ends": [0.1, 1],
    "first_rho": 0.4,
    "counts": {"why": 2},
    "negated": False,
    "value": ["as", "it", "is"],
}


def test_a_result_survives_serialisation_as_json() -> None:
    assert EXAMPLE.to_json() == WRITTEN
    read = Example.from_json(WRITTEN)
    assert read.to_json() == WRITTEN
    assert (read.parts, read.ends, read.values) == (EXAMPLE.parts, EXAMPLE.ends, EXAMPLE.values)


def test_a_field_with_a_default_may_be_missing_from_an_earlier_result() -> None:
    earlier = copy.deepcopy(WRITTEN)
    del earlier["parts"][0]["spread"]
    assert Example.from_json(earlier) == Example.from_json(WRITTEN)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.pop("counts"), "result: the key 'counts' is missing"),
        (lambda data: data["parts"][1].pop("name"), r"result\.parts\[1\]: the key 'name' is missing"),
        (lambda data: data.update(colour=1), "result: found the key 'colour'; accepted: counts, ends"),
        (lambda data: data["parts"][0].update(size=1), r"result\.parts\[0\]: found the key 'size'"),
        (lambda data: data.update(version=2), "found version 2; accepted: 3"),
        (lambda data: data.pop("version"), "found version None; accepted: 3"),
        (lambda data: data.update(negated=1), r"result\.negated: found '1'; accepted: bool"),
        (lambda data: data.update(ends=[1]), r"result\.ends: found '\[1\]'; accepted: a list of 2"),
        (lambda data: data.update(parts={}), r"result\.parts: found '{}'; accepted: a list"),
        (lambda data: data["counts"].update(why=True), r"result\.counts\.why: found 'True'; accepted: int"),
        (lambda data: data.update(first_rho="high"), r"result\.first_rho: found 'high'"),
    ],
)
def test_data_of_another_shape_is_refused_with_the_key(change: Any, message: str) -> None:
    data = copy.deepcopy(WRITTEN)
    change(data)
    with pytest.raises(ResultError, match=message):
        Example.from_json(data)
