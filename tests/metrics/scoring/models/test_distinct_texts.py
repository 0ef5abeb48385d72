"""Which texts are trained on: each once, in their order, none that is to be kept apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.scoring.models.distinct_texts import kept_texts, survey, text_key

TEXTS = ["Hello there", "  ", "hello there ", "Hello there", "no", "", "No ", "So what?"]


def test_each_text_is_kept_once_at_its_first_occurrence() -> None:
    result = survey(lambda: TEXTS)

    assert list(kept_texts(lambda: TEXTS, result)) == ["Hello there", "hello there", "no", "No", "So what?"]
    assert (result.n_read, result.n_texts, result.empty, result.repeated, result.words) == (8, 5, 2, 1, 8)


def test_texts_of_a_group_are_counted_whatever_their_case_and_left_out_only_if_asked() -> None:
    groups = {"outputs": {text_key("HELLO  there"), text_key("never")}, "references": {text_key("no")}}

    counted = survey(lambda: TEXTS, groups=groups)
    apart = survey(lambda: TEXTS, groups=groups, keep_apart=True)

    assert counted.shared == apart.shared == {"outputs": 1, "references": 1}
    assert (counted.apart, counted.n_texts) == (0, 5)
    assert (apart.apart, list(kept_texts(lambda: TEXTS, apart))) == (5, ["So what?"])


@given(st.lists(st.text(alphabet="ab \n", max_size=4)))
def test_it_keeps_what_a_dictionary_keeps(texts: list[str]) -> None:
    expected = list(dict.fromkeys(text.strip() for text in texts if text.strip()))

    result = survey(lambda: texts)

    assert list(kept_texts(lambda: texts, result)) == expected
    assert result.words == sum(len(text.split()) for text in expected)


def test_the_digest_depends_on_kept_texts_and_their_order_alone() -> None:
    digests = [survey(lambda texts=texts: texts).digest for texts in (["a", "b"], ["a", " ", "a", "b "], ["b", "a"])]

    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize("later", [["a", "b"], ["a", "b", "c", "d"], ["a", "b", "x"]])
def test_texts_that_changed_meanwhile_are_refused(later: list[str]) -> None:
    result = survey(lambda: ["a", "b", "c"])

    with pytest.raises(ValueError, match="they changed after they were counted"):
        list(kept_texts(lambda: later, result))


def test_progress_is_reported() -> None:
    reports: list[int] = []

    survey(lambda: map(str, range(12_000)), progress=reports.append)

    assert reports == [5_000, 10_000]
