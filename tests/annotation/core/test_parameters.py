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
def test_only_a_number_that_a_row_could_have_is_one(written: str, number: int | None) -> None:
    assert whole_number(RequestFactory().get("/", {"before": written}), "before") == number


def test_a_number_that_is_not_asked_for_is_none() -> None:
    assert whole_number(RequestFactory().get("/"), "before") is None
