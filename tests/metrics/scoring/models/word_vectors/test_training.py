import math
from collections import Counter

import numpy as np
import pytest

from metrics.scoring.models.vectors import WordVectors
from metrics.scoring.models.word_vectors import training as vector_training
from tests.metrics.scoring.corpora import dstc7_sample


def zipf(seed: int, texts: int, words: int) -> list[str]:
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, words + 1)
    draws = rng.choice(words, size=(texts, 12), p=share / share.sum())
    return [" ".join(f"w{word}" for word in row) for row in draws]


def plain(texts, *, window, min_count, shift, smoothing, dimension, power):
    """Levy and Goldberg (2014) written out pair by pair, and NumPy's dense decomposition."""
    split = [text.split() for text in texts]
    counts = Counter(word for tokens in split for word in tokens)
    words = sorted((word for word in counts if counts[word] >= min_count), key=lambda word: (-counts[word], word))
    column_of = {word: index for index, word in enumerate(words)}
    pairs = np.zeros((len(words), len(words)))
    for tokens in split:
        for i, word in enumerate(tokens):
            for j in range(max(0, i - window), min(len(tokens), i + window + 1)):
                if i != j and word in column_of and tokens[j] in column_of:
                    pairs[column_of[word], column_of[tokens[j]]] += 1
    total = pairs.sum()
    context = pairs.sum(axis=0) ** smoothing
    context /= context.sum()
    matrix = np.zeros_like(pairs)
    for i in range(len(words)):
        for j in range(len(words)):
            if pairs[i, j]:
                pmi = math.log(pairs[i, j] / total / (pairs[i].sum() / total * context[j]))
                matrix[i, j] = max(pmi - math.log(shift), 0)
    left_vectors, values, _ = np.linalg.svd(matrix)
    informed = matrix.any(axis=1)
    return [word for word in words if informed[column_of[word]]], (left_vectors * values**power)[informed, :dimension]


@pytest.mark.parametrize(
    "options",
    [
        {"window": 2, "min_count": 1, "shift": 1, "smoothing": 1, "dimension": 8, "power": 0.5},
        {"window": 5, "min_count": 3, "shift": 2, "smoothing": 0.75, "dimension": 20, "power": 1},
        {"window": 1, "min_count": 2, "shift": 1.5, "smoothing": 0, "dimension": 5, "power": 0},
    ],
)
@pytest.mark.parametrize("dense", [0, 300])
def test_vectors_are_those_of_a_dense_computation(monkeypatch, options, dense):
    monkeypatch.setattr(vector_training, "DENSE", dense)
    monkeypatch.setattr(vector_training, "AT_ONCE", 17)
    monkeypatch.setattr(vector_training, "TOKENS_AT_ONCE", 101)
    texts = [*zipf(3, 150, 60), "", "w0"]
    words, expected = plain(texts, **options)
    trained = WordVectors.train(texts, **options)
    assert [trained.words.word(row) for row in range(len(trained))] == words
    # The sign of each column is free.
    signs = np.sign((trained.matrix * expected).sum(axis=0))
    np.testing.assert_allclose(trained.matrix * signs, expected, atol=1e-6)


def test_the_order_of_texts_changes_nothing():
    texts = zipf(5, 400, 500)
    assert WordVectors.train(texts, dimension=10).digest == WordVectors.train(reversed(texts), dimension=10).digest


def test_words_of_one_topic_are_closer_than_words_of_another():
    rng = np.random.default_rng(8)
    topics = [[f"{topic}{i}" for i in range(30)] for topic in ("food", "sea")]
    texts = [" ".join(rng.choice([*topics[i % 2], "the", "of"], size=10)) for i in range(400)]
    trained = WordVectors.train(texts, dimension=10)
    for topic in ("food", "sea"):
        assert all(word.startswith(topic) for word, _ in trained.neighbours(f"{topic}0", 10))


def test_real_conversations_put_related_words_nearer_than_random_ones():
    sample = dstc7_sample()
    texts = [text.lower() for group in (*sample.gold, *sample.weighted, *sample.outputs.values()) for text in group]
    trained = WordVectors.train(texts, tokenize="13a", dimension=50)
    units = trained.matrix / np.linalg.norm(trained.matrix, axis=1)[:, None]
    typical = np.quantile(units[:300] @ units[:300].T, 0.75)
    for word, related in [("two", "three"), ("he", "his"), ("is", "was"), ("movie", "film")]:
        first, second = trained.find([word, related])
        assert units[first] @ units[second] > typical, (word, related)


def test_words_too_rare_have_no_vector_and_progress_counts_texts():
    reports: list[int] = []
    trained = WordVectors.train(["a b a b", "a b rare"], min_count=2, progress=reports.append)
    assert trained.find(["a", "rare"]).tolist()[1] == -1
    assert reports == [2]
    assert trained.about["window"] == 5


def test_texts_are_lowercased_unless_asked_not_to():
    texts = ["A b C b a", "C a", "b C d"] * 3
    assert WordVectors.train(texts).find(["A"]).tolist() == [-1]
    assert WordVectors.train(texts, lowercase=False).find(["A"]).tolist() != [-1]


@pytest.mark.parametrize("texts", [[], [""], ["a"], ["a b c"]])
def test_texts_with_nothing_to_learn_from_are_refused(texts):
    with pytest.raises(ValueError, match="texts: found no two words that occur together"):
        WordVectors.train(texts)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("dimension", 0),
        ("dimension", True),
        ("window", 101),
        ("min_count", 0),
        ("shift", 0.5),
        ("shift", "1"),
        ("power", 2),
        ("smoothing", -1),
        ("tokenize", "words"),
    ],
)
def test_an_option_out_of_range_is_refused_with_what_is_accepted(option, value):
    with pytest.raises(ValueError, match=f"{option}: found {value!r}; accepted"):
        WordVectors.train(["a b"], **{option: value})


def test_words_that_are_all_alike_are_refused_and_not_worked_on_for_hours():
    words = [f"n{number}" for number in range(4000)]  # each beside two others, none oftener than another
    with pytest.raises(ValueError, match="found words that are so alike that their vectors cannot be computed"):
        WordVectors.train([" ".join(words)], dimension=2, min_count=1, window=1)
