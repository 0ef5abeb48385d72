"""Reading the file of an exported campaign: every mistake in it is named."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.campaigns.design.files import read_campaign_file
from annotation.campaigns.design.reading import DesignError

VALID: dict[str, Any] = {
    "assay_campaign": 1,
    "name": "Replies",
    "target": "outputs",
    "presentation": "single",
    "criteria": [{"name": "relevance", "question": "How relevant?"}],
    "ratings_per_unit": 5,
}
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"assay_campaign": 2}, "assay_campaign"),
        ({"assay_campaign": True}, "assay_campaign"),
        ({"name": 5}, "name"),
        ({"name": "a\x00b"}, "name"),
        ({"colour": "red"}, "colour"),
        ({"systems": ["A", 1]}, "systems"),
        ({"pairs": [["A"]]}, "pairs"),
        ({"ratings_per_unit": True}, "ratings_per_unit"),
        ({"ratings_per_unit": 2.5}, "ratings_per_unit"),
        ({"item_limit": "10"}, "item_limit"),
        ({"payment": []}, "payment"),
        ({"payment": {"per_unit": 0.1}}, "payment.per_unit"),
        ({"criteria": {}}, "criteria"),
        ({"criteria": [{"name": "x"}]}, "criteria.0.question"),
        ({"criteria": [{"name": "x", "question": "?", "ties": 1}]}, "criteria.0.ties"),
        ({"rules": [1]}, "rules"),
        ({"quality": []}, "quality"),
        ({"name": "a\ud800b"}, "name"),
        ({"systems": ["A", "\udfff"]}, "systems"),
        ({"col\ud800r": "red"}, r"col\ud800r"),
        ({"quality": {"\ud800": 1}}, r"quality.\ud800"),
        ({"quality": {"mix": ["a", "\x00"]}}, "quality.mix.1"),
        ({"rules": [{"rule": "\udc00"}]}, "rules.0.rule"),
        ({"payment": {"\ud800": "1"}}, r"payment.\ud800"),
        ({"response_list": {"name": "L", "responses": [["i1", "\ud800"]]}}, "response_list.responses"),
    ],
)
def test_a_wrong_field_is_named(change: dict[str, Any], field: str) -> None:
    with pytest.raises(DesignError) as refused:
        read_campaign_file({**VALID, **change})
    assert list(refused.value.problems) == [field]
    assert "accepted" in refused.value.problems[field]
    str(refused.value).encode()


def test_every_mistake_is_named_at_once() -> None:
    with pytest.raises(DesignError) as refused:
        read_campaign_file({"assay_campaign": 1, "split": 3, "colour": "red"})
    expected = {"name", "target", "presentation", "criteria", "ratings_per_unit", "split", "colour"}
    assert set(refused.value.problems) == expected


@given(st.dictionaries(st.sampled_from([*VALID, "payment", "quality", "systems", "rules", "seed"]), json_values))
def test_any_file_is_read_or_refused(change: dict[str, Any]) -> None:
    try:
        document = read_campaign_file({**VALID, **change})
    except DesignError:
        return
    assert isinstance(document["name"], str)
    assert all(isinstance(criterion["question"], str) for criterion in document["criteria"])
