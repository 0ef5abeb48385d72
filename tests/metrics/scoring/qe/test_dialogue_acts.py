"""Delexicalisation as in section 3.2 of Dušek, Novikova and Rieser (2017): their Figure 2, and what they leave open."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.scoring.qe.dialogue_acts import delexicalised, parsed, triplets
from metrics.scoring.qe.inputs import encoded_pairs
from metrics.scoring.qe.options import QualityOptions


def encoded(act: str, output: str, **options: object) -> tuple[str, str]:
    [(triplet, words)] = encoded_pairs([act], [output], QualityOptions(**options))
    return " ".join(triplet), " ".join(words)


@pytest.mark.parametrize(
    ("source", "output", "act", "words"),
    [
        pytest.param(
            "inform(name='la ciccia',area='bernal heights',price_range=moderate)",
            "la ciccia, is in the bernal heights area with a moderate price range.",
            "inform name X-name inform area X-area inform price_range X-price_range",
            "X-name , is in the X-area area with a X-price_range price range .",
            id="the paper's example",
        ),
        pytest.param(
            "inform(name=chow,kids_allowed=no,price_range=dont_care,near=none,area=unknown)",
            "chow does not allow kids, no matter the price.",
            "inform name X-name inform kids_allowed no inform price_range dont_care inform near none "
            "inform area unknown",
            "X-name does not allow kids , no matter the price .",
            id="unknown and binary values stay",
        ),
        pytest.param("request(area)", "Which AREA?", "request area <none>", "which area ?", id="a slot without value"),
        pytest.param("hello()", "hi", "hello <none> <none>", "hi", id="an act without slots"),
        pytest.param(
            "inform(name='X',eattype=coffeeshop,area=citycentre,near='X')",
            "X is a coffee shop near X in the city centre.",
            "inform name X-name inform eattype X-eattype inform area X-area inform near X-near",
            "X-name is a X-eattype near X-near in the X-area .",
            id="values that are X already; values written apart",
        ),
        pytest.param(
            "select(food='chinese or thai')",
            "chinese or thai? thai or chinese!",
            "select food X-food",
            "X-food ? X-food or X-food !",
            id="alternatives",
        ),
        pytest.param(
            "inform(name=chow,food=french)",
            "chow serves thai food near chowder street.",
            "inform name X-name inform food X-food",
            "X-name serves thai food near chowder street .",
            id="a value that the act lacks stays; no match inside of a word",
        ),
        pytest.param(
            "name[The Vaults], eatType[pub]",
            "The Vaults is a pub.",
            "inform name X-name inform eatType X-eatType",
            "X-name is a X-eatType .",
            id="the E2E data's form",
        ),
    ],
)
def test_values_become_placeholders_in_the_act_and_in_the_output(
    source: str, output: str, act: str, words: str
) -> None:
    assert encoded(source, output) == (act, words)


def test_a_longer_value_comes_before_one_that_it_contains() -> None:
    slots = parsed("inform(near=soma,area='south soma')")
    assert delexicalised(["in", "south", "soma", "near", "soma"], slots) == ["in", "X-area", "near", "X-near"]


def test_acts_in_sequence_and_quotes_inside_of_values_are_read() -> None:
    slots = parsed("""inform(name='joe's bar',food="fish, chips")&request(area)""")
    assert [(each.act, each.name, each.value) for each in slots] == [
        ("inform", "name", "joe's bar"),
        ("inform", "food", "fish, chips"),
        ("request", "area", None),
    ]


def test_lexicalised_input_is_lowercased_only() -> None:
    assert encoded("inform(name='La Ciccia')", "La Ciccia.", delexicalise=False) == (
        "inform name la ciccia",
        "la ciccia .",
    )
    assert triplets(parsed("inform(name='La Ciccia')"), delexicalise=False)[2] == "la ciccia"


def test_texts_are_words_and_the_end_of_a_long_source_is_read() -> None:
    options = {"source": "text", "max_tokens": 3}
    assert encoded("Hi there. How are you?", "I'm fine, thank you!", **options) == ("are you ?", "i'm fine ,")


@pytest.mark.parametrize("source", ["", "a plain text", "inform(name=chow", "inform(name=='x')"])
def test_what_is_no_dialogue_act_is_named(source: str) -> None:
    with pytest.raises(ValueError, match=r"sources\[1\]: source: found .*accepted: .*option source='text'"):
        encoded_pairs(["hello()", source], ["hi", "hi"], QualityOptions())


@given(st.text("ab =,;&()[]'\"\\", max_size=60))
def test_any_text_is_read_or_refused(source: str) -> None:
    try:
        slots = parsed(source)
    except ValueError:
        return
    assert len(triplets(slots)) == 3 * len(slots) > 0


VALUES = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["x", "x y", "y", "no", "z or x"])), max_size=4)


@given(VALUES, st.lists(st.sampled_from(["x", "y", "z", "no", "or"]), max_size=8))
def test_only_values_of_the_act_are_replaced(values: list[tuple[str, str]], words: list[str]) -> None:
    inside = ",".join(f"{name}='{value}'" for name, value in values)
    slots = parsed(f"act({inside})")
    replaced = delexicalised(words, slots)
    kept = [word for word in replaced if not word.startswith("X-")]
    # What stays is a subsequence, without a word that alone is a value.
    remaining = iter(words)
    assert all(word in remaining for word in kept)
    whole = {part for _, value in values if value != "no" for part in (value, *value.split(" or ")) if " " not in part}
    assert not whole & set(kept)
    assert {word for word in replaced if word.startswith("X-")} <= {f"X-{name}" for name, _ in values}
