"""Fields that providers declare."""

import pytest
from django.core.exceptions import ValidationError

from annotation.recruitment.forms import WordsField


def test_words_are_divided_at_commas():
    assert WordsField(max_length=20).clean(" chat , dialogue,, ") == ["chat", "dialogue"]


@pytest.mark.parametrize(("text", "problem"), [("a\0b", "Null characters"), ("chat, " * 4, "at most 20 characters")])
def test_words_are_checked_as_text(text, problem):
    with pytest.raises(ValidationError, match=problem):
        WordsField(max_length=20).clean(text)
