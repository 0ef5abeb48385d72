"""How pages write the values of a design."""

from decimal import Decimal

import pytest

from annotation.templatetags.designs import design_value, plainly


@pytest.mark.parametrize(("number", "written"), [("0.1200", "0.12"), ("20.00", "20"), ("0.00", "0"), ("33.3", "33.3")])
def test_an_amount_is_written_without_trailing_zeros(number: str, written: str) -> None:
    assert plainly(Decimal(number)) == written


def test_objects_in_a_list_are_written_field_by_field_and_escaped() -> None:
    assert design_value([{"text": "<b>", "expected": {"relevance": [4, 5]}, "feedback": ""}]) == (
        '<div class="design-one"><span class="muted">text:</span> <span class="design-text">&lt;b&gt;</span><br>'
        '<span class="muted">expected:</span> <span class="muted">relevance:</span> 4, 5</div>'
    )
