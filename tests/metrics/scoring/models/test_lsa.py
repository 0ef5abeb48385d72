from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer

from metrics.scoring.adequacy_fluency_text import cleaned
from metrics.scoring.models import lsa
from metrics.scoring.models.lsa import LsaModel, products
from metrics.scoring.models.store import ModelStore
from tests.metrics.scoring.corpora import dstc7_sample


@pytest.fixture(scope="module")
def conversations() -> list[str]:
    sample = dstc7_sample()
    return [text for references in sample.weighted for text in references]


@pytest.fixture(scope="module")
def model(conversations: list[str]) -> LsaModel:
    return LsaModel.train(conversations, components=40)


@pytest.fixture(scope="module")
def oracle(conversations: list[str]) -> tuple[CountVectorizer, TruncatedSVD]:
    """scikit-learn, which D'Haro et al. (2019) used."""
    counter = CountVectorizer(token_pattern=r"(?u)\b\w+\b", preprocessor=lambda text: cleaned(text) or "_empty_")
    counts = counter.fit_transform(conversations).astype(float)
    return counter, TruncatedSVD(n_components=40, algorithm="arpack", random_state=0).fit(counts)


def test_vocabulary_and_components_are_scikit_learns(
    model: LsaModel, oracle: tuple[CountVectorizer, TruncatedSVD]
) -> None:
    counter, decomposition = oracle
    assert list(model.words) == counter.get_feature_names_out().tolist()
    np.testing.assert_allclose(model.singular_values, decomposition.singular_values_, rtol=1e-9)
    alike = np.abs(np.einsum("ij,ij->i", model.components, decomposition.components_))
    np.testing.assert_allclose(alike, 1, atol=1e-6)


@pytest.mark.parametrize("k", [1, 10, 40])
def test_cosines_are_scikit_learns_at_every_k(
    model: LsaModel, oracle: tuple[CountVectorizer, TruncatedSVD], conversations: list[str], k: int
) -> None:
    counter, decomposition = oracle
    # Its transform is the projection on the components, of which the first k are taken.
    expected = decomposition.transform(counter.transform(conversations[:200]).astype(float))[:, :k]
    vectors = model.vectors(conversations[:200], k)
    np.testing.assert_allclose(cosines(vectors), cosines(expected), atol=1e-6)


def cosines(vectors: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = np.where(norms > 1e-9, vectors, 0) / np.where(norms > 1e-9, norms, 1)
    return np.asarray(unit @ unit.T)


@pytest.mark.parametrize("components", [5, 40])
def test_however_the_matrix_is_taken_apart_the_space_is_the_same(
    conversations: list[str], monkeypatch: pytest.MonkeyPatch, components: int
) -> None:
    texts = conversations[:250]
    spaces = [LsaModel.train(texts, components=components).vectors(texts)]  # dense, whole
    monkeypatch.setattr(lsa, "_SMALL_SIDE", 10)
    monkeypatch.setattr(lsa, "_FEW", 1)
    spaces.append(LsaModel.train(texts, components=components).vectors(texts))  # ARPACK
    monkeypatch.setattr(lsa, "_ONE_BY_ONE", 0)
    monkeypatch.setattr(lsa, "_BLOCK", 4)
    spaces.append(LsaModel.train(texts, components=components).vectors(texts))  # block by block
    monkeypatch.setattr(lsa, "_FEW", 10_000)
    spaces.append(LsaModel.train(texts, components=components).vectors(texts))  # all products
    for space in spaces[1:]:
        np.testing.assert_allclose(space, spaces[0], atol=1e-5)


def test_blocks_find_no_more_dimensions_than_texts_span(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty texts, each ten times: the Krylov space is all there is before it has twice the dimensions asked for."""
    texts = [" ".join(f"w{word}" for word in range(start, start + 3)) for start in range(40)] * 10
    monkeypatch.setattr(lsa, "_SMALL_SIDE", 10)
    monkeypatch.setattr(lsa, "_FEW", 1)
    monkeypatch.setattr(lsa, "_ONE_BY_ONE", 0)
    monkeypatch.setattr(lsa, "_BLOCK", 4)
    models = [LsaModel.train(sample, components=30) for sample in (texts, texts[:40])]
    expected = np.linalg.svd(models[0].counts(texts).toarray())[1][:30]
    np.testing.assert_allclose(models[0].singular_values, expected, rtol=1e-12)
    np.testing.assert_allclose(models[0].singular_values, models[1].singular_values * np.sqrt(10), rtol=1e-12)


def test_blocks_stay_orthogonal_when_nothing_is_left_to_find() -> None:
    """170 texts, each 23 times, with words in common: far fewer dimensions than texts and words have room for."""
    once = [
        " ".join(f"w{number}x{word}" for word in range(20)) + f" c{number % 7} c{number % 11}" for number in range(170)
    ]
    model = LsaModel.train(once * 23, components=160)
    expected = np.linalg.svd(model.counts(once).toarray())[1][:160] * np.sqrt(23)
    np.testing.assert_allclose(model.singular_values, expected, rtol=1e-10)
    directions = model.components.astype(float)
    np.testing.assert_allclose(directions @ directions.T, np.eye(160), atol=1e-6)


def test_blocks_are_done_long_before_they_span_all_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = np.random.default_rng(3).zipf(1.3, (900, 12)).clip(max=2000)
    texts = [" ".join(f"w{word}" for word in row) for row in drawn]
    monkeypatch.setattr(lsa, "_FEW", 1)
    monkeypatch.setattr(lsa, "_ONE_BY_ONE", 0)
    reports: list[int] = []
    model = LsaModel.train(texts, components=45, progress=reports.append)
    expected = np.linalg.svd(model.counts(texts).toarray())[1][:45]
    np.testing.assert_allclose(model.singular_values, expected, rtol=1e-12)
    assert 5 < len(reports) < 900 / 32


def test_few_words_in_many_texts_make_the_same_space_either_way(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = np.random.default_rng(1).zipf(1.5, (200, 12)).clip(max=25)
    texts = [" ".join(f"w{word}" for word in row) for row in drawn]
    expected = LsaModel.train(texts, components=9)
    monkeypatch.setattr(lsa, "_SMALL_SIDE", 10)
    monkeypatch.setattr(lsa, "_FEW", 10_000)
    np.testing.assert_allclose(LsaModel.train(texts, components=9).components, expected.components, atol=1e-5)


def test_the_first_dimensions_of_a_larger_model_are_the_smaller_model(conversations: list[str]) -> None:
    small, large = (LsaModel.train(conversations, components=k) for k in (5, 20))
    np.testing.assert_allclose(large.components[:5], small.components, atol=1e-6)


def test_products_for_many_k_are_those_of_each(model: LsaModel, conversations: list[str]) -> None:
    left, right = conversations[:30], conversations[30:70]
    cross = (np.arange(30), np.arange(30) + 5)
    within = (np.array([0, 3]), np.array([1, 3]))
    products_by_k = products(model, left, right, [40, 3, 17], cross, within)
    assert sorted(products_by_k) == [3, 17, 40]
    for k, result in products_by_k.items():
        a, b = model.vectors(left, k), model.vectors(right, k)
        np.testing.assert_allclose(result.left_norm, np.linalg.norm(a, axis=1))
        np.testing.assert_allclose(result.right_norm, np.linalg.norm(b, axis=1))
        np.testing.assert_allclose(result.cross, (a[cross[0]] * b[cross[1]]).sum(axis=1), atol=1e-12)
        np.testing.assert_allclose(result.within, (b[within[0]] * b[within[1]]).sum(axis=1), atol=1e-12)


def test_one_letter_words_count_and_case_and_punctuation_do_not() -> None:
    model = LsaModel.train(["A cat, a dog!", "The cat's dog"], components=1)
    assert list(model.words) == ["a", "cat", "cats", "dog", "the"]
    np.testing.assert_array_equal(model.counts(["a A cat zzz"]).toarray(), [[2, 1, 0, 0, 0]])


def test_fewer_dimensions_are_kept_where_there_are_no_more() -> None:
    assert LsaModel.train(["a b", "a b", "a b"], components=2).n_components == 1
    assert LsaModel.train(["a", "b", "c"], components=100).n_components == 3


def test_each_component_has_its_largest_entry_positive(model: LsaModel) -> None:
    largest = np.abs(model.components).argmax(axis=1)
    assert (model.components[np.arange(40), largest] > 0).all()


def test_unknown_words_are_the_origin(model: LsaModel) -> None:
    assert not model.vectors(["zzzq qqqz", "🙂"]).any()


def test_a_text_without_words_is_a_word_of_its_own_where_the_corpus_has_such_texts() -> None:
    assert LsaModel.train(["a", "?!"], components=2).vectors([""]).any()
    assert not LsaModel.train(["a", "b"], components=2).vectors([""]).any()


def test_words_off_the_dimensions_are_the_origin_and_not_the_direction_of_rounding() -> None:
    texts = ["a b", "a b", "a c", "a b c", "lone"] * 60 + ["a d", "b d"] * 60
    small, large = LsaModel.train(texts, components=2), LsaModel.train(texts, components=5)
    assert not small.vectors(["lone"]).any()
    assert large.vectors(["lone"]).any()
    [result] = products(
        small, ["lone"], ["lone", "a"], [2], (np.zeros(2, int), np.arange(2)), (np.zeros(2, int),) * 2
    ).values()
    assert not result.cross.any()
    assert not result.left_norm.any()
    assert (result.right_norm > 0).tolist() == [False, True]
    assert not result.within.any()


def test_chinese_is_split_as_the_model_says() -> None:
    model = LsaModel.train(["猫坐在垫子上。", "狗在门口。"], components=2, tokenize="zh")
    assert "猫" in model.words
    assert model.vectors(["猫"]).any()


def test_it_is_saved_mapped_into_memory_and_known_by_its_content(
    model: LsaModel, conversations: list[str], tmp_path: Path
) -> None:
    store = ModelStore([tmp_path])
    loaded = store.load("lsa", store.add(model))
    assert isinstance(loaded.components, np.memmap)
    assert loaded.digest == model.digest
    np.testing.assert_array_equal(loaded.vectors(conversations[:5]), model.vectors(conversations[:5]))
    assert LsaModel.train(conversations, components=40).digest == model.digest


def test_progress_counts_the_texts() -> None:
    reports: list[int] = []
    LsaModel.train(iter(["a b", "b c"]), components=1, progress=reports.append)
    assert reports[-1] == 2


def test_progress_is_reported_while_the_space_is_computed(
    conversations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lsa, "_SMALL_SIDE", 10)
    monkeypatch.setattr(lsa, "_FEW", 1)
    monkeypatch.setattr(lsa, "_ONE_BY_ONE", 0)
    reports: list[int] = []
    LsaModel.train(conversations[:200], components=60, progress=reports.append)
    assert len(reports) > 4
    assert set(reports) == {200}


@pytest.mark.parametrize("components", [0, 2501, 1.5, True])
def test_it_refuses_a_number_of_components_out_of_range(components: int) -> None:
    with pytest.raises(ValueError, match=r"components: found .* accepted: an integer from 1 to 2500"):
        LsaModel.train(["a"], components=components)


def test_it_refuses_texts_without_a_word_and_dimensions_it_has_not(model: LsaModel) -> None:
    with pytest.raises(ValueError, match="texts: found no word"):
        LsaModel.train([])
    with pytest.raises(ValueError, match="k: found 41; accepted: 1 to 40"):
        model.vectors(["a"], 41)
