import unicodedata

import pytest

from annotation.mining.index.parameters import TOKENIZERS, IndexParameters


def test_the_defaults_are_lucenes_and_are_in_the_signature():
    assert IndexParameters().signature() == "bm25|variant:lucene|k1:1.2|b:0.75|tok:words|version:1"


def test_parameters_are_read_back_as_written():
    parameters = IndexParameters(k1=2, b=0.5, tokenizer="bigrams")
    assert IndexParameters.from_dict(parameters.to_dict()) == parameters
    assert IndexParameters.from_dict({"tokenizer": "characters"}) == IndexParameters(tokenizer="characters")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k1": -0.1}, r"k1: found -0\.1; accepted: a number from 0 to 1000"),
        ({"k1": float("nan")}, r"k1: found nan"),
        ({"b": 1.5}, r"b: found 1\.5; accepted: a number from 0 to 1"),
        ({"b": True}, r"b: found True"),
        ({"tokenizer": "13a"}, r"tokenizer: found '13a'; accepted: one of words, characters, bigrams"),
        ({"stemming": "porter"}, r"stemming: .*unknown parameter.*accepted: one of k1, b, tokenizer"),
    ],
)
def test_an_invalid_parameter_is_refused_by_name(parameters, message):
    with pytest.raises(ValueError, match=message):
        IndexParameters.from_dict(parameters)


@pytest.mark.parametrize(
    ("tokenizer", "text", "tokens"),
    [
        ("words", "Déjà-vu, ISN'T it?", ["déjà", "vu", "isn", "t", "it"]),
        ("words", "नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("words", "¡¿!? …", []),
        ("characters", "你好, Bob", ["你", "好", "b", "o", "b"]),
        ("bigrams", "你好吗 a", ["你好", "好吗", "a"]),
        ("bigrams", "", []),
    ],
)
def test_texts_are_split_into_tokens(tokenizer, text, tokens):
    assert TOKENIZERS[tokenizer](text) == tokens


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_composed_and_decomposed_accents_give_the_same_tokens(tokenizer):
    text = "Ça va, été, Å, 한국어"
    tokenize = TOKENIZERS[tokenizer]
    assert tokenize(unicodedata.normalize("NFD", text)) == tokenize(unicodedata.normalize("NFC", text))
