from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.allocation.degrade import OPERATIONS as DEGRADE_OPERATIONS
from annotation.allocation.degrade import degrade, replaced_words

seeds = st.integers(0, 2**63 - 1)
operations = st.lists(st.sampled_from(DEGRADE_OPERATIONS), min_size=1, unique=True)
words = st.text("abcdeXY.,", min_size=1, max_size=6)
texts = st.lists(words, max_size=30).map(" ".join)
chinese = st.text("今天我想在家里休息不出去了，。", min_size=1, max_size=40)
anything = st.text(max_size=60)

LONG = "well , i would rather stay at home tonight than walk to the station in all this rain"
OTHER = "the referee gave a late penalty and the whole stadium could not believe what it saw"


def bare(text):
    return "".join(text.split()).casefold()


def degraded(text, operation, seed=1, other_text=OTHER):
    return degrade(text, seed=seed, other_text=other_text, operations=[operation]).text


@given(texts | chinese | anything, texts | chinese | anything | st.none(), operations, seeds)
def test_a_degraded_text_is_never_the_text_itself_nor_empty(text, other_text, operations_allowed, seed):
    worse = degrade(text, seed=seed, other_text=other_text, operations=operations_allowed)
    if worse is not None:
        assert worse.operation in operations_allowed
        assert bare(worse.text) not in ("", bare(text))
        assert any(map(str.isalnum, worse.text)) or not any(map(str.isalnum, text))


@given(texts | chinese | anything, texts | st.none(), operations, seeds)
def test_the_order_of_the_operations_does_not_matter(text, other_text, operations_allowed, seed):
    first = degrade(text, seed=seed, other_text=other_text, operations=operations_allowed)
    assert first == degrade(text, seed=seed, other_text=other_text, operations=operations_allowed[::-1])


@given(st.lists(st.text("abcde", min_size=1, max_size=5), min_size=2, max_size=60), seeds)
def test_drop_removes_a_quarter_of_the_words_and_keeps_the_order_of_the_rest(listed, seed):
    text = " ".join(f"{word}{index}" for index, word in enumerate(listed))
    remaining = degraded(text, "drop", seed).split()
    assert len(listed) - len(remaining) == max(1, len(listed) // 4)
    positions = [text.split().index(word) for word in remaining]
    assert positions == sorted(positions)


@given(st.integers(2, 40), seeds)
def test_swap_keeps_every_word_and_changes_their_order(n, seed):
    text = " ".join(f"w{index}" for index in range(n))
    swapped = degraded(text, "swap", seed)
    assert sorted(swapped.split()) == sorted(text.split())
    assert swapped != text


def test_two_words_are_swapped_with_every_seed():
    assert {degraded("yes indeed", "swap", seed) for seed in range(5000)} == {"indeed yes"}


@given(st.integers(1, 40), seeds)
def test_foreign_words_are_contiguous_and_as_many_as_in_the_published_table(n, seed):
    text = " ".join(f"w{index}" for index in range(n))
    other_text = " ".join(f"x{index}" for index in range(60))
    mixed = degraded(text, "foreign", seed, other_text).split()
    foreign = [index for index, word in enumerate(mixed) if word.startswith("x")]
    assert len(mixed) == n
    assert len(foreign) == replaced_words(n)
    assert foreign == list(range(foreign[0], foreign[-1] + 1))
    assert " ".join(mixed[index] for index in foreign) in other_text
    assert all(word in (f"w{index}", mixed[index]) for index, word in enumerate(mixed))


def test_numbers_of_replaced_words_match_wmt_2017():
    # Bojar et al. 2017, table of words replaced by length; above 20 words a quarter, rounded down.
    table = {1: 1, 2: 2, 3: 2, 4: 2, 5: 2, 6: 3, 7: 3, 8: 3, 9: 4, 12: 4, 15: 4, 16: 5, 18: 5, 20: 5, 21: 5, 24: 6}
    assert {n: replaced_words(n) for n in table} == table
    assert replaced_words(103) == 25


@pytest.mark.parametrize("operation", DEGRADE_OPERATIONS)
@pytest.mark.parametrize("seed", range(20))
def test_a_text_of_more_than_three_words_keeps_its_first_and_last_word(operation, seed):
    worse = degraded(LONG, operation, seed).split()
    assert (worse[0], worse[-1]) == ("well", "rain")


def test_punctuation_is_never_dropped():
    assert all(set(degraded("i - like it .", "drop", seed).split()) >= {"-", "."} for seed in range(40))


def test_longer_words_are_dropped_more_often():
    lost = Counter(
        ({"x", "a", "unbelievable", "y"} - set(degraded("x a unbelievable y", "drop", s).split())).pop()
        for s in range(2000)
    )
    # In proportion to length, 1 to 12: 1847 of 2000 in the mean, standard deviation 12.
    assert 1770 < lost["unbelievable"] < 1920
    assert set(lost) == {"a", "unbelievable"}


def test_one_word_can_only_be_replaced():
    assert degrade("Yes", seed=3, other_text=OTHER).operation == "foreign"
    assert degrade("Yes", seed=3) is None
    assert degrade("Yes", seed=3, other_text="yes !") is None
    assert degrade("Yes", seed=3, other_text=OTHER, operations=["drop", "swap"]) is None


def test_identical_words_are_dropped_but_not_swapped():
    assert degrade("ha HA ha", seed=1, operations=["swap"]) is None
    assert {degrade("ha HA ha", seed=seed, operations=["swap", "drop"]).operation for seed in range(20)} == {"drop"}


@pytest.mark.parametrize("text", ["", " \n ", "..."])
def test_a_text_without_words_cannot_be_degraded(text):
    assert degrade(text, seed=1) is None


def test_an_other_text_that_is_too_short_is_not_used():
    assert degrade(LONG, seed=1, other_text="just three words", operations=["foreign"]) is None


def test_all_operations_are_equally_likely():
    counts = Counter(degrade(LONG, seed=seed, other_text=OTHER).operation for seed in range(3000))
    # A fair choice of three leaves 870 to 1130 of 3000 with probability below 1e-6.
    assert all(870 < counts[operation] < 1130 for operation in DEGRADE_OPERATIONS)


@pytest.mark.parametrize(
    "text", ["我今天想在家里休息不出去了", "きょうは家でゆっくり休みたいです", "วันนี้ฉันอยากพักผ่อนอยู่ที่บ้าน"]
)
def test_scripts_without_spaces_are_degraded_by_character(text):
    assert " " not in degraded(text, "drop")
    assert 0.6 * len(text) < len(degraded(text, "drop")) < len(text)
    assert sorted(degraded(text, "swap")) == sorted(text)


def test_a_foreign_stretch_of_characters_is_twice_as_long():
    text, other_text = "今" * 9, "明" * 30
    assert degraded(text, "foreign", 1, other_text).count("明") == 7  # 8 of 9 wanted, but the first and the last stay
    assert degraded("今" * 30, "foreign", 1, other_text).count("明") == 2 * replaced_words(30)


def test_vowel_signs_stay_on_their_letters():
    assert not any(degraded("ที่นี่ดีที่สุด", "swap", seed).startswith(("ี", "่", "ุ")) for seed in range(50))


def test_korean_and_arabic_are_cut_at_spaces():
    korean, arabic = "오늘은 집에서 쉬고 싶어요", "أريد أن أبقى في البيت الليلة"
    assert sorted(degraded(korean, "swap").split()) == sorted(korean.split())
    assert len(degraded(arabic, "drop").split()) == 5


@pytest.mark.parametrize("operation", ["drop", "swap"])
@pytest.mark.parametrize("seed", range(10))
def test_line_breaks_are_kept(operation, seed):
    text = "the first line is here\nthe second line follows\n\nand here is the end"
    worse = degraded(text, operation, seed)
    assert worse.count("\n") == 3
    assert "\n\n" in worse


@pytest.mark.parametrize("chosen", [[], ["drop", "drop"], ["melt"]])
def test_unknown_and_repeated_operations_are_refused(chosen):
    with pytest.raises(ValueError, match="accepted: one or more of drop, swap, foreign, each once"):
        degrade("some text", seed=1, operations=chosen)
