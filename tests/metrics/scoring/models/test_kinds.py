"""What can be chosen about a training, and what is reported about a model."""

import pytest

from metrics.scoring.models.kinds import KINDS, TRAINABLE, get_kind

TEXTS = ["the cat sat on the mat", "a dog saw the cat", "the old dog sat", "no cat saw a mat"]


@pytest.mark.parametrize("name", TRAINABLE)
def test_the_defaults_train_a_model_that_reports_its_vocabulary(name: str) -> None:
    kind, reports = get_kind(name), []

    model = kind.train(TEXTS, kind.checked({}), reports.append)

    assert model.kind == name
    assert model.facts["vocabulary"] > 0
    assert reports[-1] == len(TEXTS)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("lsa", {"components": 0}, "components: found 0; accepted: an integer from 1 to 2500"),
        ("lsa", {"order": 2}, "order: no option of kind 'lsa'; accepted: components, tokenize"),
        ("language_model", {"order": 9}, "order: found 9; accepted: an integer from 1 to 5"),
        ("vectors", {"tokenize": "moses"}, "tokenize: found 'moses'"),
        ("sentence", {}, "kind: found 'sentence'; accepted: lsa, language_model, vectors"),
    ],
)
def test_what_cannot_be_trained_is_refused_in_words(name: str, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match="accepted") as refused:
        get_kind(name).checked(options)

    assert str(refused.value).startswith(message)


def test_a_kind_that_learns_from_ratings_is_not_trained_on_texts() -> None:
    kind = get_kind("quality")
    assert kind.checked({}).as_dict()["plan"] == "S1"
    with pytest.raises(ValueError, match="kind: found 'quality'; accepted: lsa, language_model, vectors"):
        kind.train(TEXTS, kind.checked({}))


def test_every_kind_is_found_by_the_name_that_its_models_have() -> None:
    assert {name: kind.model.kind for name, kind in KINDS.items()} == {name: name for name in KINDS}


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="kind: found 'glove'; accepted"):
        get_kind("glove")
