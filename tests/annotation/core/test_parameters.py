import pytest
from django.test import RequestFactory

from annotation.core.parameters import whole_number


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("7", 7),
        ("0", 0),
        ("9" * 18, 10**18 - 1),
        ("9" * 19, None),
        ("9" * 4500, None),
        ("-1", None),
        ("²", None),
        ("", None),
    ],
)
def test_only_possible_primary_keys_are_accepted(written: str, number: int | None) -> None:
    assert whole_number(RequestFactory().get("/", {"before": written}), "before") == number


def test_a_missing_parameter_is_none() -> None:
    assert whole_number(RequestFactory().get("/"), "before") is None
