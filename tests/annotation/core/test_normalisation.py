"""Expected forms come from the Unicode Standard's own examples, named beside each."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.core.normalisation import RULES, normalise, text_key


@pytest.mark.parametrize(
    ("rule", "first", "second", "same"),
    [
        ("nfc-space", "e\u0301", "\u00e9", True),  # UAX 15, figure 3: canonical composites
        ("nfc-space", "ﬁ", "fi", False),  # UAX 15, figure 2: a compatibility equivalence only
        ("nfkc-casefold", "ﬁ", "fi", True),
        ("nfkc-casefold", "Straße", "STRASSE", True),  # Unicode Standard 5.18: full case folding
        ("nfc-space", "Straße", "STRASSE", False),
        ("nfc-space", " to\u00a0 be\n", "to be", True),
        ("exact", "to be", "to be ", False),
    ],
)
def test_two_texts_are_the_same_response_or_not(rule: str, first: str, second: str, same: bool) -> None:
    assert (text_key(first, rule) == text_key(second, rule)) is same


@given(st.text(), st.sampled_from(sorted(RULES)))
def test_normalising_twice_changes_nothing(text: str, rule: str) -> None:
    once = normalise(text, rule)
    assert normalise(once, rule) == once


def test_an_unknown_rule_is_refused_with_the_accepted_ones() -> None:
    with pytest.raises(ValueError, match="found 'lower'; accepted: exact, nfc-space, nfkc-casefold"):
        normalise("a", "lower")
