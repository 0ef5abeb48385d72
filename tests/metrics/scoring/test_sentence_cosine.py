from pathlib import Path

import numpy as np
import pytest

from metrics.scoring.metric import Workspace
from metrics.scoring.models.sentence_encoder import SentenceEncoder
from metrics.scoring.models.store import ModelStore
from metrics.scoring.segments import Segments
from metrics.scoring.sentence_cosine import SentenceCosine
from tests.metrics.scoring.models.sentence_library import install, letters, model_folder, remove


def scores(metric, segments, mask=None):
    return Workspace(segments, [metric], ModelStore()).statistics(metric, reference_mask=mask).sentence_scores


@pytest.fixture
def metric(monkeypatch, tmp_path):
    install(monkeypatch)
    return SentenceCosine(model=str(model_folder(tmp_path / "model")))


def plain(text: str, other_text: str) -> float:
    first, second = np.array(letters(text)), np.array(letters(other_text))
    return float(first @ second / np.sqrt(first @ first) / np.sqrt(second @ second))


def test_it_is_the_best_cosine_over_a_subset_or_their_mean(metric):
    segments = Segments([["abba", "cab"], ["baobab", "cab"]], [["abc", "bad"], ["cabbage"]])
    cosines = scores(metric, segments)
    expected = [
        [max(plain("abba", "abc"), plain("abba", "bad")), plain("cab", "cabbage")],
        [max(plain("baobab", "abc"), plain("baobab", "bad")), plain("cab", "cabbage")],
    ]
    np.testing.assert_allclose(cosines, expected, atol=1e-6)
    np.testing.assert_allclose(
        scores(metric, segments, [True, False, False])[:, 0], [plain("abba", "abc"), plain("baobab", "abc")], atol=1e-6
    )
    mean = scores(SentenceCosine(model=metric.model, over_references="mean"), segments)
    assert mean[0, 0] == pytest.approx((plain("abba", "abc") + plain("abba", "bad")) / 2, abs=1e-6)


def test_texts_are_encoded_once_for_all_subsets(monkeypatch, tmp_path):
    encoded = install(monkeypatch)
    metric = SentenceCosine(model=str(model_folder(tmp_path / "model")))
    mean = SentenceCosine(model=metric.model, over_references="mean")
    workspace = Workspace(Segments([["b", "a b"]], [["a", "b"], [" a b ", ["a", "b"]]]), [metric, mean])
    workspace.statistics(metric)
    workspace.statistics(mean, reference_mask=[True, False, False, True])
    assert encoded == [["a", "a b", "b"]]


def test_empty_texts_are_not_encoded_an_empty_hypothesis_scores_0_and_an_empty_reference_does_not_count(metric):
    segments = Segments([["", " ", "a", "a", "a"]], [["a"], ["", "b"], [""], [], ["a"]])
    np.testing.assert_allclose(scores(metric, segments), [[0.0, 0.0, np.nan, np.nan, 1.0]], atol=1e-12)
    prepared = Workspace(segments, [metric]).prepared(metric)
    assert prepared.facts == {"hypotheses_without_vector": 2, "references_without_vector": 2}
    assert np.isnan(scores(metric, Segments([[""]], [[""]]))).all()


def test_odd_texts_reach_the_model_whole(metric):
    texts = ["🙂", "e\u0301", "שלום עולם", "猫坐在垫子上", "a " * 10_000, "?"]
    np.testing.assert_allclose(scores(metric, Segments([texts], [[text] for text in texts])), 1.0, atol=1e-12)


def test_without_the_library_it_is_unavailable_and_says_what_helps(monkeypatch, tmp_path):
    remove(monkeypatch)
    assert SentenceCosine.unavailable() == (
        "sentence-transformers is not installed; python -m pip install sentence-transformers"
    )
    metric = SentenceCosine(model=str(model_folder(tmp_path / "model")))
    with pytest.raises(ValueError, match="python -m pip install sentence-transformers"):
        scores(metric, Segments([["a"]], [["a"]]))


def test_what_another_preparation_made_is_refused():
    with pytest.raises(ValueError, match="prepared: found dict"):
        SentenceCosine().statistics({})


def tiny_model(folder: Path) -> Path:
    """A real model of the library, with weights by chance."""
    transformers = pytest.importorskip("transformers")
    modules = pytest.importorskip("sentence_transformers.models")
    torch = pytest.importorskip("torch")
    library = pytest.importorskip("sentence_transformers")
    torch.manual_seed(1)
    bert = folder / "bert"
    bert.mkdir(parents=True)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "dog", "sat", "on", "mat", "rain"]
    (bert / "vocab.txt").write_text("\n".join(words))
    transformers.BertTokenizer(str(bert / "vocab.txt")).save_pretrained(bert)
    config = transformers.BertConfig(
        vocab_size=len(words), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
    )
    transformers.BertModel(config).save_pretrained(bert)
    parts = modules.Transformer(str(bert)), modules.Pooling(32)
    library.SentenceTransformer(modules=list(parts)).save(str(folder / "model"))
    return folder / "model"


@pytest.mark.filterwarnings("default")
def test_it_is_the_cosine_of_the_library_itself(tmp_path):
    library = pytest.importorskip("sentence_transformers")
    folder = tiny_model(tmp_path)
    hypotheses = ["the cat sat", "rain on the dog", "dog", "mat mat mat"]
    references = [["the dog sat on the mat", "cat"], ["rain"], ["the cat sat"], ["on the mat", "the"]]
    cosines = scores(SentenceCosine(model=str(folder)), Segments([hypotheses], references))
    model = library.SentenceTransformer(str(folder))
    expected = [
        max(float(library.util.cos_sim(model.encode(text), model.encode(reference))) for reference in texts)
        for text, texts in zip(hypotheses, references, strict=True)
    ]
    np.testing.assert_allclose(cosines[0], expected, atol=1e-6)
    assert SentenceEncoder.load(folder).encode(["cat", "dog", "cat"]).shape == (3, 32)
