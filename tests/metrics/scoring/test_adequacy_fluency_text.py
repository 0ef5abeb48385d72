from collections.abc import Iterator

import pytest

from metrics.scoring.adequacy_fluency_text import EMPTY, cleaned, words_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Well, don't!", "well dont"),
        ("Ｆｕｌｌ ｗｉｄｔｈ，ﬁne", "full widthfine"),  # NFKC
        ("«Ça va?» — oui…", "ça va  oui"),
        ("snake_case $5 + x^2", "snakecase 5  x2"),
        ("e\u0301te\u0301", "été"),
        ("مرحبا، كيف؟", "مرحبا كيف"),
        ("猫坐在垫子上。", "猫坐在垫子上"),
        ("🙂!", "🙂"),
        (["Two", "tokens", "."], "two tokens"),
        ("?!", ""),
        ("", ""),
    ],
)
def test_punctuation_and_case_go_and_forms_are_united(text: str | list[str], expected: str) -> None:
    assert cleaned(text) == expected


def test_a_text_with_nothing_left_is_a_word_of_its_own() -> None:
    assert list(words_of(["", "...", " \t"])) == [[EMPTY]] * 3 == [["_EMPTY_"]] * 3


def test_texts_are_split_by_the_chosen_tokeniser() -> None:
    assert list(words_of(["猫坐。"], tokenize="char")) == [["猫", "坐"]]
    assert list(words_of(["A b, c"], clean=False)) == [["A", "b,", "c"]]
    assert list(words_of([["A", "b"]], clean=False)) == [["A", "b"]]


def test_an_unknown_way_to_split_is_refused() -> None:
    with pytest.raises(ValueError, match="tokenize: found 'mecab'"):
        next(iter(words_of(["a"], tokenize="mecab")))


def test_texts_are_read_as_they_are_needed() -> None:
    numbers = []

    def texts() -> Iterator[str]:
        for number in range(50_000):
            numbers.append(number)
            yield "a b"

    next(words_of(texts()))
    assert len(numbers) < 50_000
