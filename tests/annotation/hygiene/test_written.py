"""What stands out in a text that a rater wrote."""

import pytest

from annotation.campaigns.design.reading import DesignError
from annotation.campaigns.design.writing import Writing
from annotation.hygiene.written import Remark, remarks_on

GIVEN = "It depends on the weather and on the day."
DESIGN = {"asks": "correction", "question": "Correct it.", "least": 5, "most": 60, "copies": "refuse", "pastes": "warn"}


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("It rains.", {}, []),
        (" no ", {}, [Remark.SHORT]),
        ("x" * 61, {}, [Remark.LONG]),
        ("it depends on the weather, and on the day", {"given": GIVEN}, [Remark.COPY]),
        ("It depends on the weather.", {"given": GIVEN}, []),
        ("Do you like numbers", {"sources": ["", "Do you like numbers?"]}, [Remark.COPY_OF_SOURCE]),
        ("It rains here.", {"pasted": 7}, [Remark.PASTED]),
        ("It rains here.", {"pasted": 6}, []),
        ("Das kommt ganz auf das Wetter an, glaube ich.", {"language": "en"}, [Remark.LANGUAGE]),
        ("Das kommt ganz auf das Wetter an, glaube ich.", {"language": "de-AT"}, []),
        ("這要看天氣怎麼樣還有是哪一天呢", {"language": "en"}, [Remark.LANGUAGE]),  # another script
        ("Das kommt ganz auf das Wetter an, glaube ich.", {"language": "tlh"}, []),  # none that is recognised
    ],
)
def test_what_stands_out_in_a_text(text: str, options: dict, expected: list[Remark]) -> None:
    assert remarks_on(text, least=5, most=60, **options) == expected


def test_a_design_says_what_follows_from_each_remark() -> None:
    design = Writing.from_dict(DESIGN)
    follows = {remark.value: design.policy(remark) for remark in Remark}
    assert follows == {
        "short": "refuse",
        "long": "refuse",
        "copy": "refuse",
        "copy_of_source": "refuse",
        "pasted": "warn",
        "language": "warn",
    }
    assert Writing.from_dict(design.to_dict()) == design
    assert Writing.from_dict({}).to_dict() == {}
    assert ("Length", "5 to 60 characters") in design.facts()


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"asks": "poem"}, "asks"),
        ({"question": " "}, "question"),
        ({"least": 0}, "least"),
        ({"most": 4}, "most"),
        ({"copies": "delete"}, "copies"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_mistake_of_a_design_is_tied_to_its_field(change: dict, path: str) -> None:
    with pytest.raises(DesignError) as refused:
        Writing.from_dict(DESIGN | change)
    assert path in refused.value.problems
