"""What a signature says of a parameter can be read back: no two values are written alike."""

import pytest

from metrics.scoring.parameters import Parameter
from metrics.scoring.registry import METRICS, get_metric


@pytest.mark.parametrize(("first", "second"), [(1.2, 1.2000001), (1 / 3, 0.333333), (1e-7, 1.0000001e-7)])
def test_numbers_that_differ_are_written_differently(first: float, second: float) -> None:
    assert get_metric("rouge_l", beta=first).signature() != get_metric("rouge_l", beta=second).signature()


@pytest.mark.parametrize(
    ("value", "written"), [(1.2, "1.2"), (2, "2"), (2.0, "2"), (0.1234567, "0.1234567"), (1e300, "1e+300")]
)
def test_a_number_is_written_as_short_as_it_can_be(value: float, written: str) -> None:
    assert Parameter("beta", "beta", "Weight", "real", 1.0).written(value) == written


@pytest.mark.parametrize("kind", ["text", "model"])
def test_a_text_cannot_pass_for_another_parameter(kind: str) -> None:
    parameter = Parameter("name", "name", "Name", kind, "", choices=("lsa",))

    assert parameter.written("a|refs:all\nb") == "a%7Crefs:all%0Ab"
    assert parameter.written("a%7Cb") != parameter.written("a|b")


def test_choices_that_are_hard_to_guess_are_explained() -> None:
    opaque = {"combine", "form", "over", "over_references", "references", "semantics", "variant"}
    silent = [
        f"{name}: {parameter.name}"
        for name, metric in METRICS.items()
        for parameter in metric.parameter_list()
        if parameter.name in opaque and not parameter.hint
    ]
    assert silent == []
