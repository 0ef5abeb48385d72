import unicodedata

import pytest

from annotation.mining.index.parameters import TOKENIZERS, IndexParameters


def test_the_defaults_are_lucenes_and_their_signature_says_so():
    assert IndexParameters().signature() == "bm25|variant:lucene|k1:1.2|b:0.75|tok:words|version:1"


def test_parameters_come_back_from_what_was_written():
    parameters = IndexParameters(k1=2, b=0.5, tokenizer="bigrams")
    assert IndexParameters.from_dict(parameters.to_dict()) == parameters
    assert IndexParameters.from_dict({"tokenizer": "characters"}) == IndexParameters(tokenizer="characters")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"k1": -0.1}, r"k1: found -0\.1; accepted: a number from 0 to 1000"),
        ({"k1": float("nan")}, r"k1: found nan"),
        ({"b": 1.5}, r"b: found 1\.5; accepted: a number from 0 to 1"),
        ({"b": True}, r"b: found True"),
        ({"tokenizer": "13a"}, r"tokenizer: found '13a'; accepted: one of words, characters, bigrams"),
        ({"stemming": "porter"}, r"stemming: .*unknown parameter.*accepted: one of k1, b, tokenizer"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused_by_name(given, message):
    with pytest.raises(ValueError, match=message):
        IndexParameters.from_dict(given)


@pytest.mark.parametrize(
    ("tokenizer", "text", "found"),
    [
        ("words", "Déjà-vu, ISN'T it?", ["déjà", "vu", "isn", "t", "it"]),
        ("words", "नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("words", "¡¿!? …", []),
        ("characters", "你好, Bob", ["你", "好", "b", "o", "b"]),
        ("bigrams", "你好吗 a", ["你好", "好吗", "a"]),
        ("bigrams", "", []),
    ],
)
def test_texts_are_cut(tokenizer, text, found):
    assert TOKENIZERS[tokenizer](text) == found


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_an_accent_is_one_letter_however_it_was_typed(tokenizer):
    text = "Ça va, été, Å, 한국어"
    cut = TOKENIZERS[tokenizer]
    assert cut(unicodedata.normalize("NFD", text)) == cut(unicodedata.normalize("NFC", text))
